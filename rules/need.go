package rules

import (
	"math"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/rules/internal/compiled"
)

// indexed are the variables whose texts an [index] looks into. Only those that
// a plan may read can be among them.
var indexed = [...]varSet{varTemplate, varFrames, varSource}

// need is a necessary condition: the entry has a text of at least one of these.
// The zero value is no need.
type need struct {
	any   []literals // belongs to the owner of the need
	score int        // how rare the least of the texts is, roughly; 0: nothing is known
}

// literals are texts; a variable must begin with one of them, or contain one.
type literals struct {
	field  int // in indexed
	prefix bool
	items  []string
}

// impossible is the need of a condition that never holds.
const impossible = math.MaxInt

// and returns a need of a condition that has both.
func (n need) and(m need) need {
	if m.score > n.score {
		return m
	}
	return n
}

// or returns the need of a condition that has one of the two.
func (n need) or(m need) need {
	if n.score == 0 || m.score == 0 {
		return need{}
	}
	if len(n.any) < len(m.any) {
		n, m = m, n // no form of a chain makes a copy for each link
	}
	return need{any: append(n.any, m.any...), score: min(n.score, m.score)}
}

// needFinder finds the needs of conditions. It looks at so many texts as are
// left, so that a long list in many conditions does not cost their product.
type needFinder struct{ left int }

// need returns a necessary condition for n to be want. A condition that fails is
// neither true nor false, so that the need holds for failures as well.
func (f *needFinder) need(n ast.Node, want bool) need {
	switch n := n.(type) {
	case *ast.BoolNode:
		if n.Value != want {
			return need{score: impossible}
		}
	case *ast.UnaryNode:
		if n.Operator == "!" {
			return f.need(n.Node, !want)
		}
	case *ast.ConditionalNode:
		// The needs of the second branch leave out the condition: a second look at it
		// would double the work at each level of nesting.
		a := f.need(n.Cond, true).and(f.need(n.Exp1, want))
		return a.or(f.need(n.Exp2, want))
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "||":
			a, b := f.need(n.Left, want), f.need(n.Right, want)
			if (n.Operator == "&&") == want {
				return a.and(b)
			}
			return a.or(b)
		}
	}
	op, args := compiled.Relation(n)
	fit, ok := compiled.Fits[op]
	if !want || !ok || len(args) != 2 || op == "!=" || op == "indexOf" || op == "lastIndexOf" {
		return need{}
	}
	found := f.texts(args[0], fit.Start, args[1])
	if op == "==" {
		found = found.and(f.texts(args[1], fit.Start, args[0]))
	}
	return found
}

// texts returns the need of a relation to a constant, a text or any of a list. A beginning counts as
// rarer than a part: there is one place for it.
func (f *needFinder) texts(variable ast.Node, prefix bool, constant ast.Node) need {
	items := constants(constant)
	if s, ok := constant.(*ast.StringNode); ok {
		items = []string{s.Value}
	}
	id, ok := variable.(*ast.IdentifierNode)
	if !ok || len(items) == 0 {
		return need{}
	}
	field := slices.Index(indexed[:], varOf(id.Value))
	if f.left -= len(items); field < 0 || f.left < 0 {
		return need{}
	}
	n := need{any: []literals{{field, prefix, items}}, score: impossible}
	for _, text := range items {
		if len(text) < gramBytes {
			return need{}
		}
		n.score = min(n.score, len(text))
	}
	if prefix {
		n.score += gramBytes
	}
	return n
}
