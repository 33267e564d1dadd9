package journal

import (
	"fmt"
	"slices"
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

	// scratch holds one block while it is decoded. Its capacity is enough for the longest.
	scratch []byte
}

// New returns an empty journal with everything allocated that it will ever
// need. An error names the field of the Config that is wrong.
func New(c Config) (*Journal, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Journal{
		config: c,
		latest: c.After,
		tail: tail{
			Budget:  Budget{Capacity: c.Entries, MaxBytes: c.Bytes},
			headers: make([]header, c.Entries), bytes: make([]byte, c.Bytes),
		},
		firsts: firsts{
			Budget: Budget{Capacity: c.Firsts, MaxBytes: c.FirstsBytes}, bursts: map[uint64][]*row{},
			perBurst: c.FirstsPerBurst,
		},
		pins:    pins{Budget: Budget{Capacity: c.Pinned, MaxBytes: c.PinnedBytes}},
		scratch: make([]byte, 0, min(maxBlock(c.MaxText), c.Bytes)),
	}, nil
}

// Append adds an entry with its signature and the decision about it, and evicts the oldest entries of the tail if it
// needs their place. All text is copied; neither e nor d is retained. e.Seq must be one more than the Seq of the entry
// before.
//
// It allocates nothing, and its cost does not depend on the number of entries held.
func (j *Journal) Append(e *event.Entry, s signature.Signature, d event.Decision) {
	if e.Seq != j.latest+1 {
		panic(fmt.Sprintf("BUG: journal: entry %d appended after entry %d", e.Seq, j.latest))
	}
	h := j.tail.next()
	size := h.set(e, s, &d, j.config.MaxText, j.config.Bytes)
	a, b := j.tail.push(h, size)
	if len(b) == 0 {
		h.encode(a, e, &d)
	} else {
		block := j.scratch[:size]
		h.encode(block, e, &d)
		copy(b, block[copy(a, block):])
	}
	j.wrote(h)
}

// Repeat is Append for an entry that differs from the latest one, which must exist, in Seq, Time and Pos alone, with
// the same decision. It copies the record of the latest entry, which saves a third.
func (j *Journal) Repeat(e *event.Entry) {
	if e.Seq != j.latest+1 || j.tail.Entries == 0 {
		panic(fmt.Sprintf("BUG: journal: entry %d repeats entry %d", e.Seq, j.latest))
	}
	before := j.tail.at(j.tail.Entries - 1)
	block := j.appendBlock(j.scratch[:0], before, nil)
	h := j.tail.next()
	*h = *before
	h.seq, h.pos = e.Seq, e.Pos
	h.sec, h.nsec = e.Time.Unix(), uint32(e.Time.Nanosecond())
	a, b := j.tail.push(h, len(block))
	if n := copy(a, block); n < len(block) {
		copy(b, block[n:])
	}
	j.wrote(h)
}

// wrote takes note of an entry that was just written to the tail.
func (j *Journal) wrote(h *header) {
	if h.flags&flagTruncated != 0 {
		j.truncated++
	}
	j.latest = h.seq
	if h.seq <= j.pins.until {
		j.pinNeighbor(h.seq)
	}
}

// tailFrom returns the oldest sequence number in the tail, or, if the tail is empty, the next one.
func (j *Journal) tailFrom() uint64 { return j.latest + 1 - uint64(j.tail.Entries) }

// oldest returns the oldest sequence number held, 0 if none is.
func (j *Journal) oldest() uint64 {
	if len(j.index) > 0 {
		return min(j.index[0].seq, j.tailFrom())
	}
	if j.tail.Entries > 0 {
		return j.tailFrom()
	}
	return 0
}

// holds reports whether seq is held.
func (j *Journal) holds(seq uint64) bool {
	return seq >= j.tailFrom() && seq <= j.latest || j.index.find(seq) != nil
}

// held returns how many entries of (after, to] are held; to is at most latest.
func (j *Journal) held(after, to uint64) uint64 {
	if after >= to {
		return 0
	}
	var n uint64
	from := j.tailFrom()
	if to >= from {
		n = to - max(after, from-1)
		to = from - 1
	}
	if after < to {
		n += uint64(j.index.after(to) - j.index.after(after))
	}
	return n
}

// lookup returns the header of seq, with its row if it is not in the tail, or nil if it is not held.
func (j *Journal) lookup(seq uint64) (*header, *row) {
	w := j.walk(seq - 1)
	h, r := w.peek()
	if h == nil || h.seq != seq {
		return nil, nil
	}
	return h, r
}

// appendBlock appends the block of a header to dst: from the tail, or from r if r is not nil.
func (j *Journal) appendBlock(dst []byte, h *header, r *row) []byte {
	if r != nil {
		return append(dst, r.block...)
	}
	a, b := j.tail.block(h)
	return append(append(dst, a...), b...)
}

// row is an entry that is held besides the tail, once for both purposes: as a first, and as pinned.
type row struct {
	header
	block         []byte
	first, pinned bool
}

// keep returns the row of an entry, which it makes of the header in the tail if r is nil and there is none.
func (j *Journal) keep(h *header, r *row) *row {
	if r == nil {
		r = j.index.find(h.seq)
	}
	if r == nil {
		r = &row{header: *h, block: j.appendBlock(make([]byte, 0, h.size()), h, nil)}
		j.index = slices.Insert(j.index, j.index.after(h.seq), r)
	}
	return r
}

// index lists the entries held outside of the tail, each once, by rising sequence number. With it, counting is two
// binary searches.
type index []*row

// after returns the position of the first row with a larger sequence number.
func (x index) after(seq uint64) int {
	return sort.Search(len(x), func(i int) bool { return x[i].seq > seq })
}

// find returns the row of seq, or nil.
func (x index) find(seq uint64) *row {
	if i := x.after(seq) - 1; i >= 0 && x[i].seq == seq {
		return x[i]
	}
	return nil
}

// tidy removes the row of seq if it is for nothing any more.
func (x *index) tidy(seq uint64) {
	i := x.after(seq) - 1
	if r := (*x)[i]; !r.first && !r.pinned {
		*x = slices.Delete(*x, i, i+1)
	}
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

	// EvictedForText counts the evicted entries that were dropped for lack of room for text, not because there were too
	// many. Of the tail alone.
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
		Tail: j.tail.Budget, Firsts: j.firsts.Budget, Pinned: j.pins.Budget,
		OverQuota: j.firsts.overQuota, RefusedNeighbors: j.pins.neighbors, Pins: len(j.pins.pins),
		Truncated: j.truncated,
	}
}
