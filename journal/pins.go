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
	p := j.pins.find(owner, seq)
	if p == nil {
		if len(j.pins.pins) == j.pins.Capacity || !j.pinEntry(seq) {
			j.pins.Refused++
			return false
		}
		j.pins.pins = append(j.pins.pins, pin{owner: owner, seq: seq, from: seq, to: seq})
		p = &j.pins.pins[len(j.pins.pins)-1]
	}
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
	all := j.pins.pins
	keep := 0
	for i := range all {
		if all[i].owner != owner {
			all[keep], all[i] = all[i], all[keep]
			keep++
		}
	}
	j.pins.pins = all[:keep]
	if keep == len(all) {
		return
	}
	j.pins.until = 0
	for i := range j.pins.pins {
		j.pins.until = max(j.pins.until, j.pins.pins[i].to)
	}
	for i := keep; i < len(all); i++ {
		j.dropUncovered(all[i].from, all[i].to)
	}
}

// find returns the owner's pin of seq, or nil.
func (p *pins) find(owner, seq uint64) *pin {
	for i := range p.pins {
		if q := &p.pins[i]; q.owner == owner && q.seq == seq {
			return q
		}
	}
	return nil
}

// pinEntry makes sure that seq is in the pinned budget, and reports whether it
// is. The caller has a pin that covers it, or is about to.
func (j *Journal) pinEntry(seq uint64) bool {
	if r := j.index.find(seq); r != nil && r.pinned {
		return true
	}
	h, r := j.lookup(seq)
	if h == nil || !j.pins.room(h.size()) {
		return false
	}
	j.keep(h, r).pinned = true
	j.pins.add(h.size())
	return true
}

// pinNeighbor pins seq if it is held, and counts it if there is no room.
func (j *Journal) pinNeighbor(seq uint64) {
	if !j.pinEntry(seq) && j.holds(seq) {
		j.pins.neighbors++
	}
}

// dropUncovered removes from the pinned budget the entries from..to that no pin
// covers.
func (j *Journal) dropUncovered(from, to uint64) {
	for _, r := range j.index {
		if r.pinned && from <= r.seq && r.seq <= to && !j.pins.covered(r.seq) {
			j.pins.drop(r.size())
			r.pinned = false
		}
	}
	j.index = slices.DeleteFunc(j.index, func(r *row) bool { return !r.first && !r.pinned })
}
