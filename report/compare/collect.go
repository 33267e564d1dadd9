package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// The defaults of [Config].
const (
	DefaultFactor     = 2
	DefaultConfidence = 0.99
	DefaultTexts      = 16_384
	DefaultTextBytes  = 8 << 20
)

// maxSample bounds, in bytes, what is kept of an entry as a sample.
const maxSample = 512

// groupColumns is how many columns a text is given in the grouper: as many as a
// line of eight words takes. More than maxColumns are too much memory.
const (
	groupColumns = 8
	maxColumns   = 1 << 17
)

// Config sets up a [Collector]. Zero means the default.
type Config struct {
	// Factor is the ratio of rates from which on a group is more or less frequent.
	// At least 1. Default 2.
	Factor float64

	// Confidence is that of the bounds of all ratios of a comparison together, above 0.5
	// and below 1. Default 0.99.
	Confidence float64

	// Texts bounds the signatures that are kept, for each side those that it was
	// the first to have: a flood on one side leaves room for the other. Default 16,384.
	Texts int

	// TextBytes bounds their templates and samples, in bytes, in the same way.
	// Default 8 MiB.
	TextBytes int
}

// Validate reports the first field that is out of range.
func (c *Config) Validate() error {
	switch {
	case c.Factor != 0 && (!(c.Factor >= 1) || math.IsInf(c.Factor, 0)):
		return fmt.Errorf("compare: Config.Factor is %v: want 1 or more, or 0 for %v", c.Factor, DefaultFactor)
	case c.Confidence != 0 && !(c.Confidence > 0.5 && c.Confidence < 1):
		return fmt.Errorf("compare: Config.Confidence is %v: want more than 0.5 and less than 1, or 0 for %v", c.Confidence, DefaultConfidence)
	case c.Texts < 0 || c.Texts > 1<<30:
		return fmt.Errorf("compare: Config.Texts is %d: want 0 for %d, or 1 to %d", c.Texts, DefaultTexts, 1<<30)
	case c.TextBytes < 0:
		return fmt.Errorf("compare: Config.TextBytes is %d: must not be negative (0 means %d)", c.TextBytes, DefaultTextBytes)
	}
	return nil
}

// Side is what a run is compared as.
type Side uint8

// The sides of a comparison.
const (
	Old Side = iota // what is known
	New             // what is held against it
)

// Collector gathers the entries of logs, and what is known of them, until they
// are compared.
type Collector struct {
	config Config
	texts  map[signature.Signature]*entryText
	kept   [2]int // texts
	bytes  [2]int
	runs   [2][]*Run
}

// entryText is one signature, with its counts by run.
type entryText struct {
	sig      signature.Signature
	template string
	tally    [2]tally
	seen     []sighting
}

// tally is what is known of a text, or a group, on one side.
type tally struct {
	count    uint64
	judged   judgement // the weightiest
	own      event.Disposition
	sample   string
	suspects []blame.Suspect // whom its first urgent entry points at
	asked    bool            // for suspects and a sample
}

// judgement is what a rule says of an entry.
type judgement struct {
	disposition event.Disposition
	severity    event.Severity
	rule        string
}

// compare orders judgements by weight. Of equals the rule that sorts first is
// the weightier, so that the order of entries does not matter.
func (j *judgement) compare(k *judgement) int {
	return cmp.Or(cmp.Compare(j.disposition, k.disposition), cmp.Compare(j.severity, k.severity), cmp.Compare(k.rule, j.rule))
}

// sighting is a text in one run.
type sighting struct {
	run   *Run
	count uint64
	first int
}

// RunConfig says what a run is, and how to ask about the entry being observed.
type RunConfig struct {
	// File is the name of the log.
	File string

	// Template returns the canonical template of a signature. It is asked when a
	// signature is new to the collector. Required.
	Template func(signature.Signature) (string, bool)

	// Blame returns the mods that the entry being observed points at. It is asked
	// for the first urgent entry of each signature on each side. Optional.
	Blame func() []blame.Suspect

	// Sample returns a line by which people recognize the entry being observed; as
	// often as Blame. Optional.
	Sample func() string
}

// Run is one log.
type Run struct {
	collector   *Collector
	config      RunConfig
	side        Side
	index       int // among the runs of its side
	records     uint64
	timed       uint64
	first, last time.Time
	uncounted   uint64     // entries of signatures for which there was no room
	latest      *entryText // of the last entry, nil where there was no room for it
	truncated   bool       // the end of the log is visibly missing
	gaps        []Gap
	moreGaps    int // that are not kept
	mods        []Mod
	hasMods     bool
}

