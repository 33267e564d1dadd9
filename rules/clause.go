package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// An explainer cuts the conditions of a set into clauses, each with its place in the file. The set itself keeps no
// clauses: few ask for them.
type explainer struct {
	resolver   *resolver
	macros     map[string]*clause // nil where it cannot be cut
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

// clauseOp is how the value of a clause follows from its parts.
type clauseOp uint8

const (
	opLeaf  clauseOp = iota // it has no parts, as a comparison
	opAnd                   // true if all parts are
	opOr                    // true if any part is
	opNot                   // true if its one part is not
	opMacro                 // the value of its one part, which is in the definition of the macro
)

// clause is a part of a condition, with its value for the entry of the latest evaluate.
type clause struct {
	op   clauseOp
	text string // on one line, in the rule language
	at   at

	// Of leaves only.
	code
	negative bool                   // it holds where something is not so
	first    func(in *Input) string // of a comparison with a list, the first item for which it holds; nil for none

	parts []*clause

	holds bool
	err   error  // it could not be evaluated, which makes the condition false
	item  string // of a list, that made it hold
}

// evaluate evaluates c, and every part of it, for in.
func (c *clause) evaluate(ev *Evaluator, in *Input) {
	for _, p := range c.parts {
		p.evaluate(ev, in)
	}
	c.err, c.item = nil, ""
	switch c.op {
	case opLeaf:
		failures := ev.failures
		c.holds = ev.holds(in, &c.code)
		if ev.failures != failures {
			c.err = ev.failure
		}
		if c.holds && c.first != nil {
			c.item = c.first(in)
		}
	case opAnd, opOr:
		c.holds = c.op == opAnd
		for _, p := range c.parts {
			if p.err != nil || p.holds != c.holds {
				c.holds, c.err = p.holds, p.err
				break
			}
		}
	case opNot:
		c.err = c.parts[0].err
		c.holds = c.err == nil && !c.parts[0].holds
	case opMacro:
		c.holds, c.err = c.parts[0].holds, c.parts[0].err
	}
}

// whole returns the clauses of a condition; the condition as one clause where it cannot be cut.
func (x *explainer) whole(cond *condition) *clause {
	if c := x.expression(cond.expr); c != nil {
		return c
	}
	return &clause{text: strings.Join(strings.Fields(cond.expr.text), " "), at: cond.expr.place(0), code: cond.code}
}

// expression returns the clauses of an expression of the set, nil where a part does not compile by itself: its type is
// known only when it runs.
func (x *explainer) expression(e *exprText) *clause {
	parsed, err := parser.Parse(e.text)
	if err != nil {
		panic("BUG: rules: a condition of a set does not parse: " + err.Error())
	}
	p := &clauseCutter{x: x, expr: &expansion{r: x.resolver, expr: e}}
	if c := p.cut(parsed.Node); !p.expr.failed {
		return c
	}
	return nil
}

// clauseCutter cuts one expression where its parts are joined.
type clauseCutter struct {
	x    *explainer
	expr *expansion
}

// cut returns the clauses of a part of the expression.
func (p *clauseCutter) cut(n ast.Node) *clause {
	from := n.Location().From
	each(n, func(n ast.Node) { from = min(from, n.Location().From) })
	c := &clause{text: n.String(), at: p.expr.expr.place(from)}
	switch n := n.(type) {
	case *ast.BinaryNode:
		switch cmp.Or(spelled[n.Operator], n.Operator) {
		case "&&":
			c.op = opAnd
		case "||":
			c.op = opOr
		default:
			return p.leaf(c, n)
		}
		for _, side := range []ast.Node{n.Left, n.Right} {
			if part := p.cut(side); part.op == c.op {
				c.parts = append(c.parts, part.parts...)
			} else {
				c.parts = append(c.parts, part)
			}
		}
		return c
	case *ast.UnaryNode:
		if cmp.Or(spelled[n.Operator], n.Operator) == "!" && n.Location().From == from { // else it is "not contains"
			c.op, c.parts = opNot, []*clause{p.cut(n.Node)}
			return c
		}
	case *ast.IdentifierNode:
		if p.x.resolver.macros[n.Value] == nil {
			break
		}
		if body := p.x.macro(n.Value); body != nil {
			c.op, c.parts = opMacro, []*clause{body}
			return c
		}
	}
	return p.leaf(c, n)
}

// leaf compiles n as a condition of its own.
func (p *clauseCutter) leaf(c *clause, n ast.Node) *clause {
	p.x.resolver.nodes = 0
	tree := p.expr.node(n)
	if p.expr.failed {
		return c
	}
	c.program, _ = p.expr.program(copyTree(tree))
	c.reads = reads(tree)
	switch n := tree.(type) {
	case *ast.UnaryNode:
		c.negative = n.Operator == "!"
	case *ast.BinaryNode:
		c.negative = n.Operator == "!="
	case *ast.CallNode:
		c.first = firstItem(n)
	}
	return c
}

// firstItem returns a function that returns the first item of a list for which a call holds, if the call is about a
// variable.
func firstItem(n *ast.CallNode) func(in *Input) string {
	variable, ok := n.Arguments[0].(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	text, test := varOf(variable.Value).value(), listFuncs[n.Callee.(*ast.IdentifierNode).Value]
	return func(in *Input) string {
		s, items := text(in), constants(n.Arguments[1])
		return items[slices.IndexFunc(items, func(item string) bool { return test(s, item) })]
	}
}

// macro returns the clauses of the macro of that name, nil where it cannot be cut. Macros do not run in circles: the
// set compiled.
func (x *explainer) macro(name string) *clause {
	c, known := x.macros[name]
	if !known {
		c = x.expression(&x.resolver.macros[name].decl.expr)
		x.macros[name] = c
	}
	return c
}
