package report

import (
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
)

// The bounds of the texts that are kept of rows.
const (
	sampleLines  = 24      // lines of a record, and those beyond that point at a mod
	sampleSeen   = 999     // lines among which those are looked for
	sampleLine   = 400     // bytes of a line
	sampleUrgent = 6 << 20 // bytes of samples of each urgent disposition
	sampleOther  = 2 << 20 // bytes of samples of ignored entries
)

// sampleCost is the cost of a line of a sample, besides its text.
const sampleCost = 40

// details has the contents of a page that the other forms lack. Its size does not depend on the size of the log.
type details struct {
	chart histogram

	total uint64 // entries

	lines   excerpts
	samples [len(dispositions)]int // bytes that are taken

	causes map[causeKey]time.Time // of the first entry that a rule decided so
}

// detail has the contents of a page about one row.
type detail struct {
	time   time.Time // of the first entry
	Sample []sampleText
	More   int // lines of the first entry that are not in Sample
}

// sampleText is a line of the first entry of a row, as the page's template takes it.
type sampleText struct {
	Text   string
	Gap    bool // lines before it are left out
	Blamed bool // it points at a mod that is named
}

// observe counts an entry of a row.
func (d *details) observe(config *Config, rec *capture.Record, o *heed.Outcome, row *row, suspects []heed.Suspect,
	wentBlind, isNew bool,
) {
	d.chart.add(o.Decision.Disposition)
	d.total++
	key := causeKey{o.Decision.Rule, o.Decision.Disposition}
	firstOfRow := isNew && o.Decision.Disposition.Urgent()
	_, known := d.causes[key]
	if firstOfRow && !known {
		d.causes[key] = rec.Time
	}
	d.lines.observe(d.total, rec, o.Decision, wentBlind, firstOfRow && !known, firstOfRow)
	if isNew {
		row.Detail.time = rec.Time
		d.sample(config, rec, o, row, suspects)
	}
}

// sample keeps the first entry of a row while there is room.
func (d *details) sample(config *Config, rec *capture.Record, o *heed.Outcome, row *row, suspects []heed.Suspect) {
	urgent := o.Decision.Disposition.Urgent()
	taken, limit := &d.samples[o.Decision.Disposition], sampleOther
	if urgent {
		limit = sampleUrgent
	}
	if *taken >= limit {
		return
	}
	blamed := blamedLines(suspects)
	det, number, gap := &row.Detail, 0, false
	for _, part := range [...]string{rec.Message, rec.Stack} {
		part = strings.TrimRight(part, "\r\n")
		if part == "" {
			continue
		}
		for _, line := range config.Scrub.lines(part) {
			number++
			if number > sampleSeen || number > sampleLines && !blamed[number] || !urgent && number > excerptLines {
				det.More++
				gap = true
				continue
			}
			text := cut(strings.TrimRight(line, "\r"), sampleLine)
			det.Sample = append(det.Sample, sampleText{strings.Clone(text), gap, blamed[number]})
			*taken += len(line) + sampleCost
			gap = false
		}
	}
}

// blamedLines returns the lines of a record that point at the mods that deserve to
// be named.
func blamedLines(suspects []heed.Suspect) map[int]bool {
	lines := map[int]bool{}
	for _, s := range suspects[:len(blame.Likely(suspects))] { // they are the first
		for _, ev := range s.Evidence {
			lines[ev.Line] = true
		}
	}
	return lines
}

// A chart shows at most maxBuckets stretches: more than a screen has pixels for would only make the page larger. The
// first ones are of fewEntries entries: less would show no rate but single entries.
const (
	maxBuckets = 256
	fewEntries = 8
)

// histogram counts entries by disposition in the order of a log whose length is not known before
// it ends: where the buckets do not suffice, pairs of them become one.
type histogram struct {
	buckets []bucket
	width   uint64 // entries in each bucket but the last
	last    uint64 // entries in the last
}

// bucket has the entries of one stretch of a histogram, by event.Disposition.
type bucket [len(dispositions)]uint64

// from returns how many entries have this disposition or a more urgent one.
func (b *bucket) from(least event.Disposition) (n uint64) {
	for _, count := range b[least:] {
		n += count
	}
	return n
}

func (h *histogram) add(d event.Disposition) {
	n := len(h.buckets)
	if n == maxBuckets && h.last == h.width {
		n /= 2
		for i := range n {
			h.buckets[i] = h.buckets[2*i]
			for d, more := range h.buckets[2*i+1] {
				h.buckets[i][d] += more
			}
		}
		h.buckets, h.width = h.buckets[:n], 2*h.width
		h.last = h.width
	}
	if h.last == h.width {
		h.buckets, h.width, h.last = append(h.buckets, bucket{}), max(h.width, fewEntries), 0
	}
	h.buckets[len(h.buckets)-1][d]++
	h.last++
}