// Gap is where the evidence of a log is incomplete: what is missing from it may
// have happened all the same.
type Gap struct {
	// Kind is [GapBlind], or what is missing: "hole", "run_cut", [GapTruncated]; [GapUnread]
	// where reading ended before the log did, [GapBeginning] where it began before what was read; [GapEmpty] and [GapHeader] where there is no log.
	Kind string
	From int    // line
	To   int    // line at which the log spoke again, 0 if it did not
	Rule string // that said so, or ""
}

// Kinds of gaps. The last two say that a log has more than what was read of it.
const (
	GapBlind     = "blind"
	GapBeginning = "beginning" // the log begins in the middle
	GapEmpty     = "empty"     // the log says nothing at all
	GapHeader    = "header"    // only the header of an upload is there
	GapTruncated = "truncated"
	GapUnread    = "unread"
)

// NewCollector returns an empty collector. The error names the field of c that is at fault.
func NewCollector(c Config) (*Collector, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.Factor = cmp.Or(c.Factor, DefaultFactor)
	c.Confidence = cmp.Or(c.Confidence, DefaultConfidence)
	c.Texts = cmp.Or(c.Texts, DefaultTexts)
	c.TextBytes = cmp.Or(c.TextBytes, DefaultTextBytes)
	return &Collector{config: c, texts: map[signature.Signature]*entryText{}}, nil
}

// Run begins a log on one side.
func (c *Collector) Run(side Side, r RunConfig) *Run {
	run := &Run{collector: c, config: r, side: side, index: len(c.runs[side])}
	c.runs[side] = append(c.runs[side], run)
	return run
}

// Observe counts one record with what the engine made of it. Own is the disposition
// of the rule, without what repetition made of it. Strings are copied where they are
// kept.
func (r *Run) Observe(rec *capture.Record, o *heed.Outcome, own event.Disposition) {
	r.records++
	if at := rec.Time; !at.IsZero() {
		if r.timed == 0 || at.Before(r.first) {
			r.first = at
		}
		if r.timed == 0 || at.After(r.last) {
			r.last = at
		}
		r.timed++
	}
	t := r.text(o.Signature)
	r.latest = t
	if t == nil {
		r.uncounted++
		return
	}
	line, d := rec.Line(), &o.Decision
	if n := len(t.seen); n > 0 && t.seen[n-1].run == r {
		s := &t.seen[n-1]
		s.count++
		s.first = min(s.first, line)
	} else {
		t.seen = append(t.seen, sighting{run: r, count: 1, first: line})
	}
	tally := &t.tally[r.side]
	j := judgement{d.Disposition, d.Severity, d.Rule}
	if tally.count == 0 || j.compare(&tally.judged) > 0 {
		j.rule = strings.Clone(j.rule)
		tally.judged = j
	}
	tally.count++
	tally.own = max(tally.own, own)
	if d.Disposition.Urgent() && !tally.asked {
		tally.asked = true
		if r.config.Blame != nil {
			tally.suspects = r.config.Blame()
		}
		if r.config.Sample != nil {
			tally.sample = r.keep(clip(r.config.Sample()))
		}
	}
}

// Skip counts an entry that is compared with nothing, such as the header of an upload,
// which lists what is compared by itself.
func (r *Run) Skip() { r.records++ }

// maxGaps bounds the gaps of a log that are kept: the first. One that goes blind
// more often is described well enough by their number.
const maxGaps = 16

// Incomplete tells that the evidence of the log has a gap.
func (r *Run) Incomplete(g Gap) {
	r.truncated = r.truncated || g.Kind == GapTruncated || g.Kind == GapUnread
	if len(r.gaps) == maxGaps {
		r.moreGaps++
		return
	}
	r.gaps = append(r.gaps, g)
}

// Mods tells which mods the log says were loaded, in load order. It keeps mods.
func (r *Run) Mods(mods []Mod) { r.mods, r.hasMods = append(r.mods, mods...), true }

// Mods tells which mods were loaded on a side, in load order, in the place of what
// its logs say. It keeps mods.
func (c *Collector) Mods(side Side, mods []Mod) {
	for _, r := range c.runs[side] {
		r.mods, r.hasMods = nil, false
	}
	if len(c.runs[side]) > 0 {
		c.runs[side][0].Mods(mods)
	}
}

// listed returns the mods that the logs of a side list, one list after the other.
func (c *Collector) listed(side Side) []Mod {
	var mods []Mod
	for _, r := range c.runs[side] {
		mods = append(mods, r.mods...)
	}
	return mods
}

