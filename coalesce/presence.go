package coalesce

import (
	"math/bits"

	"github.com/heedlog/heed/signature"
)

// presence says of a group whether any item may hold it, as a counter or as that of
// its cause: a Bloom filter with two bits for each group that was added, which goes
// on holding what is gone until it is made anew. Most merges of groups are those of
// a text that was just learned, of which nothing was counted yet.
type presence struct {
	bits  []uint64 // a power of two
	added int
}

// bitsPerGroup is how many bits there are for each group that items have room for.
// The filter is made anew when there are half as many for each that was added: of
// those that no item holds, one in twenty then seems to be there.
const bitsPerGroup = 16

// newPresence returns a presence for as many groups as items have room for.
func newPresence(groups int) presence {
	return presence{bits: make([]uint64, 1<<bits.Len(uint(bitsPerGroup*groups/64)))}
}

// bit returns the place of one bit.
func (p *presence) bit(n uint64) (word *uint64, mask uint64) {
	return &p.bits[n/64%uint64(len(p.bits))], 1 << (n % 64)
}

func (p *presence) has(s signature.Signature) bool {
	a, maskA := p.bit(uint64(s.ID))
	b, maskB := p.bit(uint64(s.Check))
	return *a&maskA != 0 && *b&maskB != 0
}

func (p *presence) add(s signature.Signature) {
	a, maskA := p.bit(uint64(s.ID))
	b, maskB := p.bit(uint64(s.Check))
	*a |= maskA
	*b |= maskB
	p.added++
}

// worn reports whether so many were added that it should be made anew.
func (p *presence) worn() bool { return p.added*bitsPerGroup/2 > 64*len(p.bits) }

// present notes that an item holds a group. Now and then it looks at all that items
// hold.
func (c *Coalescer) present(s signature.Signature) {
	c.presence.add(s)
	if c.presence.worn() {
		c.lookAround()
	}
}

// lookAround makes the presence anew.
func (c *Coalescer) lookAround() {
	p := &c.presence
	clear(p.bits)
	p.added = 0
	for i := range c.items {
		it := &c.items[i]
		if it.state == itemFree {
			continue
		}
		p.add(it.cause.Signature)
		for k := range it.counters.rows {
			p.add(it.counters.rows[k].sig)
		}
	}
}
