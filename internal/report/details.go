package report

import (
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/text"
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

// The bounds of the excerpts that a page keeps of a log.
const (
	around       = 5       // records before and after a kept one
	excerptText  = 480     // bytes of a record in an excerpt
	excerptLines = 8       // lines of it
	excerptAll   = 640_000 // bytes of all; half of them for what rules decided for the first time
)

// excerptCost is the cost of a record in an excerpt, besides its text, in bytes of a page.
const excerptCost = 120

// excerpts keeps records around the marked ones, while the log goes by.
type excerpts struct {
	kept   []excerptRecord // in the order of the log
	bytes  int
	after  int             // records that are still to be kept
	recent []excerptRecord // the last records, if they are not kept
}

// excerptRecord is one record as an excerpt keeps it.
type excerptRecord struct {
	seq         uint64
	first, last uint64 // lines
	disposition event.Disposition
	rule        string
	marked      bool // the excerpt is there because of it
	cause       bool // it was the first that its rule decided
	more        int  // lines of it that are not shown

	text []byte
}

// excerpt has records in sequence, as a page shows them.
type excerpt struct {
	Lines []excerptLine

	named bool // the first screen names a line of it
	cause bool // it has the first entry of a rule
}

type excerptLine struct {
	Number       uint64 // 0 for a line whose number is not known
	Anchor       bool   // it can be linked to
	Text         string
	Disposition  event.Disposition
	Rule         string
	Marked, Head bool
}

// excerpts returns the records of the log that a page shows, scrubbed and escaped.
func (r *Replay) excerpts(d *Document) (all []*excerpt) {
	v := d.Summary.Verdict
	named := map[uint64]bool{v.Since: true, v.Blind: true}
	for i := range v.Causes {
		named[v.Causes[i].Line] = true
	}
	delete(named, 0)
	seen, last := map[uint64]bool{}, uint64(0)
	for _, rec := range r.details.lines.kept {
		if all == nil || rec.seq != last+1 {
			all = append(all, &excerpt{})
		}
		last = rec.seq
		ex := all[len(all)-1]
		ex.named, ex.cause = ex.named || named[rec.first], ex.cause || rec.cause
		lines := r.config.Scrub.lines(string(rec.text))
		exact := uint64(len(lines)+rec.more) == rec.last-rec.first+1
		for j, line := range lines {
			l := excerptLine{Text: safe(line), Marked: rec.marked, Head: j == 0, Disposition: rec.disposition}
			if l.Head || exact {
				l.Number = rec.first + uint64(j)
			}
			if l.Head {
				l.Rule, l.Anchor = safe(rec.rule), !seen[l.Number]
				seen[l.Number] = true
			}
			ex.Lines = append(ex.Lines, l)
		}
		if rec.more > 0 {
			more := "… " + text.Many(rec.more, "more line")
			ex.Lines = append(ex.Lines, excerptLine{Text: more, Disposition: rec.disposition, Marked: rec.marked})
		}
	}
	return all
}

// observe receives the next record. It is kept, with the records around it, if it is the first of its rule or of its
// group and there is room, or if the log went blind with it. Half of the room is for the first records of rules.
func (x *excerpts) observe(seq uint64, rec *capture.Record, d event.Decision, wentBlind, firstOfRule, firstOfRow bool) {
	wanted := wentBlind && x.bytes < excerptAll+excerptAll/8 || firstOfRule && x.bytes < excerptAll ||
		firstOfRow && x.bytes < excerptAll/2
	r := newExcerpt(seq, rec, d)
	r.marked, r.cause = wanted, wanted && (wentBlind || firstOfRule)
	x.recent = append(x.recent, r)
	switch {
	case wanted:
		x.after = around
	case x.after > 0:
		x.after--
	default:
		x.recent = x.recent[max(0, len(x.recent)-around):]
		return
	}
	for _, r := range x.recent {
		x.bytes += len(r.text) + excerptCost
	}
	x.kept = append(x.kept, x.recent...)
	x.recent = x.recent[:0]
}

// newExcerpt returns a record as an excerpt keeps it.
func newExcerpt(seq uint64, rec *capture.Record, d event.Decision) excerptRecord {
	line := rec.Line()
	r := excerptRecord{
		seq: seq, first: uint64(line), last: uint64(max(line, rec.EndLine)), disposition: d.Disposition,
		rule: d.Rule,
	}
	lines := 0
	for _, part := range [...]string{rec.Message, rec.Stack} {
		if part = strings.TrimRight(part, "\r\n"); part == "" {
			continue
		}
		for line := range strings.SplitSeq(part, "\n") {
			if lines == excerptLines || len(r.text) >= excerptText {
				r.more++
				continue
			}
			if lines > 0 {
				r.text = append(r.text, '\n')
			}
			lines++
			r.text = append(r.text, cut(strings.TrimRight(line, "\r"), excerptText-len(r.text))...)
		}
	}
	return r
}

// cutMark is the end of text that was cut.
const cutMark = " …"

// cut returns s in at most about n bytes. It cuts between words if it can: a scrubber knows private text by its whole
// form.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = text.Prefix(s, n)
	short := s[:n]
	if i := strings.LastIndexAny(short, " \t"); i >= n/2 {
		short = short[:i]
	}
	return strings.TrimRight(short, " \t") + cutMark
}
