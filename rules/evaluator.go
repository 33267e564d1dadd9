package rules

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/expr-lang/expr/vm"

	"github.com/heedlog/heed/event"
)

// Input is what rules see of an entry. Its strings are borrowed for the length
// of a call.
type Input struct {
	// Known from the signature.
	Template string // first line of the canonical template
	Frames   string // its other lines

	// Known, since decisions may be cached by it.
	Level    event.Level
	Kind     event.Kind
	Status   event.Status
	Source   string // of a log record; the method of an operation
	Phase    string
	ByCaller bool // an operation's own caller cancelled it: read by the defaults only

	// Different for each entry.
	Message   string
	Stack     string
	Operation string // id of the operation that the entry names itself
}

// method returns the variable of that name.
func (in *Input) method() string {
	if in.Kind == event.KindOperation {
		return in.Source
	}
	return ""
}

// Outcome is the decision of a rule set about an entry.
type Outcome struct {
	Decision event.Decision
	Rule     *Rule // nil where no rule matched and a default decided

	// SetsPhase is the phase from the next entry on, by Rule or by a rule with Continue; empty: no change.
	SetsPhase string

	// Advice is for the player, now, by Rule or by a rule with Continue; may be empty.
	Advice string
}

// The phases in which a game starts.
const phaseStart, phaseBoot = "start", "boot"

// Plan is the outcome of an entry as far as it follows from template, frames, level, source, kind, status, phase and
// canceller. It holds for every entry that has these in common. Plans are values, safe for concurrent use, and may be
// kept as long as the set; [Plan.Weight] returns their size. The zero Plan leaves all to the entry.
type Plan struct {
	known *Outcome // where none of asks matches; nil: not known
	asks  []*Rule  // that read the entry itself and may match
}

// Weight returns the size of what p holds besides itself, in units of some 24
// bytes; 0 for most plans.
func (p *Plan) Weight() int {
	if len(p.asks) > 0 {
		return 4 + len(p.asks)
	}
	o := p.known
	if o == nil || o.Rule == nil && len(o.Decision.Tags) == 0 && o.SetsPhase == "" ||
		o.Rule != nil && o == &o.Rule.outcomes[o.Decision.Severity] {
		return 0
	}
	return 4 + len(o.Decision.Tags)
}

// Known returns the outcome if p decides by itself, without the entry, and nil if
// it does not. The outcome is shared and read only.
func (p *Plan) Known() *Outcome {
	if len(p.asks) > 0 {
		return nil
	}
	return p.known
}

// Evaluator decides about entries by a [Set]. It holds the virtual machine that
// runs conditions, and counts their errors. It is not safe for concurrent use. Any
// number of evaluators may share a set.
type Evaluator struct {
	set     *Set
	machine vm.VM
	loaded  varSet // of the current input

	tried     []bool  // scratch: which rules of Set.active may match the current input
	continued []*Rule // matched rules with Continue, in order, of the last decision

	failures uint64
	failure  error // the last

	explains *explainer // made by the first Explain
}

// NewEvaluator returns an evaluator of s.
func (s *Set) NewEvaluator() *Evaluator {
	return &Evaluator{set: s, machine: newMachine(), tried: make([]bool, len(s.active))}
}

// Failures returns how often a condition ended in an error, such as an index out of range, which counts as no match. A
// condition runs less often than entries come, and so fails less often: plans are kept, and a condition does not run if
// the entry lacks a text that it needs.
func (ev *Evaluator) Failures() uint64 { return ev.failures }

// Plan returns the plan of all entries with the cacheable part of in; it does not read the rest of in. It runs the
// conditions that may hold, up to the first match or the first rule that reads the entry. It allocates an outcome if
// rules with continue give tags, phase or advice, and a few words for the conditions that run.
func (ev *Evaluator) Plan(in *Input) Plan {
	var p Plan
	p.known = ev.decide(in, &p)
	return p
}

// Decide decides about in as Evaluate does, by the plan of its cacheable part: it asks only the rules that read the
// entry, as long as none of them matches.
func (ev *Evaluator) Decide(p *Plan, in *Input) Outcome {
	if p.known == nil || slices.ContainsFunc(p.asks, func(r *Rule) bool { return ev.matches(in, r) }) {
		return *ev.decide(in, nil)
	}
	ev.end()
	return *p.known
}

