package rules

import (
	"cmp"

	"github.com/expr-lang/expr/ast"

	"github.com/heedlog/heed/event"
)

// shapes are all combinations of kind, level and status that an entry can have: only log records have levels, and only
// other entries have a status. There are few enough to try them all, which proves for many rules that they can never
// match, or always do, and lets an evaluator pass over a rule without running it.
var shapes = func() (all []Input) {
	for l := event.LevelUnknown; l <= event.LevelFatal; l++ {
		all = append(all, Input{Kind: event.KindLog, Level: l})
	}
	for s := event.StatusStarted; s <= event.StatusLogFound; s++ {
		all = append(all, Input{Kind: s.Kind(), Status: s})
	}
	if len(all) > 32 {
		panic("BUG: rules: a shapeSet has too few bits")
	}
	return all
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

// shapeVars are the variables that a shape has.
const shapeVars = varKind | varLevel | varStatus

// holding returns the shapes for which a condition holds that reads nothing else. An error that comes without a
// variable is reported.
func (x *expansion) holding(tree ast.Node) (holds shapeSet) {
	print, c := fingerprint(tree), code{reads: reads(tree)}
	if known, ok := x.r.holding[print]; ok {
		return known
	}
	if c.program = x.program(tree); c.program == nil {
		return 0
	}
	ev := Evaluator{machine: newMachine()}
	for i := range shapes {
		ev.loaded = 0
		if ev.holds(&shapes[i], &c) {
			holds |= 1 << i
		}
	}
	if c.reads == 0 && ev.failure != nil {
		x.failExpr(ev.failure)
	}
	x.r.holding[print] = holds
	return holds
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
