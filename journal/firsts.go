package journal

// firsts is the budget of first entries, by sequence number. The firsts of a burst are in the order in which they came.
// Released firsts are in the order of release, which is the order of their eviction.
type firsts struct {
	Budget
	bursts        map[uint64][]uint64 // by number; each has at least one first, so that there are no more than firsts
	released      []uint64
	releasedBytes int
	perBurst      int
	overQuota     uint64
}

// KeepFirst keeps the entry just appended as one of the firsts of a burst, and
// reports whether it is kept. It is not when the burst has its quota, or when
// the budget is full of firsts of bursts that were not released; both are
// counted. Calling it again for the same entry changes nothing.
func (j *Journal) KeepFirst(burst uint64) bool {
	if j.tail.Entries == 0 {
		return false
	}
	f := &j.firsts
	h := j.tail.at(j.tail.Entries - 1)
	if h.flags&flagFirst != 0 {
		return true
	}
	if len(f.bursts[burst]) >= f.perBurst {
		f.overQuota++
		return false
	}
	size := h.size()
	// Asking first keeps an entry that would be refused anyway from displacing any.
	unreleased := Budget{
		Entries: f.Entries - len(f.released), Capacity: f.Capacity, Bytes: f.Bytes - f.releasedBytes, MaxBytes: f.MaxBytes,
	}
	if !unreleased.room(size) {
		f.Refused++
		return false
	}
	for !f.room(size) {
		j.evictFirst()
	}
	h.flags |= flagFirst
	f.add(size)
	f.bursts[burst] = append(f.bursts[burst], h.seq)
	return true
}

// Release lets the firsts of a burst be evicted: they stay until their room is needed for the firsts of other bursts.
// The host calls it when it has dropped the burst, or no longer needs its entries. A number that comes back afterwards
// is a new burst.
func (j *Journal) Release(burst uint64) {
	f := &j.firsts
	for _, seq := range f.bursts[burst] {
		f.releasedBytes += j.lookup(seq).size()
	}
	f.released = append(f.released, f.bursts[burst]...)
	delete(f.bursts, burst)
}

// evictFirst evicts the first of all released entries.
func (j *Journal) evictFirst() {
	f := &j.firsts
	h := j.lookup(f.released[0])
	f.released = f.released[1:]
	f.releasedBytes -= h.size()
	f.drop(h.size())
	f.Evicted++
	j.release(h, flagFirst)
}
