package rules

import (
	"cmp"

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

// outlook returns the shapes for which the condition tree may hold, and those for which it surely does. A condition
// that fails when it runs counts as false; so only conditions that cannot fail hold surely.
func outlook(tree ast.Node) (possible, certain shapeSet) {
	switch n := tree.(type) {
	case *ast.BoolNode:
		if n.Value {
			return allShapes, allShapes
		}
		return 0, 0
	case *ast.UnaryNode:
		if n.Operator == "!" {
			p, c := outlook(n.Node)
			return allShapes &^ c, unfailing(allShapes&^p, n.Node)
		}
	case *ast.ConditionalNode:
		p, first := outlook(n.Cond)
		p1, c1 := outlook(n.Exp1)
		p2, c2 := outlook(n.Exp2)
		second := unfailing(allShapes&^p, n.Cond)
		return first&p1 | second&p2 | (p1|p2)&^first&^second, first&c1 | second&c2
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&":
			p1, c1 := outlook(n.Left)
			p2, c2 := outlook(n.Right)
			return p1 & p2, c1 & c2
		case "||":
			p1, c1 := outlook(n.Left)
			p2, c2 := outlook(n.Right)
			return p1 | p2, c1 | unfailing(c2, n.Left)
		case "==", "!=", "in":
			return compared(n)
		}
	}
	return allShapes, 0
}

// unfailing returns shapes for which something holds if n does not fail: none if it may.
func unfailing(shapes shapeSet, n ast.Node) shapeSet {
	if shapes != 0 && canFail(n) {
		return 0
	}
	return shapes
}

// compared is outlook for a comparison.
func compared(n *ast.BinaryNode) (possible, certain shapeSet) {
	constant, _ := n.Right.(*ast.ConstantNode)
	for i := range shapes {
		a, known := shapes[i].value(n.Left)
		var holds bool
		if n.Operator == "in" {
			var items map[string]struct{}
			if known = known && constant != nil; known {
				items, known = constant.Value.(map[string]struct{})
			}
			_, holds = items[a]
		} else {
			b, knownB := shapes[i].value(n.Right)
			known, holds = known && knownB, (a == b) == (n.Operator == "==")
		}
		if !known {
			return allShapes, 0
		}
		if holds {
			certain |= 1 << i
		}
	}
	return certain, certain
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
