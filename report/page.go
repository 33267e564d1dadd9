package report

import (
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// pageData is what a document has for a page beyond the other forms.
type pageData struct {
	byRecord, byTime histogram
	clock            bool // byTime shows more: most entries have a time, and not all the same
	total            uint64
	first, last      time.Time

	items        []heed.Attention // in the order in which they were opened
	excerpts     []excerpt
	excerptBytes int // of all
}

// excerpt is a record of the log as it stands.
type excerpt struct {
	seq         uint64
	first, last uint64 // lines
	disposition event.Disposition
	rule        string
	marked      bool // it was kept for itself, not for one beside it
	cause       bool // it was the first that its rule decided
	lines       []string
	more        int // lines that are left out
}

func (r *Replay) pageData() *pageData {
	d := r.details
	p := &pageData{
		byRecord: d.byRecord, byTime: d.byTime, clock: d.hasClock(), total: d.total, first: d.first, last: d.last,
		items: r.items(), excerptBytes: d.lines.bytes,
	}
	for _, x := range d.lines.all() {
		lines := strings.Split(string(x.text), "\n")
		if scrubbed := r.config.Scrub.lines(string(x.text)); scrubbed != nil {
			lines = scrubbed
		} else {
			lines = r.config.Scrub.texts(lines)
		}
		p.excerpts = append(p.excerpts, excerpt{
			seq: x.seq, first: x.first, last: x.last, disposition: x.disposition, rule: safe(x.rule), marked: x.marked, cause: x.cause,
			lines: safeAll(lines), more: x.more,
		})
	}
	return p
}

// items returns the attention items as they were last, of those that the timeline has.
func (r *Replay) items() []heed.Attention {
	var items []heed.Attention
	at := map[string]int{}
	first, last := r.timeline.ends()
	for _, updates := range [][]heed.Update{first, last} {
		for i := range updates {
			a := &updates[i].Attention
			n, known := at[a.ID]
			if !known {
				at[a.ID] = len(items)
				items = append(items, *a)
				continue
			}
			items[n] = *a
		}
	}
	for i := range items {
		if it := r.causes.open[items[i].ID]; it != nil { // updates are few: there may have been more since
			items[i] = it.attention
		}
	}
	return items
}

// shown returns d as a page has it, of a log of so many entries.
func (d *detail) shown(entries uint64) *detail {
	out := *d
	out.spark.scale(entries)
	out.reason = safeAll(d.reason)
	out.sample = make([]sampleText, len(d.sample))
	for i, line := range d.sample {
		line.text = safe(line.text)
		out.sample[i] = line
	}
	return &out
}
