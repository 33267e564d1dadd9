package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// phases are those that hosts and the default rules know. A host may have
// others, so that a phase which is none of them is no error.
var phases = []string{"start", "boot", "menu", "load", "play", "save", "quit", "crashed"}

// CheckPhase returns what is wrong with the name of a phase: nil where a rule of
// the set sets it, where it is one that hosts commonly have, and for "", the
// phase that is not known. The error has no place. A host may know phases of
// its own, so it is a warning.
func (s *Set) CheckPhase(name string) *Error {
	if name == "" || slices.Contains(phases, name) {
		return nil
	}
	known := slices.Clone(phases)
	for _, r := range s.active {
		if r.SetsPhase == name {
			return nil
		}
		if r.SetsPhase != "" && !slices.Contains(known, r.SetsPhase) {
			known = append(known, r.SetsPhase)
		}
	}
	return &Error{Msg: "no rule sets the phase " + quote(name), Hint: didYouMean(name, known)}
}

// phase reports n when it compares the phase with one that nobody sets.
func (l *linter) phase(r *Rule, c *condition, n ast.Node) {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != "==" && b.Operator != "!=" && b.Operator != "in" {
		return
	}
	for _, side := range [][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
		if v, ok := side[0].(*ast.IdentifierNode); !ok || varOf(v.Value) != varPhase {
			continue
		}
		for _, name := range textsIn(side[1]) {
			if err := l.set.CheckPhase(name); err != nil {
				l.node(r, c, side[1], checkPhase, err.Hint, "%s", err.Msg)
			}
		}
	}
}