// Evaluate decides about in. A rule set means to try every rule in order, without an index and without a plan; tests
// hold Plan and Evaluate to that.
func (ev *Evaluator) Evaluate(in *Input) Outcome { return *ev.decide(in, nil) }

// decide returns the outcome for in. For a plan it does not read the parts that differ between entries with one, adds
// the rules that read them and may match, and returns nil if these may change more than the decision.
func (ev *Evaluator) decide(in *Input, plan *Plan) *Outcome {
	defer ev.end()
	defer ev.setPhase(in, in.Phase)
	shape := shapeOf(in.Kind, in.Level, in.Status)
	var known given
	ev.continued = ev.continued[:0]
	ev.set.index.candidates(in, ev.tried)
	for i, mayMatch := range ev.tried {
		if !mayMatch {
			continue
		}
		switch r := ev.set.active[i]; {
		case r.possible&shape == 0:
		case r.PerEntry && plan != nil:
			if r.Continue || known.phase != "" {
				return nil
			}
			plan.asks = append(plan.asks, r)
		case !ev.matches(in, r):
		case r.Continue:
			known.add(r)
			ev.continued = append(ev.continued, r)
			if r.SetsPhase != "" {
				ev.setPhase(in, r.SetsPhase)
			}
		default:
			return known.to(&r.outcomes[r.severity(in.Level)], in.Phase)
		}
	}
	return known.to(ev.set.fallback(in), in.Phase)
}

// given is what rules with Continue give to the outcome of the rule that decides.
type given struct {
	tags   []string
	phase  string
	advice *Rule
}

// add adds what r gives.
func (g *given) add(r *Rule) {
	g.tags = merge(g.tags, r.Tags)
	g.phase = cmp.Or(r.SetsPhase, g.phase)
	if r.Advice != "" {
		g.advice = r
	}
}

// to returns o, or a copy with tags before its own, a phase and advice where g has them, or advice for the start of the
// game.
func (g *given) to(o *Outcome, phase string) *Outcome {
	advice := ""
	if r := cmp.Or(g.advice, o.Rule); r != nil {
		if advice = r.Advice; phase == phaseStart || phase == phaseBoot {
			advice = r.AdviceAtStart
		}
	}
	if len(g.tags) == 0 && g.phase == "" && advice == o.Advice {
		return o
	}
	c := *o
	c.Advice = advice
	c.Decision.Tags = merge(g.tags, o.Decision.Tags)
	c.SetsPhase = cmp.Or(o.SetsPhase, g.phase)
	return &c
}

// setPhase sets the phase of in for the rules that follow.
func (ev *Evaluator) setPhase(in *Input, phase string) {
	in.Phase = phase
	ev.loaded &^= varPhase
}

// merge returns tags followed by the tags of more that it does not have, in a new
// slice unless there is nothing to add.
func merge(tags, more []string) []string {
	out := slices.Clip(tags)
	for _, t := range more {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// end drops the borrowed strings.
func (ev *Evaluator) end() {
	for i := range variables {
		if constant&(1<<i) == 0 {
			ev.machine.Variables[i] = nil
		}
	}
	ev.loaded = 0
}

// matches reports whether r matches in: its condition holds, and none of its
// exceptions.
func (ev *Evaluator) matches(in *Input, r *Rule) bool {
	if !ev.holds(in, &r.cond.code) {
		return false
	}
	for _, c := range r.exceptions {
		if ev.holds(in, &c.code) {
			return false
		}
	}
	return true
}

// holds reports whether c holds for in.
func (ev *Evaluator) holds(in *Input, c *code) bool {
	if missing := c.reads &^ ev.loaded; missing != 0 {
		ev.load(in, missing)
	}
	got, err := ev.machine.Run(c.program, nil)
	if err != nil {
		ev.failures++
		ev.failure = err
		return false
	}
	return got == true
}

// load makes the given variables available to programs. A text that is there
// already costs no allocation.
func (ev *Evaluator) load(in *Input, vars varSet) {
	ev.loaded |= vars
	for ; vars != 0; vars &= vars - 1 {
		i := bits.TrailingZeros16(uint16(vars))
		text := values[i](in)
		if old, ok := ev.machine.Variables[i].(string); !ok || old != text {
			ev.machine.Variables[i] = text
		}
	}
}
