package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
)

// Explainer says why a rule set decides as it does: clause by clause, in the
// words and at the places of its files. Making one costs some 200 µs per rule,
// twice a [Compile]; asking it some 2 µs per rule, and memory for the answer. It
// is for people: the hot path has no use for it. It is immutable and safe for
// concurrent use.
type Explainer struct {
	set        *Set
	conditions map[*condition]*clause
}

// NewExplainer compiles the given files as [Compile] does, with the same
// errors, and keeps besides the set what explaining it takes.
func NewExplainer(files ...File) (*Explainer, error) {
	set, err := Compile(files...)
	if err != nil {
		return nil, err
	}
	// The set forgets how its conditions were written. They are parsed again,
	// rather than that every set carries what few ask for.
	errs := &collector{}
	docs := make([]*document, len(files))
	for i, f := range files {
		docs[i] = parseFile(newSource(i, f), f.Data, errs)
	}
	r := newResolver(errs)
	r.declare(docs)
	b := &clauseBuilder{r: r, macros: map[string]*clause{}}
	x := &Explainer{set: set, conditions: make(map[*condition]*clause, len(set.rules))}
	for _, rule := range set.rules {
		x.conditions[rule.cond] = b.whole(rule.cond)
		for i := range rule.Exceptions {
			c := rule.Exceptions[i].cond
			x.conditions[c] = b.whole(c)
		}
	}
	return x, nil
}

// Set returns the set that x explains.
func (x *Explainer) Set() *Set { return x.set }

// Explanation says why a set decided as it did about one entry.
type Explanation struct {
	// Outcome is what the set decides, exactly as [Evaluator.Evaluate] says.
	Outcome Outcome

	// Trials are the rules in the order in which they were tried, up to and
	// with the one that decided; all where a default did.
	Trials []Trial

	// Next is what the set would decide without the rule that decided; Outcome
	// again where a default did.
	Next Outcome
}

// Trial is what became of one rule on the way to a decision.
type Trial struct {
	Rule      *Rule
	Matched   bool
	Condition Clause // the whole condition

	// Exception is the exception that kept a rule whose condition holds from
	// matching, nil where none did.
	Exception *Clause
}

// ClauseOp tells how the value of a [Clause] follows from its parts.
type ClauseOp uint8

// The ways in which clauses are made.
const (
	ClauseLeaf  ClauseOp = iota // it has no parts: a comparison or the like
	ClauseAnd                   // true if all parts are
	ClauseOr                    // true if any part is
	ClauseNot                   // true if its one part is not
	ClauseMacro                 // a macro: that of its one part, which stands where the macro is defined
)

// Clause is a condition, or a part of one, with its value for one entry.
type Clause struct {
	Op   ClauseOp
	Text string // as written in the file

	// File, Line and Column say where Text begins, counting from 1.
	File         string
	Line, Column int

	Value bool
	Err   error // the clause could not be evaluated, which makes the condition false

	// Reads names the variables that a leaf reads.
	Reads []string

	// Item is the item of a list that made a leaf true, such as the one that a
	// text begins with; empty where the leaf compares with no list.
	Item string

	Parts []Clause

	negative bool // a leaf that says what is not so
}

// Decisive returns the smallest clauses that made c what it is: of a
// conjunction that is false, what made the first false part so; of a
// disjunction that is true, what made the first true part so; else all of
// them. A macro counts as one clause, and so does a negation; their parts tell
// more.
func (c *Clause) Decisive() []*Clause {
	switch c.Op {
	case ClauseAnd, ClauseOr:
		var all []*Clause
		for i := range c.Parts {
			p := &c.Parts[i]
			if p.Err != nil || p.Value == (c.Op == ClauseOr) {
				return p.Decisive() // the parts after it were not looked at
			}
			all = append(all, p.Decisive()...)
		}
		return all
	}
	return []*Clause{c}
}

