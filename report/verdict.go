package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/event"
)

// How a game fared, as far as its log shows, the most urgent first.
const (
	stateBroken     = "broken"     // something blocks
	stateBlind      = "blind"      // nothing broke before the log went blind, and so it ended
	stateWasBlind   = "was_blind"  // the same, but logging resumed; or most of it is missing
	stateComplaints = "complaints" // nothing blocks, something is advisory

	// In the other states nothing deserved attention. Only one of them is health.
	stateUnread       = "unread"       // as far as the log was read
	stateGaps         = "gaps"         // and a part of the log is missing
	stateStarting     = "starting"     // and the log ends while the game starts
	stateUnrecognized = "unrecognized" // and nothing shows that a game wrote it
	stateHealthy      = "healthy"      // and the log is complete
	stateEmpty        = "empty"        // the log has no record, but perhaps the header of an upload
)

var stateTitles = map[string]string{
	stateBroken: "Broken", stateBlind: "Blind", stateWasBlind: "Blind for a while",
	stateComplaints: "Runs, with advisory problems",
	stateUnread:     "Not read to its end", stateGaps: "Healthy, with gaps", stateStarting: "Ends while the game starts",
	stateUnrecognized: "Not recognized as a game log", stateHealthy: "Healthy", stateEmpty: "Empty",
}

// Verdict answers what matters about a log: is this game healthy, since when not, what broke first, which
// mod, and is the log complete? It is made once, and every form of a report has its words. Its texts are escaped.
type Verdict struct {
	State    string `json:"state" jsonschema:"The state of the game, as far as the log shows it." enum:"broken,blind,was_blind,complaints,unread,gaps,starting,unrecognized,healthy,empty"`
	Headline string `json:"headline" jsonschema:"The state in words, with the line numbers below."`
	Since    uint64 `json:"sinceLine,omitempty" jsonschema:"The line of the first blocking problem; for a state about blindness, the line where that began."`
	Blind    uint64 `json:"blindSinceLine,omitempty" jsonschema:"If the game is broken and the log ends blind: the line where that began."`
	What     string `json:"what" jsonschema:"What the state means, or what the first problem is."`

	// First is the first cause of the highest disposition there is, other than that the log went blind.
	// Worst is one that weighs more. Before is what blocked last before that, if shortly: a game that crashes
	// has often logged why. Nil where there is none.
	First  *VerdictCause `json:"first,omitempty" jsonschema:"The first blocking problem or, without one, the first advisory one."`
	Worst  *VerdictCause `json:"worst,omitempty" jsonschema:"A problem that is more severe than the first."`
	Before *VerdictCause `json:"before,omitempty" jsonschema:"The blocking problem shortly before the worst."`

	// Mods are those that are named: by what broke first, by the worst, and then those that other urgent
	// entries name, by how much of that blocks and how much there is. MoreMods counts those beyond a few.
	Mods     []VerdictMod `json:"mods" jsonschema:"Mods that are named, the most relevant first."`
	MoreMods int          `json:"moreMods,omitempty" jsonschema:"How many more mods are named."`

	Log []string `json:"log" jsonschema:"Whether the log is complete, in sentences."`

	title     string // Headline without lines
	counts    string
	moreNamed bool     // MoreMods is a lower bound
	alike     uint64   // the line that names those by byAlike
	patched   []string // that changed code that what broke first ran through, where nothing else points at a mod
}

// VerdictCause is one cause of attention.
type VerdictCause struct {
	Line        uint64            `json:"line" jsonschema:"Its line."`
	Disposition event.Disposition `json:"disposition" jsonschema:"What was decided about it."`
	Rule        string            `json:"rule" jsonschema:"The rule that decided."`
	What        string            `json:"what" jsonschema:"What happened."`
	Says        string            `json:"says,omitempty" jsonschema:"The first line of its text."`

	cause *Cause // nil of Before
}

// The values of [VerdictMod].By.
const (
	byFirst = "first"
	byAlike = "alike" // by what the same rule decided in the same item
	byWorst = "worst"
	byOther = "other"
)

// VerdictMod is a mod that something urgent points at. That is no proof: every form shows what it
// rests on.
type VerdictMod struct {
	Name      string `json:"name" jsonschema:"Its name."`
	PackageID string `json:"packageId,omitempty" jsonschema:"Its package id, if known."`
	Link      string `json:"link,omitempty" jsonschema:"The address of its page in the Steam Workshop, if known."`

	By       string       `json:"by" jsonschema:"What names it: the first problem, a similar entry in the same item, the worst problem, or another entry." enum:"first,alike,worst,other"`
	Evidence []blame.Kind `json:"evidence,omitempty" jsonschema:"What points at it, the strongest first."`
	Entries  uint64       `json:"entries" jsonschema:"How many urgent entries point at it, at least."`
	Line     uint64       `json:"line,omitempty" jsonschema:"Line of the first of them."`

	atLeast bool
}

