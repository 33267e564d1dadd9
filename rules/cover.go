package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// maxCoverChecks bounds how many pairs of rules are compared for one covering
// the other: some milliseconds. Sets that people write need a few hundred.
const maxCoverChecks = 100_000

// covers finds rules that take all that a later one could match, since their
// conditions ask for a part of what the later one asks for. The order in which a
// condition joins its parts by "and" does not matter: it holds if all do, and
// one that fails keeps it from holding wherever it stands.
type covers struct {
	byPart map[string][]covering // by the longest part, the least likely to be common
	checks int
}

type covering struct {
	d     *ruleDecl
	parts []string // fingerprints, sorted
}

func newCovers() *covers { return &covers{byPart: map[string][]covering{}} }

// add takes in a rule that decides.
func (c *covers) add(d *ruleDecl) {
	parts := parts(d.rule.cond.tree)
	longest := slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) })
	c.byPart[longest] = append(c.byPart[longest], covering{d, parts})
}

// of returns the first rule that covers d, if it is found.
func (c *covers) of(d *ruleDecl) *ruleDecl {
	own := parts(d.rule.cond.tree)
	var first *ruleDecl
	for _, p := range own {
		for _, e := range c.byPart[p] {
			if c.checks++; c.checks > maxCoverChecks {
				return first
			}
			if (first == nil || e.d.rule.index < first.rule.index) && subset(e.parts, own) && exceptsNoMore(&e.d.rule, &d.rule) {
				first = e.d
			}
		}
	}
	return first
}

// exceptsNoMore reports whether each exception of a is one of b too.
func exceptsNoMore(a, b *Rule) bool {
	for i := range a.Exceptions {
		if !slices.ContainsFunc(b.Exceptions, func(e Exception) bool { return e.cond.print == a.Exceptions[i].cond.print }) {
			return false
		}
	}
	return true
}

// subset reports whether every element of a, which is sorted, is in b, which is
// sorted too.
func subset(a, b []string) bool {
	for _, s := range a {
		if _, ok := slices.BinarySearch(b, s); !ok {
			return false
		}
	}
	return true
}

// parts returns the fingerprints of what tree joins by "and", each once, in
// order.
func parts(tree ast.Node) []string {
	var out []string
	var walk func(n ast.Node)
	walk = func(n ast.Node) {
		if b, ok := n.(*ast.BinaryNode); ok && b.Operator == "&&" {
			walk(b.Left)
			walk(b.Right)
			return
		}
		out = append(out, fingerprint(n))
	}
	walk(tree)
	slices.Sort(out)
	return slices.Compact(out)
}
