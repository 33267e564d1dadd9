package coalesce

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/signature"
)

// The bounds of the groups that are told apart without a counter: of one item, so that a
// position fits 16 bits, and of all items, in 3 MB.
const (
	maxUncounted    = 1<<16 - 1
	maxAllUncounted = 1 << 18
)

// uncounted is the set of the groups of one item of which entries came that no counter
// counts. With it the number of an item's groups is exact up to 65,536 and more: an item
// has a counter before it has any of these. The zero value is empty.
//
// A group is kept as a key of 64 bits, of two independent hashes of its text and one of
// its rule: that two of 65,536 share a key has a probability of one in 8 billion. The
// keys are in an order that follows from the calls alone, so that a snapshot, which holds
// them, is the same for the same state.
type uncounted struct {
	Keys  keys     `json:",omitempty"`
	slots []uint16 // position in keys plus one, or 0; by the low bits of the key, then the next free one
	Rules []string `json:",omitempty"` // of the keys
	both  int      // groups with a counter that have a key as well

	// Inexact reports that a group was left out, for want of room.
	Inexact bool `json:",omitzero"`
}

func groupKey(rule string, sig signature.Signature) uint64 {
	const odd = 0x9e3779b97f4a7c15 // spreads the check over all bits
	return uint64(sig.ID) ^ uint64(sig.Check)*odd ^ xxhash.Sum64String(rule)
}

// groups returns the number of distinct groups of an item, and whether it is exact: else
// there are more.
func (t *counters) groups() (n uint64, exact bool) {
	u := &t.Uncounted
	return uint64(t.counted() + len(u.Keys) - u.both), !u.Inexact
}

// counted returns the number of distinct groups that have a counter.
func (t *counters) counted() int { return len(t.Rows) - t.variants }

// distinguish notes the group of an entry that no counter counts.
func (t *counters) distinguish(rule string, sig signature.Signature) {
	u, key := &t.Uncounted, groupKey(rule, sig)
	if u.has(key) {
		return
	}
	known := slices.Contains(u.Rules, rule)
	if len(u.Keys) == maxUncounted || t.index.uncounted == maxAllUncounted || !known && len(u.Rules) == maxRules {
		u.Inexact = true
		return
	}
	if !known {
		u.Rules = append(u.Rules, rule)
	}
	t.index.uncounted++
	u.add(key)
	if t.holds(rule, sig, len(t.Rows)) { // and this is another variant
		u.both++
	}
}

// recount counts again the rows that are another variant of a group, and the groups that
// have a counter and a key.
func (t *counters) recount() {
	t.variants, t.Uncounted.both = 0, 0
	for i := range t.Rows {
		t.noteRow(i)
	}
}

// noteRow counts row n, after those before it.
func (t *counters) noteRow(n int) {
	r, u := &t.Rows[n], &t.Uncounted
	switch {
	case t.holds(r.Rule, r.Sig, n):
		t.variants++
	case len(u.Keys) > 0 && u.has(groupKey(r.Rule, r.Sig)):
		u.both++
	}
}

// forget drops all keys.
func (t *counters) forget() {
	t.index.uncounted -= len(t.Uncounted.Keys)
	t.Uncounted = uncounted{}
}

// mergeUncounted is the part of [Coalescer.Merge] about groups without a counter.
func (c *Coalescer) mergeUncounted(from, into signature.Signature) {
	for i := range c.items {
		t := &c.items[i].Counters
		for _, rule := range t.Uncounted.Rules {
			if key := groupKey(rule, from); t.Uncounted.has(key) {
				t.Uncounted.remove(key)
				t.index.uncounted--
				t.distinguish(rule, into)
				t.recount()
			}
		}
	}
}

// home returns the slot at which the search for a key begins.
func (u *uncounted) home(key uint64) uint64 { return key & uint64(len(u.slots)-1) }

// after returns the slot that follows another one.
func (u *uncounted) after(slot uint64) uint64 { return (slot + 1) & uint64(len(u.slots)-1) }

// find returns the slot of a key, or the free one where it belongs. There must be slots.
func (u *uncounted) find(key uint64) uint64 {
	slot := u.home(key)
	for u.slots[slot] != 0 && u.Keys[u.slots[slot]-1] != key {
		slot = u.after(slot)
	}
	return slot
}

func (u *uncounted) has(key uint64) bool { return len(u.Keys) > 0 && u.slots[u.find(key)] != 0 }

// add adds a key that is not there. At most half of the slots are in use, so that a search
// looks at two or three.
func (u *uncounted) add(key uint64) {
	u.Keys = append(u.Keys, key)
	if 2*len(u.Keys) <= len(u.slots) {
		u.slots[u.find(key)] = uint16(len(u.Keys))
		return
	}
	u.slots = make([]uint16, max(64, 2*len(u.slots)))
	for i, k := range u.Keys {
		u.slots[u.find(k)] = uint16(i + 1)
	}
}

// remove removes a key that is there. The last one takes its position, and what was
// pushed out of its place by the key moves back.
func (u *uncounted) remove(key uint64) {
	last := len(u.Keys) - 1
	gap := u.find(key)
	at := u.slots[gap]
	u.slots[u.find(u.Keys[last])] = at
	u.Keys[at-1] = u.Keys[last]
	u.Keys = u.Keys[:last]
	u.slots[gap] = 0
	for slot := u.after(gap); u.slots[slot] != 0; slot = u.after(slot) {
		from := u.home(u.Keys[u.slots[slot]-1])
		if (slot-from)&uint64(len(u.slots)-1) >= (slot-gap)&uint64(len(u.slots)-1) {
			u.slots[gap], u.slots[slot] = u.slots[slot], 0
			gap = slot
		}
	}
}
