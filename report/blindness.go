package report

import (
	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// maxSpans bounds the stretches of blindness that are listed. A log that goes
// blind more often is described well enough by their number.
const maxSpans = 16

// wentBlind is [Document.WentBlind].
func (r *Replay) wentBlind() bool { return r.blind.count > 0 || r.end.Headless || r.silent() }

// silent reports whether nothing was read that a game said, not even that there is
// something to be looked at.
func (r *Replay) silent() bool { return r.records == r.headers }

// silence says what there is of a log that is silent.
func (r *Replay) silence() string {
	if r.headers > 0 {
		return "This is only the header of an upload; the log itself is not there."
	}
	return "The log has no record, so that it says nothing about the game."
}

// span is a stretch of a log during which evidence was incomplete. That of
// missing bytes or repeats is a point: From and To are one line.
type span struct {
	From uint64 `json:"fromLine" jsonschema:"Where it begins."`
	To   uint64 `json:"toLine,omitempty" jsonschema:"Where logging resumed; fromLine where something is missing at that point, and absent where it did not resume."`
	Rule string `json:"rule" jsonschema:"The rule that said so."`
}

// blindness keeps the first spans, and the last one.
type blindness struct {
	spans []span
	count uint64
	now   bool

	// Points have sentences of their own on the first screen; these are the
	// spans that are none.
	stretches   uint64
	first, last span
}

func (b *blindness) observe(rec *capture.Record, o *heed.Outcome) {
	line := uint64(rec.Line())
	span := span{From: line, Rule: o.Decision.Rule}
	switch {
	case o.Blind && !b.now:
		b.now = true
		b.add(span)
		if b.last = span; b.stretches == 0 {
			b.first = span
		}
		b.stretches++
	case !o.Blind && b.now:
		b.now = false
		b.spans[len(b.spans)-1].To, b.last.To = line, line
		if b.stretches == 1 {
			b.first = b.last
		}
	case !b.now && (rec.Status == event.StatusHole || rec.Status == event.StatusRunCut):
		span.To = line
		b.add(span)
	}
}

// add adds a span. While the log is blind there is nothing to add: what is
// missing there is part of the stretch.
func (b *blindness) add(span span) {
	b.count++
	if len(b.spans) < maxSpans {
		b.spans = append(b.spans, span)
	} else {
		b.spans[maxSpans-1] = span
	}
}

// missing sums up the notices of one kind.
type missing struct {
	Status event.Status `json:"status" jsonschema:"What it is."`
	Times  uint64       `json:"times" jsonschema:"How often."`
	Amount uint64       `json:"amount" jsonschema:"The sum of the notices' counts, such as missing bytes."`
	First  uint64       `json:"firstLine" jsonschema:"Line of the first."`
	Last   uint64       `json:"lastLine" jsonschema:"Line of the last."`
}

func (r *Replay) missing(rec *capture.Record) {
	line := uint64(rec.Line())
	m := r.notices[rec.Status]
	if m == nil {
		m = &missing{Status: rec.Status, First: line}
		r.notices[rec.Status] = m
	}
	m.Times++
	m.Amount += rec.Count
	m.Last = line
}

// noticed returns the sums of notices in a fixed order.
func (r *Replay) noticed() []*missing {
	var all []*missing
	for s := event.StatusHole; s <= event.StatusRestarted; s++ {
		if m := r.notices[s]; m != nil {
			all = append(all, m)
		}
	}
	return all
}
