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
		SchemaVersion: schema.Version, Old: before, New: after, Groups: len(groups),
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
	// A group differs by the lengths in which it has no part: its own records are not in the length in records.
	differ := func(g *group, own [2]tally) (change, ratio) {
		return differs(g.tally[Old].count, g.tally[New].count, []exposure{
			{perRun, float64(len(c.runs[Old])), float64(len(c.runs[New]))},
			{perRecord, float64(shared[Old] - own[Old].count), float64(shared[New] - own[New].count)},
			{perHour, before.hours, after.hours},
		}, z)
	}
	changed := changed(groups, func(_ int, g *group) bool {
		if !g.common() {
			return false
		}
		change, _ := differ(g, g.tally)
		return change != same
	}, func(g *group) {
		shared[Old] -= g.tally[Old].count
		shared[New] -= g.tally[New].count
	})
	for i, g := range groups {
		how, by, worse := more, ratio{}, false
		if own := g.tally; g.common() {
			if changed[i] {
				own = [2]tally{}
			}
			how, by = differ(g, own)
			worse = g.tally[New].own > g.tally[Old].own
		}
		if how == same && !worse {
			continue
		}
		row := c.row(g, &before, &after)
		row.Ratio = by.shown()
		if worse {
			d.Worse = append(d.Worse, row)
		}
		rows, unseen := &d.More, &before
		switch {
		case row.Old == nil:
			rows = &d.Added
		case row.New == nil:
			rows, unseen = &d.Gone, &after
		case how == same:
			continue
		case how == less:
			rows, unseen = &d.Less, &after
		}
		row.MayBeUnseen = unseen.incomplete()
		*rows = append(*rows, row)
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

// compareRows orders rows by what matters.
func compareRows(a, b Group) int {
	return cmp.Or(
		cmp.Compare(b.Disposition, a.Disposition),
		cmp.Compare(b.Severity, a.Severity),
		cmp.Compare(cmp.Or(b.New, b.Old).Count, cmp.Or(a.New, a.Old).Count),
		compareSignatures(a.group.texts[0].sig, b.group.texts[0].sig),
	)
}

// The measures of the length of a log.
const (
	perRun    = "run"    // a log
	perRecord = "record" // records of groups that did not change
	perHour   = "hour"   // where every log has a clock
)

// exposure is the length of both sides by one measure, 0 if it is not known of a side.
type exposure struct {
	measure  string
	old, new float64
}

// ratioOf returns the ratio of the rates of a in e.old and b in e.new, which are
// not both 0, with the bounds at z standard deviations. The package documentation
// has the formula.
func ratioOf(a, b float64, e *exposure, z float64) ratio {
	scale := e.old / e.new
	low, high := cohort.Wilson(b, a+b, z)
	odds := func(p float64) float64 { return p / (1 - p) * scale }
	return ratio{Value: b / a * scale, Low: odds(low), High: odds(high), By: e.measure}
}

// change is how two counts differ, by all measures together.
type change int8

const (
	same change = iota
	more
	less
)

// differs returns whether b is more or less frequent than a by every defined measure, and the ratio by the measure with
// the least difference. One is defined at least, and both counts are above 0.
func differs(a, b uint64, measures []exposure, z float64) (change, ratio) {
	var all []ratio
	isMore, isLess := true, true
	for i := range measures {
		if e := &measures[i]; e.old > 0 && e.new > 0 {
			r := ratioOf(float64(a), float64(b), e, z)
			isMore = isMore && r.Low > 1 && r.Value >= factor
			isLess = isLess && r.High < 1 && r.Value*factor <= 1
			all = append(all, r)
		}
	}
	lowest := slices.MinFunc(all, func(x, y ratio) int { return cmp.Compare(x.Low, y.Low) })
	switch {
	case isMore:
		return more, lowest
	case isLess:
		return less, slices.MaxFunc(all, func(x, y ratio) int { return cmp.Compare(x.High, y.High) })
	}
	return same, lowest
}
