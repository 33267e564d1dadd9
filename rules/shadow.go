package rules

import "slices"

// reach finds rules that can never match, because one before them has the same conditions or fewer. Within
// one file that is a mistake. Across files it is what user files are for, and
// only noted.
func (l *linker) reach() {
	c := covers{byPart: map[string][]covering{}}
	for _, d := range l.decls {
		r := &d.rule
		if r.cond == nil || r.Disabled {
			continue
		}
		own := parts(r.cond)
		switch by := c.of(d, own); {
		case by == nil:
		case d.src == d.home && by.src == d.home: // an overriding rule is in a place of another file
			l.errs.addf(d.when.at, "move it before that rule, or narrow that rule",
				"can never match: rule %s in line %d comes first and has the same conditions, or fewer", by.rule.ID, by.rule.Line)
		default:
			r.ShadowedBy = by.rule.ID
		}
		if !r.Continue {
			c.add(d, own)
		}
	}
}

// maxCoverChecks bounds how many pairs of rules are compared for one covering
// the other: some milliseconds. Sets that people write need a few hundred.
const maxCoverChecks = 100_000

// covers finds rules that take all that a later one could match, since their
// conditions are a part of the later condition. The order in which a
// condition joins its parts by "and" does not matter: it holds if all do, and
// a failure anywhere keeps it from holding.
type covers struct {
	byPart map[string][]covering // by the longest part, the least likely to be common; "" of a condition that always holds
	checks int
}

type covering struct {
	d     *ruleDecl
	parts []string // fingerprints, sorted
}

// add adds a rule that decides.
func (c *covers) add(d *ruleDecl, parts []string) {
	longest := ""
	for _, p := range parts {
		if len(p) > len(longest) {
			longest = p
		}
	}
	c.byPart[longest] = append(c.byPart[longest], covering{d, parts})
}

// of returns the first rule that covers d, whose parts are own, if it is found.
func (c *covers) of(d *ruleDecl, own []string) *ruleDecl {
	var first *ruleDecl
	for _, p := range append([]string{""}, own...) {
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
		if !slices.ContainsFunc(b.exceptions, c.same) {
			return false
		}
	}
	return true
}

// subset reports whether every element of a is in b, which is sorted.
func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool {
		_, ok := slices.BinarySearch(b, s)
		return !ok
	})
}

// same reports whether c and d are one condition.
func (c *condition) same(d *condition) bool { return slices.Equal(c.prints, d.prints) }

// parts returns the fingerprints of the parts that "and" joins, each once, in
// order; none of a condition that always holds.
func parts(c *condition) []string {
	if c.certain == allShapes {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(c.prints)))
}
