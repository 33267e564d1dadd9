package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

// problem has the entries of one rule at one urgent disposition in one run of the game. Positions are lines.
type problem struct {
	heed.Member
	tags   []string
	record uint64 // number of the last in the run

	prefixes map[string]*prefix // by how the name in an entry begins, of rules with [tagNames]

	filled *row   // its group that filled the log
	share  uint64 // of that group, in percent
}

// run has the urgent entries from one start of the game to the next.
type run struct {
	problems map[causeKey]*problem
	times    uint64 // blocking entries
	records  uint64
	limit    stretch // the latest before the game stopped writing its log
	ending   ending
	opening  opening
	from     uint64 // line at which it begins, 0 for the first in a log
	before   ending // how the run before it ended
}

// observe adds a record at a line. Its text came first at another line.
func (n *run) observe(rec *capture.Record, o *heed.Outcome, line, first uint64) {
	n.records++
	known := n.ending.crash
	n.ending.observe(rec, o, first)
	n.opening.observe(rec, o)
	d := &o.Decision
	if !d.Disposition.Urgent() {
		return
	}
	p := n.problem(d, line)
	if !known || p.Last < n.ending.line || !p.ends() { // else it is the same crash
		p.Entries++
	}
	p.Early = p.Early && (o.Phase == phaseStart || o.Phase == phaseBoot)
	p.Last, p.record = line, n.records
	p.Severity = max(p.Severity, d.Severity)
	p.Invalidates = p.Invalidates || d.Invalidates
	if p.tagged(tagNames) {
		p.learnName(rec.Message)
	}
	if d.Disposition == event.Blocking {
		n.times++
	}
}

// problem returns the problem that a decision belongs to.
func (n *run) problem(d *event.Decision, line uint64) *problem {
	key := causeKey{d.Rule, d.Disposition}
	p := n.problems[key]
	if p == nil {
		if n.problems == nil {
			n.problems = map[causeKey]*problem{}
		}
		p = &problem{
			Member: heed.Member{Rule: d.Rule, Disposition: d.Disposition, First: line, Early: true}, tags: d.Tags,
			prefixes: map[string]*prefix{},
		}
		n.problems[key] = p
	}
	return p
}

// joinEscalated makes one problem of the entries of a rule before and after repetition made it weigh more.
func (n *run) joinEscalated() {
	for key, p := range n.problems {
		worse := n.problems[causeKey{key.rule, event.Blocking}]
		if key.disposition != event.Advisory || worse == nil {
			continue
		}
		worse.Join(&p.Member)
		delete(n.problems, key)
	}
}

// ends reports whether entries of the problem are words about the end of the game, and not about a reason of it.
func (p *problem) ends() bool {
	return p.tagged(tagCrash) || p.Severity == event.SeverityFatal && !p.tagged(tagMemory) && !p.tagged(tagGraphics)
}

// joinCrash makes one problem of all that reports the crash of a run, in the words of the rule that knows its reason,
// or else of the first that calls it a crash.
func (n *run) joinCrash() {
	var crash *problem
	all := n.blocking()
	slices.SortStableFunc(all, func(a, b *problem) int {
		return cmp.Or(cmp.Compare(a.vagueness(), b.vagueness()), cmp.Compare(a.First, b.First))
	})
	for _, p := range all {
		switch {
		case !n.ending.crash || !p.ends() || p.First < n.ending.line:
		case crash == nil:
			crash, p.Entries = p, 1
		default:
			crash.Join(&p.Member)
			crash.Entries, crash.record = 1, max(crash.record, p.record)
			delete(n.problems, causeKey{p.Rule, p.Disposition})
		}
	}
}

// blocking returns the blocking problems of a run: first those that report a crash with its reason, then without one.
func (n *run) blocking() []*problem {
	all := slices.Collect(maps.Values(n.problems))
	all = slices.DeleteFunc(all, func(p *problem) bool { return p.Disposition != event.Blocking })
	slices.SortFunc(all, func(a, b *problem) int {
		return cmp.Or(cmp.Compare(a.vagueness(), b.vagueness()), cmp.Compare(b.Last, a.Last))
	})
	return all
}

// runBegins closes the run of the game that ends at a line, where another begins. A run with blocking entries is kept:
// the log may be read for them.
func (r *Replay) runBegins(line uint64) {
	if r.run.times > 0 {
		r.earlier = r.run
	}
	r.run = run{from: line, before: r.run.ending}
}

// judged returns the run that the verdict is about: the last with blocking entries, or else the last.
func (r *Replay) judged() (n *run, earlier bool) {
	if r.run.times == 0 && r.earlier.times > 0 {
		return &r.earlier, true
	}
	return &r.run, false
}

// Tags of rules that a verdict reads, besides those that weigh; docs/rules.md lists them.
const (
	tagCrash = "crash" // the process ends

	tagMemory, tagGraphics = "memory", "graphics" // used up or lost, before a crash

	tagNames = "names" // of definitions, which may begin with a prefix of their mod
)

