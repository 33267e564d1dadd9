package coalesce

// Retention is what should become of the entries that a journal keeps for an item,
// the owner. Without Pin and Evicted, the item is cleared: its first entries may
// make room for those of others.
type Retention struct {
	Owner uint64 // number of the item, as in [Folded]

	// Pin is an entry to be pinned, or 0: the cause of an item that came out of an
	// acknowledgement, as is done for the causes that [Folded] reports.
	Pin uint64

	// Evicted says that the item is not known any more, nor are its pins needed.
	Evicted bool
}

// Retention appends to dst what should become of entries that a journal keeps, since
// the last call, oldest first. Call it after Fold, Ack and Advance: what it returns
// waits without a bound.
func (c *Coalescer) Retention(dst []Retention) []Retention {
	if len(c.retention) == 0 { // as after almost every entry
		return dst
	}
	dst = append(dst, c.retention...)
	c.retention = c.retention[:0]
	return dst
}

// Unpin chooses the cleared item that would be evicted first, of those that have
// pinned entries, so that there is room for the pins of an open one. The caller
// releases its pins. It returns false when no cleared item has any.
func (c *Coalescer) Unpin() (owner uint64, ok bool) {
	var victim *item
	for i := range c.items {
		if it := &c.items[i]; it.state == itemCleared && !it.unpinned && (victim == nil || less(it, victim)) {
			victim = it
		}
	}
	if victim == nil {
		return 0, false
	}
	victim.unpinned = true
	return victim.number, true
}
