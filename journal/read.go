package journal

// Page is what one [Journal.Read] found.
type Page struct {
	// Records are the entries found, oldest first. They are copies and belong
	// to the caller.
	Records []Record

	// Next is the cursor to go on from. It is past everything that this page
	// accounts for: what is in Records, what the filter left out, and what was
	// lost in between.
	Next Cursor

	// Oldest is the first sequence number still held, 0 if there is none, and
	// Latest the last one written.
	Oldest, Latest uint64

	// Lost is how many entries after the cursor and up to Next are no longer
	// held, whatever the filter.
	Lost uint64

	// LostBefore is how many of Lost were written before this journal began, in
	// an earlier run. The others gave way to later ones.
	LostBefore uint64

	// More says that entries after Next were written, so that another Read
	// goes on at once. Such a page may be shorter than its limit, or empty.
	More bool

	// Err is set when the cursor was refused: [ErrCursorEpoch] or
	// [ErrCursorBeyond]. The page then has no records, and Next is the cursor
	// itself.
	Err error
}

// Read returns the entries after a cursor that the filter chooses, oldest
// first, at most limit of them. A limit of 0 or less is [DefaultLimit], one
// above [MaxLimit] is MaxLimit.
//
// It examines at most [Config].ReadEntries entries, and reads or copies at most
// [Config].ReadBytes bytes of text unless a single entry has more; then it
// returns what it has, with More set. Whenever something was written after the
// cursor, Next is beyond the cursor, so that following Next comes to an end.
//
// It allocates the records and a string for the text of each, and room for what it
// looks at, of some kilobytes. Where others wait for the journal meanwhile, use a
// [Scan].
func (j *Journal) Read(after Cursor, limit int, f Filter) Page {
	s := NewScan(after, limit, f)
	for more := true; more; {
		more = s.Step(j)
		more = s.Sift() && more
	}
	return s.Page()
}

// walk goes through the held entries after a sequence number, in order: those
// before the tail by the index, the rest in the tail, which has everything.
type walk struct {
	j   *Journal
	row int    // the next row of the index
	seq uint64 // after which to go on
}

func (j *Journal) walk(after uint64) walk {
	return walk{j: j, row: j.index.after(after), seq: after}
}

// peek returns the header of the next entry, with its row if it is not in the
// tail. It returns nil at the end.
func (w *walk) peek() (*header, *row) {
	from := w.j.tailFrom()
	if rows := w.j.index.rows; w.row < len(rows) && rows[w.row].seq < from {
		r := &rows[w.row]
		return w.j.rowHeader(r), r
	}
	if next := max(w.seq+1, from); next <= w.j.latest {
		return w.j.tail.at(int(next - from)), nil
	}
	return nil, nil
}

// step goes past the entry that peek returned. In the tail, which has whatever
// the index has, the row is of no meaning any more.
func (w *walk) step(h *header) {
	w.seq = h.seq
	w.row++
}