// The bounds of the prefixes of a problem, and how many names with a prefix are many.
const (
	maxPrefixes = 64
	maxPrefix   = 32  // bytes
	maxRest     = 256 // bytes of a name after it
	manyNames   = 3
)

// prefix counts the entries with a name that begins alike.
type prefix struct {
	entries uint64
	names   []string // manyNames at most
}

// learnName counts an entry by the first word of its first line with an underscore: SomeMod_Press begins with SomeMod_.
func (p *problem) learnName(message string) {
	head, _, _ := strings.Cut(message, "\n")
	for word := range strings.FieldsFuncSeq(head, func(r rune) bool { return strings.ContainsRune(" '\"()[]<>=,;:", r) }) {
		mod, name, found := strings.Cut(word, "_")
		if !found || mod == "" || name == "" || len(mod) > maxPrefix || len(name) > maxRest {
			continue
		}
		known := p.prefixes[mod]
		if known == nil {
			if len(p.prefixes) == maxPrefixes {
				return
			}
			known = &prefix{}
			p.prefixes[strings.Clone(mod)] = known
		}
		known.entries++
		if len(known.names) < manyNames && !slices.Contains(known.names, name) {
			known.names = append(known.names, strings.Clone(name))
		}
		return
	}
}

// shared returns the prefix of most entries of the problem, "" if they share none or are not many.
func (p *problem) shared() string {
	for mod, known := range p.prefixes {
		if 2*known.entries > p.Entries && len(known.names) == manyNames {
			return mod + "_"
		}
	}
	return ""
}

func (p *problem) tagged(tag string) bool { return slices.Contains(p.tags, tag) }

// storm is the number of blocking entries from which on they break play, by any rule.
const storm = 20

// breaks reports whether what blocks in a run breaks play, and does not merely show that something is wrong.
func breaks(blocking []*heed.Member) bool {
	times := uint64(0)
	for _, p := range blocking {
		times += p.Entries
	}
	return times >= storm || slices.ContainsFunc(blocking, func(m *heed.Member) bool { return m.Harm() > 0 })
}

// weigh sets the effects of a problem once the run has ended. A level alone weighs more if hardly any record follows.
func (n *run) weigh(p *problem, c *causes) {
	ends := n.records-p.record <= aftermath && p.Disposition == event.Blocking
	p.Over = !c.isOpen(p.Rule)
	decided := event.Decision{Rule: p.Rule, Tags: p.tags}
	if ends {
		decided.Rule = ""
	}
	p.Effects = coalesce.EffectsOf(&decided)
}

// stretch is a part of a log in which a phase of the game lasts and the game writes: a limit counts from its beginning.
type stretch struct {
	number       int
	phase        string
	records, top uint64
	most         *row // of all dispositions, with the top of entries
}

func (s *stretch) observe(o *heed.Outcome, row *row, begins bool) {
	if begins || s.number == 0 || o.Phase != s.phase {
		*s = stretch{number: s.number + 1, phase: o.Phase}
	}
	if row.stretch != s.number {
		row.stretch, row.recent = s.number, 0
	}
	s.records++
	if row.recent++; row.recent > s.top {
		s.most, s.top = row, row.recent
	}
}

// filler returns the problem of the group, of any disposition, that filled the log of a run until the game stopped
// writing it; nil if the game did not, or no group has much of the log.
func (r *Replay) filler(n *run) *problem {
	s := &n.limit
	if s.top < flood || 100*s.top < considerable*s.records {
		return nil
	}
	for _, d := range dispositions {
		row := r.tables[d].byKey[rowKey{r.config.Group(s.most.group), s.most.Rule}]
		if row == nil {
			continue
		}
		p := n.problems[causeKey{row.Rule, d}]
		if p == nil {
			p = &problem{Member: heed.Member{
				Rule: row.Rule, Disposition: d, Severity: row.Severity, Entries: row.Count, First: row.First, Last: row.Last,
			}}
		}
		p.filled, p.share = row, 100*s.top/s.records
		return p
	}
	return nil
}

// crashReason is the probable reason of a crash.
type crashReason struct {
	tags     []string
	id, says string
}

// crashReasons are the known reasons, by the tags of the records, the more exact ones first.
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

// crashReason returns the problem that shows the reason of the crash of a run, nil for none: in its own records,
// or else the last shortage or loss before it.
func (n *run) crashReason() *problem {
	all := n.blocking()
	if i := slices.IndexFunc(all, func(p *problem) bool { return p.reason() >= 0 }); i >= 0 {
		return all[i]
	}
	return nil
}

// reason returns the index of the first reason of a crash that a problem shows, -1 for none.
func (p *problem) reason() int {
	lacks := func(tag string) bool { return !p.tagged(tag) }
	return slices.IndexFunc(crashReasons[:], func(c crashReason) bool { return !slices.ContainsFunc(c.tags, lacks) })
}

// vagueness orders problems by how exactly they report a crash: with the reason, without one, or not at all.
func (p *problem) vagueness() int {
	switch i := p.reason(); {
	case !p.tagged(tagCrash):
		return len(crashReasons) + 1
	case i < 0:
		return len(crashReasons)
	default:
		return i
	}
}
