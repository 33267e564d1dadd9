package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/safetext"
)

// What a page shows of one log, shared among the logs of a page. Groups are by
// disposition.
var pageGroups = [len(dispositions)]int{event.Blocking: 300, event.Advisory: 300, event.Ignore: 150}

const (
	pageCauses = 60
	pageItems  = 200
	pageParts  = 6 // rules that came with a cause
	openCauses = 3 // causes that are unfolded from the beginning
)

// section is what a page shows of one log: text that is fit to be shown, and
// numbers. What it leaves out is counted.
type section struct {
	logs   int     // of the page
	replay *Replay // while the section is made

	ID         string // of its element
	prefix     string // of the ids of its lines
	Name       string // of the file
	Base       string // of the file, without its folders
	Layout     string
	Lines      string
	Records    string
	Verdict    verdictView
	First      factView
	Mod        factView
	Speaking   factView
	Causes     []*causeView
	MoreCauses int
	Chart      sketchView
	Items      []itemView
	MoreItems  uint64
	Groups     []*groupView
	Counts     []countView
	MoreGroups uint64
	Forgotten  uint64
	Excerpts   []*excerptView
	LeftOut    int // excerpts
	Accounting []fieldView

	scrubbed bool
	chart    chartData
	anchors  map[uint64]bool
	ofRule   map[string]string // ids of the first groups
}

// verdictView is the answer to: is this game healthy?
type verdictView struct {
	Class string // of style
	Title string
	Since *place
	Blind *place // since when the log was blind too, at its end
	What  string
	At    *place // of what What tells
}

// factView is one of the facts on the first screen.
type factView struct {
	Class  string
	Answer string
	At     *place
	More   []moreView
}

type moreView struct {
	Text string
	At   *place
}

// place is a line of the log, which is a link where an excerpt shows it.
type place struct {
	Line uint64
	Time string

	section *section
}

// Href returns the id of the line in the page, "" where no excerpt has it.
func (p *place) Href() string {
	if p == nil || !p.section.anchors[p.Line] {
		return ""
	}
	return p.section.prefix + strconv.FormatUint(p.Line, 10)
}

// ruleRef names a rule, which is a link where a group shows what it decided.
type ruleRef struct {
	Name string

	section *section
}

// Href returns the id of the weightiest group that the rule decided about, ""
// where the page has none.
func (r ruleRef) Href() string { return r.section.ofRule[r.Name] }

type causeView struct {
	Open         bool
	Disposition  string
	Severity     string
	What, Why    string
	Rule         ruleRef
	Escalated    bool
	Invalidates  bool
	Blame        []string
	Often        string
	First, Last  *place
	Samples      []causeSample
	Parts        []partView // what came with it
	MoreParts    int        // rules
	State        string
	HasLastPlace bool
}

// partView is what another rule than the cause's decided in the same items.
type partView struct {
	Disposition string
	What        string
	Rule        ruleRef
	Times       string
	First       *place
	Blame       []string
}

type causeSample struct {
	At    *place
	Times string
	Text  string
}

type itemView struct {
	ID          string
	Disposition string
	Severity    string
	Count       string
	Summary     string
	Blame       string
	State       string
	From, To    *place
}

type groupView struct {
	ID          string
	Disposition string
	Severity    string
	Weight      int
	Count       uint64
	Shown       string // the count
	First, Last *place
	Forms       uint64
	Template    string
	Frames      []string
	Blame       []string
	Rule        string
	Summary     string
	Why         string
	Default     bool
	Escalated   bool
	Reason      []string
	Signature   string
	Spark       string // path of a sketch
	Sample      []sampleView
	More        int
	Time        string
}

type sampleView struct {
	Text   string
	Gap    bool
	Blamed bool
}

type countView struct {
	Disposition string
	Word        string // for entries of it
	Entries     string
	Groups      string
	Shown       int
}

type excerptView struct {
	Lines []excerptLine

	// What it shows: a place that the first screen names, or what a rule came upon first.
	named, cause bool
}

type excerptLine struct {
	Number      uint64 // 0 for a line whose number is not known
	ID          string
	Text        string
	Disposition string
	Rule        string
	Marked      bool
	Head        bool
}

type fieldView struct{ Name, Text string }

// show makes text from a log or a file of rules fit for the page, but for the
// escaping that its template sees to.
func (s *section) show(text string) string {
	return safetext.Text(text, 0)
}

func (s *section) showAll(texts []string) []string {
	var out []string
	for _, t := range texts {
		out = append(out, s.show(t))
	}
	return out
}

func (s *section) at(line uint64, t time.Time) *place {
	return &place{Line: line, Time: s.clock(t), section: s}
}

