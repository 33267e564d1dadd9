package journal

import (
	"fmt"
	"sort"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// Journal keeps entries in memory of fixed size. It is not safe for concurrent
// use. Make one with [New].
type Journal struct {
	config Config // without zeros
	latest uint64

	tail   tail
	firsts firsts
	pins   pins
	index  index

	truncated uint64
}

// New returns an empty journal, which grows up to its capacities. An error names the field of the Config that is wrong.
func New(c Config) (*Journal, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Journal{
		config: c,
		latest: c.After,
		tail:   tail{Budget: Budget{Capacity: c.Entries, MaxBytes: c.Bytes}},
		firsts: firsts{
			Budget: Budget{Capacity: c.Firsts, MaxBytes: c.FirstsBytes}, bursts: map[uint64][]uint64{},
			perBurst: c.FirstsPerBurst,
		},
		pins: pins{Budget: Budget{Capacity: c.Pinned, MaxBytes: c.PinnedBytes}},
	}, nil
}

// Append adds an entry with its signature and the decision about it, and evicts the oldest entries of the tail if it
// needs their place. All text is copied; neither e nor d is retained. e.Seq must be one more than the Seq of the entry
// before.
//
// It allocates room for the tail, little at first and then all, and copies of evicted entries that are firsts or
// pinned. Its cost does not depend on the number of entries held.
func (j *Journal) Append(e *event.Entry, s signature.Signature, d event.Decision) {
	if e.Seq != j.latest+1 {
		panic(fmt.Sprintf("BUG: journal: entry %d appended after entry %d", e.Seq, j.latest))
	}
	t := &j.tail
	if t.Entries == t.Capacity {
		j.evict()
	} else if t.Entries == len(t.headers) {
		t.growHeaders()
	}
	h := t.at(t.Entries)
	size := h.set(e, s, &d, j.config.MaxText, j.config.Bytes)
	for t.Bytes+size > t.MaxBytes {
		j.evict()
	}
	if t.Bytes+size > len(t.bytes) {
		t.growBytes(size)
	}
	a, b := t.push(h, size)
	if len(b) == 0 {
		h.encode(a, e, &d)
	} else { // once in each round of the ring
		block := make([]byte, size)
		h.encode(block, e, &d)
		copy(b, block[copy(a, block):])
	}
	if h.flags&flagTruncated != 0 {
		j.truncated++
	}
	j.latest = h.seq
	if h.seq <= j.pins.until {
		j.pinNeighbor(h.seq)
	}
}

// evict removes the oldest entry of the tail. It copies the entry if that is a first or pinned: most are no more when
// the tail evicts them, so that their text is never copied.
func (j *Journal) evict() {
	t := &j.tail
	h := &t.headers[t.first]
	if h.flags&flagsKept != 0 {
		j.index = append(j.index, &row{header: *h, block: j.appendBlock(make([]byte, 0, h.size()), h, nil)})
	}
	t.evict()
}

// tailFrom returns the oldest sequence number in the tail, or, if the tail is empty, the next one.
func (j *Journal) tailFrom() uint64 { return j.latest + 1 - uint64(j.tail.Entries) }

// oldest returns the oldest sequence number held, 0 if none is.
func (j *Journal) oldest() uint64 {
	if len(j.index) > 0 {
		return j.index[0].seq
	}
	if j.tail.Entries > 0 {
		return j.tailFrom()
	}
	return 0
}

// held returns how many entries of (after, to] are held; to is at most latest.
func (j *Journal) held(after, to uint64) uint64 {
	if after >= to {
		return 0
	}
	n := uint64(j.index.after(to) - j.index.after(after))
	if from := j.tailFrom(); to >= from {
		n += to - max(after, from-1)
	}
	return n
}

// lookup returns the header of seq, or nil if it is not held.
func (j *Journal) lookup(seq uint64) *header {
	if from := j.tailFrom(); seq >= from && seq <= j.latest {
		return j.tail.at(int(seq - from))
	}
	if i := j.index.after(seq) - 1; i >= 0 && j.index[i].seq == seq {
		return &j.index[i].header
	}
	return nil
}

// appendBlock appends the block of a header to dst: from the tail, or from r if r is not nil.
func (j *Journal) appendBlock(dst []byte, h *header, r *row) []byte {
	if r != nil {
		return append(dst, r.block...)
	}
	a, b := j.tail.block(h)
	return append(append(dst, a...), b...)
}

// row is a first or pinned entry that the tail has evicted.
type row struct {
	header
	block []byte
}

// index lists the entries held outside of the tail, by rising sequence number, all before the tail. With it, counting
// is two binary searches.
type index []*row

// after returns the position of the first row with a larger sequence number.
func (x index) after(seq uint64) int {
	return sort.Search(len(x), func(i int) bool { return x[i].seq > seq })
}

// release takes a flag of flagsKept from an entry, which has it, and removes the entry if it is held for nothing else.
// Most entries that are removed are old: the rows before them move.
func (j *Journal) release(h *header, flag uint8) {
	h.flags &^= flag
	if h.flags&flagsKept != 0 || h.seq >= j.tailFrom() {
		return
	}
	i := j.index.after(h.seq) - 1
	copy(j.index[1:], j.index[:i])
	j.index[0] = nil
	j.index = j.index[1:]
}

// Stats has the counts of a journal. At any time Held + Lost = Latest, and Written + After = Latest.
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
	Truncated        uint64 // entries with some text cut
}

// Budget is the state of one of the three budgets.
type Budget struct {
	Entries, Capacity int // entries held, and at most
	Bytes, MaxBytes   int // text held, and at most; firsts and pinned may be full earlier, see [Config]

	// Evicted counts the entries evicted by others of the same budget. Pinned
	// entries are never evicted.
	Evicted uint64

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
		Tail: j.tail.Budget, Firsts: j.firsts.Budget, Pinned: j.pins.Budget,
		OverQuota: j.firsts.overQuota, RefusedNeighbors: j.pins.neighbors, Pins: len(j.pins.pins),
		Truncated: j.truncated,
	}
}
