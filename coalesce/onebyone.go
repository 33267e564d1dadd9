package coalesce

import "slices"

// What follows does one by one what [Coalescer.OpenItems] and [Coalescer.Updates]
// do at once, for an owner with a lock, who can let others go first in between.

// OpenNumbers appends the numbers of the open items to dst, in the order of
// precedence.
func (c *Coalescer) OpenNumbers(dst []uint64) []uint64 {
	for _, it := range c.ordered() {
		dst = append(dst, it.number)
	}
	return dst
}

// OpenItem returns item number n, and false where it is not open. It does not count
// as showing it.
func (c *Coalescer) OpenItem(n uint64) (Attention, bool) {
	it := c.byNumber(n)
	if it == nil || !it.open() {
		return Attention{}, false
	}
	return c.attention(it), true
}

// PendingNumbers appends the numbers of the items with a pending update to dst,
// oldest update first.
func (c *Coalescer) PendingNumbers(dst []uint64) []uint64 {
	for _, it := range c.queue {
		dst = append(dst, it.number)
	}
	return dst
}

// Update returns the pending update of item number n and forgets it, as Updates
// does. It returns false where there is none.
func (c *Coalescer) Update(n uint64) (Update, bool) {
	it := c.byNumber(n)
	if it == nil || it.pending == 0 {
		return Update{}, false
	}
	c.queue = slices.DeleteFunc(c.queue, func(q *item) bool { return q == it })
	return c.update(it), true
}
