package coalesce

// Evidence says what should become of what a journal keeps for an item, its
// owner.
type Evidence struct {
	Do    Keeping
	Owner uint64 // number of the item, as in [Folded]
	Seq   uint64 // the entry to be pinned
}

// Keeping is what to do with evidence.
type Keeping uint8

// What to do with evidence.
const (
	// Pin the cause of an item that came out of an acknowledgement, as is done
	// for the causes that [Folded] tells.
	Pin Keeping = iota + 1

	// Yield the first entries of an item: it is cleared, and they may make room
	// for those of others.
	Yield

	// Drop all evidence of an item: it is forgotten.
	Drop
)

// Evidence appends to dst what should become of evidence since the last call,
// oldest first, and forgets it. Call it after Fold, Ack and Advance: it waits,
// without a bound.
func (c *Coalescer) Evidence(dst []Evidence) []Evidence {
	if len(c.evidence) == 0 { // as after almost every entry
		return dst
	}
	dst = append(dst, c.evidence...)
	c.evidence = c.evidence[:0]
	return dst
}

// Cede gives up the pinned evidence of the cleared item that would be forgotten
// first, so that there is room for that of an open one. It returns false when
// no cleared item has any.
func (c *Coalescer) Cede() (owner uint64, ok bool) {
	var victim *item
	for i := range c.items {
		if it := &c.items[i]; it.state == itemCleared && !it.ceded && (victim == nil || less(it, victim)) {
			victim = it
		}
	}
	if victim == nil {
		return 0, false
	}
	victim.ceded = true
	return victim.number, true
}