// Touches reports whether something that c says of the text of the entry (its
// template, frames, message, stack, source, method or operation) is so, even if
// c as a whole is not true. Rules of which that holds are near to matching; that
// a text does not hold something is so of nearly every rule, and says nothing.
func (c *Clause) Touches() bool {
	switch c.Op {
	case ClauseNot:
		return false
	case ClauseLeaf:
		return c.Value && !c.negative && slices.ContainsFunc(c.Reads, func(v string) bool { return varOf(v)&textVars != 0 })
	}
	return slices.ContainsFunc(c.Parts, func(p Clause) bool { return p.Touches() })
}

// textVars are the variables that say what an entry is about.
const textVars = varTemplate | varFrames | varMessage | varStack | varSource | varMethod | varOperation

// Explain says why the set decides as it does about in, whose strings the
// explanation shares.
func (x *Explainer) Explain(in *Input) Explanation {
	ev := x.set.NewEvaluator()
	out := Explanation{Outcome: ev.Evaluate(in)}
	out.Next = out.Outcome
	if rule := out.Outcome.Rule; rule != nil {
		without := *x.set
		without.index = nil
		without.active = slices.DeleteFunc(slices.Clone(x.set.active), func(r *Rule) bool { return r == rule })
		out.Next = without.NewEvaluator().Evaluate(in)
	}
	defer ev.end()
	for _, r := range x.set.active {
		t := Trial{Rule: r, Condition: x.clause(ev, in, r, r.cond)}
		t.Matched = t.Condition.Value
		for i := 0; i < len(r.Exceptions) && t.Matched; i++ {
			if c := x.clause(ev, in, r, r.Exceptions[i].cond); c.Value {
				t.Matched, t.Exception = false, &c
			}
		}
		out.Trials = append(out.Trials, t)
		if r == out.Outcome.Rule {
			break
		}
	}
	return out
}

// clause explains one condition of rule r.
func (x *Explainer) clause(ev *Evaluator, in *Input, r *Rule, cond *condition) Clause {
	c := x.conditions[cond]
	out := c.explain(ev, in, r)
	if out.Value != ev.holds(in, r, &cond.code) {
		// What is shown must be what happened, whatever reading the condition a
		// second time made of it.
		whole := clause{text: c.text, at: c.at, code: cond.code}
		out = whole.explain(ev, in, r)
	}
	return out
}

// clause is a compiled part of a condition.
type clause struct {
	op   ClauseOp
	text string
	at   at

	// Of leaves only.
	code
	negative bool
	list     listTest

	parts []*clause
}

// listTest is a comparison of one variable with the items of a list.
type listTest struct {
	variable varSet // 0: none
	test     func(s, item string) bool
	items    []string
}

// explain evaluates c, and every part of it, for in.
func (c *clause) explain(ev *Evaluator, in *Input, r *Rule) Clause {
	out := Clause{
		Op: c.op, Text: c.text, File: c.at.src.name, Line: c.at.line, Column: c.at.col,
		Reads: c.reads.list(), negative: c.negative,
	}
	for _, p := range c.parts {
		out.Parts = append(out.Parts, p.explain(ev, in, r))
	}
	switch c.op {
	case ClauseLeaf:
		failures := ev.failures
		out.Value = ev.run(in, r, &c.code)
		if ev.failures != failures {
			out.Err = ev.failure
		}
		if out.Value && c.list.variable != 0 {
			out.Item = c.list.hit(ev)
		}
	case ClauseAnd, ClauseOr:
		out.Value = c.op == ClauseAnd
		for _, p := range out.Parts {
			if p.Err != nil || p.Value != out.Value {
				out.Value, out.Err = p.Value, p.Err
				break
			}
		}
	case ClauseNot:
		out.Err = out.Parts[0].Err
		out.Value = out.Err == nil && !out.Parts[0].Value
	case ClauseMacro:
		out.Value, out.Err = out.Parts[0].Value, out.Parts[0].Err
	}
	return out
}