// text returns what is known of a signature, nil where there is no room for it.
func (r *Run) text(s signature.Signature) *entryText {
	c := r.collector
	if t := c.texts[s]; t != nil {
		return t
	}
	if c.kept[r.side] >= c.config.Texts {
		return nil
	}
	template, _ := r.config.Template(s)
	if c.bytes[r.side]+len(template) > c.config.TextBytes {
		return nil
	}
	t := &entryText{sig: s, template: strings.Clone(template)}
	c.kept[r.side]++
	c.bytes[r.side] += len(template)
	c.texts[s] = t
	return t
}

// keep returns a copy of a sample, or "" where there is no room for it.
func (r *Run) keep(sample string) string {
	c := r.collector
	if c.bytes[r.side]+len(sample) > c.config.TextBytes {
		return ""
	}
	c.bytes[r.side] += len(sample)
	return strings.Clone(sample)
}

// clip cuts a sample to its bound.
func clip(s string) string {
	if len(s) <= maxSample {
		return s
	}
	return strings.ToValidUTF8(s[:maxSample], "") + "…"
}

// group is the texts that are one group, with their counts.
type group struct {
	texts []*entryText // by id
	cut   []*entryText // what ends of logs have left of them
	tally [2]tally
	seen  []sighting // by run, in the order of the runs
	at    map[*Run]int
	entry int // of a baseline, or -1
}

// sorted returns all texts by id.
func (c *Collector) sorted() []*entryText {
	return slices.SortedFunc(maps.Values(c.texts), compareTexts)
}

func compareTexts(a, b *entryText) int { return compareSignatures(a.sig, b.sig) }

func compareSignatures(a, b signature.Signature) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Check, b.Check))
}

// groups learns all texts, and what else is known, and returns the groups by
// their first id. A text without a template is a group of its own.
func (c *Collector) groups(known []*entryText) (groups []*group, grouper *signature.Grouper) {
	texts := c.sorted()
	all, cut := c.whole(texts, known)
	learned := all
	if len(known) > 0 {
		learned = slices.Concat(all, known)
		slices.SortFunc(learned, compareTexts)
	}
	grouper, err := signature.NewGrouper(signature.GrouperConfig{
		Signatures: max(1, len(learned)),
		Columns:    min(max(groupColumns*len(learned), signature.DefaultGroupColumns), maxColumns),
	})
	if err != nil {
		panic("BUG: compare: " + err.Error())
	}
	for _, t := range learned {
		if t.template != "" {
			grouper.Learn(t.sig, []byte(t.template))
		}
	}
	bySignature := map[signature.Signature]*group{}
	for _, t := range all {
		name := grouper.Group(t.sig)
		g := bySignature[name]
		if g == nil {
			g = &group{entry: -1}
			bySignature[name] = g
			groups = append(groups, g)
		}
		g.texts = append(g.texts, t)
	}
	for _, t := range texts {
		longer := cut[t]
		for cut[longer] != nil { // which is cut itself, and longer each time
			longer = cut[longer]
		}
		if longer != nil {
			if g := bySignature[grouper.Group(longer.sig)]; g != nil {
				g.cut = append(g.cut, t)
			}
		}
	}
	for _, g := range groups {
		g.add()
	}
	return groups, grouper
}

// add adds up what is known of the texts of a group.
func (g *group) add() {
	g.at = map[*Run]int{}
	for _, t := range g.texts {
		for side := range t.tally {
			g.tally[side].merge(&t.tally[side])
		}
		g.see(t)
	}
	for _, t := range g.cut {
		g.addCut(t)
	}
	g.at = nil
	slices.SortStableFunc(g.seen, func(a, b sighting) int {
		return cmp.Or(cmp.Compare(a.run.side, b.run.side), cmp.Compare(a.run.index, b.run.index))
	})
}

// see adds the sightings of a text.
func (g *group) see(t *entryText) {
	for _, s := range t.seen {
		i, ok := g.at[s.run]
		if !ok {
			g.at[s.run] = len(g.seen)
			g.seen = append(g.seen, s)
			continue
		}
		g.seen[i].count += s.count
		g.seen[i].first = min(g.seen[i].first, s.first)
	}
}

// merge adds u to t.
func (t *tally) merge(u *tally) {
	if u.count == 0 {
		return
	}
	if t.count == 0 || u.judged.compare(&t.judged) > 0 {
		t.judged = u.judged
		if u.sample != "" {
			t.sample, t.suspects = u.sample, u.suspects
		}
	}
	t.count += u.count
	t.own = max(t.own, u.own)
	if len(t.suspects) == 0 {
		t.suspects = u.suspects
	}
	if t.sample == "" {
		t.sample = u.sample
	}
}
