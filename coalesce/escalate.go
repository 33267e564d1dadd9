package coalesce

import (
	"slices"

	"github.com/heedlog/heed/event"
)

// maxEscalations bounds the rules whose repetition is watched: as many as a
// rule set may have.
const maxEscalations = 256

// escalation is the latest occurrences of what one rule decides: as many as its
// threshold.
type escalation struct {
	rule  string
	after int           // the threshold
	ring  []logicalTime // at most so many
	next  int           // position in ring of the oldest, once it is full
}

func (x *escalation) full() bool { return len(x.ring) == x.after }

// Escalate notes an occurrence of what a rule decides that becomes more by
// repetition, and raises the decision where it is one too many: the threshold is
// reached by the occurrences within the window. Call it before Fold, with the
// same entry. It reports whether it raised d. It costs a look-up, and 24 bytes for
// each of the first occurrences of a rule, up to the threshold.
func (c *Coalescer) Escalate(e *event.Entry, by *event.Escalation, d *event.Decision) (raised bool) {
	c.now.seq = e.Seq
	c.tick(e.Time)
	c.repeated = nil
	i := slices.IndexFunc(c.escalations, func(x *escalation) bool { return x.rule == d.Rule })
	if i < 0 {
		if len(c.escalations) == maxEscalations || by.After < 1 {
			return false
		}
		i = len(c.escalations)
		c.escalations = append(c.escalations, &escalation{rule: d.Rule, after: by.After})
	}
	x := c.escalations[i]
	if x.after != by.After { // the rule is another one since a restore
		*x = escalation{rule: x.rule, after: by.After}
	}
	if !x.full() {
		x.ring = append(x.ring, c.now)
	} else {
		x.ring[x.next] = c.now
		x.next = (x.next + 1) % len(x.ring)
	}
	if !x.full() {
		return false
	}
	if w := (Window{by.Within, by.Entries}); w.passed(x.ring[x.next], c.now) {
		return false
	}
	d.Disposition, d.Severity = max(d.Disposition, by.To), max(d.Severity, by.Severity)
	c.repeated = x
	return true
}

// repeats lets r know the occurrences that made the latest entry more urgent: an
// item that it opens has not begun with it, and is no faster when it goes on as
// it was.
func (c *Coalescer) repeats(r *rate) {
	x := c.repeated
	if x == nil || x.ring[(x.next+len(x.ring)-1)%len(x.ring)].seq != c.now.seq {
		return
	}
	for i := range len(x.ring) - 1 {
		r.add(&c.cfg.RateWindow, x.ring[(x.next+i)%len(x.ring)])
	}
}

// rate counts entries over consecutive spans of a window.
type rate struct {
	start    logicalTime
	current  uint64
	previous uint64
}

// add counts one entry at now.
func (r *rate) add(w *Window, now logicalTime) {
	if r.start.seq == 0 || w.passed(r.start, now) {
		r.previous = r.current
		if twice := (Window{2 * w.Duration, 2 * w.Entries}); twice.passed(r.start, now) {
			r.previous = 0
		}
		r.start, r.current = now, 0
	}
	r.current++
}

// perSpan returns how many entries fall into one span, by the fuller of the two
// latest. While the first span lasts, what it holds is taken to go on as it
// began: who acknowledges within a second what comes each tick knows its rate.
// A single entry is no rate.
func (r *rate) perSpan(w *Window, now logicalTime) uint64 {
	if r.previous == 0 && r.current > 1 {
		return 10 * r.current / w.tenths(r.start, now)
	}
	return max(1, r.current, r.previous)
}
