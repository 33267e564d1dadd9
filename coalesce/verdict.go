package coalesce

import "github.com/heedlog/heed/event"

// Outcome is what can be said of an operation.
type Outcome uint8

// The outcomes of an operation.
const (
	Unknown  Outcome = iota // evidence is missing
	Clean                   // nothing urgent came of it
	Advised                 // something advisory came of it
	Affected                // something blocking came of it
)

// String returns "unknown", "clean", "advisory" or "blocking".
func (o Outcome) String() string {
	switch o {
	case Clean:
		return "clean"
	case Advised:
		return event.Advisory.String()
	case Affected:
		return event.Blocking.String()
	}
	return "unknown"
}

// MarshalText returns the name, for JSON and other encodings.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Verdict says what came of an operation and of its parts, as far as known.
type Verdict struct {
	Operation string
	Method    string
	Status    event.Status
	Outcome   Outcome

	// Known is false for an operation that was never seen, or is forgotten.
	Known bool

	// Final says that the operation is over and that Linger has passed since:
	// what comes now will not change the verdict.
	Final bool

	// Abandoned says that no end was seen within OperationMax.
	Abandoned bool

	// AttentionID is the item that holds the worst that came of it, or "".
	AttentionID string
}

// Verdict returns what is known of the operation called id. Something blocking
// that was seen is reported even where evidence is missing: more evidence could
// not make it better.
func (c *Coalescer) Verdict(id string) Verdict {
	o := c.ops.get(id)
	if o == nil {
		return Verdict{Operation: id}
	}
	v := Verdict{
		Operation: o.id, Method: o.method, Status: o.status, Known: true, Abandoned: o.abandoned,
		Final: o.over() && c.cfg.Linger.passed(o.ended, c.now), AttentionID: c.id(o.item),
	}
	switch {
	case o.worst == event.Blocking:
		v.Outcome = Affected
	case o.blind, o.abandoned, o.doubtful, o.running() && c.blind:
		v.Outcome = Unknown
	case o.worst == event.Advisory:
		v.Outcome = Advised
	default:
		v.Outcome = Clean
	}
	return v
}
