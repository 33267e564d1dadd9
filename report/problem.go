package report

import (
	"cmp"
	"maps"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// problem is what one rule decided at one urgent disposition in one run of the game.
type problem struct {
	causeKey
	severity    event.Severity
	invalidates bool
	tags        []string
	times       uint64
	first, last uint64 // lines
	record      uint64 // number of the last in the run
	early       bool   // all of it came while the game started
	over, ends  bool   // no item that it caused is open; hardly anything follows in the run

	began, loudest *row // of its first entry, and of the entries that are most
}

// run is what was urgent from one start of the game to the next.
type run struct {
	problems map[causeKey]*problem
	latest   *problem // of the latest entry, and its row
	row      *row
	times    uint64 // blocking entries
	records  uint64
	ending   ending // of an earlier run
}

func (n *run) observe(o *heed.Outcome, line uint64, row *row) {
	n.records++
	d := &o.Decision
	if !d.Disposition.Urgent() {
		return
	}
	if row != n.row {
		n.row, n.latest = row, n.problem(d, line, row)
	}
	p := n.latest
	p.times++
	p.early = p.early && (o.Phase == phaseStart || o.Phase == phaseBoot)
	p.last, p.record = line, n.records
	p.severity = max(p.severity, d.Severity)
	p.invalidates = p.invalidates || d.Invalidates
	if row.Count > p.loudest.Count {
		p.loudest = row
	}
	if d.Disposition == event.Blocking {
		n.times++
	}
}

// problem returns the problem that a decision belongs to.
func (n *run) problem(d *event.Decision, line uint64, row *row) *problem {
	key := causeKey{d.Rule, d.Disposition}
	p := n.problems[key]
	if p == nil {
		if n.problems == nil {
			n.problems = map[causeKey]*problem{}
		}
		p = &problem{causeKey: key, tags: d.Tags, first: line, began: row, loudest: row, early: true}
		n.problems[key] = p
	}
	return p
}

// runBegins closes the run of the game that ends where another begins. What it decided is kept where something in
// it blocked: it may be what the log is read for.
func (r *Replay) runBegins(rec *capture.Record) {
	if rec.Kind != event.KindNotice || rec.Status != event.StatusRestarted {
		return
	}
	if r.run.times > 0 {
		r.run.ending = r.runs.before
		r.earlier = r.run
	}
	r.run = run{}
}

// told returns the run that the verdict is about: the last in which something blocked, or else the last.
func (r *Replay) told() (n *run, earlier bool) {
	if r.run.times == 0 && r.earlier.times > 0 {
		return &r.earlier, true
	}
	r.run.ending = r.ending
	return &r.run, false
}

// Tags of rules that a verdict reads; docs/rules.md lists them.
const (
	tagCrash  = "crash"  // the process ends
	tagHang   = "hang"   // the game does not go on, until a rule resolves this one
	tagBreaks = "breaks" // once is enough, but while the game starts: a load, a save or a map failed as a whole

	tagMemory, tagGraphics = "memory", "graphics" // used up or lost, before a crash
)

func (p *problem) tagged(tag string) bool { return slices.Contains(p.tags, tag) }

// harm is what a problem does to the player, beyond that it is there.
type harm uint8

const (
	word    harm = iota // a level, with no form of a fault
	trifle              // a few entries that pass
	recurs              // it comes back
	damages             // it changes the game for good: objects are gone, a load or a save failed
	stops               // the game does not go on
	crashes             // the process ended
)

// From recurring on, entries of one rule are no trifle, and from storm on, those of all that blocks.
const (
	recurring = 10
	storm     = 20
)

// harm returns what p does to the player. It is the one place where a trifle is told from what breaks play.
func (p *problem) harm() harm {
	kind, _, isDefault := defaultRule(p.rule)
	switch {
	case p.disposition != event.Blocking:
		return trifle
	case isDefault && kind == "log" && !p.ends:
		return word
	case p.tagged(tagCrash):
		return crashes
	case p.severity == event.SeverityFatal, p.tagged(tagHang) && !p.over:
		return stops
	case p.tagged(tagBreaks) && !p.early, p.invalidates && p.times >= recurring:
		return damages
	case p.times >= recurring:
		return recurs
	}
	return trifle
}

// breaks reports whether what blocks in a run breaks play, and does not merely show that something is wrong.
func breaks(blocking []*problem) bool {
	times := uint64(0)
	for _, p := range blocking {
		times += p.times
	}
	return times >= storm || slices.ContainsFunc(blocking, func(p *problem) bool { return p.harm() > trifle })
}

// of returns the problems of a disposition by which the log did not go blind, in order of their first entries.
func (n *run) of(d event.Disposition, blinds map[string]bool) []*problem {
	var found []*problem
	for _, p := range n.problems {
		if p.disposition == d && !blinds[p.rule] {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b *problem) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.rule, b.rule))
	})
	return found
}

