package journal

import "slices"

// pins is the budget of pinned entries, with the pins for which each is
// held.
//
// Invariants: every entry in the store is within at least one pin; until is the end of
// the pin that reaches furthest, which is of an entry that was written.
type pins struct {
	Budget
	pins  []pin // no more than entries may be pinned
	until uint64

	neighbors uint64 // refused
}

// pin is one owner's interest in an entry and those around it.
type pin struct {
	owner    uint64
	seq      uint64
	from, to uint64 // from <= seq <= to
}

// covered reports whether any pin wants seq.
func (p *pins) covered(seq uint64) bool {
	return slices.ContainsFunc(p.pins, func(n pin) bool { return n.from <= seq && seq <= n.to })
}

// Pin keeps the entry seq for an owner, with the entries whose sequence numbers are at most neighbors away: entries
// that are still held now, nearest first, and later ones as they come. It reports whether seq itself is kept.
//
// A pin is refused, and counted, if seq is no longer held or not yet written, or if the budget is full: pinned entries
// are never evicted, since an open item's entries must not depend on later ones. Neighbors for which there is no room
// are left out, and counted.
//
// An entry that several owners pinned is held once, until the last one unpins it. A second Pin of the same entry by the
// same owner only widens the first. A negative number of neighbors is none; more than [Config].Pinned are that many.
//
// It takes time in proportion to the neighbors and to the number of pins.
func (j *Journal) Pin(owner, seq uint64, neighbors int) bool {
	n := uint64(max(0, min(neighbors, j.pins.Capacity)))
	i := slices.IndexFunc(j.pins.pins, func(p pin) bool { return p.owner == owner && p.seq == seq })
	if i < 0 {
		h := j.lookup(seq)
		if h == nil || len(j.pins.pins) == j.pins.Capacity || !j.pinEntry(h) {
			j.pins.Refused++
			return false
		}
		i = len(j.pins.pins)
		j.pins.pins = append(j.pins.pins, pin{owner: owner, seq: seq, from: seq, to: seq})
	}
	p := &j.pins.pins[i]
	p.from = min(p.from, seq-min(n, seq))
	p.to = max(p.to, seq+n)
	j.pins.until = max(j.pins.until, p.to)
	for d := uint64(1); d <= n; d++ {
		if d < seq {
			j.pinNeighbor(seq - d)
		}
		if d <= j.latest-seq {
			j.pinNeighbor(seq + d)
		}
	}
	return true
}

// Unpin takes back all pins of an owner, and frees the entries that no other owner pinned.
func (j *Journal) Unpin(owner uint64) {
	for {
		i := slices.IndexFunc(j.pins.pins, func(p pin) bool { return p.owner == owner })
		if i < 0 {
			return
		}
		own := j.pins.pins[i]
		j.pins.pins, j.pins.until = slices.Delete(j.pins.pins, i, i+1), 0
		for _, p := range j.pins.pins {
			j.pins.until = max(j.pins.until, p.to)
		}
		for seq := own.from; seq <= min(own.to, j.latest); seq++ {
			if h := j.lookup(seq); h != nil && h.flags&flagPinned != 0 && !j.pins.covered(seq) {
				j.pins.drop(h.size())
				j.release(h, flagPinned)
			}
		}
	}
}

// pinEntry makes sure that a held entry is in the pinned budget, and reports whether it is. The caller has a pin that
// covers it, or is about to.
func (j *Journal) pinEntry(h *header) bool {
	if h.flags&flagPinned != 0 {
		return true
	}
	if !j.pins.room(h.size()) {
		return false
	}
	h.flags |= flagPinned
	j.pins.add(h.size())
	return true
}

// pinNeighbor pins seq if it is held, and counts it if there is no room.
func (j *Journal) pinNeighbor(seq uint64) {
	if h := j.lookup(seq); h != nil && !j.pinEntry(h) {
		j.pins.neighbors++
	}
}
