package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// What a page shows of one log, shared among the logs of a page. Groups are by
// disposition.
var pageGroups = [len(dispositions)]int{event.Blocking: pageRows, event.Advisory: pageRows, event.Ignore: pageRows / 2}

const (
	pageRows   = 300 // of a disposition
	pageCauses = 60
	pageItems  = 200
	pageMods   = 1000
	pageParts  = 6 // rules that came with a cause
	openCauses = 3 // causes that are unfolded from the beginning
)

// section is what a page shows of one log: text, which its template escapes for HTML, and numbers. What it
// leaves out is counted.
type section struct {
	logs int       // of the page
	doc  *Document // while the section is made

	ID         string // of its element
	prefix     string // of the ids of its lines
	Name       string // of the file
	Base       string // of the file, without its folders
	Layout     string
	Lines      string
	Records    string
	Verdict    verdictView
	Copy       string // the verdict as Markdown
	InShort    []string
	Facts      []fieldView
	Mods       modsView
	Log        factView
	Causes     []*causeView
	MoreCauses uint64
	Chart      sketchView
	Items      []itemView
	MoreItems  uint64
	Groups     []*groupView
	Counts     []countView
	MoreGroups uint64
	Dropped    uint64
	Excerpts   []*excerptView
	LeftOut    uint64 // excerpts
	Accounting []fieldView

	scrubbed bool
	chart    chartData
	anchors  map[uint64]bool
	ofRule   map[string]string // ids of the first groups
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

type fieldView struct{ Name, Text string }

func (s *section) at(line uint64, t time.Time) *place {
	return &place{Line: line, Time: s.clock(t), section: s}
}

func (s *section) rule(id string) ruleRef { return ruleRef{Name: safe(id), section: s} }

// clock shows a time of the log, "" where it has no clock.
func (s *section) clock(t time.Time) string {
	if t.IsZero() || !s.doc.page.clock {
		return ""
	}
	return t.UTC().Format("15:04:05")
}

// share returns the part of a bound that one log has.
func (s *section) share(n int) int { return max(n/s.logs, 8) }

func newSection(d *Document, logs, number int) *section {
	s := &section{logs: logs, doc: d, scrubbed: d.scrubbed, ID: fmt.Sprintf("log%d", number), prefix: "L"}
	if number > 1 {
		s.prefix = fmt.Sprintf("log%d-L", number)
	}
	s.chart = chartData{X: []float64{}, Items: []chartItem{}}
	s.Name = d.Summary.File
	if s.Name == "-" {
		s.Name = "standard input"
	}
	s.Base = baseName(s.Name)
	s.Layout, s.Lines = d.Summary.Layout, text.Many(d.Summary.Lines, "line")
	s.Records = text.Many(d.Summary.Records, "record")
	s.groups()
	s.causes(d.Causes)
	s.facts()
	s.environment()
	s.items()
	s.excerpts()
	s.sketch()
	s.accounting()
	s.doc = nil
	return s
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
	before, mods := len(s.Groups)+len(s.Excerpts)+len(s.Items), len(s.Mods.List)
	s.halveExcerpts()
	s.Mods.keep(mods / 2)
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
	return before > 0 || len(s.Mods.List) < mods
}

func (s *section) accounting() {
	st := &s.doc.stats
	add := func(name, format string, args ...any) {
		s.Accounting = append(s.Accounting, fieldView{name, fmt.Sprintf(format, args...)})
	}
	add("Received", "%s, one per log record or event: %s, %s, %s, %s", text.Many(st.Received, "entry", "entries"),
		text.Many(st.Logs, "log record"),
		text.Many(st.Operations, "operation event"), text.Many(st.States, "state event"),
		text.Many(st.Notices, "notice"))
	add("Decided", "%s ignored, %s counted in items: %s advisory, %s blocking", text.Number(st.Ignored), text.Number(st.Folded),
		text.Number(st.Coalesce.ByDisposition[event.Advisory]), text.Number(st.Coalesce.ByDisposition[event.Blocking]))
	add("Items", "%s opened, %d open at the end, %s cleared; %s", text.Number(st.Coalesce.Opened), st.Coalesce.Open,
		text.Number(st.Coalesce.Cleared), text.Many(s.doc.Summary.Items.Updates, "update"))
	if err := st.Check(); err != nil {
		add("Check", "the counts do not add up; this is a bug in heed: %s", safe(err.Error()))
	} else {
		add("Check", "the counts add up")
	}
	if s.Dropped > 0 {
		add("Left out", "%s did not fit into the tables of groups; a row that was dropped and came back shows too low a "+
			"count", text.Many(s.Dropped, "row"))
	}
}

// modsView is the list of mods of a section: in load order, but that those which the
// verdict names come first.
type modsView struct {
	Count string // "" where no mod is listed
	List  []modView
	More  uint64 // that are left out
	Named int    // of the list

	IDs, Versions bool // whether any mod has one
}

type modView struct {
	Place    int // in load order, from 1
	Title    string
	ID       string // where it is not the title
	Versions string
	Named    string // by what, in words; "" for nearly all
}

// environment shows where the log was made.
func (s *section) environment() {
	e, v := s.doc.Summary.Environment, s.doc.Summary.Verdict
	if e == nil {
		return
	}
	s.InShort = e.inShort()
	for _, fact := range facts(&e.Facts) {
		if *fact.text != "" {
			s.Facts = append(s.Facts, fieldView{fact.label, *fact.text})
		}
	}
	named := e.namedMods(v)
	m := &s.Mods
	m.Count, m.More = e.modCount(), uint64(e.MoreMods)
	for i := range e.Mods {
		mod := &e.Mods[i]
		view := modView{Place: i + 1, Title: title(mod), Versions: mod.Versions}
		if mod.Name != "" {
			view.ID = mod.PackageID
		}
		view.Named = named[i]
		m.List = append(m.List, view)
	}
	// In a list of hundreds nobody finds what is meant.
	slices.SortStableFunc(m.List, func(a, b modView) int { return cmp.Compare(b.rank(), a.rank()) })
	m.keep(s.share(pageMods))
}

// rank is 1 for a mod that comes before the others.
func (m *modView) rank() int {
	if m.Named != "" {
		return 1
	}
	return 0
}

// keep leaves out what is beyond the first n mods.
func (m *modsView) keep(n int) {
	kept := m.List[:min(n, len(m.List))]
	m.More += uint64(len(m.List) - len(kept))
	m.List, m.Named, m.IDs, m.Versions = kept, 0, false, false
	for i := range kept {
		if kept[i].Named != "" {
			m.Named++
		}
		m.IDs = m.IDs || kept[i].ID != ""
		m.Versions = m.Versions || kept[i].Versions != ""
	}
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

func (s *section) excerpts() {
	budget := excerptAll / s.logs
	var ex *excerptView
	var all []*excerptView
	seen := map[uint64]bool{}
	last := uint64(0)
	named := map[uint64]bool{}
	places := []*place{s.Verdict.Since, s.Verdict.Blind, s.Log.At}
	for i := range s.Verdict.Causes {
		places = append(places, s.Verdict.Causes[i].At)
	}
	for _, at := range places {
		if at != nil {
			named[at.Line] = true
		}
	}
	for _, r := range s.doc.page.excerpts {
		if ex == nil || r.seq != last+1 {
			ex = &excerptView{}
			all = append(all, ex)
		}
		last = r.seq
		ex.named, ex.cause = ex.named || named[r.first], ex.cause || r.cause
		exact := uint64(len(r.lines)+r.more) == r.last-r.first+1
		for j, text := range r.lines {
			l := excerptLine{Text: text, Marked: r.marked, Head: j == 0, Disposition: r.disposition.String()}
			if j == 0 {
				l.Rule = r.rule
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
			ex.Lines = append(ex.Lines, excerptLine{
				Text:        "… " + text.Many(r.more, "more line"),
				Disposition: r.disposition.String(), Marked: r.marked,
			})
		}
	}
	s.Excerpts = all
	for bytes := s.doc.page.excerptBytes; bytes > budget; bytes /= 2 {
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
	s.LeftOut += uint64(len(s.Excerpts) - n)
	s.Excerpts = slices.DeleteFunc(s.Excerpts, func(e *excerptView) bool { return !keep[e] })
}
