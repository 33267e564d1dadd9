package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	texts "github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/yamlfile"
)

// Overriding: an earlier file changes what later ones define. It must have override:
// true, and there must be something to change: a clash of names is never silent, and
// neither is a default rule that was renamed.

// override finds rules with the same id. In one file that is a mistake; across
// files, the earlier overrides the later, and must have override: true.
func (l *linker) override() {
	last := map[string]*ruleDecl{} // the last rule with each id so far
	var lonely []*ruleDecl         // override none
	for _, doc := range slices.Backward(l.docs) {
		inFile := map[string]*ruleDecl{}
		for _, d := range doc.rules {
			id := d.rule.ID
			if id == "" {
				continue
			}
			if first := inFile[id]; first != nil {
				d.idAt.Fail("give one of them another id", "the id is already used by the rule at %s:%d", yamlfile.Clean(d.src.name),
					first.at.line)
				continue
			}
			inFile[id] = d
			switch base := last[id]; {
			case base != nil && d.override:
				d.inherit(base)
				base.overridden = d
			case base != nil:
				d.idAt.Fail("add override: true to change that rule, or use another id",
					"the rule at %s:%d has the same id", yamlfile.Clean(base.src.name), base.at.line)
			case d.override:
				lonely = append(lonely, d)
			}
			last[id] = d
			l.set.byID[id] = &d.rule
		}
	}
	ids := slices.Sorted(maps.Keys(last))
	for _, d := range lonely {
		id := d.rule.ID
		hint := nothingThere(id, ids, "remove override", l.errs)
		if last[id] != d {
			hint = fmt.Sprintf("the rule at %s:%d comes first, so it wins", yamlfile.Clean(last[id].src.name), last[id].at.line)
		}
		d.given["override"].Key.Fail(hint, "no file after this one has a rule %s", yamlfile.Quote(id))
	}
}

// nothingThere returns the hint for something that overrides nothing: the name
// that was meant, or else what to do instead. It searches for the former only
// among so many names, and for so many errors, that it takes little time.
func nothingThere(name string, names []string, instead string, errs *collector) string {
	if len(names) <= maxRules && errs.count() < 100 {
		if near := texts.Nearest(name, names); near != "" {
			return `did you mean "` + near + `"?`
		}
	}
	return instead + ": a file changes what files after it define, as a user's file does with the defaults"
}

// inherit takes over from base, the rule that d overrides, the fields that d
// does not give itself. Tests belong to the condition: if d gives another,
// the tests of base do not check it.
func (d *ruleDecl) inherit(base *ruleDecl) {
	if e := d.given["summary"]; e != nil { // it is about programs, too
		d.given["program"] = cmp.Or(d.given["program"], e)
	}
	own := maps.Clone(d.given)
	for name, e := range base.given {
		if own[name] == nil && (name != "tests" || own["when"] == nil && own["exceptions"] == nil) {
			d.given[name] = e
			o := ownerOf(e.Value)
			errs := o.errs
			o.errs = &collector{} // its errors were reported at base
			ruleFields.Take(d, name, e.Value)
			o.errs = errs
		}
	}
	r, b := &d.rule, &base.rule
	d.home = base.home
	r.Overrides = cmp.Or(b.Overrides, b.Place)
}

// checkOverrides reports definitions of name that override another without
// override: true, or have it and override none.
func (r *resolver) checkOverrides(name string, byName map[string][]*definition, names []string) {
	chain := byName[name]
	for i, d := range chain {
		plain := "the condition"
		if d.kind == "list" {
			plain = "the items"
		}
		switch last := i == len(chain)-1; {
		case last && d.overrides():
			hint := nothingThere(name, names, "write "+plain+" alone", r.errs)
			if i > 0 {
				hint = fmt.Sprintf("the %s at %s:%d comes first, so it wins", d.kind, yamlfile.Clean(chain[0].at.src.name),
					chain[0].at.line)
			}
			r.errs.add(d.at, hint, "no file after this one has a %s %s", d.kind, yamlfile.Quote(name))
		case !last && !d.overrides():
			hint := "write {override: true, when: '…'} to replace it, or use another name"
			if d.kind == "list" {
				hint = "write {override: true, items: […]} to replace it, {append: true, items: […]} to add to it, or use another name"
			}
			r.errs.add(d.at, hint, "%s is also defined at %s:%d", yamlfile.Quote(name), yamlfile.Clean(chain[i+1].at.src.name),
				chain[i+1].at.line)
		}
	}
}

// joined returns the items of the lists that the first list of chain is appended to, and
// then its own. An item in both is there once: a later version of the defaults may
// contain an item that a user added.
func joined(chain []*definition) []string {
	n := 0 // the list that the others are appended to
	for n < len(chain)-1 && chain[n].extend {
		n++
	}
	items := chain[n].items
	if n == 0 {
		return items
	}
	items = slices.Clone(items)
	have := toSet(items)
	for _, d := range slices.Backward(chain[:n]) {
		for _, item := range d.items {
			if _, dup := have[item]; !dup {
				have[item] = struct{}{}
				items = append(items, item)
			}
		}
	}
	return items
}

// maxCoverChecks bounds how many pairs of rules are compared for one covering the other: half a second. It is enough
// for 1,400 rules; of more, the later ones are not compared.
const maxCoverChecks = 1_000_000

// reach finds rules that can never match, because one before them has the same conditions or fewer: their conditions
// are a part of the later one. The order in which a condition joins its parts by "and" does not matter: it holds if all
// do, and a failure anywhere keeps it from holding. Within one file that is a mistake. Across files it is what user
// files are for, and only noted.
func (l *linker) reach() {
	var deciding []*ruleDecl
	checks := 0
	for _, d := range l.decls {
		r := &d.rule
		if r.cond == nil || r.Disabled || checks > maxCoverChecks {
			continue
		}
		checks += len(deciding)
		first := slices.IndexFunc(deciding, func(e *ruleDecl) bool { return e.rule.covers(r) })
		switch {
		case first < 0:
		case d.src == d.home && deciding[first].src == d.home: // an overriding rule is in a place of another file
			by := &deciding[first].rule
			d.when.Fail("move it before that rule, or narrow that rule",
				"can never match: rule %s in line %d comes first and has the same conditions, or fewer", by.ID, by.Line)
		default:
			r.ShadowedBy = deciding[first].rule.ID
		}
		if !r.Continue {
			deciding = append(deciding, d)
		}
	}
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
