package journal

// Stats says what a journal holds, and what became of the rest. At any moment
// Held + Lost = Latest, and Written + After = Latest.
type Stats struct {
	Written uint64 // entries appended
	After   uint64 // entries before the first of this journal; see [Config]
	Latest  uint64 // the last sequence number
	Oldest  uint64 // the first sequence number held, 0 if there is none
	Held    uint64 // entries in at least one budget
	Lost    uint64 // entries in none

	Tail   Budget
	Firsts Budget
	Pinned Budget

	OverQuota        uint64 // entries not kept as firsts because their burst had its quota
	RefusedNeighbors uint64 // neighbors of pinned entries for which there was no room
	Pins             int    // pins in force
	Truncated        uint64 // entries of which some text was cut
}

// Budget is the state of one of the three budgets.
type Budget struct {
	Entries, Capacity int // entries held, and at most
	Bytes, MaxBytes   int // text held, and at most; firsts and pinned may be full earlier, see [Config]

	// Evicted counts the entries displaced by others of the same budget. Pinned
	// entries are never displaced.
	Evicted uint64

	// EvictedForText counts those of Evicted that gave way because there was no
	// room for text, not because there were too many. Of the tail alone.
	EvictedForText uint64

	// Refused counts the entries for which there was no place: in the firsts
	// because all are of bursts that count, among the pinned because the budget
	// was full or the entry no longer held. The tail refuses nothing.
	Refused uint64
}

// Stats returns the present state. It costs two binary searches.
func (j *Journal) Stats() Stats {
	held := j.held(0, j.latest)
	return Stats{
		Written: j.latest - j.config.After, After: j.config.After,
		Latest: j.latest, Oldest: j.oldest(), Held: held, Lost: j.latest - held,
		Tail: Budget{
			Entries: j.tail.count, Capacity: len(j.tail.headers),
			Bytes: j.tail.used, MaxBytes: len(j.tail.bytes), Evicted: j.tail.evicted, EvictedForText: j.tail.evictedForBytes,
		},
		Firsts: Budget{
			Entries: j.firsts.count, Capacity: len(j.firsts.headers),
			Bytes: j.firsts.used, MaxBytes: len(j.firsts.bytes), Evicted: j.firsts.evicted, Refused: j.firsts.refused,
		},
		Pinned: Budget{
			Entries: j.pins.count, Capacity: len(j.pins.headers),
			Bytes: j.pins.used, MaxBytes: len(j.pins.bytes), Refused: j.pins.refused,
		},
		OverQuota: j.firsts.overQuota, RefusedNeighbors: j.pins.neighbors, Pins: len(j.pins.pins),
		Truncated: j.truncated,
	}
}
