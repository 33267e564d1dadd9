package compare

import (
	"cmp"
	"slices"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// DefaultExpiry is after how many days what is known to a baseline is asked about
// again: noise that nobody looked at for three months is not known any more.
const DefaultExpiry = 90

// Date is a day, in the form 2006-01-02. Days compare as texts.
type Date string

// DateOf returns the day of a time, in UTC, so that it is the same for all who
// share a baseline.
func DateOf(t time.Time) Date { return Date(t.UTC().Format(time.DateOnly)) }

// ParseDate reads a day.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return "", err
	}
	return DateOf(t), nil
}

// Add returns the day so many days later.
func (d Date) Add(days int) Date {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return d
	}
	return DateOf(t.AddDate(0, 0, days))
}

// Baseline is noise that is known: groups of urgent entries with the rate at which
// they were seen.
type Baseline struct {
	Versions

	Mods       uint64 // [ModsHash]; 0 where no log had a list
	Written    Date
	Incomplete bool // a log that it was written from was blind or cut

	// Entries are by the id of their signature.
	Entries []Known
}

// Versions is what the meaning of a baseline depends on.
type Versions struct {
	Signatures int    // signature.Version
	Masking    uint64 // signature.Normalizer.Version
	Rules      uint64 // rules.Set.Hash
}

// Known is one group of a baseline.
type Known struct {
	Signature   signature.Signature // that names the group
	Rule        string
	Disposition event.Disposition
	Count       uint64 // entries, in Records of Runs
	Records     uint64
	Runs        int
	First       Date // first written
	Expires     Date // the first day on which it is known no more
	Note        string

	// Templates are canonical templates of the group, that of Signature first, at
	// most MaxForms.
	Templates []string
}

// Per1000 returns the rate.
func (k *Known) Per1000() float64 {
	if k.Records == 0 {
		return 0
	}
	return float64(k.Count) * 1000 / float64(k.Records)
}

// WriteOptions says how a baseline is written.
type WriteOptions struct {
	Versions

	Today  Date
	Expiry int // days; 0 means DefaultExpiry

	// Previous is what the baseline held before, nil for a new one. Of groups that
	// it knows, the first day, the day of expiry, the note and the id are kept. Those
	// that were not seen again stay until they expire.
	Previous *Baseline

	// Renew gives all that was seen a new day of expiry.
	Renew bool

	// Mask returns the canonical template of a template of Previous under the rules
	// of today.
	Mask func(template string) string
}

// Written is what became of a baseline.
type Written struct {
	Baseline *Baseline
	Updated  bool // there was a previous one
	Added    int  // groups that the previous one did not know
	Kept     int  // that it knew, and that were seen again
	Unseen   int  // that it knew, that were not seen, and stay
	Dropped  int  // that were not seen and have expired
	Expired  int  // that were seen and have expired: renew them, or mend what causes them
}

// Write makes a baseline of what is urgent on the new side.
func (c *Collector) Write(o WriteOptions) *Written {
	o.Expiry = cmp.Or(o.Expiry, DefaultExpiry)
	totals := c.totals(New)
	b := &Baseline{Versions: o.Versions, Mods: ModsHash(c.listed(New)), Written: o.Today, Incomplete: totals.Incomplete()}
	w := &Written{Baseline: b, Updated: o.Previous != nil}
	previous := &Baseline{}
	if o.Previous != nil {
		previous = o.Previous
	}
	groups := c.match(previous, o.Mask)
	seen := make([]bool, len(previous.Entries))
	for _, g := range groups {
		t := &g.tally[New]
		if !t.judged.disposition.Urgent() || g.texts[0].template == "" { // there is nothing to know the latter by
			continue
		}
		k := Known{
			Signature: g.texts[0].sig, Rule: t.judged.rule, Disposition: t.judged.disposition,
			Count: t.count, Records: totals.Records, Runs: len(totals.Files),
			First: o.Today, Expires: o.Today.Add(o.Expiry), Templates: g.templates(),
		}
		if g.entry >= 0 {
			old := &previous.Entries[g.entry]
			seen[g.entry] = true
			w.Kept++
			k.First, k.Note = old.First, old.Note
			if !o.Renew {
				k.Expires = old.Expires
			}
			if k.Expires <= o.Today {
				w.Expired++
			}
			// A name that stays is a change that nobody has to read.
			if i := slices.IndexFunc(g.texts, func(t *entryText) bool { return t.sig == old.Signature }); i >= 0 {
				k.Signature = old.Signature
				first := g.texts[i].template
				rest := slices.DeleteFunc(k.Templates, func(t string) bool { return t == first })
				k.Templates = append([]string{first}, rest[:min(len(rest), MaxForms-1)]...)
			}
		} else {
			w.Added++
		}
		b.Entries = append(b.Entries, k)
	}
	for i := range previous.Entries {
		switch old := &previous.Entries[i]; {
		case seen[i]:
		case old.Expires <= o.Today:
			w.Dropped++
		default:
			w.Unseen++
			b.Entries = append(b.Entries, *old)
		}
	}
	slices.SortFunc(b.Entries, func(x, y Known) int { return compareSignatures(x.Signature, y.Signature) })
	return w
}

