package rules

import (
	"cmp"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/event"
)

// A shape is one combination of kind, level and status that an entry can have.
// There are few enough of them to try them all, which proves for many rules
// that they can never match, or always do, and lets an evaluator pass over a
// rule without running it.
type shape struct {
	kind   event.Kind
	level  event.Level
	status event.Status
}

// shapes are all combinations. Only log records have levels, and only other
// entries have a status.
var shapes = func() []shape {
	var out []shape
	for l := event.LevelUnknown; l <= event.LevelFatal; l++ {
		out = append(out, shape{event.KindLog, l, event.StatusNone})
	}
	for s := event.StatusStarted; s <= event.StatusLogFound; s++ {
		out = append(out, shape{s.Kind(), event.LevelUnknown, s})
	}
	if len(out) > 32 {
		panic("BUG: rules: a shapeSet has too few bits")
	}
	return out
}()

// shapeSet is a set of shapes: bit i means shapes[i].
type shapeSet uint32

var allShapes = shapeSet(1)<<len(shapes) - 1

// shapeOf returns the set with the shape of an entry; all shapes for an entry
// with a combination that should not exist, since nothing is proven about it.
func shapeOf(k event.Kind, l event.Level, s event.Status) shapeSet {
	switch {
	case k == event.KindLog && s == event.StatusNone && l <= event.LevelFatal:
		return 1 << l
	case k != event.KindLog && l == event.LevelUnknown && s <= event.StatusLogFound && s.Kind() == k:
		return 1 << (uint(event.LevelFatal) + uint(s))
	}
	return allShapes
}

// reads returns the variables that tree reads.
func reads(tree ast.Node) (found varSet) {
	each(tree, func(n ast.Node) {
		if id, ok := n.(*ast.IdentifierNode); ok {
			found |= varOf(id.Value)
		}
	})
	return found
}

// truth is the knowledge about the value of a condition.
type truth uint8

const (
	unknown truth = iota
	never
	always
)

func known(b bool) truth {
	if b {
		return always
	}
	return never
}

// outlook returns the shapes for which the condition tree may hold, and those
// for which it surely does.
func outlook(tree ast.Node) (possible, certain shapeSet) {
	for i := range shapes {
		switch shapes[i].truth(tree) {
		case always:
			certain |= 1 << i
			possible |= 1 << i
		case unknown:
			possible |= 1 << i
		}
	}
	return possible, certain
}

// truth returns the truth of tree for entries of shape s. An expression that fails when
// it runs counts as false; so only expressions that cannot fail are "always".
func (s *shape) truth(tree ast.Node) truth {
	switch n := tree.(type) {
	case *ast.BoolNode:
		return known(n.Value)
	case *ast.UnaryNode:
		if n.Operator == "!" {
			switch s.truth(n.Node) {
			case always:
				return never
			case never:
				if !canFail(n.Node) {
					return always
				}
			}
		}
	case *ast.ConditionalNode:
		switch s.truth(n.Cond) {
		case always:
			return s.truth(n.Exp1)
		case never:
			if !canFail(n.Cond) {
				return s.truth(n.Exp2)
			}
		}
		if a, b := s.truth(n.Exp1), s.truth(n.Exp2); a == b && a == never {
			return never
		}
	case *ast.BinaryNode:
		return s.binaryTruth(n)
	}
	return unknown
}

func (s *shape) binaryTruth(n *ast.BinaryNode) truth {
	switch n.Operator {
	case "&&":
		a, b := s.truth(n.Left), s.truth(n.Right)
		switch {
		case a == never || b == never:
			return never
		case a == always && b == always:
			return always
		}
	case "||":
		a, b := s.truth(n.Left), s.truth(n.Right)
		switch {
		case a == always || b == always && !canFail(n.Left):
			return always
		case a == never && b == never:
			return never
		}
	case "==", "!=":
		a, okA := s.value(n.Left)
		b, okB := s.value(n.Right)
		if okA && okB {
			return known((a == b) == (n.Operator == "=="))
		}
	case "in":
		v, ok := s.value(n.Left)
		c, isConst := n.Right.(*ast.ConstantNode)
		if !ok || !isConst {
			break
		}
		switch items := c.Value.(type) {
		case []string:
			return known(slices.Contains(items, v))
		case map[string]struct{}:
			_, in := items[v]
			return known(in)
		}
	}
	return unknown
}

// value returns the text that n has for entries of shape s, when that is known.
func (s *shape) value(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IdentifierNode:
		switch n.Value {
		case "kind":
			return s.kind.String(), true
		case "level":
			return s.level.String(), true
		case "status":
			return s.status.String(), true
		}
	}
	return "", false
}

// canFail reports whether evaluating n may end in an error: everything but
// conditions on texts may, as far as is known here.
func canFail(n ast.Node) bool {
	return ast.Find(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BoolNode, *ast.StringNode, *ast.IdentifierNode, *ast.ConstantNode, *ast.CallNode:
			return false
		case *ast.UnaryNode:
			return n.Operator != "!"
		case *ast.BinaryNode:
			switch n.Operator {
			case "&&", "||", "==", "!=", "in", "contains", "startsWith", "endsWith", "matches":
				return false
			}
		}
		return true
	}) != nil
}

// operands calls visit for each part of a condition that the operator joins, in order.
func operands(n ast.Node, op string, visit func(ast.Node)) {
	if b, ok := n.(*ast.BinaryNode); ok && cmp.Or(spelled[b.Operator], b.Operator) == op {
		operands(b.Left, op, visit)
		operands(b.Right, op, visit)
		return
	}
	visit(n)
}
