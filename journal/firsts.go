package journal

import (
	"math/bits"
)

// firsts is the budget of first entries. The firsts of a burst form a list in
// the order in which they came, linked by store.slotNext; those of released
// bursts form one list, in the order of release, from whose head they are
// evicted.
type firsts struct {
	store
	bursts   bursts
	released list

	perBurst int

	evicted   uint64
	refused   uint64
	overQuota uint64
}

// list is a list of slots. The links and the first and last slot are of no
// meaning while count is 0.
type list struct {
	head, tail uint32
	count      int
	blocks     int // of text that its entries take
}

// KeepFirst keeps the entry just appended as one of the firsts of a burst, and
// reports whether it is kept. It is not when the burst has its quota, or when
// the budget is full of firsts of bursts that were not released; both are
// counted. Calling it again for the same entry changes nothing.
//
// It allocates nothing.
func (j *Journal) KeepFirst(burst uint64) bool {
	if j.tail.count == 0 {
		return false
	}
	f := &j.firsts
	if r := j.index.find(j.latest); r != nil && r.first != none {
		return true
	}
	if b := f.bursts.find(burst); b != nil && b.count >= f.perBurst {
		f.overQuota++
		return false
	}
	h := j.tail.at(j.tail.count - 1)
	size := h.size()
	if !f.canTake(size) {
		f.refused++
		return false
	}
	for !f.room(size) {
		j.evictFirst()
	}
	slot := f.put(h, j.tailBlock(h))
	f.push(&f.bursts.get(burst).list, slot)
	j.index.get(j.latest).first = slot
	return true
}

// Release lets the firsts of a burst be evicted: they stay until their room is
// needed for those of other bursts. The host calls it when what it knew of the
// burst is gone, or no longer needs its entries. A number that comes back
// afterwards is a new burst. It takes the same time for any number of entries.
func (j *Journal) Release(burst uint64) {
	f := &j.firsts
	b := f.bursts.find(burst)
	if b == nil {
		return
	}
	if r := &f.released; r.count == 0 {
		*r = b.list
	} else {
		f.slotNext[r.tail] = b.head
		r.tail = b.tail
		r.count += b.count
		r.blocks += b.blocks
	}
	f.bursts.drop(b)
}

// canTake reports whether there is room for a text of n bytes once all released
// entries are evicted. Asking first keeps an entry that would be refused all
// the same from displacing any.
func (f *firsts) canTake(n int) bool {
	return f.count-f.released.count < len(f.headers) && blocksFor(n) <= f.blocksFree+f.released.blocks
}

// push adds a slot at the end of a list.
func (f *firsts) push(l *list, slot uint32) {
	if l.count == 0 {
		l.head = slot
	} else {
		f.slotNext[l.tail] = slot
	}
	l.tail = slot
	l.count++
	l.blocks += blocksFor(f.headers[slot].size())
}

// evictFirst evicts the first of all released entries.
func (j *Journal) evictFirst() {
	f := &j.firsts
	r := &f.released
	slot := r.head
	seq := f.headers[slot].seq
	r.head = f.slotNext[slot]
	r.count--
	r.blocks -= blocksFor(f.headers[slot].size())
	f.drop(slot)
	f.evicted++
	j.index.find(seq).first = none
	j.index.tidy(seq)
}

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
