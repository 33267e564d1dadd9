package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
)

// Explanation is why a set decides as it does about an entry: rule by rule,
// in the words and at the places of the rule files. Its texts are copies
// from the files and the entry: they are as untrusted as the log.
type Explanation struct {
	Tried    int      `json:"rulesTried" jsonschema:"How many rules were tried, up to the one that decided."`
	Total    int      `json:"rulesTotal" jsonschema:"How many there are."`
	Trials   []Trial  `json:"rules" jsonschema:"The rules that were tried and are listed, in order."`
	Omitted  int      `json:"rulesNotShown" jsonschema:"How many that were tried are not listed."`
	Decision Details  `json:"decision" jsonschema:"What the rules decide."`
	Without  *Details `json:"without" jsonschema:"What they would decide without that rule; null where a default decided."`
}

// Details is a decision with the statements of its rule.
type Details struct {
	Rule        string            `json:"rule" jsonschema:"A rule of a file; default.… where none matched."`
	Place       string            `json:"place,omitempty" jsonschema:"File and line of the rule; none for a default."`
	Overrides   string            `json:"overrides,omitempty" jsonschema:"File and line of the rule that it overrides."`
	Disposition event.Disposition `json:"disposition" jsonschema:"What it results in."`
	Severity    event.Severity    `json:"severity" jsonschema:"Its severity."`
	Invalidates bool              `json:"invalidates" jsonschema:"The game's state may have changed."`
	Tags        []string          `json:"tags,omitempty" jsonschema:"Tags of the rule, and of rules with continue."`
	Summary     string            `json:"summary,omitempty" jsonschema:"What happened, from the rule file."`
	Why         string            `json:"why,omitempty" jsonschema:"The reason for the rule, from the rule file."`
	Advice      string            `json:"advice,omitempty" jsonschema:"What to do now, from the rule file."`

	// Escalates is when repetition raises the decision; Escalated that it did,
	// which only who counts entries knows: [Evaluator.Explain] leaves it false.
	Escalates *Escalates `json:"escalates,omitempty" jsonschema:"When repeats raise the disposition."`
	Escalated bool       `json:"escalated,omitempty" jsonschema:"Repeats raised the disposition."`

	SetsPhase string   `json:"setsPhase,omitempty" jsonschema:"The phase of the game from the next entry on."`
	Blinds    bool     `json:"blinds,omitempty" jsonschema:"Blind: from here on, the log is incomplete."`
	Resolves  []string `json:"resolves,omitempty" jsonschema:"The rules whose items it clears."`
}

// Escalates is the JSON form of [event.Escalation].
type Escalates struct {
	After    int               `json:"after" jsonschema:"The number of the first occurrence that is raised."`
	Seconds  float64           `json:"withinSeconds" jsonschema:"The time in which they must occur, in seconds."`
	Entries  int               `json:"withinEntries" jsonschema:"The same in entries, where no time is known."`
	To       event.Disposition `json:"to" jsonschema:"The raised disposition."`
	Severity event.Severity    `json:"severity" jsonschema:"The lowest severity then."`
}

// Trial is the result of trying one rule.
type Trial struct {
	ID        string   `json:"id" jsonschema:"The rule."`
	Place     string   `json:"place" jsonschema:"File and line."`
	Overrides string   `json:"overrides,omitempty" jsonschema:"File and line of the rule that it overrides."`
	Matched   bool     `json:"matched" jsonschema:"It matched."`
	Close     bool     `json:"close" jsonschema:"A part of its condition is true for the text."`
	AddsTags  []string `json:"addsTags,omitempty" jsonschema:"Of a rule with continue that matched: its tags."`
	Clauses   []Clause `json:"clauses" jsonschema:"The parts that decided the match, and other parts that are true."`
	Omitted   int      `json:"clausesNotShown,omitempty" jsonschema:"How many other such parts there are."`
	Exception *Clause  `json:"exception,omitempty" jsonschema:"The exception that prevented the match."`

	Alternatives int `json:"alternativesNotShown,omitempty" jsonschema:"Other ways to match, of which no part is true."`
}

// Clause is a part of a condition, with its value for the entry.
type Clause struct {
	Text     string            `json:"text" jsonschema:"The part in the rule language, on one line."`
	Place    string            `json:"place" jsonschema:"File, line and column."`
	Holds    bool              `json:"value" jsonschema:"Whether it is true."`
	Decisive bool              `json:"decisive" jsonschema:"It decided the value of the condition."`
	Error    string            `json:"error,omitempty" jsonschema:"Why it could not be evaluated."`
	Reads    map[string]string `json:"reads,omitempty" jsonschema:"The short variables that it reads, and their values."`
	Item     string            `json:"item,omitempty" jsonschema:"The item of a list that made it true."`
	Parts    []Clause          `json:"macro,omitempty" jsonschema:"The decisive parts of a macro or negation."`
}

// maxClauses bounds [Trial.Clauses].
const maxClauses = 8

