package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/safetext"
)

// State is how a game fared, as far as its log tells.
type State string

// The states, the most urgent first.
const (
	StateBroken     State = "broken"     // something blocks
	StateBlind      State = "blind"      // nothing broke before the log went blind, and so it ended
	StateWasBlind   State = "was_blind"  // the same, but the log spoke again
	StateComplaints State = "complaints" // nothing blocks, something is advisory
	StateUnread     State = "unread"     // nothing deserved attention as far as the log was read
	StateGaps       State = "gaps"       // nothing deserved attention, and a part of the log is missing
	StateHealthy    State = "healthy"    // nothing deserved attention
	StateEmpty      State = "empty"      // the log has no record
)

var stateTitles = map[State]string{
	StateBroken: "Broken", StateBlind: "Blind", StateWasBlind: "Blind for a while", StateComplaints: "Runs, with complaints",
	StateUnread: "Not read to its end", StateGaps: "Healthy, with gaps", StateHealthy: "Healthy", StateEmpty: "Empty",
}

// Verdict answers what matters about a log: is this game healthy, since when not,
// what broke first, which mod, and does the log still tell? It is made once, and
// every form of a report says it in its words. Its texts are fit to be shown.
type Verdict struct {
	State    State  `json:"state"`
	Headline string `json:"headline"`                   // the state in words, with the lines below
	Since    uint64 `json:"since_line,omitempty"`       // where what broke first stands; of the states about blindness, where it began
	Blind    uint64 `json:"blind_since_line,omitempty"` // of a broken game whose log ended blind: where that began
	What     string `json:"what"`                       // what the state means, or what broke first

	// First is what broke first: the first cause of the highest disposition there
	// is, other than that the log went blind. Worst is the one that weighs more, if
	// there is one. Nil where there is none.
	First *VerdictCause `json:"first,omitempty"`
	Worst *VerdictCause `json:"worst,omitempty"`

	// Mods are those that are named: by what broke first, by the worst, and then
	// those that other urgent entries name, by how much of that blocks and how
	// much there is. MoreMods counts those beyond a few.
	Mods     []VerdictMod `json:"mods"`
	MoreMods int          `json:"more_mods,omitempty"`

	// Log says whether the log tells everything, in sentences.
	Log []string `json:"log"`

	counts string
}

// VerdictCause is one cause of attention.
type VerdictCause struct {
	Line        uint64            `json:"line"`
	Disposition event.Disposition `json:"disposition"`
	Rule        string            `json:"rule"`
	What        string            `json:"what"`

	cause *Cause
}

// The values of [VerdictMod].By.
const (
	byFirst = "first"
	byWorst = "worst"
	byOther = "other"
)

// VerdictMod is a mod that something urgent points at. That is no proof: the words
// of every form say what it rests on.
type VerdictMod struct {
	Name     string       `json:"name"`
	By       string       `json:"by"`                 // what names it: first, worst or other
	Evidence []blame.Kind `json:"evidence,omitempty"` // against it, the kinds that tell most first; of first and worst
	Entries  uint64       `json:"entries"`            // urgent ones of groups whose first entry points at it
	Line     uint64       `json:"line,omitempty"`     // of the first of them
}

// otherMods is how many mods are named that neither what broke first nor the worst
// names.
const otherMods = 3

