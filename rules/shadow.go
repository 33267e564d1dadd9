package rules

import "slices"

// reach finds rules that can never match, because one before them has the same conditions or fewer. Within
// one file that is a mistake. Across files it is what user files are for, and
// only noted.
func (l *linker) reach() {
	c := covers{byPart: map[string][]*ruleDecl{}}
	for _, d := range l.decls {
		r := &d.rule
		if r.cond == nil || r.Disabled {
			continue
		}
		switch by := c.of(r); {
		case by == nil:
		case d.src == d.home && by.src == d.home: // an overriding rule is in a place of another file
			d.when.Fail("move it before that rule, or narrow that rule",
				"can never match: rule %s in line %d comes first and has the same conditions, or fewer", by.rule.ID, by.rule.Line)
		default:
			r.ShadowedBy = by.rule.ID
		}
		if !r.Continue {
			c.add(d)
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
	byPart map[string][]*ruleDecl // by the longest part, the least likely to be common; "" if the rule always holds
	checks int
}

// add adds a rule that decides.
func (c *covers) add(d *ruleDecl) {
	longest := ""
	for _, p := range d.rule.cond.parts {
		if len(p) > len(longest) {
			longest = p
		}
	}
	c.byPart[longest] = append(c.byPart[longest], d)
}

// of returns the first rule that covers r, if it is found.
func (c *covers) of(r *Rule) *ruleDecl {
	var first *ruleDecl
	for _, p := range append([]string{""}, r.cond.parts...) {
		for _, e := range c.byPart[p] {
			if c.checks++; c.checks > maxCoverChecks {
				return first
			}
			if (first == nil || e.rule.index < first.rule.index) && e.rule.covers(r) {
				first = e
			}
		}
	}
	return first
}

// covers reports whether another rule has all parts of r's condition, and all exceptions of r.
func (r *Rule) covers(other *Rule) bool {
	return subset(r.cond.parts, other.cond.parts) && !slices.ContainsFunc(r.exceptions, func(c *condition) bool {
		return !slices.ContainsFunc(other.exceptions, c.same)
	})
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
