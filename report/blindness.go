package report

import (
	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// maxSpans bounds the stretches of blindness that are listed. A log that goes
// blind more often is described well enough by their number.
const maxSpans = 16

// WentBlind reports whether evidence was incomplete at any point of the log:
// where a rule said so, where bytes are missing, the beginning of the log among them,
// or where the game stopped writing repeats. There is none at all in a log that never
// spoke.
func (r *Replay) WentBlind() bool { return r.blind.count > 0 || r.end.Headless || r.silent() }

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
	From uint64 // line at which it began
	To   uint64 // line at which the log spoke again, 0 if it did not
	Rule string // that said so; of a point, that decided about the notice
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
	Status event.Status
	Times  uint64
	Amount uint64 // the sum of their counts, in the unit of the status
	First  uint64 // line of the first
	Last   uint64 // line of the last
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
