package compare

import (
	"cmp"
	"slices"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// Diff is what differs between the old side and the new one.
type Diff struct {
	Old, New Totals

	// Added and Gone are groups of one side alone; More and Less those whose rate
	// differs beyond chance. Each is ordered by what matters: blocking before
	// advisory before ignored, then by severity, then the more certain, then the
	// more frequent.
	Added, Gone, More, Less []Row

	// Worse are groups of both sides whose rule of the new side asks for more: they
	// happened in another phase of the game, say. They may be in More or Less as well.
	Worse []Row

	Groups int // of both sides together

	// Mods are those that were added, updated or removed, where both sides have a list.
	// The load order alone is no difference.
	Mods []ModChange
}

// Empty reports whether nothing is new, gone, more or less frequent.
func (d *Diff) Empty() bool { return len(d.Added)+len(d.Gone)+len(d.More)+len(d.Less) == 0 }

// Totals is one side as a whole.
type Totals struct {
	Files     []File
	Records   uint64
	Hours     float64 // between the first and the last time; 0 where a log has no clock
	Uncounted uint64  // records that found no room in the tables, and are not compared
}

// Incomplete reports whether the evidence of a log on this side has gaps.
func (t *Totals) Incomplete() bool {
	return slices.ContainsFunc(t.Files, func(f File) bool { return len(f.Gaps) > 0 })
}

// File is one log of a side.
type File struct {
	Name    string
	Records uint64

	// Gaps are the first 16, and MoreGaps how many there are beyond.
	Gaps     []Gap
	MoreGaps int
}

// Row is a group with its counts on both sides.
type Row struct {
	// Signature is the first of the group by id, so that the group has one name
	// wherever the same texts are compared.
	Signature signature.Signature
	Forms     int // signatures in the group

	// Templates are canonical templates of the group, by id, at most MaxForms.
	Templates []string

	Old, New Tally

	// Ratio says by how much More, Less and Worse differ.
	Ratio Ratio

	// Chance is how likely it is that what Added and Gone have is missing on the
	// other side by chance.
	Chance float64

	// Blame is whom the first urgent entry points at, of the new side if that has one.
	Blame []blame.Suspect

	// Sample is the line of such an entry, "" where none is urgent.
	Sample string
}

// MaxForms bounds the templates of a row, and of an entry of a baseline.
const MaxForms = 16

// Tally is a group on one side. Without entries all is zero.
type Tally struct {
	Count   uint64
	Per1000 float64 // of the records of this side
	PerHour float64 // 0 where a log has no clock

	// Disposition, Severity and Rule are those of the weightiest entry.
	Disposition event.Disposition
	Severity    event.Severity
	Rule        string

	// First is where the group begins in each log that has it.
	First []Place
}

// Place is a line of a log.
type Place struct {
	File string
	Line int
}

// Diff compares the two sides. The collector can go on afterwards.
func (c *Collector) Diff() *Diff {
	groups, _ := c.groups(nil)
	d := &Diff{Old: c.totals(Old), New: c.totals(New), Groups: len(groups)}
	d.Mods = slices.DeleteFunc(c.modChanges(), func(m ModChange) bool { return m.Change == Moved })
	compared := 0
	for _, g := range groups {
		if g.common() {
			compared++
		}
	}
	z := quantileOf(c.config.Confidence, compared)

	changed, shared := c.changed(d, groups, z)
	for i, g := range groups {
		own := *g
		if changed[i] { // its records are in no length
			own.tally[Old].count, own.tally[New].count = 0, 0
		}
		measures := c.measures(d, &own, &shared)
		row := c.row(d, g)
		switch {
		case g.tally[Old].count == 0:
			row.Chance = chance(g.tally[New].count, measures, New)
			d.Added = append(d.Added, row)
		case g.tally[New].count == 0:
			row.Chance = chance(g.tally[Old].count, measures, Old)
			d.Gone = append(d.Gone, row)
		default:
			var v verdict
			v, row.Ratio = judge(g.tally[Old].count, g.tally[New].count, measures, z, c.config.Factor)
			switch v {
			case more:
				d.More = append(d.More, row)
			case less:
				d.Less = append(d.Less, row)
			}
			if g.tally[New].own > g.tally[Old].own {
				d.Worse = append(d.Worse, row)
			}
		}
	}
	for _, rows := range [][]Row{d.Added, d.Gone, d.More, d.Less, d.Worse} {
		slices.SortFunc(rows, compareRows)
	}
	return d
}

// changed returns which of the groups that both sides have are more or less frequent, and
// the length of the sides in records: of what both have, without what has changed. Else
// one flood would make all the rest look rare. What has changed is only known with a
// length, so that it is found in turns.
func (c *Collector) changed(d *Diff, groups []*group, z float64) (changed []bool, shared [2]uint64) {
	for _, g := range groups {
		if g.common() {
			shared[Old] += g.tally[Old].count
			shared[New] += g.tally[New].count
		}
	}
	changed = make([]bool, len(groups))
	for again := true; again; {
		again = false
		left := shared
		for i, g := range groups {
			if g.common() && !changed[i] {
				if v, _ := judge(g.tally[Old].count, g.tally[New].count, c.measures(d, g, &left), z, c.config.Factor); v != same {
					changed[i], again = true, true
					shared[Old] -= g.tally[Old].count
					shared[New] -= g.tally[New].count
				}
			}
		}
	}
	return changed, shared
}

// common reports whether both sides have the group.
func (g *group) common() bool { return g.tally[Old].count > 0 && g.tally[New].count > 0 }

// measures returns the lengths that the rates of a group are taken by. Its own
// records are no part of the length in records.
func (c *Collector) measures(d *Diff, g *group, shared *[2]uint64) []exposure {
	var own [2]uint64
	if g.common() {
		own = [2]uint64{g.tally[Old].count, g.tally[New].count}
	}
	return []exposure{
		{PerRun, float64(len(c.runs[Old])), float64(len(c.runs[New]))},
		{PerRecord, float64(shared[Old] - own[Old]), float64(shared[New] - own[New])},
		{PerHour, d.Old.Hours, d.New.Hours},
	}
}

// totals sums up one side.
func (c *Collector) totals(side Side) Totals {
	t := Totals{Files: []File{}}
	clock := true
	for _, r := range c.runs[side] {
		t.Files = append(t.Files, File{Name: r.config.File, Records: r.records, Gaps: slices.Clone(r.gaps), MoreGaps: r.moreGaps})
		t.Records += r.records
		t.Uncounted += r.uncounted
		hours := r.last.Sub(r.first).Hours()
		// A log of which few records have a time tells nothing about its length.
		if 2*r.timed < r.records || hours <= 0 {
			clock = false
		}
		t.Hours += hours
	}
	if !clock {
		t.Hours = 0
	}
	return t
}

// row describes a group.
func (c *Collector) row(d *Diff, g *group) Row {
	r := Row{
		Signature: g.texts[0].sig, Forms: len(g.texts), Templates: g.templates(),
		Old: g.tallyOf(Old, &d.Old), New: g.tallyOf(New, &d.New),
	}
	for _, side := range []Side{New, Old} {
		t := &g.tally[side]
		if len(r.Blame) == 0 {
			r.Blame = t.suspects
		}
		if r.Sample == "" {
			r.Sample = t.sample
		}
	}
	return r
}

// templates returns the templates of a group, by id.
func (g *group) templates() []string {
	out := make([]string, 0, min(len(g.texts), MaxForms))
	for _, t := range g.texts[:min(len(g.texts), MaxForms)] {
		out = append(out, t.template)
	}
	return out
}

// tallyOf describes a group on one side.
func (g *group) tallyOf(side Side, total *Totals) Tally {
	t := &g.tally[side]
	out := Tally{Count: t.count, Disposition: t.judged.disposition, Severity: t.judged.severity, Rule: t.judged.rule}
	if t.count == 0 {
		return Tally{}
	}
	out.Per1000 = float64(t.count) * 1000 / float64(total.Records)
	if total.Hours > 0 {
		out.PerHour = float64(t.count) / total.Hours
	}
	for _, s := range g.seen {
		if s.run.side == side {
			out.First = append(out.First, Place{s.run.config.File, s.first})
		}
	}
	return out
}

// weight returns the tally by which a row is ordered: that of the new side if
// the group is there.
func (r *Row) weight() *Tally {
	if r.New.Count > 0 {
		return &r.New
	}
	return &r.Old
}

// Disposition returns the disposition that a row is ordered by: that of the new
// side, or of the old one where the group is gone.
func (r *Row) Disposition() event.Disposition { return r.weight().Disposition }

// compareRows orders rows by what matters.
func compareRows(a, b Row) int {
	v, w := a.weight(), b.weight()
	return cmp.Or(
		cmp.Compare(w.Disposition, v.Disposition),
		cmp.Compare(w.Severity, v.Severity),
		cmp.Compare(a.Chance, b.Chance),
		cmp.Compare(w.Count, v.Count),
		compareSignatures(a.Signature, b.Signature),
	)
}
