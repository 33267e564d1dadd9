package coalesce

import "slices"

// calls is when calls are under way: from the start of an operation to Linger after its end.
type calls struct {
	Begun   uint64 // root operations that were seen to start
	BegunAt uint64 // number of the entry with which the latest one started

	// Since the last survey, every one of operations.live was marked, but for but.
	marked bool
	but    *operation

	Reads   bool   // reads of the state are reported
	ReadAt  uint64 // sequence number at the latest one
	Pending mark   // for the next call: a fault that returned while none ran, and that no result reports
}

// mark is an item with urgent entries in the window of an operation that are not charged to it.
type mark struct {
	Item uint64 // its number, 0: none
	Why  VerdictReason
}

// mark records an urgent entry in item number n for all operations under way but the one
// that it is charged to, which may be nil. If all are marked already, it looks at none: with 1,024 running operations a
// repeat costs as much as with one, in place of 24 times as much.
func (c *Coalescer) mark(n uint64, why VerdictReason, charged *operation) {
	if c.Calls.marked && (c.Calls.but == nil || c.Calls.but == charged) && why != ReasonStanding {
		return
	}
	for _, o := range c.Operations.live {
		switch {
		case o == charged:
		case charged != nil && c.Operations.root(o) == c.Operations.root(charged):
			o.mark(n, ReasonCharged)
		default:
			o.mark(n, why)
		}
	}
	c.Calls.marked, c.Calls.but = true, charged
}

// mark records that an urgent entry in the window of o is not charged to it.
func (o *operation) mark(n uint64, why VerdictReason) { o.Marked = o.Marked.stronger(mark{n, why}) }

// stronger returns the mark that says more, and m if both say as much: a standing fault that returned before all
// others, and an entry that is charged to another part of the same whole last.
func (m mark) stronger(other mark) mark {
	weight := func(m mark) int {
		return slices.Index([]VerdictReason{ReasonCharged, ReasonBackground, ReasonStanding}, m.Why)
	}
	if weight(other) > weight(m) {
		return other
	}
	return m
}

// StateRead records that the game's state was read again: a fault that returns after it returns although the state was
// known.
func (c *Coalescer) StateRead() { c.Calls.Reads, c.Calls.ReadAt = true, c.Now.seq }
