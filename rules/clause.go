package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"
)

// An explainer cuts the conditions of a set into clauses, at their words and
// where they stand in the files. The set itself keeps no clauses: few ask for
// them.
type explainer struct {
	resolver   *resolver
	macros     map[string]*clause // nil while a macro is being cut, and where it cannot be
	conditions map[*condition]*clause
}

// explainer returns the explainer of ev.
func (ev *Evaluator) explainer() *explainer {
	if x := ev.explains; x != nil {
		return x
	}
	r := newResolver(&collector{})
	r.lists, r.macros = ev.set.lists, ev.set.macros
	x := &explainer{resolver: r, macros: map[string]*clause{}, conditions: make(map[*condition]*clause, len(ev.set.rules))}
	for _, rule := range ev.set.active {
		x.conditions[rule.cond] = x.whole(rule.cond)
		for _, c := range rule.exceptions {
			x.conditions[c] = x.whole(c)
		}
	}
	ev.explains = x
	return x
}

// value returns the value of one condition of rule r, clause by clause.
func (x *explainer) value(ev *Evaluator, in *Input, r *Rule, cond *condition) value {
	c := x.conditions[cond]
	out := c.value(ev, in, r)
	if out.holds != ev.holds(in, r, &cond.code) {
		// What is shown must be what happened, whatever reading the condition a
		// second time made of it.
		whole := clause{text: c.text, at: c.at, code: cond.code}
		out = whole.value(ev, in, r)
	}
	return out
}

// clauseOp is how the value of a clause follows from its parts.
type clauseOp uint8

const (
	opLeaf  clauseOp = iota // it has no parts: a comparison or the like
	opAnd                   // true if all parts are
	opOr                    // true if any part is
	opNot                   // true if its one part is not
	opMacro                 // that of its one part, which stands where the macro is defined
)

// clause is a part of a condition.
type clause struct {
	op   clauseOp
	text string // as written in the file
	at   at

	// Of leaves only.
	code
	negative bool // it holds where something is not so
	list     listTest

	parts []*clause
}

// listTest is a comparison of one variable with the items of a list.
type listTest struct {
	text  func(in *Input) string // nil: none
	test  func(s, item string) bool
	items []string
}

// value evaluates c, and every part of it, for in.
func (c *clause) value(ev *Evaluator, in *Input, r *Rule) value {
	out := value{clause: c}
	for _, p := range c.parts {
		out.parts = append(out.parts, p.value(ev, in, r))
	}
	switch c.op {
	case opLeaf:
		failures := ev.failures
		out.holds = ev.holds(in, r, &c.code)
		if ev.failures != failures {
			out.err = ev.failure
		}
		if l := &c.list; out.holds && l.text != nil {
			text := l.text(in)
			if i := slices.IndexFunc(l.items, func(item string) bool { return l.test(text, item) }); i >= 0 {
				out.item = l.items[i]
			}
		}
	case opAnd, opOr:
		out.holds = c.op == opAnd
		for _, p := range out.parts {
			if p.err != nil || p.holds != out.holds {
				out.holds, out.err = p.holds, p.err
				break
			}
		}
	case opNot:
		out.err = out.parts[0].err
		out.holds = out.err == nil && !out.parts[0].holds
	case opMacro:
		out.holds, out.err = out.parts[0].holds, out.parts[0].err
	}
	return out
}

// whole returns the clauses of a condition; the condition as one clause where it
// cannot be cut.
func (x *explainer) whole(cond *condition) *clause {
	e := cond.expr
	if c := x.expression(e); c != nil {
		return c
	}
	return &clause{text: strings.TrimSpace(e.text), at: e.place(0), code: cond.code}
}

// expression returns the clauses of an expression, nil where it cannot be cut.
func (x *explainer) expression(e *exprText) *clause {
	tokens, err := lexer.Lex(file.NewSource(e.text))
	if err != nil {
		return nil
	}
	if n := len(tokens); n > 0 && tokens[n-1].Kind == lexer.EOF {
		tokens = tokens[:n-1]
	}
	p := &clauseParser{x: x, expr: e, runes: []rune(e.text)}
	return p.parse(tokens)
}

// clauseParser cuts one expression at its tokens. Only what joins conditions is
// looked at: or binds weaker than and, and both weaker than anything else but
// "? :".
type clauseParser struct {
	x     *explainer
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
	ternary := atTop(tokens, func(t lexer.Token) bool {
		return t.Is(lexer.Operator, "?", "??", "?.", "if", "else", ";",
			"|")
	})
	if len(ternary) == 0 {
		for _, j := range []struct {
			op    clauseOp
			words []string
		}{{opOr, []string{"or", "||"}}, {opAnd, []string{"and", "&&"}}} {
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
			c := p.clause(opNot, tokens)
			c.parts = []*clause{part}
			return c
		}
		if len(tokens) == 1 && tokens[0].Kind == lexer.Identifier && p.x.resolver.macros[tokens[0].Value] != nil {
			if body := p.x.macro(tokens[0].Value); body != nil {
				c := p.clause(opMacro, tokens)
				c.parts = []*clause{body}
				return c
			}
		}
	}
	return p.leaf(tokens)
}

// join returns the clause of the parts of tokens between cuts.
func (p *clauseParser) join(op clauseOp, tokens []lexer.Token, cuts []int) *clause {
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
func (p *clauseParser) clause(op clauseOp, tokens []lexer.Token) *clause {
	from, to := tokens[0].From, tokens[len(tokens)-1].To
	return &clause{op: op, text: string(p.runes[from:to]), at: p.expr.place(from)}
}

// leaf compiles tokens as a condition of its own, nil where that fails.
func (p *clauseParser) leaf(tokens []lexer.Token) *clause {
	c := p.clause(opLeaf, tokens)
	x := &expansion{r: p.x.resolver, expr: &exprText{text: c.text, node: p.expr.node, at: p.expr.at}}
	tree := x.expand()
	if tree == nil {
		return nil
	}
	if c.program, _ = x.program(copyTree(tree)); c.program == nil {
		return nil
	}
	c.reads = reads(tree)
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
	variable, ok := n.Arguments[0].(*ast.IdentifierNode)
	if !ok {
		return listTest{}
	}
	test := listFuncs[n.Callee.(*ast.IdentifierNode).Value]
	return listTest{text: varOf(variable.Value).value(), test: test, items: constants(n.Arguments[1])}
}

// macro returns the clauses of the macro of that name, nil where it cannot be
// cut. Macros do not run in circles: the set compiled.
func (x *explainer) macro(name string) *clause {
	c, known := x.macros[name]
	if !known {
		x.macros[name] = nil
		c = x.expression(&x.resolver.macros[name].decl.expr)
		x.macros[name] = c
	}
	return c
}

// atTop returns the indexes of the tokens outside of brackets that f picks.
func atTop(tokens []lexer.Token, f func(lexer.Token) bool) []int {
	var found []int
	for i := 0; i < len(tokens); i++ {
		if tokens[i].Kind == lexer.Bracket {
			i += closing(tokens[i:])
		} else if f(tokens[i]) {
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
