package compare

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/cohort"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/signature"
)

// date is a day, in the form 2006-01-02. Days compare as texts.
type date string

// dateOf returns the day of a time, in UTC, so that it is the same for all who
// share a baseline.
func dateOf(t time.Time) date { return date(t.UTC().Format(time.DateOnly)) }

// Baseline is noise that is known: groups of urgent entries with the rate at which
// they were seen.
type Baseline struct {
	// What its meaning depends on.
	Signatures int    // signature.Version
	Masking    uint64 // signature.Normalizer.Version
	Rules      uint64 // rules.Set.Hash

	Written    date
	Incomplete bool // a log that it was written from was blind or cut

	// Entries are by the id of their signature.
	Entries []Known

	file string // that it was read from
}

// Known is one group of a baseline.
type Known struct {
	Signature   signature.Signature // that names the group
	Rule        string
	Disposition event.Disposition
	Count       uint64 // entries, in Records of Runs
	Records     uint64
	Runs        int
	First       date // first written
	Expires     date // the first day on which it is known no more
	Note        string

	// Templates are canonical templates of the group, at most 16. The first one is the template of Signature.
	Templates []string

	// Sample is the text of an entry of the group with its stack, scrubbed, by which another version of signatures reads
	// the group. It is "" where a scrubbed or cut text has another template.
	Sample string

	seen bool // the group is checked, or written again
}

// per1000 returns the rate.
func (k *Known) per1000() float64 {
	return float64(k.Count) * 1000 / float64(k.Records)
}

// WriteOptions sets up how a baseline is written.
type WriteOptions struct {
	Today  time.Time
	Expiry int // days; 0 means DefaultExpiry

	// Previous is the baseline before, nil for a new one. Groups that it knows keep the first day, the day of expiry, the
	// note and the id. Groups that were not seen again stay until they expire.
	Previous *Baseline

	// Renew gives all that was seen a new day of expiry.
	Renew bool
}

// Written is a baseline with the number of its changes.
type Written struct {
	Baseline *Baseline
	Updated  bool // there was a previous one
	Added    int  // groups that the previous one did not know
	Kept     int  // that it knew, and that were seen again
	Unseen   int  // that it knew, that were not seen, and stay
	Dropped  int  // that were not seen and have expired
	Expired  int  // that were seen and have expired: renew them, or mend what causes them
}

// Write makes a baseline of the urgent groups of the new side.
func (c *Collector) Write(o WriteOptions) *Written {
	today, expires := dateOf(o.Today), dateOf(o.Today.UTC().AddDate(0, 0, cmp.Or(o.Expiry, DefaultExpiry)))
	totals := c.totals(New)
	b := &Baseline{
		Signatures: signature.Version, Masking: c.normalizer.Version(), Rules: c.config.Rules.Hash(),
		Written: today, Incomplete: totals.incomplete(),
	}
	w := &Written{Baseline: b, Updated: o.Previous != nil}
	groups, previous := c.groups(cmp.Or(o.Previous, &Baseline{}))
	for _, g := range groups {
		t := &g.tally[New]
		if !t.decided.Disposition.Urgent() || g.texts[0].template == "" { // there is nothing to know the latter by
			continue
		}
		old := cmp.Or(g.known, &Known{First: today, Expires: expires})
		if old == g.known {
			w.Kept++
		} else {
			w.Added++
		}
		old.seen = true
		k := Known{
			Signature: g.texts[0].sig, Rule: t.decided.Rule, Disposition: t.decided.Disposition,
			Count: t.count, Records: totals.Records, Runs: len(totals.Files),
			First: old.First, Expires: old.Expires, Note: old.Note, Templates: g.templates(), Sample: c.sample(g, old.Sample),
		}
		if o.Renew {
			k.Expires = expires
		}
		if k.Expires <= today {
			w.Expired++
		}
		// An id that stays is no change to review.
		if i := slices.IndexFunc(g.texts, func(t *entryText) bool { return t.sig == old.Signature }); i >= 0 {
			k.Signature = old.Signature
			first := g.texts[i].template
			rest := slices.DeleteFunc(k.Templates, func(t string) bool { return t == first })
			k.Templates = append([]string{first}, rest[:min(len(rest), MaxForms-1)]...)
		}
		b.Entries = append(b.Entries, k)
	}
	for i := range previous.Entries {
		switch old := &previous.Entries[i]; {
		case old.seen:
		case old.Expires <= today:
			w.Dropped++
		default:
			w.Unseen++
			b.Entries = append(b.Entries, *old)
		}
	}
	slices.SortFunc(b.Entries, func(x, y Known) int { return compareSignatures(x.Signature, y.Signature) })
	return w
}

