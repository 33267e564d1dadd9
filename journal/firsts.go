package journal

// firsts is the budget of first entries. The firsts of a burst form a list in
// the order in which they came, linked by store.slotNext; those of released
// bursts form one list, in the order of release, from whose head they are
// evicted.
type firsts struct {
	store
	bursts   map[uint64]list // by number; each has at least one first, so that there are no more than firsts
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
func (j *Journal) KeepFirst(burst uint64) bool {
	if j.tail.count == 0 {
		return false
	}
	f := &j.firsts
	if r := j.index.find(j.latest); r != nil && r.first != none {
		return true
	}
	if f.bursts[burst].count >= f.perBurst {
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
	slot := f.put(h, j.appendBlock(j.scratch[:0], h, nil))
	f.bursts[burst] = f.push(f.bursts[burst], slot)
	j.index.get(j.latest).first = slot
	return true
}

// Release lets the firsts of a burst be evicted: they stay until their room is
// needed for those of other bursts. The host calls it when what it knew of the
// burst is gone, or no longer needs its entries. A number that comes back
// afterwards is a new burst. It takes the same time for any number of entries.
func (j *Journal) Release(burst uint64) {
	f := &j.firsts
	b, there := f.bursts[burst]
	if !there {
		return
	}
	if r := &f.released; r.count == 0 {
		*r = b
	} else {
		f.slotNext[r.tail] = b.head
		r.tail = b.tail
		r.count += b.count
		r.blocks += b.blocks
	}
	delete(f.bursts, burst)
}

// canTake reports whether there is room for a text of n bytes once all released
// entries are evicted. Asking first keeps an entry that would be refused all
// the same from displacing any.
func (f *firsts) canTake(n int) bool {
	return f.count-f.released.count < len(f.headers) && blocksFor(n) <= f.blocksFree+f.released.blocks
}

// push returns a list with a slot added at its end.
func (f *firsts) push(l list, slot uint32) list {
	if l.count == 0 {
		l.head = slot
	} else {
		f.slotNext[l.tail] = slot
	}
	l.tail = slot
	l.count++
	l.blocks += blocksFor(f.headers[slot].size())
	return l
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
