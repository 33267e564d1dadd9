package journal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// Page is the result of a [Scan].
type Page struct {
	// Records are the entries found, oldest first. They are copies and belong
	// to the caller.
	Records []Record

	// Next is the cursor for the next page. It is past all entries that this page accounts for: its Records, entries
	// that the filter left out, and entries lost in between.
	Next Cursor

	// Oldest is the first sequence number still held, 0 if there is none, and
	// Latest the last one written.
	Oldest, Latest uint64

	// Lost is how many entries after the cursor and up to Next are no longer held, with any filter.
	Lost uint64

	// LostBefore is how many of Lost were written before this journal began, in
	// an earlier run. The others were evicted for later ones.
	LostBefore uint64

	// More reports that entries after Next were written, for another Scan at once. Such a page may be shorter than its
	// limit, or empty.
	More bool

	// Err is set when the cursor was refused: [ErrCursorEpoch] or
	// [ErrCursorBeyond]. The page then has no records, and Next is the cursor
	// itself.
	Err error
}

// next returns the header of the first entry held after a sequence number, with its row if it is not in the tail. It
// returns nil at the end.
func (j *Journal) next(after uint64) (*header, *row) {
	from := j.tailFrom()
	if after < from {
		if i := j.index.after(after); i < len(j.index) {
			return &j.index[i].header, j.index[i]
		}
	}
	if seq := max(after+1, from); seq <= j.latest {
		return j.tail.at(int(seq - from)), nil
	}
	return nil, nil
}

// Cursor is a position in a journal: after the entry Seq. The zero Cursor is
// the beginning.
type Cursor struct {
	// Epoch is the epoch of the journal that gave out the cursor. Empty is the journal that is asked.
	Epoch string
	Seq   uint64
}

// Errors for cursors that the journal did not give out. A reader that meets one
// has lost its place; the zero Cursor begins again.
var (
	// ErrCursorEpoch: the cursor belongs to another run.
	ErrCursorEpoch = errors.New("journal: cursor of another epoch")
	// ErrCursorBeyond: the cursor is past the latest entry.
	ErrCursorBeyond = errors.New("journal: cursor beyond the latest entry")
)

// check returns the reason for which c is refused.
func (j *Journal) check(c Cursor) error {
	if c.Epoch != "" && c.Epoch != j.config.Epoch {
		return fmt.Errorf("%w: it is of %q, the journal of %q", ErrCursorEpoch, c.Epoch, j.config.Epoch)
	}
	if c.Seq > j.latest {
		return fmt.Errorf("%w: it is at %d, the latest is %d", ErrCursorBeyond, c.Seq, j.latest)
	}
	return nil
}

// Since returns how many entries after a cursor are held and how many are lost, without reading them. Their sum is the
// number of entries written since. The error is as of [Scan.Step].
//
// It is two binary searches in the index of firsts and pinned entries.
func (j *Journal) Since(after Cursor) (held, lost uint64, err error) {
	if err := j.check(after); err != nil {
		return 0, 0, err
	}
	held = j.held(after.Seq, j.latest)
	return held, j.latest - after.Seq - held, nil
}

// Filter chooses entries of a page. The zero Filter chooses all; an entry must satisfy every field that is set. Of
// names longer than 255 bytes, the first 255 are compared.
type Filter struct {
	MinDisposition event.Disposition // at least this urgent
	MinSeverity    event.Severity    // at least this severe
	Kinds          []event.Kind      // one of these; empty: any
	Signature      signature.ID      // this id; 0: any
	Operation      string            // names this operation, or a part of it that is known; empty: any
	Rule           string            // decided by this rule; empty: any
	Source         string            // from this source, or of this method; empty: any
	Contains       string            // has these bytes, as they are, in its message or in its stack
}

// matcher is a Filter in the form in which it is applied.
type matcher struct {
	Filter
	group    map[signature.ID]bool // ids in the group of Signature, which is one of them
	named    []string              // Operation and its parts
	contains []byte
	plain    bool // decided by the header alone
}

func (f Filter) matcher(parts []string, group []signature.ID) matcher {
	m := matcher{
		Filter: f, contains: []byte(f.Contains),
		plain: f.Operation == "" && f.Rule == "" && f.Source == "" && f.Contains == "",
	}
	m.Rule, m.Source = kept(f.Rule), kept(f.Source)
	if f.Signature != 0 {
		m.group = map[signature.ID]bool{f.Signature: true}
		for _, id := range group {
			m.group[id] = true
		}
	}
	if f.Operation != "" {
		for _, id := range append(slices.Clip(parts), f.Operation) {
			m.named = append(m.named, kept(id))
		}
	}
	return m
}

// header reports whether an entry may match, going by its header.
func (m *matcher) header(h *header) bool {
	return h.disposition >= m.MinDisposition && h.severity >= m.MinSeverity &&
		(len(m.Kinds) == 0 || slices.Contains(m.Kinds, h.kind)) &&
		(m.group == nil || m.group[h.id]) &&
		(m.named == nil || h.operation > 0) && mayEqual(h.rule, m.Rule) && mayEqual(h.source, m.Source)
}

// kept returns the part of a name that the journal keeps.
func kept(name string) string { return name[:text.Prefix(name, maxName)] }

// mayEqual reports whether a name of length n can be the one wanted.
func mayEqual(n uint8, want string) bool { return want == "" || int(n) == len(want) }

// block reports whether an entry whose header matches does so with its text.
func (m *matcher) block(h *header, block []byte) bool {
	message, stack, operation, rule, source := h.parts(block)
	return (m.named == nil || slices.Contains(m.named, string(operation))) &&
		(m.Rule == "" || string(rule) == m.Rule) &&
		(m.Source == "" || string(source) == m.Source) &&
		(bytes.Contains(message, m.contains) || bytes.Contains(stack, m.contains))
}