// match returns the groups, those that a baseline knows with its entry. Of two
// entries that turn out to be one group, the first one counts; a group has one
// entry, and several groups of one entry are made one.
func (c *Collector) match(b *Baseline, mask func(string) string) []*group {
	var known []*entryText
	entries := map[signature.Signature]int{} // by the signature of a template
	for i := range b.Entries {
		for _, template := range b.Entries[i].Templates {
			if mask != nil {
				template = mask(template)
			}
			sig := signature.Of([]byte(template))
			if _, ok := entries[sig]; !ok {
				entries[sig] = i
				known = append(known, &entryText{sig: sig, template: template})
			}
		}
	}
	groups, grouper := c.groups(known)
	byGroup := map[signature.Signature]int{}
	for _, t := range known {
		name := grouper.Group(t.sig)
		if i, ok := byGroup[name]; !ok || entries[t.sig] < i {
			byGroup[name] = entries[t.sig]
		}
	}
	merged := groups[:0]
	byEntry := map[int]*group{}
	for _, g := range groups {
		i, ok := byGroup[grouper.Group(g.texts[0].sig)]
		if !ok {
			merged = append(merged, g)
			continue
		}
		g.entry = i
		first := byEntry[i]
		if first == nil {
			byEntry[i] = g
			merged = append(merged, g)
			continue
		}
		first.texts, first.cut = append(first.texts, g.texts...), append(first.cut, g.cut...)
	}
	for _, g := range byEntry {
		slices.SortFunc(g.texts, compareTexts)
		*g = group{texts: g.texts, cut: g.cut, entry: g.entry}
		g.add()
	}
	return merged
}

// Checked is what a baseline does not explain.
type Checked struct {
	New Totals

	// Added are urgent groups that the baseline does not know; More those above their
	// rate; Worse those whose rule asks for more than when they were written; Expired
	// those that were seen although their entry has expired. A group is in the first of
	// these that fits.
	Added, More, Worse, Expired []CheckedRow

	// Known is how many groups are as the baseline says, with KnownEntries.
	Known        int
	KnownEntries uint64

	// Unseen are entries of the baseline that no log has.
	Unseen []Known

	// RulesChanged and ModsChanged say that the baseline was written with others. Of
	// mods it is only said where both lists are known.
	RulesChanged, ModsChanged bool
}

// Speaks reports whether anything is not explained.
func (c *Checked) Speaks() bool {
	return len(c.Added)+len(c.More)+len(c.Worse)+len(c.Expired) > 0
}

// CheckedRow is a group of a log that was checked.
type CheckedRow struct {
	Row

	// Entry is what the baseline knows of it, nil for one that it does not know.
	Entry *Known
}

// Check holds the new side against a baseline. mask is that of WriteOptions.
func (c *Collector) Check(b *Baseline, v Versions, today Date, mask func(template string) string) *Checked {
	out := &Checked{New: c.totals(New), RulesChanged: b.Rules != v.Rules || b.Masking != v.Masking}
	if h := ModsHash(c.listed(New)); h != 0 && b.Mods != 0 {
		out.ModsChanged = h != b.Mods
	}
	d := &Diff{New: out.New}
	groups := c.match(b, mask)
	// What is not known, or more frequent, is no part of the length of a log.
	length := out.New.Records
	seen := make([]bool, len(b.Entries))
	compared := 0
	for _, g := range groups {
		if g.entry >= 0 {
			seen[g.entry] = true
			compared++
		} else if g.tally[New].judged.disposition.Urgent() {
			length -= g.tally[New].count
		}
	}
	above, ratios := c.aboveRate(b, groups, length, quantileOf(c.config.Confidence, compared))
	for i, g := range groups {
		t := &g.tally[New]
		if !t.judged.disposition.Urgent() {
			continue
		}
		row := CheckedRow{Row: c.row(d, g)}
		if g.entry < 0 {
			out.Added = append(out.Added, row)
			continue
		}
		row.Entry, row.Ratio = &b.Entries[g.entry], ratios[i]
		switch {
		case above[i]:
			out.More = append(out.More, row)
		case t.own > row.Entry.Disposition:
			out.Worse = append(out.Worse, row)
		case row.Entry.Expires <= today:
			out.Expired = append(out.Expired, row)
		default:
			out.Known++
			out.KnownEntries += t.count
		}
	}
	for _, rows := range [][]CheckedRow{out.Added, out.More, out.Worse, out.Expired} {
		slices.SortFunc(rows, func(a, b CheckedRow) int { return compareRows(a.Row, b.Row) })
	}
	for i := range b.Entries {
		if !seen[i] {
			out.Unseen = append(out.Unseen, b.Entries[i])
		}
	}
	slices.SortStableFunc(out.Unseen, func(a, b Known) int { return cmp.Compare(b.Disposition, a.Disposition) })
	return out
}

// aboveRate returns which of groups are above the rate that a baseline has for them, and
// by how much. length is how many records all that is known has; those above their rate
// are no part of it either, so that they are found in turns.
func (c *Collector) aboveRate(b *Baseline, groups []*group, length uint64, z float64) (above []bool, ratios []Ratio) {
	above, ratios = make([]bool, len(groups)), make([]Ratio, len(groups))
	for again := true; again; {
		again = false
		left := length
		for i, g := range groups {
			if g.entry < 0 || above[i] {
				continue
			}
			e, n := &b.Entries[g.entry], g.tally[New].count
			measures := []exposure{
				{PerRun, float64(e.Runs), float64(len(c.runs[New]))},
				{PerRecord, float64(e.Records - min(e.Records, e.Count)), float64(left - min(left, n))},
			}
			var is verdict
			if is, ratios[i] = judge(e.Count, n, measures, z, c.config.Factor); is == more {
				above[i], again = true, true
				length -= min(length, n)
			}
		}
	}
	return above, ratios
}