// Verdict returns the verdict about a replay that has ended.
func (r *Replay) Verdict() *Verdict {
	causes := r.causes.list()
	first, worst, mute := r.brokeFirst(causes)
	v := &Verdict{Log: r.logSentences(), Mods: []VerdictMod{}, counts: r.counts()}
	b := &r.blind
	switch {
	case r.records == 0 && first == nil:
		v.State, v.What = StateEmpty, "The log has no record, so that it says nothing about the game."
	case first != nil && first.Disposition == event.Blocking:
		v.State, v.Since = StateBroken, first.First
		if b.now {
			v.Blind = b.last.From
		}
	case b.now:
		v.State, v.Since = StateBlind, b.last.From
		v.What = "Nothing broke as long as the log spoke. What came after that, nobody knows."
	case mute != nil && mute.Disposition == event.Blocking:
		v.State, v.Since = StateWasBlind, b.last.From
		v.What = "Nothing broke as long as the log spoke. What happened while it did not, nobody knows."
	case first != nil:
		v.State = StateComplaints
		v.What = "Nothing that stops the game was seen; some things do not work as they should."
	case r.unread != "" || r.end.Interrupted:
		v.State, v.What = StateUnread, "Nothing deserved attention as far as the log was read."
	case r.WentBlind():
		v.State, v.What = StateGaps, "Nothing deserved attention, but parts of the log are missing."
	default:
		v.State, v.What = StateHealthy, "Nothing deserved attention."
	}
	v.Headline = stateTitles[v.State]
	if v.Since > 0 {
		v.Headline += fmt.Sprintf(" since line %d", v.Since)
	}
	if v.Blind > 0 {
		v.Headline += fmt.Sprintf(" and blind since line %d", v.Blind)
	}
	if first == nil {
		return v
	}
	v.First = r.verdictCause(first)
	if v.What == "" {
		v.What = v.First.What
	}
	if worst.Severity > first.Severity {
		v.Worst = r.verdictCause(worst)
	}
	r.nameMods(v)
	return v
}

func (r *Replay) verdictCause(c *Cause) *VerdictCause {
	what, _ := r.explain(c)
	return &VerdictCause{Line: c.First, Disposition: c.Disposition, Rule: safetext.Text(c.Rule, 0), What: sentence(what), cause: c}
}

// brokeFirst returns, of causes in the order of their list, the one that came first
// among the most urgent, and the one that weighs most; and apart from them, since it
// is told by itself, the first of those by which the log went blind. Each may be nil.
func (r *Replay) brokeFirst(causes []*Cause) (first, worst, mute *Cause) {
	blinds := map[string]bool{}
	for _, span := range r.blind.spans {
		blinds[span.Rule] = true
	}
	for _, c := range causes {
		if blinds[c.Rule] {
			if mute == nil {
				mute = c
			}
			continue
		}
		if worst == nil { // the list begins with it
			worst = c
		}
		if first == nil || c.Disposition == first.Disposition && c.FirstItem.Cause.Seq < first.FirstItem.Cause.Seq {
			first = c
		}
	}
	return first, worst, mute
}

// nameMods fills in the mods.
func (r *Replay) nameMods(v *Verdict) {
	type tally struct {
		VerdictMod
		blocking uint64
	}
	byName := map[string]*tally{}
	for _, d := range dispositions {
		if !d.Urgent() {
			continue
		}
		for _, row := range r.tables[d].held() {
			for _, name := range row.Blame {
				t := byName[name]
				if t == nil {
					t = &tally{VerdictMod: VerdictMod{Name: safetext.Text(name, 0), By: byOther, Line: row.First}}
					byName[name] = t
				}
				t.Entries += row.Count
				t.Line = min(t.Line, row.First)
				if d == event.Blocking {
					t.blocking += row.Count
				}
			}
		}
	}
	named := func(c *VerdictCause, by string) {
		if c == nil {
			return
		}
		row := r.rowOf(c.cause)
		for _, name := range c.cause.FirstItem.Blame {
			if slices.ContainsFunc(v.Mods, func(m VerdictMod) bool { return m.Name == safetext.Text(name, 0) }) {
				continue
			}
			m := VerdictMod{Name: safetext.Text(name, 0), Entries: 1, Line: c.Line}
			if t := byName[name]; t != nil {
				m = t.VerdictMod
				delete(byName, name)
			}
			m.By = by
			if row != nil {
				m.Evidence = row.evidenceAgainst(name)
			}
			v.Mods = append(v.Mods, m)
		}
	}
	named(v.First, byFirst)
	named(v.Worst, byWorst)
	others := make([]*tally, 0, len(byName))
	for _, t := range byName {
		others = append(others, t)
	}
	slices.SortFunc(others, func(a, b *tally) int {
		return cmp.Or(
			cmp.Compare(b.blocking, a.blocking),
			cmp.Compare(b.Entries, a.Entries),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Name, b.Name),
		)
	})
	shown := min(len(others), otherMods)
	v.MoreMods = len(others) - shown
	for _, t := range others[:shown] {
		v.Mods = append(v.Mods, t.VerdictMod)
	}
}