// otherMods is how many mods are named that neither what broke first nor the worst
// names.
const otherMods = 3

// verdict returns the verdict about a replay that has ended. The causes of d are causes, in the same order.
func (r *Replay) verdict(causes []*cause, d *Document, rows *rowIndex) *Verdict {
	shown := func(c *cause) *VerdictCause {
		of := &d.Causes[slices.Index(causes, c)]
		v := &VerdictCause{Line: c.First, Disposition: c.Disposition, Rule: of.Rule, What: sentence(of.Summary), cause: of}
		if samples := c.samples(); len(samples) > 0 && samples[0].FirstPos == c.First {
			v.Says = safe(samples[0].Message)
		}
		return v
	}
	first, worst, blinding := r.brokeFirst(causes)
	v := &Verdict{Log: r.logSentences(), Mods: []VerdictMod{}, counts: r.counts()}
	b := &r.blind
	switch {
	case r.silent() && first == nil:
		v.State, v.What = stateEmpty, r.silence()
	case first != nil && first.Disposition == event.Blocking:
		v.State, v.Since = stateBroken, first.First
		if r.brokeBefore(causes) {
			v.title = "Broken in an earlier run"
		}
		if b.now {
			v.Blind = b.last.From
		}
	case b.now:
		v.State, v.Since = stateBlind, b.last.From
		v.What = "Nothing broke before logging stopped. What happened after that is not known."
	case blinding != nil && blinding.Disposition == event.Blocking:
		v.State, v.Since = stateWasBlind, b.last.From
		v.What = "Nothing broke while the game was logging. What happened in between is not known."
	case r.mostlyMissing():
		v.State, v.Since = stateWasBlind, r.notices[event.StatusHole].First
		v.title = "Blind for most of the log"
		v.What = "The remaining part has no blocking problem. What the missing part reported is not known."
	case first != nil:
		v.State = stateComplaints
		if r.starting() {
			v.title = "Advisory problems while the game starts"
		}
		v.What = r.asFar("no blocking problem was found, but some things do not work as they should.")
	case r.unread != "" || r.end.Interrupted:
		v.State, v.What = stateUnread, "No problem was found in the part of the log that was read."
	case r.wentBlind():
		v.State, v.What = stateGaps, "No problem was found, but parts of the log are missing."
		if r.end.Headless {
			v.title, v.What = "The beginning is missing", "No problem was found in the remaining part of the log."
		}
	case r.starting():
		v.State, v.What = stateStarting, "No problem was found up to there. Whether the game finished starting is not known."
	case r.unrecognized():
		v.State, v.What = stateUnrecognized, "No problem was found, but nothing in the file shows that a game wrote it."
	default:
		v.State, v.What = stateHealthy, "No problem was found."
	}
	if v.title == "" {
		v.title = stateTitles[v.State]
	}
	v.Headline = v.title
	if v.Since > 0 {
		v.Headline += fmt.Sprintf(" since line %d", v.Since)
	}
	if v.Blind > 0 {
		v.Headline += fmt.Sprintf(" and blind since line %d", v.Blind)
	}
	if first == nil {
		return v
	}
	v.First = shown(first)
	if v.What == "" {
		v.What = v.First.What
	}
	if worst.Severity > first.Severity {
		v.Worst = shown(worst)
		v.Before = shortlyBefore(worst, first, causes, d.rules)
	} else {
		worst = nil
	}
	r.nameMods(v, first, worst, rows)
	return v
}

// shortly is within how many lines before a fault its reason is looked for.
const shortly = 200

// shortlyBefore returns what blocked last before worst, other than what broke first.
func shortlyBefore(worst, first *cause, causes []*cause, rules ruleTexts) *VerdictCause {
	var before *part
	for _, c := range causes {
		for _, it := range c.parts {
			switch {
			case it.disposition != event.Blocking || it.rule == first.Rule || it.rule == worst.Rule:
			case it.last >= worst.First || worst.First-it.last > shortly:
			case before == nil || it.last > before.last:
				before = it
			}
		}
	}
	if before == nil {
		return nil
	}
	what := rules.describe(before.rule, first.Severity).Summary
	return &VerdictCause{Line: before.last, Disposition: before.disposition, Rule: safe(before.rule), What: sentence(what)}
}

