package report

// rows is a bounded table of rows: where it is full, the row that was counted longest ago is evicted. Every
// entry of a log looks one up. An id is a hash already, so that its bits find the row; a general table, which
// hashes id, check and the name of the rule again, takes four times as long:
//
//	go test ./report -run - -bench Rows
type rows struct {
	limit int
	slots []slot
	heads []int32 // by the lower bits of the id: the first of slots; a power of two

	newest, oldest int32 // slots
}

// slot is a place for a row, in a chain of those with the same head and in the
// order of use. Slots count from 1, with 0 for none.
type slot struct {
	key  rowKey
	row  *row
	next int32

	newer, older int32
}

// fewHeads is the number of heads of an empty table.
const fewHeads = 64

func newRows(limit int) *rows { return &rows{limit: limit, heads: make([]int32, fewHeads)} }

// Len returns how many rows there are.
func (t *rows) Len() int { return len(t.slots) }

func (t *rows) slot(i int32) *slot { return &t.slots[i-1] }

func (t *rows) head(key *rowKey) *int32 { return &t.heads[uint64(key.sig.ID)&uint64(len(t.heads)-1)] }

// get returns the row of key, now the one counted last, and nil without one.
func (t *rows) get(key *rowKey) *row {
	for i := *t.head(key); i != 0; {
		s := t.slot(i)
		if s.key == *key {
			if i != t.newest {
				t.unlink(s)
				t.push(i, s)
			}
			return s.row
		}
		i = s.next
	}
	return nil
}

// add adds the row of a key that has none. It returns the row that was evicted, or nil.
func (t *rows) add(key rowKey, row *row) (evicted *row) {
	i := t.oldest
	if len(t.slots) < t.limit {
		t.slots = append(t.slots, slot{})
		i = int32(len(t.slots))
		if len(t.slots) > len(t.heads) {
			t.grow()
		}
	} else {
		s := t.slot(i)
		evicted = s.row
		t.unlink(s)
		at := t.head(&s.key)
		for *at != i {
			at = &t.slot(*at).next
		}
		*at = s.next
	}
	head := t.head(&key)
	*t.slot(i) = slot{key: key, row: row, next: *head}
	*head = i
	t.push(i, t.slot(i))
	return evicted
}

// grow doubles the heads. The last slot is in no chain yet.
func (t *rows) grow() {
	t.heads = make([]int32, 2*len(t.heads))
	for n := range t.slots[:len(t.slots)-1] {
		s := &t.slots[n]
		head := t.head(&s.key)
		s.next, *head = *head, int32(n+1)
	}
}

// unlink takes s out of the order of use.
func (t *rows) unlink(s *slot) {
	if s.newer != 0 {
		t.slot(s.newer).older = s.older
	} else {
		t.newest = s.older
	}
	if s.older != 0 {
		t.slot(s.older).newer = s.newer
	} else {
		t.oldest = s.newer
	}
}

// push makes slot i the one used last.
func (t *rows) push(i int32, s *slot) {
	s.newer, s.older = 0, t.newest
	if t.newest != 0 {
		t.slot(t.newest).newer = i
	} else {
		t.oldest = i
	}
	t.newest = i
}

// all returns the rows, in no order that means anything.
func (t *rows) all() []*row {
	out := make([]*row, len(t.slots))
	for i := range t.slots {
		out[i] = t.slots[i].row
	}
	return out
}