// evidenceWords says what speaks against a mod.
var evidenceWords = map[blame.Kind]string{
	blame.Frame:    "its code is in the stack trace",
	blame.Title:    "the stack trace begins with its name",
	blame.Path:     "a file of it is named",
	blame.Named:    "the message names it",
	blame.Type:     "the message names its code",
	blame.Tag:      "the message begins with its name",
	blame.Patch:    "it changed code that is in the stack trace",
	blame.Assembly: "its code is mentioned in the stack trace",
}

// by returns the mods that something names.
func (v *Verdict) by(what string) []VerdictMod {
	var mods []VerdictMod
	for _, m := range v.Mods {
		if m.By == what {
			mods = append(mods, m)
		}
	}
	return mods
}

// accused joins the names of mods of which it may be either.
func accused(mods []VerdictMod, quote func(string) string) string {
	names := make([]string, len(mods))
	for i := range mods {
		names[i] = quote(mods[i].Name)
	}
	return strings.Join(names, " or ")
}

// cameFirst calls First by what it is.
func (v *Verdict) cameFirst() string {
	if v.First.Disposition == event.Blocking {
		return "what broke first"
	}
	return "the first complaint"
}

// because says what the first of mods is accused by, after a colon.
func because(mods []VerdictMod) string {
	if len(mods) == 0 || len(mods[0].Evidence) == 0 {
		return ""
	}
	return ": " + evidenceWords[mods[0].Evidence[0]]
}

// The sentences about mods. quote makes a name stand out.
//
// modAnswer says which mod it was.
func (v *Verdict) modAnswer(quote func(string) string) string {
	mods := v.by(byFirst)
	switch {
	case len(mods) > 0:
		return accused(mods, quote)
	case v.First == nil:
		return "None is named."
	}
	return "Not known: " + v.cameFirst() + " names no mod."
}

// modReason says what the answer rests on, "" where there is none.
func (v *Verdict) modReason() string {
	mods := v.by(byFirst)
	if len(mods) == 0 {
		return ""
	}
	return capital(v.cameFirst()) + " points there" + because(mods) + "."
}

// modOfWorst says whom the worst names, "" where it is nobody else.
func (v *Verdict) modOfWorst(quote func(string) string) string {
	mods := v.by(byWorst)
	if len(mods) == 0 {
		return ""
	}
	return "The worst points at " + accused(mods, quote) + because(mods) + "."
}

// named says how often a mod is named.
func (m *VerdictMod) named(quote func(string) string) string {
	return quote(m.Name) + " is named " + times(m.Entries)
}

// modSentences is all of that, one after the other.
func (v *Verdict) modSentences(quote func(string) string) []string {
	says := []string{v.modAnswer(quote)}
	if reason := v.modReason(); reason != "" {
		says[0] += ". " + reason
	}
	if s := v.modOfWorst(quote); s != "" {
		says = append(says, s)
	}
	others := v.by(byOther)
	if len(others) == 0 {
		return says
	}
	list := make([]string, 0, len(others)+1)
	for i := range others {
		list = append(list, fmt.Sprintf("%s (first at line %d)", others[i].named(quote), others[i].Line))
	}
	if v.MoreMods > 0 {
		list = append(list, fmt.Sprintf("and %d more", v.MoreMods))
	}
	return append(says, "Elsewhere "+strings.Join(list, ", ")+".")
}

