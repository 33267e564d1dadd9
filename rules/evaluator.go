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

// Plan is the part of a decision that follows from the template, frames, level,
// source, kind, status, phase, and canceller of an entry. It holds for every entry that has these
// in common. Plans are values, safe for concurrent use, and may be kept as long
// as the set; [Plan.Weight] returns their size. The zero Plan is not valid.
type Plan struct {
	final *Outcome // where no rule of steps matches
	steps []step
}

// step is a rule that has to be tried, or remembered, before a plan's final
// outcome holds. Invariant: a plan without a rule to try has no steps.
type step struct {
	rule    *Rule
	outcome *Outcome // of rule, with the tags that are known to come before it; nil with Continue
	matched bool     // a rule with Continue that is known to match: its tags and its phase come here
}

// Weight returns the size of what p holds besides itself, in units of some 24
// bytes; 0 for most plans.
func (p *Plan) Weight() int {
	w := len(p.steps)
	if r := p.final.Rule; r == nil && (len(p.final.Decision.Tags) > 0 || p.final.SetsPhase != "") ||
		r != nil && p.final != &r.outcomes[p.final.Decision.Severity] {
		w += 4 + len(p.final.Decision.Tags)
	}
	return w
}

// Known returns the outcome if p decides by itself, without the entry, and nil if
// it does not. The outcome is shared and read only.
func (p *Plan) Known() *Outcome {
	if len(p.steps) == 0 {
		return p.final
	}
	return nil
}

// Evaluator decides about entries by a [Set]. It holds the virtual machine that
// runs conditions, and counts their errors. It is not safe for concurrent use. Any
// number of evaluators may share a set.
type Evaluator struct {
	set     *Set
	machine vm.VM
	loaded  varSet // of the current input

	tried     ruleSet // scratch: rules of Set.active that may match the current input
	continued []*Rule // matched rules with Continue, in order, of the last decision

	failures uint64
	failure  error // the last

	explains *explainer // made by the first Explain
}

// NewEvaluator returns an evaluator of s.
func (s *Set) NewEvaluator() *Evaluator {
	return &Evaluator{set: s, machine: newMachine(), tried: newRuleSet(len(s.active))}
}

// Failures returns how often a condition ended in an error, such as an index out of range, which counts as no match. A
// condition runs less often than entries come, and so fails less often: plans are kept, and a condition does not run if
// the entry lacks a text that it needs.
func (ev *Evaluator) Failures() uint64 { return ev.failures }

// Plan returns the plan of all entries with the cacheable part of in; it does not read
// the rest of in. It runs the conditions that may
// hold and can be run, up to the first match. It allocates the contents of the
// plan, which most plans do not have, and a few words for the conditions that run.
func (ev *Evaluator) Plan(in *Input) Plan {
	defer ev.end()
	var (
		shape = shapeOf(in.Kind, in.Level, in.Status)
		known given // by rules with Continue that are known to match
		p     Plan
		try   bool // p.steps has a rule to try
	)
	defer ev.restore(in, in.Phase)
	ev.continued = ev.continued[:0]
	ev.set.index.candidates(in, ev.tried)
	for i := ev.tried.next(0); i >= 0; i = ev.tried.next(i + 1) {
		r := ev.set.active[i]
		if r.possible&shape == 0 {
			continue
		}
		if r.PerEntry {
			if !ev.mayMatch(in, r) {
				continue
			}
			st := step{rule: r}
			if !r.Continue {
				st.outcome = outcome(r, in, &known)
			}
			p.steps, try = append(p.steps, st), true
			continue
		}
		if !ev.matches(in, r) {
			continue
		}
		if r.Continue {
			known.add(ev, in, r)
			ev.continued = append(ev.continued, r)
			p.steps = append(p.steps, step{rule: r, matched: true})
			continue
		}
		p.final = outcome(r, in, &known)
		break
	}
	if p.final == nil {
		p.final = known.to(ev.set.fallback(in), in.Phase)
	}
	if !try {
		p.steps = nil
	}
	return p
}

// Decide returns the outcome for in, whose plan is p. A plan that is known
// allocates nothing; another allocates a few words for the conditions that run, and
// the tags that rules with Continue add for this entry alone.
func (ev *Evaluator) Decide(p *Plan, in *Input) Outcome {
	if len(p.steps) == 0 {
		return *p.final
	}
	defer ev.end()
	defer ev.restore(in, in.Phase)
	ev.continued = ev.continued[:0]
	late := false // a rule in continued was not known to match by the plan
	for i := range p.steps {
		st := &p.steps[i]
		switch r := st.rule; {
		case st.matched:
			ev.setPhase(in, r)
			ev.continued = append(ev.continued, r)
		case !ev.matches(in, r):
		case r.Continue:
			ev.continued = append(ev.continued, r)
			late = true
		default:
			return ev.tagged(st.outcome, late, in.Phase)
		}
	}
	return ev.tagged(p.final, late, in.Phase)
}

// tagged returns o, with what all rules in ev.continued give when o does not have it.
func (ev *Evaluator) tagged(o *Outcome, late bool, phase string) Outcome {
	if !late {
		return *o
	}
	var g given
	for _, r := range ev.continued {
		g.take(r)
	}
	return *g.to(o, phase)
}

// Evaluate decides about in, as [Evaluator.Plan] and [Evaluator.Decide] do together.
// A rule set means to try every rule in order, without an index and without a plan;
// tests hold the three functions to that.
func (ev *Evaluator) Evaluate(in *Input) Outcome {
	p := ev.Plan(in)
	return ev.Decide(&p, in)
}

// outcome returns what r decides about an entry after rules with Continue gave g.
func outcome(r *Rule, in *Input, g *given) *Outcome {
	return g.to(&r.outcomes[r.severity(in.Level)], in.Phase)
}

// given is what rules with Continue give to the outcome of the rule that decides.
type given struct {
	tags   []string
	phase  string
	advice *Rule
}

// take adds what r gives but for its phase.
func (g *given) take(r *Rule) {
	g.tags = merge(g.tags, r.Tags)
	if r.Advice != "" {
		g.advice = r
	}
}

// add adds what r gives about in, whose phase it sets for the rules after it.
func (g *given) add(ev *Evaluator, in *Input, r *Rule) {
	g.take(r)
	g.phase = cmp.Or(r.SetsPhase, g.phase)
	ev.setPhase(in, r)
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

// setPhase sets the phase of in to the phase of r, a rule with Continue that matched.
func (ev *Evaluator) setPhase(in *Input, r *Rule) {
	if r.SetsPhase != "" {
		ev.restore(in, r.SetsPhase)
	}
}

// restore sets the phase of in.
func (ev *Evaluator) restore(in *Input, phase string) {
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

// mayMatch reports whether r, which is PerEntry, may match an entry with a
// known cacheable part.
func (ev *Evaluator) mayMatch(in *Input, r *Rule) bool {
	switch c := r.cond; {
	case c.reads&perEntry == 0:
		if !ev.holds(in, &c.code) {
			return false
		}
	case c.guard != nil && !ev.holds(in, c.guard):
		return false
	}
	for _, c := range r.exceptions {
		if c.reads&perEntry == 0 && ev.holds(in, &c.code) {
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
