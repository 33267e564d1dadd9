package report

import (
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
)

// The bounds of what is kept of rows beyond counts.
const (
	sampleLines  = 24      // lines of a record, and those beyond that point at a mod
	sampleSeen   = 999     // lines among which those are looked for
	sampleLine   = 400     // bytes of a line
	maxReasons   = 512     // rows of which the rule's reasons are asked for
	sampleUrgent = 6 << 20 // bytes of samples of each urgent disposition
	sampleOther  = 2 << 20 // bytes of samples of what is ignored
)

// sampleCost is what a line of a sample costs beside its text.
const sampleCost = 40

// details is what a page shows beyond the other forms. Its size does not depend on
// that of the log.
type details struct {
	byRecord, byTime histogram

	timed       uint64 // entries that have a time
	total       uint64 // entries
	first, last time.Time

	lines   excerpts
	samples [len(dispositions)]int // bytes that are taken
	reasons int

	causes map[causeKey]time.Time // of the first entry that a rule decided so
}

func newDetails() *details { return &details{causes: map[causeKey]time.Time{}} }

// detail is what a page shows of one row.
type detail struct {
	spark  spark
	time   time.Time // of the first entry
	sample []sampleText
	more   int      // lines of the first entry that are not in sample
	reason []string // why the rule matched the first entry
}

// sampleText is a line of the first entry of a row.
type sampleText struct {
	text   string
	gap    bool // lines before it are left out
	blamed bool // it points at a mod that is named
}

// observe takes in an entry of a row.
func (d *details) observe(config *Config, rec *capture.Record, o *heed.Outcome, row *row, suspects []heed.Suspect, isNew bool) {
	d.total++
	at := d.total - 1
	b := d.byRecord.at(at)
	d.count(b, rec, o)
	if !rec.Time.IsZero() {
		if d.timed == 0 {
			d.first, d.last = rec.Time, rec.Time
		}
		d.timed++
		if rec.Time.After(d.last) {
			d.last = rec.Time
		}
	}
	if d.timed > 0 { // an entry without a time, or with an earlier one, came now
		d.count(d.byTime.at(uint64(d.last.Sub(d.first).Milliseconds())), rec, o)
	}
	key := causeKey{o.Decision.Rule, o.Decision.Disposition}
	firstOfRule := false
	if isNew && o.Decision.Disposition.Urgent() {
		if _, known := d.causes[key]; !known {
			firstOfRule = true
			d.causes[key] = rec.Time
		}
	}
	d.lines.observe(d.total, rec, o.Decision, firstOfRule, isNew && o.Decision.Disposition.Urgent())
	if row.detail == nil {
		row.detail = &detail{time: rec.Time}
		d.sample(config, rec, o, row, suspects)
	}
	row.detail.spark.add(at)
}

func (d *details) count(b *bucket, rec *capture.Record, o *heed.Outcome) {
	b.counts[o.Decision.Disposition]++
	if b.empty() {
		b.line = uint64(rec.Line())
	}
	if b.time.IsZero() {
		b.time = rec.Time
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
	det, number, gap := row.detail, 0, false
	for _, part := range [...]string{rec.Message, rec.Stack} {
		rest := strings.TrimRight(part, "\r\n")
		scrubbed := config.Scrub.lines(rest)
		for at := 0; rest != ""; at++ {
			if number == sampleSeen {
				det.more += 1 + strings.Count(rest, "\n")
				break
			}
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			number++
			if number > sampleLines && !blamed[number] || !urgent && number > excerptLines {
				det.more++
				gap = true
				continue
			}
			text := strings.TrimRight(line, "\r")
			if scrubbed != nil {
				text = cut(strings.TrimRight(scrubbed[at], "\r"), sampleLine)
			} else {
				text = config.Scrub.Text(cut(text, sampleLine))
			}
			det.sample = append(det.sample, sampleText{text: strings.Clone(text), gap: gap, blamed: blamed[number]})
			*taken += len(line) + sampleCost
			gap = false
		}
	}
	if urgent && config.Reason != nil && d.reasons < maxReasons {
		d.reasons++
		det.reason = config.Scrub.texts(config.Reason())
	}
}

// blamedLines returns the lines of a record that point at the mods that deserve to
// be named.
func blamedLines(suspects []heed.Suspect) map[int]bool {
	named := map[string]bool{}
	for _, name := range heed.Likely(suspects) {
		named[name] = true
	}
	lines := map[int]bool{}
	for i := range suspects {
		if s := &suspects[i]; named[s.Mod] {
			for _, ev := range s.Evidence {
				lines[ev.Line] = true
			}
		}
	}
	return lines
}

// hasClock reports whether the log tells when things happened: most of its
// entries do, and not all at once.
func (d *details) hasClock() bool { return 2*d.timed > d.total && d.last.After(d.first) }

// merge joins the details of a row to those of the one that stands for its group.
func (d *detail) merge(o *detail) {
	if o == nil {
		return
	}
	d.spark.merge(&o.spark)
	if len(d.sample) == 0 {
		d.sample, d.more = o.sample, o.more
	}
	if len(d.reason) == 0 {
		d.reason = o.reason
	}
}
