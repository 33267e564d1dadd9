package report

import (
	"cmp"
	"fmt"
	"slices"

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
	byKey := map[string]*tally{}
	for _, d := range dispositions {
		if !d.Urgent() {
			continue
		}
		for _, row := range r.tables[d].held() {
			for _, name := range row.Blame {
				t := byKey[blame.Key(name)]
				if t == nil {
					t = &tally{VerdictMod: VerdictMod{By: byOther, Line: row.First}}
					byKey[blame.Key(name)] = t
				}
				t.Name = moreReadable(t.Name, safetext.Text(name, 0))
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
			if slices.ContainsFunc(v.Mods, func(m VerdictMod) bool { return blame.Key(m.Name) == blame.Key(name) }) {
				continue
			}
			m := VerdictMod{Name: safetext.Text(name, 0), Entries: 1, Line: c.Line}
			if t := byKey[blame.Key(name)]; t != nil {
				m.Entries, m.Line = t.Entries, t.Line
				delete(byKey, blame.Key(name))
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
	others := make([]*tally, 0, len(byKey))
	for _, t := range byKey {
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

// moreReadable returns the one of two names of a mod that shows its words, and of
// those the one that does not depend on the order of a log.
func moreReadable(a, b string) string {
	if cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(b, a)) > 0 {
		return a
	}
	return b
}
