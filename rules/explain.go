package rules

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
	"github.com/heedlog/heed/signature"
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
	Escalates *escalates `json:"escalates,omitempty" jsonschema:"When repeats raise the disposition."`
	Escalated bool       `json:"escalated,omitempty" jsonschema:"Repeats raised the disposition."`

	SetsPhase string   `json:"setsPhase,omitempty" jsonschema:"The phase of the game from the next entry on."`
	Blinds    bool     `json:"blinds,omitempty" jsonschema:"Blind: from here on, the log is incomplete."`
	Resolves  []string `json:"resolves,omitempty" jsonschema:"The rules whose items it clears."`
}

// escalates is the JSON form of [event.Escalation].
type escalates struct {
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
	Close     bool     `json:"close" jsonschema:"A part of its condition is true because of words of the text."`
	AddsTags  []string `json:"addsTags,omitempty" jsonschema:"Of a rule with continue that matched: its tags."`
	Clauses   []Clause `json:"clauses" jsonschema:"The parts that are true, and the first that is not; of conditions joined by or, of the nearest."`
	Omitted   int      `json:"clausesNotShown,omitempty" jsonschema:"How many other such parts there are."`
	Exception *Clause  `json:"exception,omitempty" jsonschema:"The exception that prevented the match."`
}

// Clause is a part of a condition, with its value for the entry.
type Clause struct {
	Text  string            `json:"text" jsonschema:"The part in the rule language, on one line."`
	Place string            `json:"place" jsonschema:"File, line and column."`
	Holds bool              `json:"value" jsonschema:"Whether it is true."`
	Error string            `json:"error,omitempty" jsonschema:"Why it could not be evaluated."`
	Reads map[string]string `json:"reads,omitempty" jsonschema:"The short variables that it reads, and their values."`
	Words []string          `json:"words,omitempty" jsonschema:"Texts of the part that the entry has."`
}

const (
	maxClauses = 8 // of a trial
	maxWords   = 3 // of a clause
)

// An explainer cuts the conditions of a set into parts, each with its place in the file, when an explanation first
// needs them.
type explainer struct {
	resolver   *resolver
	conditions map[*condition][][]term
}

// term is a part of a condition that "and" joins to others.
type term struct {
	text string // on one line, in the rule language
	at   at
	tree ast.Node // expanded
	code
}

// Explain returns why the set decides as it does about in; Decision is what
// [Evaluator.Evaluate] returns. Of the rules that were tried it lists those that
// matched or came close, with all set every one. An evaluator keeps the parts into
// which it cuts conditions. For people: it is slow and allocates.
func (ev *Evaluator) Explain(in *Input, all bool) Explanation {
	if ev.explains == nil {
		ev.explains = &explainer{ev.set.resolver(), map[*condition][][]term{}}
	}
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
		if r.Disabled {
			continue
		}
		out.Tried++
		t := ev.trial(in, r)
		if all || t.Matched || t.Close {
			out.Trials = append(out.Trials, t)
		}
		if r == outcome.Rule {
			break
		}
		if r.Continue && r.SetsPhase != "" && t.Matched {
			ev.setPhase(in, r.SetsPhase)
		}
	}
	out.Omitted = out.Tried - len(out.Trials)
	return out
}

// AppendTemplate appends the canonical template of e to dst.
func AppendTemplate(dst []byte, n *signature.Normalizer, e *event.Entry) []byte {
	return signature.AppendSource(n.AppendTemplate(dst, logline.Of(e), e.Stack), logline.Source(e))
}

// InputOf returns the view that conditions have of an entry with a canonical template, in a phase.
func InputOf(e *event.Entry, template, phase string) Input {
	text, _ := signature.CutSource(template)
	head, frames, _ := strings.Cut(text, "\n")
	return Input{
		Template: head, Frames: frames, Level: e.Level, Kind: e.Kind, Status: e.Status, Source: e.Source, Phase: phase,
		ByCaller: e.ByCaller && e.Status == event.StatusCancelled,
		Message:  logline.Of(e), Stack: e.Stack, Operation: e.OperationID,
	}
}

