package compare

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed/internal/cohort"
	"github.com/heedlog/heed/internal/schema"
)

// Diff compares the two sides. The collector can go on afterwards.
func (c *Collector) Diff() *Diff {
	groups, _ := c.groups(&Baseline{})
	before, after := c.totals(Old), c.totals(New)
	d := &Diff{
		SchemaVersion: schema.Version, Old: before.shown(), New: after.shown(), Groups: len(groups),
		Added: []Group{}, Gone: []Group{}, More: []Group{}, Less: []Group{}, Worse: []Group{},
		Mods: slices.DeleteFunc(c.shown(c.changes()), func(m ModChange) bool { return m.Change == moved }),
	}
	compared := 0
	var shared [2]uint64 // records of the groups that both sides have, without the changed groups
	for _, g := range groups {
		if g.common() {
			compared++
			shared[Old] += g.tally[Old].count
			shared[New] += g.tally[New].count
		}
	}
	z := cohort.Quantile(confidence, compared)
	hours := [2]float64{before.Hours, after.Hours}
	changed := changed(groups, func(_ int, g *group) bool {
		if !g.common() {
			return false
		}
		change, _ := differs(g.tally[Old].count, g.tally[New].count, c.measures(hours, g, &shared), z)
		return change != same
	}, func(g *group) {
		shared[Old] -= g.tally[Old].count
		shared[New] -= g.tally[New].count
	})
	for i, g := range groups {
		own := *g
		if changed[i] { // its records are in no length
			own.tally[Old].count, own.tally[New].count = 0, 0
		}
		measures := c.measures(hours, &own, &shared)
		counts := [2]uint64{g.tally[Old].count, g.tally[New].count}
		switch {
		case counts[Old] == 0:
			row := c.row(g, &before, &after)
			row.MayBeUnseen = before.incomplete()
			d.Added = append(d.Added, row)
			continue
		case counts[New] == 0:
			row := c.row(g, &before, &after)
			row.MayBeUnseen = after.incomplete()
			d.Gone = append(d.Gone, row)
			continue
		}
		change, ratio := differs(counts[Old], counts[New], measures, z)
		worse := g.tally[New].own > g.tally[Old].own
		if change == same && !worse {
			continue
		}
		row := c.row(g, &before, &after)
		row.Ratio = ratio.shown()
		if worse {
			d.Worse = append(d.Worse, row)
		}
		switch change {
		case more:
			row.MayBeUnseen = before.incomplete()
			d.More = append(d.More, row)
		case less:
			row.MayBeUnseen = after.incomplete()
			d.Less = append(d.Less, row)
		}
	}
	for _, rows := range [][]Group{d.Added, d.Gone, d.More, d.Less, d.Worse} {
		slices.SortFunc(rows, compareRows)
	}
	return d
}

// changed returns which of the groups differ. A group that differs is no part of the length of a log, from which leave
// takes it: else one flood would make all the rest look rare. The groups that differ depend on the length, so that they
// are found in turns.
func changed(groups []*group, differ func(i int, g *group) bool, leave func(*group)) []bool {
	changed := make([]bool, len(groups))
	for {
		var found []*group
		for i, g := range groups {
			if !changed[i] && differ(i, g) {
				changed[i] = true
				found = append(found, g)
			}
		}
		if found == nil {
			return changed
		}
		for _, g := range found {
			leave(g)
		}
	}
}

// common reports whether both sides have the group.
func (g *group) common() bool { return g.tally[Old].count > 0 && g.tally[New].count > 0 }

// measures returns the lengths that the rates of a group are taken by. Its own
// records are no part of the length in records.
func (c *Collector) measures(hours [2]float64, g *group, shared *[2]uint64) []exposure {
	var own [2]uint64
	if g.common() {
		own = [2]uint64{g.tally[Old].count, g.tally[New].count}
	}
	return []exposure{
		{perRun, float64(len(c.runs[Old])), float64(len(c.runs[New]))},
		{perRecord, float64(shared[Old] - own[Old]), float64(shared[New] - own[New])},
		{perHour, hours[Old], hours[New]},
	}
}

// compareRows orders rows by what matters.
func compareRows(a, b Group) int {
	return cmp.Or(
		cmp.Compare(b.Disposition, a.Disposition),
		cmp.Compare(b.Severity, a.Severity),
		cmp.Compare(cmp.Or(b.New, b.Old).Count, cmp.Or(a.New, a.Old).Count),
		compareSignatures(a.group.texts[0].sig, b.group.texts[0].sig),
	)
}
