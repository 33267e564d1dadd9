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
	i := slices.IndexFunc(c.escalations, func(x escalation) bool { return x.Rule == d.Rule })
	if i < 0 {
		if len(c.escalations) == maxEscalations || by.After < 1 {
			return false
		}
		i = len(c.escalations)
		c.escalations = append(c.escalations, escalation{Rule: d.Rule, After: by.After})
	}
	x := &c.escalations[i]
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
	return true
}