// hit returns the first item for which the test holds. The variable is loaded.
func (l *listTest) hit(ev *Evaluator) string {
	text := ""
	switch l.variable {
	case varTemplate:
		text, _ = ev.vars.Template.(string)
	case varFrames:
		text, _ = ev.vars.Frames.(string)
	case varSource:
		text, _ = ev.vars.Source.(string)
	case varMethod:
		text, _ = ev.vars.Method.(string)
	case varMessage:
		text, _ = ev.vars.Message.(string)
	case varStack:
		text, _ = ev.vars.Stack.(string)
	}
	for _, item := range l.items {
		if l.test(text, item) {
			return item
		}
	}
	return ""
}

// clauseBuilder cuts conditions into clauses.
type clauseBuilder struct {
	r      *resolver
	macros map[string]*clause // nil while a macro is being cut, and where it cannot be
}

// whole returns the clauses of a condition; the condition as one clause where it
// cannot be cut.
func (b *clauseBuilder) whole(cond *condition) *clause {
	e := cond.expr
	if c := b.expression(e); c != nil {
		return c
	}
	c := &clause{text: strings.TrimSpace(e.text), at: e.at, code: cond.code}
	c.at.line, c.at.col = locate(e.at.src, e.node, 0)
	return c
}

// expression returns the clauses of an expression, nil where it cannot be cut.
func (b *clauseBuilder) expression(e *exprText) *clause {
	tokens, err := lexer.Lex(file.NewSource(e.text))
	if err != nil {
		return nil
	}
	if n := len(tokens); n > 0 && tokens[n-1].Kind == lexer.EOF {
		tokens = tokens[:n-1]
	}
	p := &clauseParser{b: b, expr: e, runes: []rune(e.text)}
	return p.parse(tokens)
}

// clauseParser cuts one expression at its tokens. Only what joins conditions is
// looked at: or binds weaker than and, and both weaker than anything else but
// "? :".
type clauseParser struct {
	b     *clauseBuilder
	expr  *exprText
	runes []rune
}

// parse returns the clauses that tokens stand for, nil where there is one that
// cannot be compiled by itself.
func (p *clauseParser) parse(tokens []lexer.Token) *clause {
	for inBrackets(tokens) {
		tokens = tokens[1 : len(tokens)-1]
	}
	if len(tokens) == 0 {
		return nil
	}
	ternary := atTop(tokens, func(t lexer.Token) bool { return t.Is(lexer.Operator, "?", "??", "?.", "if", "else", ";", "|") })
	if len(ternary) == 0 {
		for _, j := range []struct {
			op    ClauseOp
			words []string
		}{{ClauseOr, []string{"or", "||"}}, {ClauseAnd, []string{"and", "&&"}}} {
			cuts := atTop(tokens, func(t lexer.Token) bool { return t.Is(lexer.Operator, j.words...) })
			if len(cuts) > 0 {
				return p.join(j.op, tokens, cuts)
			}
		}
		if tokens[0].Is(lexer.Operator, "not", "!") && isPrimary(tokens[1:]) {
			part := p.parse(tokens[1:])
			if part == nil {
				return nil
			}
			c := p.clause(ClauseNot, tokens)
			c.parts = []*clause{part}
			return c
		}
		if len(tokens) == 1 && tokens[0].Kind == lexer.Identifier && p.b.r.macros[tokens[0].Value] != nil {
			if body := p.b.macro(tokens[0].Value); body != nil {
				c := p.clause(ClauseMacro, tokens)
				c.parts = []*clause{body}
				return c
			}
		}
	}
	return p.leaf(tokens)
}