// Explain returns why the set decides as it does about in; Decision is what
// [Evaluator.Evaluate] returns. Of the rules that were tried it lists those that
// matched or came close, with all set every one. The first call of an evaluator
// cuts the conditions of all rules into clauses, which it keeps. For people: it
// is slow and allocates.
func (ev *Evaluator) Explain(in *Input, all bool) Explanation {
	x := ev.explainer()
	outcome := ev.Evaluate(in)
	out := Explanation{Total: len(ev.set.rules), Trials: []Trial{}, Decision: details(&outcome)}
	if outcome.Rule != nil {
		without, never := *ev.set, *outcome.Rule
		never.possible = 0
		without.active = slices.Clone(ev.set.active)
		without.active[slices.Index(without.active, outcome.Rule)] = &never
		next := without.NewEvaluator().Evaluate(in)
		d := details(&next)
		out.Without = &d
	}
	defer ev.end()
	defer ev.setPhase(in, in.Phase)
	for _, r := range ev.set.active {
		out.Tried++
		condition := x.conditions[r.cond]
		condition.evaluate(ev, in)
		var exception *clause
		for i := 0; i < len(r.exceptions) && condition.holds && exception == nil; i++ {
			e := x.conditions[r.exceptions[i]]
			if e.evaluate(ev, in); e.holds {
				exception = e
			}
		}
		matched := condition.holds && exception == nil
		if all || matched || condition.touches() {
			out.Trials = append(out.Trials, trial(in, r, condition, exception))
		}
		if r == outcome.Rule {
			break
		}
		if r.Continue && r.SetsPhase != "" && matched {
			ev.setPhase(in, r.SetsPhase)
		}
	}
	out.Omitted = out.Tried - len(out.Trials)
	return out
}

// trial returns the report about r: the clauses that made it match, or how much of its
// condition held and the exception that kept it from matching.
func trial(in *Input, r *Rule, condition, exception *clause) Trial {
	t := Trial{
		ID: r.ID, Place: r.Place, Overrides: r.Overrides,
		Matched: condition.holds && exception == nil, Close: condition.touches(), Clauses: []Clause{},
	}
	if exception != nil {
		c := exception.describe(in)
		t.Exception = &c
	}
	if r.Continue && t.Matched {
		t.AddsTags = r.Tags
	}
	decisive := condition.decisive()
	shown := decisive
	if !condition.holds {
		shown, t.Alternatives = condition.nearest()
	}
	t.Omitted = max(0, len(shown)-maxClauses)
	for _, v := range shown[:len(shown)-t.Omitted] {
		c := v.describe(in)
		c.Decisive = slices.Contains(decisive, v)
		t.Clauses = append(t.Clauses, c)
	}
	return t
}

func details(o *Outcome) Details {
	d := Details{
		Rule: o.Decision.Rule, Disposition: o.Decision.Disposition, Severity: o.Decision.Severity,
		Invalidates: o.Decision.Invalidates, Tags: o.Decision.Tags, SetsPhase: o.SetsPhase,
		Advice: o.Advice,
	}
	if r := o.Rule; r != nil {
		d.Place, d.Overrides, d.Summary, d.Why = r.Place, r.Overrides, r.Summary, r.Why
		d.Blinds, d.Resolves = r.Blinds, r.Resolves
		if e := r.Escalate; e != nil {
			d.Escalates = &Escalates{e.After, e.Within.Seconds(), e.Entries, e.To, e.Severity}
		}
	}
	return d
}

// decisive returns the smallest clauses that decided c. They come from the first false
// part of a conjunction that is false, from the first true part of a disjunction that
// is true, and else from all parts. A macro counts as one clause, and so does a
// negation.
func (c *clause) decisive() []*clause {
	if c.op != opAnd && c.op != opOr {
		return []*clause{c}
	}
	var all []*clause
	for _, p := range c.parts {
		if p.err != nil || p.holds == (c.op == opOr) {
			return p.decisive() // the parts after it were not looked at
		}
		all = append(all, p.decisive()...)
	}
	return all
}

// nearest returns the clauses that show how much of c, which is false, holds: all parts
// of a conjunction; of alternatives the nearest and the number of the others, or all
// if none is near.
func (c *clause) nearest() (clauses []*clause, others int) {
	if c.holds || c.op != opAnd && c.op != opOr {
		return c.decisive(), 0
	}
	for _, p := range c.parts {
		if c.op == opOr && !p.touches() {
			others++
			continue
		}
		more, n := p.nearest()
		clauses, others = append(clauses, more...), others+n
	}
	if clauses == nil {
		return c.decisive(), 0
	}
	return clauses, others
}

// touches reports whether a part of c about the texts of an entry holds, even if
// c as a whole does not: the rule came close to matching. That a text does not
// contain something holds for nearly every rule, and does not count.
func (c *clause) touches() bool {
	switch c.op {
	case opNot:
		return false
	case opLeaf:
		return c.holds && !c.negative && c.reads&textVars != 0
	}
	return slices.ContainsFunc(c.parts, func(p *clause) bool { return p.touches() })
}

// textVars are the variables about the texts of an entry.
const textVars = varTemplate | varFrames | varMessage | varStack | varSource | varMethod | varOperation

// describe returns the report about c.
func (c *clause) describe(in *Input) Clause {
	out := Clause{
		Text: c.text, Place: fmt.Sprintf("%s:%d:%d", c.at.src.name, c.at.line, c.at.col), Holds: c.holds,
		Item: c.item,
	}
	if c.err != nil {
		out.Error, _, _ = strings.Cut(c.err.Error(), "\n")
	}
	for _, name := range (c.reads & (varLevel | varKind | varStatus | varPhase | varSource | varMethod)).list() {
		if out.Reads == nil {
			out.Reads = map[string]string{}
		}
		out.Reads[name] = varOf(name).value()(in)
	}
	var inner []*clause
	switch c.op {
	case opMacro:
		inner = c.parts[0].decisive()
	case opNot: // the negated part, unless it is no more than the clause itself
		if p := c.parts[0]; p.op != opLeaf || p.item != "" || p.reads != 0 && p.holds {
			inner = p.decisive()
		}
	}
	for _, p := range inner {
		out.Parts = append(out.Parts, p.describe(in))
	}
	return out
}
