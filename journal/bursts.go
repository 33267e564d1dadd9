package journal

import "math/bits"

// bursts maps a burst's number to the list of its firsts. It is a hash table of
// fixed size with linear probing: a Go map would allocate now and then when
// bursts come and go, and could not be bounded.
//
// Every burst in it has at least one first, so there are never more bursts than
// entries in the budget, and the table is never more than half full.
type bursts struct {
	rows  []burst // a power of two
	shift int
}

// burst is a row of the table; one with an empty list is free.
type burst struct {
	id uint64
	list
}

// newBursts returns a table for n bursts.
func newBursts(n int) bursts {
	width := bits.Len(uint(2*n - 1))
	return bursts{rows: make([]burst, 1<<width), shift: 64 - width}
}

// home is where the search for an id begins: the top bits of a Fibonacci hash
// (Knuth, The Art of Computer Programming, 6.4), which spreads the consecutive
// numbers that bursts have.
func (t *bursts) home(id uint64) int { return int(id * 0x9E3779B97F4A7C15 >> t.shift) }

// slot returns the row of id, or the free row where it belongs.
func (t *bursts) slot(id uint64) *burst {
	for i := t.home(id); ; i = (i + 1) & (len(t.rows) - 1) {
		if b := &t.rows[i]; b.count == 0 || b.id == id {
			return b
		}
	}
}

// find returns the row of id, or nil.
func (t *bursts) find(id uint64) *burst {
	if b := t.slot(id); b.count > 0 {
		return b
	}
	return nil
}

// get returns the row of id, which may be free: the caller adds to its list.
func (t *bursts) get(id uint64) *burst {
	b := t.slot(id)
	b.id = id
	return b
}

// drop frees a row and closes the gap: each row behind it that a search could
// no longer reach moves up.
func (t *bursts) drop(b *burst) {
	mask := len(t.rows) - 1
	i := t.home(b.id)
	for &t.rows[i] != b {
		i = (i + 1) & mask
	}
	for k := (i + 1) & mask; t.rows[k].count > 0; k = (k + 1) & mask {
		if (k-t.home(t.rows[k].id))&mask >= (k-i)&mask {
			t.rows[i] = t.rows[k]
			i = k
		}
	}
	t.rows[i] = burst{}
}