// join returns the clause of the parts of tokens between cuts.
func (p *clauseParser) join(op ClauseOp, tokens []lexer.Token, cuts []int) *clause {
	c := p.clause(op, tokens)
	from := 0
	for _, to := range append(cuts, len(tokens)) {
		part := p.parse(tokens[from:to])
		if part == nil {
			return nil
		}
		c.parts = append(c.parts, part)
		from = to + 1
	}
	return c
}

// clause returns a clause without parts for what tokens were read from.
func (p *clauseParser) clause(op ClauseOp, tokens []lexer.Token) *clause {
	from, to := tokens[0].From, tokens[len(tokens)-1].To
	c := &clause{op: op, text: string(p.runes[from:to]), at: p.expr.at}
	c.at.line, c.at.col = locate(p.expr.at.src, p.expr.node, from)
	return c
}

// leaf compiles tokens as a condition of its own, nil where that fails.
func (p *clauseParser) leaf(tokens []lexer.Token) *clause {
	c := p.clause(ClauseLeaf, tokens)
	x := &expansion{r: p.b.r, expr: &exprText{text: c.text, node: p.expr.node, at: p.expr.at}}
	tree := x.expand()
	if tree == nil {
		return nil
	}
	var optimized ast.Node
	if c.program, optimized = x.program(copyTree(tree)); c.program == nil {
		return nil
	}
	c.reads = reads(optimized)
	switch n := tree.(type) {
	case *ast.UnaryNode:
		c.negative = n.Operator == "!"
	case *ast.BinaryNode:
		c.negative = n.Operator == "!="
	case *ast.CallNode:
		c.list = listTestOf(n)
	}
	return c
}

// listTestOf returns the comparison that a call is, where it is about a
// variable.
func listTestOf(n *ast.CallNode) listTest {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok || len(n.Arguments) != 2 {
		return listTest{}
	}
	variable, isVar := n.Arguments[0].(*ast.IdentifierNode)
	list, isList := n.Arguments[1].(*ast.ConstantNode)
	if !isVar || !isList {
		return listTest{}
	}
	items, _ := list.Value.([]string)
	return listTest{variable: varOf(variable.Value), test: listFuncs[callee.Value], items: items}
}

// macro returns the clauses of the macro of that name, nil where it cannot be
// cut. Macros do not run in circles: the set compiled.
func (b *clauseBuilder) macro(name string) *clause {
	c, known := b.macros[name]
	if !known {
		b.macros[name] = nil
		c = b.expression(&b.r.macros[name].decl.expr)
		b.macros[name] = c
	}
	return c
}

// atTop returns the indexes of the tokens outside of brackets that f picks.
func atTop(tokens []lexer.Token, f func(lexer.Token) bool) []int {
	var found []int
	depth := 0
	for i, t := range tokens {
		switch {
		case t.Is(lexer.Bracket, "(", "[", "{"):
			depth++
		case t.Kind == lexer.Bracket:
			depth--
		case depth == 0 && f(t):
			found = append(found, i)
		}
	}
	return found
}

// inBrackets reports whether one pair of parentheses holds all of tokens.
func inBrackets(tokens []lexer.Token) bool {
	return len(tokens) >= 2 && tokens[0].Is(lexer.Bracket, "(") && closing(tokens) == len(tokens)-1
}

// closing returns the index of the bracket that closes the one that tokens
// begin with.
func closing(tokens []lexer.Token) int {
	depth := 0
	for i, t := range tokens {
		switch {
		case t.Is(lexer.Bracket, "(", "[", "{"):
			depth++
		case t.Kind == lexer.Bracket:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// isPrimary reports whether tokens are one value to which a "not" before them
// belongs as a whole: a name, a call, or something in parentheses.
func isPrimary(tokens []lexer.Token) bool {
	switch {
	case len(tokens) == 0:
		return false
	case tokens[0].Kind == lexer.Identifier:
		return len(tokens) == 1 || tokens[1].Is(lexer.Bracket, "(") && closing(tokens[1:]) == len(tokens)-2
	}
	return inBrackets(tokens)
}
