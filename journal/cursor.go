package journal

import (
	"errors"
	"fmt"
)

// Cursor is a position in a journal: after the entry Seq. The zero Cursor is
// the beginning.
type Cursor struct {
	// Epoch is that of the journal which gave out the cursor. Empty stands for
	// the journal that is asked.
	Epoch string
	Seq   uint64
}

// Errors for cursors that the journal did not give out. A reader that meets one
// has lost its place; the zero Cursor begins anew.
var (
	// ErrCursorEpoch says that a cursor belongs to another run.
	ErrCursorEpoch = errors.New("journal: cursor of another epoch")
	// ErrCursorBeyond says that a cursor is past the latest entry.
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

// Since returns how many entries after a cursor are held and how many are lost,
// without reading them. Their sum is what was written since. The error is the
// one that [Journal.Read] would give.
//
// It is two binary searches in the index of firsts and pinned entries.
func (j *Journal) Since(after Cursor) (held, lost uint64, err error) {
	return j.Count(after, j.End())
}

// Count is [Journal.Since] for the entries between two cursors, without the
// first and with the last. It is 0 for cursors in the wrong order.
func (j *Journal) Count(after, to Cursor) (held, lost uint64, err error) {
	if err := errors.Join(j.check(after), j.check(to)); err != nil {
		return 0, 0, err
	}
	if after.Seq >= to.Seq {
		return 0, 0, nil
	}
	held = j.held(after.Seq, to.Seq)
	return held, to.Seq - after.Seq - held, nil
}
