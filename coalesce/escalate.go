package coalesce

import (
	"slices"

	"github.com/heedlog/heed/event"
)

// maxEscalations bounds the rules whose repetition is watched: as many as a
// rule set may have.
const maxEscalations = 256

// escalation is the latest occurrences of what one rule decides, the oldest first: as many as its
// threshold.
type escalation struct {
	Rule string
	Last []logicalTime
}

// Escalate records an occurrence of a rule that weighs more by repetition, and raises d if the occurrences within the
// window reach the threshold. Call it before Fold, with the same entry. It reports whether it raised d. It costs a
// look-up, and a move of 24 bytes for each of the latest occurrences of a rule, up to the threshold.
func (c *Coalescer) Escalate(e *event.Entry, by *event.Escalation, d *event.Decision) (raised bool) {
	c.Now.seq = e.Seq
	c.tick(e.Time)
	i := slices.IndexFunc(c.Escalations, func(x escalation) bool { return x.Rule == d.Rule })
	if i < 0 {
		if len(c.Escalations) == maxEscalations || by.After < 1 {
			return false
		}
		i = len(c.Escalations)
		c.Escalations = append(c.Escalations, escalation{Rule: d.Rule})
	}
	x := &c.Escalations[i]
	x.Last = append(slices.Delete(x.Last, 0, max(0, len(x.Last)+1-by.After)), c.Now)
	if w := (Window{by.Within, by.Entries}); len(x.Last) < by.After || w.passed(x.Last[0], c.Now) {
		return false
	}
	d.Disposition, d.Severity = max(d.Disposition, by.To), max(d.Severity, by.Severity)
	return true
}