// trial returns the report about r: the parts that made it match, or the parts of the nearest alternative, and the
// exception that kept it from matching.
func (ev *Evaluator) trial(in *Input, r *Rule) Trial {
	t := Trial{ID: r.ID, Place: r.Place, Overrides: r.Overrides, Matched: ev.matches(in, r), Clauses: []Clause{}}
	if r.Continue && t.Matched {
		t.AddsTags = r.Tags
	}
	nearest := -1
	x := ev.explains
	for _, parts := range x.alternatives(r.cond) {
		clauses, words, last := ev.clauses(in, parts)
		if last || words > nearest {
			t.Clauses, t.Close, nearest = clauses, words > 0, words
		}
		if last {
			break
		}
	}
	t.Omitted = max(0, len(t.Clauses)-maxClauses)
	t.Clauses = t.Clauses[:len(t.Clauses)-t.Omitted]
	for _, e := range r.exceptions {
		if !t.Matched && t.Exception == nil && ev.holds(in, &r.cond.code) && ev.holds(in, &e.code) {
			c := ev.clause(in, x.whole(e))
			t.Exception = &c
		}
	}
	return t
}

// clauses returns the first part that does not hold, then the parts that hold, how many of them hold because of words
// of the text, and whether alternatives after these are not looked at: all parts hold, or one cannot be evaluated.
func (ev *Evaluator) clauses(in *Input, parts []term) (shown []Clause, words int, last bool) {
	last = true
	for i := range parts {
		switch c := ev.clause(in, &parts[i]); {
		case c.Holds:
			shown = append(shown, c)
			words += min(len(c.Words), 1)
		case last:
			shown, last = slices.Insert(shown, 0, c), false
			if c.Error != "" {
				return shown, words, true
			}
		}
	}
	return shown, words, last
}

// clause evaluates a part.
func (ev *Evaluator) clause(in *Input, p *term) Clause {
	failures := ev.failures
	c := Clause{
		Text: p.text, Place: fmt.Sprintf("%s:%d:%d", p.at.src.name, p.at.line, p.at.col),
		Holds: ev.holds(in, &p.code), Words: wordsIn(p.tree, in),
	}
	if ev.failures != failures {
		c.Error, _, _ = strings.Cut(ev.failure.Error(), "\n")
	}
	for _, name := range (p.reads & (varLevel | varKind | varStatus | varPhase | varSource | varMethod)).list() {
		if c.Reads == nil {
			c.Reads = map[string]string{}
		}
		c.Reads[name] = varOf(name).value()(in)
	}
	return c
}

// wordsIn returns the texts in an expanded tree that a variable about the text of the entry has.
func wordsIn(tree ast.Node, in *Input) (found []string) {
	each(tree, func(n ast.Node) {
		op, args := relation(n)
		if _, ok := fits[op]; !ok && op != "matches" {
			return
		}
		variable, ok := args[0].(*ast.IdentifierNode)
		if !ok || varOf(variable.Value)&shortVars != 0 {
			return
		}
		text := varOf(variable.Value).value()(in)
		for _, item := range textsIn(args[1]) {
			if op == "matches" {
				item = regexp.MustCompile(item).FindString(text)
			}
			if len(found) < maxWords && item != "" && fits[op].has(text, item) && !slices.Contains(found, item) {
				found = append(found, item)
			}
		}
	})
	return found
}

// alternatives returns the parts of a condition, which holds if all parts of one of the alternatives hold. A condition
// with a part that does not compile by itself, since its type is known only when it runs, is one part.
func (x *explainer) alternatives(c *condition) [][]term {
	if known, ok := x.conditions[c]; ok {
		return known
	}
	parsed, err := parser.Parse(c.expr.text)
	if err != nil {
		panic("BUG: rules: a condition of a set does not parse: " + err.Error())
	}
	var out [][]term
	work := &expansion{r: x.resolver, expr: c.expr}
	operands(parsed.Node, "||", func(n ast.Node) {
		var parts []term
		operands(n, "&&", func(n ast.Node) { parts = append(parts, work.term(n)) })
		out = append(out, parts)
	})
	if work.failed {
		out = [][]term{{*x.whole(c)}}
	}
	x.conditions[c] = out
	return out
}

// term compiles a part of the expression as a condition of its own.
func (x *expansion) term(n ast.Node) term {
	from := n.Location().From
	each(n, func(n ast.Node) { from = min(from, n.Location().From) })
	p := term{text: n.String(), at: x.expr.place(from)}
	x.r.nodes = 0
	if p.tree = x.node(n); !x.failed {
		p.program = x.program(copyTree(p.tree))
		p.reads = reads(p.tree)
	}
	return p
}

// whole returns a condition as one part.
func (x *explainer) whole(c *condition) *term {
	return &term{strings.Join(strings.Fields(c.expr.text), " "), c.expr.place(0), x.resolver.expand(c.expr), c.code}
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
			d.Escalates = &escalates{e.After, e.Within.Seconds(), e.Entries, e.To, e.Severity}
		}
	}
	return d
}
