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
	Rule  string
	After int           // the threshold
	Ring  []logicalTime // at most so many
	Next  int           // position in ring of the oldest, once it is full
}

func (x *escalation) full() bool { return len(x.Ring) == x.After }

// Escalate notes an occurrence of what a rule decides that becomes more by
// repetition, and raises the decision where it is one too many: the threshold is
// reached by the occurrences within the window. Call it before Fold, with the
// same entry. It reports whether it raised d. It costs a look-up, and 24 bytes for
// each of the first occurrences of a rule, up to the threshold.
func (c *Coalescer) Escalate(e *event.Entry, by *event.Escalation, d *event.Decision) (raised bool) {
	c.now.seq = e.Seq
	c.tick(e.Time)
	c.repeated = nil
	i := slices.IndexFunc(c.escalations, func(x *escalation) bool { return x.Rule == d.Rule })
	if i < 0 {
		if len(c.escalations) == maxEscalations || by.After < 1 {
			return false
		}
		i = len(c.escalations)
		c.escalations = append(c.escalations, &escalation{Rule: d.Rule, After: by.After})
	}
	x := c.escalations[i]
	if x.After != by.After { // the rule is another one since a restore
		*x = escalation{Rule: x.Rule, After: by.After}
	}
	if !x.full() {
		x.Ring = append(x.Ring, c.now)
	} else {
		x.Ring[x.Next] = c.now
		x.Next = (x.Next + 1) % len(x.Ring)
	}
	if !x.full() {
		return false
	}
	if w := (Window{by.Within, by.Entries}); w.passed(x.Ring[x.Next], c.now) {
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
	if x == nil || x.Ring[(x.Next+len(x.Ring)-1)%len(x.Ring)].seq != c.now.seq {
		return
	}
	for i := range len(x.Ring) - 1 {
		r.add(&c.cfg.RateWindow, x.Ring[(x.Next+i)%len(x.Ring)])
	}
}

// rate counts entries over consecutive spans of a window.
type rate struct {
	Start    logicalTime
	Current  uint64
	Previous uint64
}

// add counts one entry at now.
func (r *rate) add(w *Window, now logicalTime) {
	if r.Start.seq == 0 || w.passed(r.Start, now) {
		r.Previous = r.Current
		if twice := (Window{2 * w.Duration, 2 * w.Entries}); twice.passed(r.Start, now) {
			r.Previous = 0
		}
		r.Start, r.Current = now, 0
	}
	r.Current++
}

// perSpan returns how many entries fall into one span, by the fuller of the two
// latest. While the first span lasts, what it holds is taken to go on as it
// began: who acknowledges within a second what comes each tick knows its rate.
// A single entry is no rate.
func (r *rate) perSpan(w *Window, now logicalTime) uint64 {
	if r.Previous == 0 && r.Current > 1 {
		return 10 * r.Current / w.tenths(r.Start, now)
	}
	return max(1, r.Current, r.Previous)
}
