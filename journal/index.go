package journal

import "sort"

// row tells where an entry is held besides the tail: its slots in firsts and
// pinned, [none] where it is not there.
type row struct {
	seq           uint64
	first, pinned uint32
}

// index lists the entries held besides the tail, each once, by rising sequence
// number. It is what makes counting a pair of binary searches.
type index struct {
	rows []row // its capacity is never exceeded
}

// after returns the position of the first row with a larger sequence number.
func (x *index) after(seq uint64) int {
	return sort.Search(len(x.rows), func(i int) bool { return x.rows[i].seq > seq })
}

// find returns the row of seq, or nil. It is valid until the index changes.
func (x *index) find(seq uint64) *row {
	if i := x.after(seq) - 1; i >= 0 && x.rows[i].seq == seq {
		return &x.rows[i]
	}
	return nil
}

// get returns the row of seq, which it inserts if there is none. It is valid
// until the index changes.
func (x *index) get(seq uint64) *row {
	i := x.after(seq)
	if i > 0 && x.rows[i-1].seq == seq {
		return &x.rows[i-1]
	}
	x.rows = append(x.rows, row{})
	copy(x.rows[i+1:], x.rows[i:])
	x.rows[i] = row{seq: seq, first: none, pinned: none}
	return &x.rows[i]
}

// tidy removes the row of seq if it names no slot any more.
func (x *index) tidy(seq uint64) {
	i := x.after(seq) - 1
	if r := x.rows[i]; r.first == none && r.pinned == none {
		x.rows = append(x.rows[:i], x.rows[i+1:]...)
	}
}