// brokeFirst returns, of causes in the order of their list, the one that came first
// among the most urgent, and the one that weighs most; and apart from them, since it
// is listed by itself, the first of those by which the log went blind. Each may be nil.
func (r *Replay) brokeFirst(causes []*cause) (first, worst, blinding *cause) {
	blinds := map[string]bool{}
	for _, span := range r.blind.spans {
		blinds[span.Rule] = true
	}
	for _, c := range causes {
		if blinds[c.Rule] {
			if blinding == nil {
				blinding = c
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
	return first, worst, blinding
}

// modTally is a mod with how much of what points at it blocks.
type modTally struct {
	VerdictMod
	blocking uint64
}

// tallyMods returns the mods that urgent entries name, by their keys, and whether there
// may be more.
func (r *Replay) tallyMods() (byKey map[string]*modTally, more bool) {
	byKey = map[string]*modTally{}
	for _, d := range dispositions {
		if !d.Urgent() {
			continue
		}
		for _, row := range r.tables[d].rows.all() {
			all, unasked := row.attributions()
			more = more || unasked
			for _, a := range all {
				t := byKey[blame.Key(a.name)]
				if t == nil {
					t = &modTally{VerdictMod: VerdictMod{By: byOther, Line: a.line}}
					byKey[blame.Key(a.name)] = t
				}
				t.Name = moreReadable(t.Name, safe(a.name))
				t.Entries += a.entries
				t.Line = min(t.Line, a.line)
				t.atLeast = t.atLeast || unasked
				if d == event.Blocking {
					t.blocking += a.entries
				}
			}
		}
	}
	return byKey, more
}

// nameMods fills in the mods. Worst may be nil.
func (r *Replay) nameMods(v *Verdict, first, worst *cause, rows *rowIndex) {
	var byKey map[string]*modTally
	byKey, v.moreNamed = r.tallyMods()
	named := func(by string, names []string, row *row, line uint64) {
		for _, name := range names {
			if slices.ContainsFunc(v.Mods, func(m VerdictMod) bool { return blame.Key(m.Name) == blame.Key(name) }) {
				continue
			}
			m := VerdictMod{Name: safe(name), Entries: 1, Line: line}
			if t := byKey[blame.Key(name)]; t != nil {
				m.Entries, m.Line, m.atLeast = t.Entries, t.Line, t.atLeast
				delete(byKey, blame.Key(name))
			}
			m.By = by
			if row != nil {
				m.Evidence = row.evidenceAgainst(name)
			}
			v.Mods = append(v.Mods, m)
		}
	}
	row := rows.of(r, first)
	named(byFirst, first.FirstItem.Blame, row, v.First.Line)
	if worst != nil {
		named(byWorst, worst.FirstItem.Blame, rows.of(r, worst), v.Worst.Line)
	}
	if len(v.by(byFirst)) == 0 {
		if p := first.alikeNames(); p != nil {
			v.alike = p.named
			named(byAlike, p.blame, p.names, p.named)
		}
		if len(v.by(byAlike)) == 0 && row != nil {
			for _, name := range row.patchers {
				v.patched = append(v.patched, safe(name))
			}
		}
	}
	others := slices.SortedFunc(maps.Values(byKey), func(a, b *modTally) int {
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
	for i := range v.Mods {
		v.Mods[i].identify(r.config.Mod)
	}
}

// identify adds what is known of a mod besides its name. The function may be nil.
func (m *VerdictMod) identify(known func(name string) (heed.Mod, bool)) {
	if known == nil {
		return
	}
	if of, ok := known(m.Name); ok {
		if m.Name != of.PackageID {
			m.PackageID = safe(of.PackageID)
		}
		m.Link = of.Link()
	}
}

// alikeNames returns what names a mod where c's first entry does not: what the same
// rule decided in the same item, as far as that names one mod and no other. It is nil
// where there is none. A default rule knows nothing about what it decides.
func (c *cause) alikeNames() *part {
	p := c.alike
	if _, _, isDefault := defaultRule(c.Rule); isDefault || p == nil || p.names == nil || p.differs ||
		p.names.mixed != nil || len(c.FirstItem.Blame) > 0 {
		return nil
	}
	return p
}

// moreReadable returns the one of two names of a mod that shows its words, and of
// those the one that does not depend on the order of a log.
func moreReadable(a, b string) string {
	if cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(b, a)) > 0 {
		return a
	}
	return b
}