// lead is the verdict in a few words: the headline, what it means where that is not
// told by what broke first, and the items.
func (v *Verdict) lead() string {
	s := v.Headline + "."
	if v.First == nil || v.What != v.First.What {
		s += " " + v.What
	}
	if v.counts != "" {
		s += " " + v.counts
	}
	return s
}

// place is what a cause is and where.
func (c *VerdictCause) place() string {
	return fmt.Sprintf("%s (line %d).", strings.TrimSuffix(c.What, "."), c.Line)
}

// counts counts the items, "" where there is none.
func (r *Replay) counts() string {
	blocking, advisory := r.causes.byDisposition[event.Blocking], r.causes.byDisposition[event.Advisory]
	var parts []string
	if blocking > 0 {
		s := count(blocking, "blocking item")
		switch n := uint64(r.end.Stats.Coalesce.OpenBlocking); n {
		case 0:
		case blocking:
			s += ", open at the end"
		default:
			s += fmt.Sprintf(", %d open at the end", n)
		}
		parts = append(parts, s)
	}
	if advisory > 0 {
		parts = append(parts, count(advisory, "advisory item"))
	}
	if parts == nil {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// logSentences says whether the log tells everything: first why it was not read to
// its end, then where it was blind, then what is missing; or that it is all there.
func (r *Replay) logSentences() []string {
	says := r.doubts()
	switch {
	case says != nil:
	case r.records == 0:
		return []string{"The log never spoke."}
	default:
		return []string{fmt.Sprintf("The log speaks to its end at line %d; nothing is known to be missing.", r.end.Lines)}
	}
	return says
}

// doubts says what makes the log tell less than all, nil where nothing is known to.
func (r *Replay) doubts() []string {
	var says []string
	switch {
	case r.end.Interrupted:
		says = append(says, fmt.Sprintf("Reading was interrupted after line %d: this is what was known by then.", r.end.Lines))
	case r.unread != "":
		says = append(says, fmt.Sprintf("The log could not be read to its end: %s.", r.unread))
	}
	if s := r.blind.sentence(); s != "" {
		says = append(says, s)
	}
	for _, m := range r.noticed() {
		says = append(says, m.sentence())
	}
	return says
}

// sentence says where the log stopped telling what happened, "" where it did
// not. What is missing at one point has a sentence of its own.
func (b *blindness) sentence() string {
	times, first, last := b.stretches, b.first, b.last
	switch {
	case times == 0:
		return ""
	case times == 1 && first.To == 0:
		return fmt.Sprintf("The log went blind at line %d and stayed so to its end: silence after that line says nothing.", first.From)
	case times == 1:
		return fmt.Sprintf("The log was blind from line %d to line %d.", first.From, first.To)
	case last.To == 0:
		return fmt.Sprintf("The log went blind %d times, first at line %d, and is so since line %d: silence after that line says nothing.", times, first.From, last.From)
	}
	return fmt.Sprintf("The log was blind %d times, first from line %d to line %d, last from line %d to line %d.", times, first.From, first.To, last.From, last.To)
}

// sentence says what is missing from a log.
func (m *Missing) sentence() string {
	where := fmt.Sprintf("at line %d", m.First)
	if m.Times > 1 {
		where = fmt.Sprintf("in %d places, lines %d to %d", m.Times, m.First, m.Last)
	}
	switch m.Status {
	case event.StatusHole:
		return fmt.Sprintf("%s missing %s.", verb(m.Amount, "byte is", "bytes are"), where)
	case event.StatusRunCut:
		return fmt.Sprintf("The game stopped writing repeats %s: counts are lower bounds.", where)
	case event.StatusTruncated:
		return fmt.Sprintf("A record is cut off %s.", where)
	case event.StatusRestarted:
		return fmt.Sprintf("The log starts anew %s.", where)
	}
	return fmt.Sprintf("Notice %q %s.", m.Status, where)
}