// sample returns the sample that a baseline had of a group, or else the text of an entry, scrubbed: the first that is
// read as the group, or "".
func (c *Collector) sample(g *group, before string) string {
	lines := strings.Split(strings.TrimSpace(g.tally[New].text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\r")
	}
	text := c.config.Scrub.Text(strings.Join(lines, "\n"))
	for _, s := range [...]string{before, text} {
		if s != "" && slices.ContainsFunc(g.texts, func(t *entryText) bool {
			_, source := signature.CutSource(t.template)
			return t.sig == signature.Of([]byte(c.masked(s, source)))
		}) {
			return s
		}
	}
	return ""
}

// known returns the texts that each entry of a baseline knows.
func (c *Collector) known(b *Baseline) [][]*entryText {
	known := make([][]*entryText, len(b.Entries))
	know := func(i int, text, source string) {
		if template := c.masked(text, source); text != "" {
			known[i] = append(known[i], &entryText{sig: signature.Of([]byte(template)), template: template})
		}
	}
	for i := range b.Entries {
		k := &b.Entries[i]
		_, source := signature.CutSource(k.Templates[0])
		know(i, k.Sample, source) // another masking reads it, where a template has less than it masks
		for _, t := range k.Templates {
			text, source := signature.CutSource(t)
			know(i, text, source)
		}
	}
	return known
}

// joined returns b with entries of one variant of a group as one, the first, and the entries by their variants.
func (b *Baseline) joined(known [][]*entryText, names *namer) (joined *Baseline, entries map[name]int) {
	copied := *b
	copied.Entries, entries = nil, map[name]int{}
	for i, k := range b.Entries {
		k.Templates = slices.Clone(k.Templates)
		if known[i] != nil {
			n := names.of(known[i][0])
			if first, ok := entries[n]; ok {
				copied.Entries[first].join(&k)
				continue
			}
			entries[n] = len(copied.Entries)
		}
		copied.Entries = append(copied.Entries, k)
	}
	return &copied, entries
}

// masked returns the template that a text of a source, or a template of any version, has today.
func (c *Collector) masked(text, source string) string {
	return string(signature.AppendSource(c.normalizer.AppendTemplate(nil, text, ""), source))
}

// join adds another group of the same baseline.
func (k *Known) join(o *Known) {
	if k.Records == o.Records && k.Runs == o.Runs {
		k.Count += o.Count
	} else { // of other logs: the rates are added
		k.Count += uint64(float64(o.Count) / float64(o.Records) * float64(k.Records))
	}
	k.Count = min(k.Count, k.Records)
	if o.Disposition > k.Disposition {
		k.Rule, k.Disposition = o.Rule, o.Disposition
	}
	k.First, k.Expires = min(k.First, o.First), min(k.Expires, o.Expires)
	if k.Note == "" {
		k.Note = o.Note
	} else if o.Note != "" && o.Note != k.Note {
		k.Note += "; " + o.Note
	}
	for _, t := range o.Templates {
		if len(k.Templates) < MaxForms && !slices.Contains(k.Templates, t) {
			k.Templates = append(k.Templates, t)
		}
	}
}

// Check holds the new side against a baseline.
func (c *Collector) Check(b *Baseline, now time.Time) *Check {
	today, after := dateOf(now), c.totals(New)
	out := &Check{
		SchemaVersion: schema.Version, Baseline: c.safe(b.file, 0), New: after,
		Added: []Group{}, More: []Group{}, Worse: []Group{}, Expired: []Group{}, Unseen: []unseen{},
		RulesChanged: b.Rules != c.config.Rules.Hash() || b.Masking != c.normalizer.Version(),
	}
	groups, b := c.groups(b)
	out.UnknownMods = c.unknownMods(groups)
	// Groups that are not known, or more frequent, are no part of the length of a log.
	length := after.Records
	compared := 0
	for _, g := range groups {
		if g.known != nil {
			g.known.seen = true
			compared++
		} else if g.tally[New].decided.Disposition.Urgent() {
			length -= g.tally[New].count
		}
	}
	above, ratios := c.aboveRate(groups, length, cohort.Quantile(confidence, compared))
	for i, g := range groups {
		t := &g.tally[New]
		if !t.decided.Disposition.Urgent() {
			continue
		}
		entry := g.known
		if entry == nil {
			out.Added = append(out.Added, c.row(g, &Totals{}, &after))
			continue
		}
		rows := &out.Expired
		switch {
		case above[i]:
			rows = &out.More
		case min(t.own, t.alone) > entry.Disposition: // a phase may begin by a line that the baseline's log had later
			rows = &out.Worse
		case entry.Expires > today:
			out.Known++
			out.KnownEntries += t.count
			continue
		}
		row := c.row(g, &Totals{}, &after)
		row.Old = &Tally{Count: entry.Count, Per1000: rounded(entry.per1000()), Disposition: entry.Disposition}
		row.Ratio, row.Expires, row.Note = ratios[i].shown(), entry.Expires, c.safe(entry.Note, maxShown)
		*rows = append(*rows, row)
	}
	for _, rows := range [][]Group{out.Added, out.More, out.Worse, out.Expired} {
		slices.SortFunc(rows, compareRows)
	}
	for i := range b.Entries {
		if k := &b.Entries[i]; !k.seen {
			out.Unseen = append(out.Unseen, unseen{
				ID: k.Signature.ID, Disposition: k.Disposition, Rule: c.safe(k.Rule, 0), Expires: k.Expires,
				Note: c.safe(k.Note, maxShown), Template: c.line(k.Templates),
			})
		}
	}
	slices.SortStableFunc(out.Unseen, func(a, b unseen) int { return cmp.Compare(b.Disposition, a.Disposition) })
	return out
}

// aboveRate returns which of groups are above the rate that their baseline has for them, and by how much. length is how
// many records all that is known has, the groups above their rate included.
func (c *Collector) aboveRate(groups []*group, length uint64, z float64) (above []bool, ratios []ratio) {
	ratios = make([]ratio, len(groups))
	return changed(groups, func(i int, g *group) bool {
		e, n := g.known, g.tally[New].count
		if e == nil {
			return false
		}
		var how change
		how, ratios[i] = differs(e.Count, n, []exposure{
			{perRun, float64(e.Runs), float64(len(c.runs[New]))},
			{perRecord, float64(e.Records - min(e.Records, e.Count)), float64(length - min(length, n))},
		}, z)
		return how == more
	}, func(g *group) { length -= min(length, g.tally[New].count) }), ratios
}
