package coalesce

import "github.com/heedlog/heed/event"

// The outcomes of an operation.
const (
	Unknown  = "unknown"  // evidence is missing
	Clean    = "clean"    // nothing urgent came of it
	Advised  = "advisory" // something advisory came of it
	Affected = "blocking" // something blocking came of it
)

// Verdict says what came of an operation and of its parts, as far as known. It
// belongs to the caller.
type Verdict struct {
	Operation string // as far as it is kept: its first 256 bytes
	Method    string
	Status    event.Status
	Outcome   string // [Unknown], [Clean], [Advised] or [Affected]

	// Known is false for an operation that was never seen, or is forgotten.
	Known bool

	// Final says that the operation and its parts are over, and that Linger has
	// passed since: only what names it can still change the verdict.
	Final bool

	// Abandoned says that no end was seen within OperationMax.
	Abandoned bool

	// AttentionID is the item that holds the worst that came of it, or "".
	AttentionID string
}

// Verdict returns what is known of the operation called id. Something blocking
// that was seen is reported even where evidence is missing: more evidence could
// not make it better. Its cost grows with the number of operations known.
func (c *Coalescer) Verdict(id string) Verdict {
	o := c.ops.get(id)
	if o == nil {
		return Verdict{Operation: boundID(id), Outcome: Unknown}
	}
	v := Verdict{
		Operation: o.id, Method: o.method, Status: o.status, Known: true, Final: true, Abandoned: o.abandoned,
	}
	var worst event.Disposition
	var item uint64
	unknown := false
	for _, p := range c.ops.order {
		if !c.ops.isPart(p, o) {
			continue
		}
		if p.item != 0 && (item == 0 || p.worst > worst || p.worst == worst && p.item < item) {
			worst, item = p.worst, p.item
		}
		unknown = unknown || p.blind || p.abandoned || p.doubtful || p.running() && c.blind
		v.Final = v.Final && !p.running() && c.cfg.Linger.passed(p.ended, c.now)
	}
	v.AttentionID = c.id(item)
	switch {
	case worst == event.Blocking:
		v.Outcome = Affected
	case unknown:
		v.Outcome = Unknown
	case worst == event.Advisory:
		v.Outcome = Advised
	default:
		v.Outcome = Clean
	}
	return v
}
