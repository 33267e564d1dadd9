package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// reach finds rules that can never match because of those before them. Within
// one file that is a mistake. Across files it is what user files are for, and
// only noted.
func (l *linker) reach() {
	type seen struct {
		d       *ruleDecl
		covered shapeSet // by it and all before it in its file
	}
	var (
		same    = map[string]*ruleDecl{} // first rule with a fingerprint
		inFile  []seen                   // rules of the current file that surely match something
		allSeen shapeSet                 // covered by the rules of earlier files and this one
		last    *ruleDecl                // that added to allSeen
		home    *source
		covered shapeSet // by the current file
		parts   = newCovers()
	)
	for _, d := range l.decls {
		r := &d.rule
		if d.home != home {
			home, covered, inFile = d.home, 0, nil
		}
		if r.cond == nil || r.Disabled {
			continue
		}
		own := d.src == d.home // an overriding rule is in a place of another file
		part := parts.of(d)
		switch first := same[r.print]; {
		case first != nil && own && first.src == home:
			l.errs.addf(d.when.at, "remove one of the two, or narrow the first",
				"can never match: rule %s in line %d has the same condition", name(first), first.rule.Line)
		case own && r.possible&^covered == 0:
			by := inFile[0].d
			for _, s := range inFile {
				if by = s.d; r.possible&^s.covered == 0 {
					break
				}
			}
			l.errs.addf(d.when.at, "move it before that rule, or narrow that rule",
				"can never match: rule %s in line %d always matches first", name(by), by.rule.Line)
		case first == nil && part != nil && own && part.src == home:
			l.errs.addf(d.when.at, "move it before that rule, or narrow that rule",
				"can never match: rule %s in line %d has fewer conditions and comes first", name(part), part.rule.Line)
		case first != nil:
			r.ShadowedBy = first.rule.ID
		case r.possible&^allSeen == 0:
			r.ShadowedBy = last.rule.ID
		case part != nil:
			r.ShadowedBy = part.rule.ID
		}
		if r.Continue {
			continue
		}
		if same[r.print] == nil {
			same[r.print] = d
		}
		parts.add(d)
		if own && r.certain&^covered != 0 {
			covered |= r.certain
			inFile = append(inFile, seen{d, covered})
		}
		if r.certain&^allSeen != 0 {
			allSeen |= r.certain
			last = d
		}
	}
}

// name returns how a message names a rule.
func name(d *ruleDecl) string {
	if d.rule.ID != "" {
		return d.rule.ID
	}
	return "without id"
}

// maxCoverChecks bounds how many pairs of rules are compared for one covering
// the other: some milliseconds. Sets that people write need a few hundred.
const maxCoverChecks = 100_000

// covers finds rules that take all that a later one could match, since their
// conditions are a part of the later condition. The order in which a
// condition joins its parts by "and" does not matter: it holds if all do, and
// a failure anywhere keeps it from holding.
type covers struct {
	byPart map[string][]covering // by the longest part, the least likely to be common
	checks int
}

type covering struct {
	d     *ruleDecl
	parts []string // fingerprints, sorted
}

func newCovers() *covers { return &covers{byPart: map[string][]covering{}} }

// add adds a rule that decides.
func (c *covers) add(d *ruleDecl) {
	parts := parts(d.rule.cond.Tree)
	longest := slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) })
	c.byPart[longest] = append(c.byPart[longest], covering{d, parts})
}

// of returns the first rule that covers d, if it is found.
func (c *covers) of(d *ruleDecl) *ruleDecl {
	own := parts(d.rule.cond.Tree)
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
	for _, c := range a.exceptions {
		if !slices.ContainsFunc(b.exceptions, func(e *condition) bool { return e.print == c.print }) {
			return false
		}
	}
	return true
}

// subset reports whether every element of a, which is sorted, is in b, which is
// sorted too.
func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool {
		_, ok := slices.BinarySearch(b, s)
		return !ok
	})
}

// parts returns the fingerprints of what tree joins by "and", each once, in
// order.
func parts(tree ast.Node) []string {
	var out []string
	operands(tree, "&&", func(n ast.Node) { out = append(out, fingerprint(n)) })
	slices.Sort(out)
	return slices.Compact(out)
}
