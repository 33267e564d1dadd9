package briefing

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// halt ends the pipeline if all requirements are met. Otherwise it runs the searches again, relaxed, while the budget
// allows it.
func (a *assembly) halt(i int, c *halting, res *stageResult) {
	reruns := 0
	for a.lacks(c) != "" && reruns < c.MaxReruns && a.stopped == "" && !a.halted && a.err == nil && a.searched(i) {
		reruns++
		a.rerun(i, c.Relax, reruns)
	}
	lacks := a.lacks(c)
	switch {
	case a.halted:
		res.Status, res.Detail = StatusSkipped, haltedBefore
	case lacks == "":
		res.Detail, a.halted = fmt.Sprintf("satisfied: %d fragments, %d tokens", len(a.found), total(a.found)), true
	case a.stopped != "":
		res.Detail = fmt.Sprintf("budget: %s was exceeded; %s", a.stopped, lacks)
	default:
		res.Detail = fmt.Sprintf("completed after %d reruns, not satisfied: %s", reruns, lacks)
		a.warn(fmt.Sprintf("stage %s %s", res.Stage, res.Detail))
	}
	res.Fragments, res.Tokens = len(a.found), total(a.found)
}

// lacks returns the unmet requirements of a halting stage, "" for none.
func (a *assembly) lacks(c *halting) string {
	var all []string
	for _, it := range a.open {
		if it.Blocking && !a.has(it.SourceID) {
			all = append(all, fmt.Sprintf("open item %s, which blocks, is not in it", it.SourceID))
		}
	}
	if covered, required := a.covered(); float64(covered) < c.SatisfactionThreshold*float64(required) {
		all = append(all, fmt.Sprintf("%d of %d parts of the required context were found", covered, required))
	}
	if n := len(a.found); n < c.MinFragments {
		all = append(all, fmt.Sprintf("%d of %d fragments", n, c.MinFragments))
	}
	if n := total(a.found); n < c.MinTokens {
		all = append(all, fmt.Sprintf("%d of %d tokens", n, c.MinTokens))
	}
	return strings.Join(all, "; ")
}

// has reports whether a fragment is about an item in any revision, or names it.
func (a *assembly) has(item string) bool {
	id := itemOf(item)
	return slices.ContainsFunc(a.found, func(f Fragment) bool {
		return f.Source == SourceAttention &&
			(itemOf(f.SourceID) == id || slices.Contains(strings.Fields(f.Refs["items"]), id))
	})
}

// itemOf returns the item of a SourceID of attention, without its revision.
func itemOf(id string) string {
	if at := strings.LastIndexByte(id, '@'); at > 0 {
		return id[:at]
	}
	return id
}

// covered returns how many parts the contract requires, each file one, and how many of them were found: by themselves
// or by a duplicate.
func (a *assembly) covered() (covered, required int) {
	there := map[string]bool{}
	keys := func(f *Fragment) []string { return append(identities(f), f.key()) }
	for i := range a.found {
		for _, key := range keys(&a.found[i]) {
			there[key] = true
		}
	}
	for _, p := range a.request.Contract.stages() {
		parts, read := 1, 0
		if c, ok := p.Config.(*FileRead); ok {
			parts = len(c.Paths)
		}
		i := slices.IndexFunc(a.stages, func(s stage) bool { return s.meets(&p) })
		for _, f := range a.stages[i].kept {
			if slices.ContainsFunc(keys(&f), func(key string) bool { return there[key] }) {
				read++
			}
		}
		covered, required = covered+min(read, parts), required+parts
	}
	return covered, required
}

// searched reports whether a search before a halting stage was made.
func (a *assembly) searched(i int) bool {
	return slices.ContainsFunc(a.stages[:i], func(s stage) bool {
		_, search := s.Config.(*horizontalSearch)
		return search && s.ran
	})
}

// rerun runs the searches before a halting stage again, with a lower threshold and a higher limit, and what structures
// them.
func (a *assembly) rerun(i int, relax float64, n int) {
	for j := range a.stages[:i] {
		s := &a.stages[j]
		if !s.ran {
			continue
		}
		switch c := s.Config.(type) {
		case *horizontalSearch:
			relaxed := *c
			relaxed.RelevanceThreshold *= relax
			relaxed.MaxResults = int(math.Ceil(min(float64(c.MaxResults)/relax, math.MaxInt32)))
			s.Config = &relaxed
		case *structuring:
		default:
			continue
		}
		a.stage(j, fmt.Sprintf(" (rerun %d)", n))
	}
}