func (s *section) rule(id string) ruleRef { return ruleRef{Name: s.show(id), section: s} }

// clock shows a time of the log, "" where it has no clock.
func (s *section) clock(t time.Time) string {
	if t.IsZero() || !s.replay.details.hasClock() {
		return ""
	}
	return t.UTC().Format("15:04:05")
}

// share returns the part of a bound that one log has.
func (s *section) share(n int) int { return max(n/s.logs, 8) }

func newSection(r *Replay, logs, number int) *section {
	s := &section{logs: logs, replay: r, scrubbed: r.config.Scrub != nil, ID: fmt.Sprintf("log%d", number), prefix: "L"}
	if number > 1 {
		s.prefix = fmt.Sprintf("log%d-L", number)
	}
	s.chart = chartData{X: []float64{}, Items: []chartItem{}}
	s.Name = s.show(r.config.File)
	if r.config.File == "-" {
		s.Name = "standard input"
	}
	s.Base = s.Name[strings.LastIndexAny(s.Name, `/\`)+1:]
	s.Layout, s.Lines, s.Records = r.end.Layout, grouped(uint64(r.end.Lines)), grouped(r.records)
	causes := r.causes.list()
	s.groups()
	s.causes(causes)
	s.facts()
	s.items()
	s.excerpts()
	s.sketch()
	s.accounting()
	s.replay = nil
	return s
}

// facts fills in the first screen.
func (s *section) facts() {
	r := s.replay
	v := r.Verdict()
	s.Verdict = verdictView{Class: stateClasses[v.State], Title: stateTitles[v.State], What: v.What}
	if v.Since > 0 {
		s.Verdict.Since = s.at(v.Since, time.Time{})
	}
	if v.Blind > 0 {
		s.Verdict.Blind = s.at(v.Blind, time.Time{})
	}
	s.speaking(v)
	if v.First == nil {
		s.First = factView{Class: s.Verdict.Class, Answer: "Nothing that was seen."}
		s.Mod = factView{Class: s.Verdict.Class, Answer: v.modAnswer(literally)}
		return
	}
	first := v.First.cause
	if v.State == StateBroken {
		s.Verdict.Since = s.causeAt(first)
	}
	f := &s.First
	f.Class, f.Answer, f.At = first.Disposition.String(), v.First.What, s.causeAt(first)
	f.More = append(f.More, moreView{Text: howOften(first) + s.ended(first)})
	if first.Invalidates {
		f.More = append(f.More, moreView{Text: "What was known of the game’s state may be stale."})
	}
	if v.Worst != nil {
		s.Verdict.What, s.Verdict.At = "Worst: "+strings.TrimSuffix(v.Worst.What, "."), s.causeAt(v.Worst.cause)
	}
	s.mods(v)
}

var stateClasses = map[State]string{
	StateBroken: "blocking", StateBlind: "blind", StateWasBlind: "blind", StateComplaints: "advisory", StateUnread: "none", StateGaps: "blind",
	StateHealthy: "healthy", StateEmpty: "none",
}

func literally(name string) string { return name }

// mods answers which mod it was: that of what broke first, that of the worst, and
// others that are named.
func (s *section) mods(v *Verdict) {
	f := &s.Mod
	f.Class, f.Answer = "none", v.modAnswer(literally)
	if reason := v.modReason(); reason != "" {
		f.Class = v.First.Disposition.String()
		f.More = append(f.More, moreView{Text: reason})
	}
	if worst := v.modOfWorst(literally); worst != "" {
		f.More = append(f.More, moreView{Text: worst})
	}
	for _, m := range v.by(byOther) {
		f.More = append(f.More, moreView{Text: m.named(literally), At: s.at(m.Line, time.Time{})})
	}
	if v.MoreMods > 0 {
		f.More = append(f.More, moreView{Text: fmt.Sprintf("and %d more", v.MoreMods)})
	}
}

// speaking answers whether the log still speaks.
func (s *section) speaking(v *Verdict) {
	r, f := s.replay, &s.Speaking
	f.Answer = v.Log[0]
	for _, says := range v.Log[1:] {
		f.More = append(f.More, moreView{Text: says})
	}
	switch b := &r.blind; {
	case r.end.Interrupted, v.State == StateEmpty:
		f.Class = "none"
	case r.unread != "":
		f.Class = "blind"
	case b.now:
		f.Class, f.At = "blind", s.at(b.last.From, time.Time{})
	case b.stretches > 0:
		f.Class, f.At = "gaps", s.at(b.first.From, time.Time{})
	case r.doubts() != nil:
		f.Class = "gaps"
	default:
		f.Class = "healthy"
	}
}

func (s *section) causeAt(c *Cause) *place {
	return s.at(c.First, s.replay.details.causes[causeKey{c.Rule, c.Disposition}])
}

// ended says whether the items of a cause were open at the end.
func (s *section) ended(c *Cause) string {
	switch {
	case c.Open == 0:
		return "; over by the end"
	case c.Last > c.First:
		return fmt.Sprintf(", up to line %d; still open at the end", c.Last)
	}
	return "; still open at the end"
}

func (s *section) causes(causes []*Cause) {
	r := s.replay
	shown := min(len(causes), s.share(pageCauses))
	s.MoreCauses = len(causes) - shown
	for i, c := range causes[:shown] {
		what, why := r.explain(c)
		v := &causeView{
			Open: i < openCauses, Disposition: c.Disposition.String(), Severity: c.Severity.String(),
			What: sentence(s.show(what)), Why: sentence(s.show(why)), Rule: s.rule(c.Rule), Escalated: r.raised[causeKey{c.Rule, c.Disposition}],
			Invalidates: c.Invalidates, Blame: s.showAll(c.FirstItem.Blame),
			Often: howOften(c), First: s.causeAt(c), Last: s.at(c.Last, time.Time{}),
			HasLastPlace: c.Last > c.First,
		}
		if c.Items > 1 {
			v.Often += fmt.Sprintf(" in %s items", grouped(c.Items))
		}
		switch c.Open {
		case 0:
			v.State = "over by the end"
		case c.Items:
			v.State = "open at the end"
		default:
			v.State = fmt.Sprintf("%s of them open at the end", grouped(c.Open))
		}
		for _, sample := range c.samples() {
			cs := causeSample{At: s.at(sample.FirstPos, time.Time{}), Text: s.show(sample.Message)}
			if sample.RepeatCount > 1 {
				cs.Times = grouped(sample.RepeatCount) + " times"
			}
			v.Samples = append(v.Samples, cs)
		}
		s.parts(v, c)
		s.Causes = append(s.Causes, v)
	}
}

// howOften counts what a cause's rule decided apart from what came with it, so that
// the name of the first fault is not read as that of all.
func howOften(c *Cause) string {
	own := c.own()
	often := grouped(own) + " " + plural(own, "entry", "entries")
	if with := c.Entries - min(own, c.Entries); with > 0 {
		often += fmt.Sprintf(" and %s more with it", grouped(with))
	}
	return often
}

// parts lists what came with a cause.
func (s *section) parts(v *causeView, c *Cause) {
	others, more := c.others(pageParts)
	v.MoreParts = more
	for _, o := range others {
		what, _ := s.replay.describe(o.rule, c.Severity)
		v.Parts = append(v.Parts, partView{
			Disposition: o.disposition.String(), What: sentence(s.show(what)), Rule: s.rule(o.rule), Times: grouped(o.entries),
			First: s.at(o.first, time.Time{}), Blame: s.showAll(o.blame),
		})
	}
}

// items lists the attention items in the order in which they were opened.
func (s *section) items() {
	r := s.replay
	var order []string
	latest := map[string]*heed.Attention{}
	see := func(a *heed.Attention) {
		if latest[a.ID] == nil {
			order = append(order, a.ID)
		}
		latest[a.ID] = a
	}
	first, last := r.timeline.ends()
	for _, updates := range [][]heed.Update{first, last} {
		for i := range updates {
			see(&updates[i].Attention)
		}
	}
	for _, id := range order {
		if it := r.causes.open[id]; it != nil { // updates are few: there may have been more since
			see(&it.attention)
		}
	}
	order = order[:min(len(order), s.share(pageItems))]
	s.MoreItems = r.causes.items - uint64(len(order))
	for _, id := range order {
		a := latest[id]
		v := itemView{
			ID: s.show(a.ID), Disposition: a.Disposition.String(), Severity: a.Severity.String(), Count: grouped(a.TotalUrgentEntries),
			Summary: sentence(s.show(forPeople(a.Summary))), Blame: s.show(strings.Join(a.Blame, ", ")), State: "open",
			From: s.at(a.OpenedPos, time.Time{}), To: s.at(a.LatestPos, time.Time{}),
		}
		if a.State == cleared {
			v.State = strings.ReplaceAll(string(a.ClearedBy), "_", " ")
		}
		s.Items = append(s.Items, v)
		s.chart.Items = append(s.chart.Items, chartItem{
			From: s.moment(a.OpenedAtSequence), To: s.moment(a.LatestSequence), Line: a.OpenedPos, Blocking: a.Disposition == event.Blocking, ID: v.ID,
		})
	}
}

// forPeople leaves out of the summary of an item where an agent reads on, and at
// which entry of the journal it began: nobody who looks at a page has the
// journal, and the page tells the lines.
func forPeople(summary string) string {
	short, _, _ := strings.Cut(summary, "; read the journal after ")
	return sinceEntry.ReplaceAllString(short, "")
}

var sinceEntry = regexp.MustCompile(`; since entry \d+`)

// moment returns where on the chart an entry stands, by its number. In time
// that is as exact as the chart.
func (s *section) moment(seq uint64) float64 {
	d := s.replay.details
	if !d.hasClock() {
		return float64(seq)
	}
	h := &d.byRecord
	at := d.first
	for i := range min(int((max(seq, 1)-1)>>h.shift)+1, h.used) {
		if t := h.buckets[i].time; t.After(at) {
			at = t
		}
	}
	return seconds(at)
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func (s *section) groups() {
	r := s.replay
	for _, d := range dispositions {
		t := r.tables[d]
		rows := t.top(s.share(pageGroups[d]))
		held := uint64(len(t.held()))
		s.Counts = append(s.Counts, countView{Disposition: d.String(), Word: dispositionWords[d], Entries: grouped(t.entries), Groups: grouped(held), Shown: len(rows)})
		s.MoreGroups += held - uint64(len(rows))
		s.Forgotten += t.forgotten
		for _, row := range rows {
			g := s.group(d, row)
			g.ID = fmt.Sprintf("%s-g%d", s.ID, len(s.Groups)+1)
			s.Groups = append(s.Groups, g)
		}
	}
}

var dispositionWords = [len(dispositions)]string{event.Blocking: "blocking", event.Advisory: "advisory", event.Ignore: "ignored"}

func (s *section) group(d event.Disposition, row *Row) *groupView {
	r := s.replay
	g := &groupView{
		Disposition: d.String(), Severity: row.Severity.String(), Weight: int(d), Count: row.Count, Shown: grouped(row.Count),
		Forms: row.Forms, Blame: s.showAll(row.Blame), Rule: s.show(row.Rule), Escalated: r.raised[causeKey{row.Rule, d}],
		Signature: row.Signature.ID.String(), First: s.at(row.First, time.Time{}), Last: s.at(row.Last, time.Time{}),
	}
	head, frames, _ := strings.Cut(row.Template, "\n")
	g.Template = cmp.Or(s.show(head), "(template no longer held)")
	if frames != "" {
		g.Frames = s.showAll(strings.Split(frames, "\n"))
	}
	if r.config.Rule != nil {
		summary, why := r.config.Rule(row.Rule)
		g.Summary, g.Why = sentence(s.show(oneSpace(summary))), s.show(oneSpace(why))
	}
	_, _, g.Default = defaultRule(row.Rule)
	det := row.detail
	if det == nil {
		return g
	}
	det.spark.scale(r.details.total)
	g.Spark = det.spark.path()
	g.More, g.Reason, g.First.Time = det.more, s.showAll(det.reason), s.clock(det.time)
	for _, line := range det.sample {
		g.Sample = append(g.Sample, sampleView{Text: s.show(line.text), Gap: line.gap, Blamed: line.blamed})
	}
	return g
}

// The size of a sparkline in its own units.
const sparkHeight = 16

// path draws the counts as bars. One entry is one unit high, so that it can be seen.
func (s *spark) path() string {
	most := uint64(slices.Max(s.counts[:]))
	var b strings.Builder
	for i, n := range s.counts {
		if n == 0 {
			continue
		}
		h := max(uint64(n)*sparkHeight/most, 2)
		fmt.Fprintf(&b, "M%d %dv-%dh.8v%dz", i, sparkHeight, h, h)
	}
	return b.String()
}

func (s *section) excerpts() {
	x := &s.replay.details.lines
	budget := excerptAll / s.logs
	var ex *excerptView
	var all []*excerptView
	seen := map[uint64]bool{}
	last := uint64(0)
	named := map[uint64]bool{}
	for _, at := range []*place{s.First.At, s.Verdict.At, s.Verdict.Since, s.Verdict.Blind, s.Speaking.At} {
		if at != nil {
			named[at.Line] = true
		}
	}
	for _, r := range x.all() {
		if ex == nil || r.seq != last+1 {
			ex = &excerptView{}
			all = append(all, ex)
		}
		last = r.seq
		ex.named, ex.cause = ex.named || named[r.first], ex.cause || r.cause
		lines := strings.Split(string(r.text), "\n")
		exact := uint64(len(lines)+r.more) == r.last-r.first+1
		for j, text := range lines {
			l := excerptLine{Text: s.show(s.replay.config.Scrub.Text(text)), Marked: r.marked, Head: j == 0, Disposition: r.disposition.String()}
			if j == 0 {
				l.Rule = s.show(r.rule)
			}
			if j == 0 || exact {
				l.Number = r.first + uint64(j)
			}
			if j == 0 && !seen[l.Number] {
				seen[l.Number] = true
				l.ID = s.prefix + strconv.FormatUint(l.Number, 10)
			}
			ex.Lines = append(ex.Lines, l)
		}
		if r.more > 0 {
			ex.Lines = append(ex.Lines, excerptLine{Text: fmt.Sprintf("… %d more %s", r.more, plural(uint64(r.more), "line", "lines")), Disposition: r.disposition.String(), Marked: r.marked})
		}
	}
	s.Excerpts = all
	for bytes := x.bytes; bytes > budget; bytes /= 2 {
		s.halveExcerpts()
	}
}

// halveExcerpts leaves out half of the excerpts: those of groups before those of
// causes, late ones before early ones, and what the first screen names last.
func (s *section) halveExcerpts() {
	n := len(s.Excerpts) / 2
	keep := map[*excerptView]bool{}
	for _, wanted := range [...]func(*excerptView) bool{
		func(e *excerptView) bool { return e.named },
		func(e *excerptView) bool { return e.cause },
		func(*excerptView) bool { return true },
	} {
		for _, e := range s.Excerpts {
			if wanted(e) && len(keep) < n {
				keep[e] = true
			}
		}
	}
	s.LeftOut += len(s.Excerpts) - n
	s.Excerpts = slices.DeleteFunc(s.Excerpts, func(e *excerptView) bool { return !keep[e] })
}

// link notes which lines and groups can be linked to.
func (s *section) link() {
	s.anchors = map[uint64]bool{}
	for _, e := range s.Excerpts {
		for _, l := range e.Lines {
			if l.ID != "" {
				s.anchors[l.Number] = true
			}
		}
	}
	s.ofRule = map[string]string{}
	for _, g := range s.Groups {
		if s.ofRule[g.Rule] == "" {
			s.ofRule[g.Rule] = g.ID
		}
	}
}

// shrink leaves out half of what the section shows, of the lighter groups first.
func (s *section) shrink() bool {
	before := len(s.Groups) + len(s.Excerpts) + len(s.Items)
	s.halveExcerpts()
	n := len(s.Groups) / 2
	s.MoreGroups += uint64(len(s.Groups) - n)
	s.Groups = s.Groups[:n]
	for i := range s.Counts {
		c := &s.Counts[i]
		c.Shown = 0
		for _, g := range s.Groups {
			if g.Disposition == c.Disposition {
				c.Shown++
			}
		}
	}
	n = len(s.Items) / 2
	s.MoreItems += uint64(len(s.Items) - n)
	s.Items = s.Items[:n]
	return before > 0
}

func (s *section) accounting() {
	r := s.replay
	st := &r.end.Stats
	add := func(name, format string, args ...any) {
		s.Accounting = append(s.Accounting, fieldView{name, fmt.Sprintf(format, args...)})
	}
	add("Received", "%s %s: %s log records, %s operation events, %s state events, %s notices", grouped(st.Received), plural(st.Received, "entry", "entries"),
		grouped(st.Logs), grouped(st.Operations), grouped(st.States), grouped(st.Notices))
	add("Decided", "%s ignored, %s folded into items: %s advisory, %s blocking", grouped(st.Ignored), grouped(st.Folded),
		grouped(st.Coalesce.ByDisposition[event.Advisory]), grouped(st.Coalesce.ByDisposition[event.Blocking]))
	add("Items", "%s opened, %d open at the end, %s cleared; %s updates", grouped(st.Coalesce.Opened), st.Coalesce.Open,
		grouped(st.Coalesce.Cleared), grouped(r.timeline.total))
	if err := st.Check(); err != nil {
		add("Check", "the counts break a law: %s", safetext.Text(err.Error(), 0))
	} else {
		add("Check", "the counts add up")
	}
	if s.Forgotten > 0 {
		add("Left out", "%s rows did not fit into the tables of groups; one that was forgotten and came back shows less than there was", grouped(s.Forgotten))
	}
}

// sentence makes a phrase of a rule's author begin and end as a sentence does.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	if c := s[0]; c >= 'a' && c <= 'z' {
		s = string(c-'a'+'A') + s[1:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// grouped returns a number with commas between thousands.
func grouped(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func times(n uint64) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return grouped(n) + " times"
}
