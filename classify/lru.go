package classify

import (
	"math/bits"
	"slices"
)

// lru is a table of bounded size that evicts its least recently used entry.
//
// Entries live in one slice and refer to each other by index: the garbage collector has nothing to follow, the slot of
// an entry can be remembered elsewhere, and once the table is full nothing is allocated any more. golang-lru allocates
// a list element per insertion:
//
//	go test ./classify -run x -bench LRU -benchmem
//
// Invariants: a slot in use is in exactly one chain, the chain of its hash, and in the list from newest to oldest; any
// other slot is in the free list, and zero except for its marks. The index of an entry does not change while it is
// held.
type lru[K comparable, V any] struct {
	slots  []slot[K, V]
	heads  []int32 // by the low bits of the hash: first slot of the chain, or none
	free   int32   // first free slot, or none
	newest int32
	oldest int32
	used   int
	limit  int
}

type slot[K comparable, V any] struct {
	key          K
	value        V
	hash         uint32
	chain        int32 // next slot with the same low bits, or next free slot
	newer, older int32
}

const none int32 = -1

// unused is the newer and older of a slot that holds nothing.
const unused int32 = -2

// newLRU returns a table of at most limit entries, which must be positive.
func newLRU[K comparable, V any](limit int) lru[K, V] {
	return lru[K, V]{heads: newHeads(1), free: none, newest: none, oldest: none, limit: limit}
}

// newHeads returns the heads of empty chains for n entries: a power of two.
func newHeads(n int) []int32 {
	return slices.Repeat([]int32{none}, 1<<bits.Len(uint(n-1)))
}

func (t *lru[K, V]) bucket(hash uint32) *int32 { return &t.heads[int(hash)&(len(t.heads)-1)] }

// find returns the slot of key, or none, and changes nothing.
func (t *lru[K, V]) find(hash uint32, key *K) int32 {
	for i := *t.bucket(hash); i != none; i = t.slots[i].chain {
		if s := &t.slots[i]; s.hash == hash && s.key == *key {
			return i
		}
	}
	return none
}

// at returns the slot i if the entry of key is there, and nil if it is not: i is
// where it once was, or any number.
func (t *lru[K, V]) at(i int32, key *K) *slot[K, V] {
	if uint(i) < uint(len(t.slots)) {
		if s := &t.slots[i]; s.key == *key && s.older != unused {
			return s
		}
	}
	return nil
}

// full reports whether removeOldest must come before the next add.
func (t *lru[K, V]) full() bool { return t.used == t.limit }

// add stores a key that is not in the table as its newest entry, and returns
// its slot. The table must not be full.
func (t *lru[K, V]) add(hash uint32, key *K, value V) int32 {
	i := t.free
	if i != none {
		t.free = t.slots[i].chain
	} else {
		if len(t.slots) == cap(t.slots) {
			t.grow()
		}
		i = int32(len(t.slots))
		t.slots = t.slots[:i+1]
	}
	b := t.bucket(hash)
	t.slots[i] = slot[K, V]{key: *key, value: value, hash: hash, chain: *b}
	*b = i
	t.used++
	t.link(i)
	return i
}

// grow makes room for more slots, up to the limit. All slots are in use.
func (t *lru[K, V]) grow() {
	grown := make([]slot[K, V], len(t.slots), min(max(2*len(t.slots), 4), t.limit))
	copy(grown, t.slots)
	t.slots, t.heads = grown, newHeads(cap(grown))
	for i := range grown {
		b := t.bucket(grown[i].hash)
		grown[i].chain, *b = *b, int32(i)
	}
}

// removeOldest evicts the least recently used entry, which must exist, and returns its value.
func (t *lru[K, V]) removeOldest() V {
	i := t.oldest
	value := t.slots[i].value
	t.unlink(i)
	p := t.bucket(t.slots[i].hash)
	for *p != i {
		p = &t.slots[*p].chain
	}
	*p = t.slots[i].chain
	t.slots[i] = slot[K, V]{chain: t.free, newer: unused, older: unused}
	t.free = i
	t.used--
	return value
}

// touch makes the entry in slot i the newest.
func (t *lru[K, V]) touch(i int32) {
	if t.newest != i {
		t.unlink(i)
		t.link(i)
	}
}

// link puts slot i at the newest end of the list.
func (t *lru[K, V]) link(i int32) {
	t.slots[i].newer, t.slots[i].older = none, t.newest
	if t.newest != none {
		t.slots[t.newest].newer = i
	} else {
		t.oldest = i
	}
	t.newest = i
}

// unlink takes slot i out of the list.
func (t *lru[K, V]) unlink(i int32) {
	newer, older := t.slots[i].newer, t.slots[i].older
	if newer != none {
		t.slots[newer].older = older
	} else {
		t.newest = older
	}
	if older != none {
		t.slots[older].newer = newer
	} else {
		t.oldest = newer
	}
}