// named is a problem with what it is named for.
type named struct {
	*problem
	as []string
}

// The values of [verdictCause].As.
const (
	asWorst = "worst"
	asMost  = "most"
	asFirst = "first"
	asAlso  = "also"
)

// toName returns the problems that a verdict names, at most three: the worst where others are less bad, the most
// frequent where it repeats, and the first; another one where these are all the same.
func toName(found []*problem) []named {
	if len(found) == 0 {
		return nil
	}
	frequent := func(a, b *problem) int { return cmp.Compare(a.times, b.times) }
	weight := func(a, b *problem) int {
		return cmp.Or(cmp.Compare(a.harm(), b.harm()), cmp.Compare(a.severity, b.severity), frequent(a, b))
	}
	worst, most := slices.MaxFunc(found, weight), slices.MaxFunc(found, frequent)
	var all []named
	name := func(p *problem, as string) {
		if i := slices.IndexFunc(all, func(n named) bool { return n.problem == p }); i >= 0 {
			all[i].as = append(all[i].as, as)
			return
		}
		all = append(all, named{p, []string{as}})
	}
	if slices.ContainsFunc(found, func(p *problem) bool { return p.harm() < worst.harm() }) {
		name(worst, asWorst)
	}
	if most.times > 1 {
		name(most, asMost)
	}
	name(found[0], asFirst)
	if len(all) == 1 && len(found) > 1 {
		others := slices.DeleteFunc(slices.Clone(found), func(p *problem) bool { return p == all[0].problem })
		name(slices.MaxFunc(others, weight), asAlso)
	}
	return all
}

// few is the share of a problem's entries, as one in so many, below which they do not stand for it.
const few = 20

// spokesman returns the row whose text stands for a problem: that of its first entry, unless it is few of all and
// the problem is not named as what came first.
func (n *named) spokesman() *row {
	if n.as[0] != asFirst && n.began.Count*few < n.times {
		return n.loudest
	}
	return n.began
}

// crashReason is the probable reason of a crash, and the rule that found it.
type crashReason struct {
	tags     []string
	id, says string
	rule     string
}

// crashReasons are the known ones, by the tags of what was logged, those that say more first.
var crashReasons = [...]crashReason{
	{tags: []string{tagMemory, "killed"}, id: "out_of_memory", says: "killed by the system because memory ran out"},
	{tags: []string{"killed"}, id: "killed", says: "killed from outside"},
	{tags: []string{tagMemory, tagGraphics}, id: "out_of_graphics_memory", says: "probably out of graphics memory"},
	{tags: []string{tagMemory}, id: "out_of_memory", says: "probably out of memory"},
	{tags: []string{"stack_overflow"}, id: "stack_overflow", says: "by a stack overflow"},
	{tags: []string{"graphics_driver"}, id: "graphics", says: "in the graphics driver"},
	{tags: []string{"native_module"}, id: "native_module", says: "in a native module"},
	{tags: []string{tagGraphics}, id: "graphics", says: "probably because the graphics device was lost"},
}

// crashReason returns the reason of the crash of a run, nil where it is not known: what the records of the crash
// state, or else what ran out or was lost last before it.
func (n *run) crashReason() *crashReason {
	problems := slices.SortedFunc(maps.Values(n.problems), func(a, b *problem) int { return cmp.Compare(b.last, a.last) })
	problems = slices.DeleteFunc(problems, func(p *problem) bool { return p.disposition != event.Blocking })
	for _, reason := range crashReasons {
		has := func(p *problem) bool { return p.tagged(tagCrash) && reason.explains(p) }
		if i := slices.IndexFunc(problems, has); i >= 0 {
			reason.rule = problems[i].rule
			return &reason
		}
	}
	for _, p := range problems {
		for _, reason := range crashReasons {
			if reason.explains(p) {
				reason.rule = p.rule
				return &reason
			}
		}
	}
	return nil
}

func (c *crashReason) explains(p *problem) bool {
	return !slices.ContainsFunc(c.tags, func(tag string) bool { return !p.tagged(tag) })
}
