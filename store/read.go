package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/heedlog/heed/journal"
)

// Cause says why the entries of a [Gap] are not there.
type Cause uint8

// Causes.
const (
	// GapMissed: they were never handed in. The engine's ring was overrun
	// between two drains, or the engine began after them.
	GapMissed Cause = 1 + iota
	// GapFailed: they were handed in, or displaced from the engine's ring,
	// while the disk refused to take them.
	GapFailed
	// GapDeleted: their segments were deleted to keep within MaxBytes.
	GapDeleted
	// GapDamaged: they were written and cannot be read any more, or a loss of
	// power took them before they were synced.
	GapDamaged
)

var causeNames = [...]string{"", "missed", "failed", "deleted", "damaged"}

// String returns the cause's name in lower case.
func (c Cause) String() string {
	if c > 0 && int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// Gap stands for entries that are not there: those after the sequence number
// After, up to To.
type Gap struct {
	After, To uint64
	Cause     Cause
}

// Page is what one [Journal.Read] found: a page of package journal, and the
// gaps in it.
type Page struct {
	// Page has the meaning that it has in package journal. Its Err may also be
	// [ErrClosed], or that of the file system: then Records are those before the
	// failure, and a Read from Next tries again. While it fails nothing behind it
	// is read: whether it is lost is not known. A segment that somebody removed is
	// a gap.
	journal.Page

	// Gaps say what Lost is made of, oldest first, whatever the filter. They
	// are between the cursor and Next, and do not overlap.
	Gaps []Gap
}

// lose adds a gap to the page.
func (p *Page) lose(after, to uint64, cause Cause) {
	p.Lost += to - after
	if n := len(p.Gaps); n > 0 && p.Gaps[n-1].To == after && p.Gaps[n-1].Cause == cause {
		p.Gaps[n-1].To = to
		return
	}
	p.Gaps = append(p.Gaps, Gap{After: after, To: to, Cause: cause})
}

// Run is what is held of one epoch.
type Run struct {
	Epoch          string
	Oldest, Latest uint64 // sequence numbers of the first record, 0 if there is none, and of the last entry accounted for
	Records        uint64
	Segments       int
	Bytes          int64
}

// Runs returns the epochs of which something is held, in the order in which they
// were last begun. What they hold is read with a [journal.Cursor] of the epoch.
func (j *Journal) Runs() []Run {
	j.mu.Lock()
	defer j.mu.Unlock()
	var runs []Run
	for _, s := range j.segments {
		if s.epoch == "" {
			continue
		}
		i := slices.IndexFunc(runs, func(r Run) bool { return r.Epoch == s.epoch })
		if i < 0 {
			i = len(runs)
			runs = append(runs, Run{Epoch: s.epoch})
		}
		r := &runs[i]
		r.Oldest = cmp.Or(r.Oldest, s.oldest)
		r.Latest = max(r.Latest, s.last)
		r.Records += s.records
		r.Segments++
		r.Bytes += s.onDisk()
	}
	return runs
}

// run returns the segments of an epoch, oldest first, and the last sequence
// number that they account for.
func (j *Journal) run(epoch string) (segments []*segment, last uint64) {
	for _, s := range j.segments {
		if s.epoch == epoch {
			segments = append(segments, s)
			last = max(last, s.last)
		}
	}
	return segments, last
}

// Read returns the records after a cursor that the filter chooses, oldest first,
// at most limit of them, as [journal.Journal.Read] does: a limit of 0 or less is
// [journal.DefaultLimit], one above [journal.MaxLimit] is MaxLimit; it examines
// at most ReadEntries records and gaps, and ReadBytes bytes of them, and wherever
// more is on disk beyond the cursor, Next is beyond the cursor.
//
// A cursor without an epoch reads this journal's own; one with the epoch of an
// earlier run that is still held reads that. Others are refused with
// [journal.ErrCursorEpoch], or [journal.ErrCursorBeyond].
//
// Latest may be ahead of what can be read while the journal is failed: whether
// these entries are lost is not known yet, and a reader is told when it is.
//
// The disk is read under the journal's lock: one open, and some 0.5 ms for a
// page of 1 MiB that is in the system's cache. It allocates 64 KiB, the records,
// and a string for the text of each.
func (j *Journal) Read(after journal.Cursor, limit int, f journal.Filter) Page {
	j.mu.Lock()
	defer j.mu.Unlock()
	p := Page{Page: journal.Page{Next: after}}
	if j.lock == nil {
		p.Err = ErrClosed
		return p
	}
	epoch := cmp.Or(after.Epoch, j.config.Epoch)
	segments, end := j.run(epoch)
	p.Latest = end
	if epoch == j.config.Epoch {
		p.Latest, end = j.taken, j.pos
	} else if len(segments) == 0 {
		p.Err = fmt.Errorf("%w: nothing is held of %q", journal.ErrCursorEpoch, epoch)
		return p
	}
	for _, s := range segments {
		p.Oldest = cmp.Or(p.Oldest, s.oldest)
	}
	if after.Seq > p.Latest {
		p.Err = fmt.Errorf("%w: it is at %d, the latest is %d", journal.ErrCursorBeyond, after.Seq, p.Latest)
		return p
	}
	switch {
	case limit <= 0:
		limit = journal.DefaultLimit
	case limit > journal.MaxLimit:
		limit = journal.MaxLimit
	}

	r := reader{page: &p, pos: after.Seq, filter: f, limit: limit, entries: j.config.ReadEntries, bytes: j.config.ReadBytes}
	full := false
	for i, s := range segments {
		if s.last <= r.pos {
			continue
		}
		if full = r.full(0); full {
			break
		}
		if i == 0 {
			r.jump(s.first-1, GapDeleted)
		}
		r.jump(s.first-1, GapDamaged)
		if full, p.Err = j.readSegment(s, &r); full || p.Err != nil {
			break
		}
	}
	if !full && p.Err == nil {
		if len(segments) == 0 {
			r.jump(end, GapDeleted)
		}
		r.jump(end, GapDamaged)
	}
	p.Next = journal.Cursor{Epoch: epoch, Seq: r.pos}
	p.More = r.pos < end
	return p
}

// reader collects a page. All up to pos is in it.
type reader struct {
	page   *Page
	pos    uint64
	filter journal.Filter

	limit, entries, bytes int // what is left to examine
	examined              bool
}

// full reports whether the page has no room for a frame of n bytes.
func (r *reader) full(n int) bool {
	return r.limit == 0 || r.entries == 0 || r.examined && n > r.bytes
}

// jump goes to a sequence number, over what is missing before it.
func (r *reader) jump(to uint64, cause Cause) {
	if r.pos < to {
		r.page.lose(r.pos, to, cause)
		r.pos = to
	}
}

// readSegment reads on in a segment, and reports whether the page is full. What
// cannot be understood is left out: the next jump counts it.
func (j *Journal) readSegment(s *segment, r *reader) (full bool, err error) {
	in, _, err := j.fs.open(j.path(s))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // somebody removed it: no later Read would find it either
	}
	if err != nil {
		return false, fmt.Errorf("store: %w", err)
	}
	defer func() { _ = in.Close() }()
	f := frames{segment: s, r: in, at: s.start(r.pos), end: s.size}
	for r.pos < s.last {
		payload, err := f.next()
		if errors.Is(err, errTorn) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("store: %w", err)
		}
		sp, err := decodeSpan(payload)
		if err != nil || sp.to <= r.pos || sp.to > s.last {
			continue
		}
		if r.full(len(payload)) {
			return true, nil
		}
		r.examined = true
		r.entries--
		r.bytes -= len(payload)
		if sp.gap {
			r.jump(sp.after, GapDamaged)
			r.jump(sp.to, sp.cause)
			continue
		}
		record, err := decodeRecord(payload)
		if err != nil {
			continue
		}
		r.jump(sp.after, GapDamaged)
		r.pos = sp.to
		if matches(&r.filter, &record) {
			r.limit--
			r.page.Records = append(r.page.Records, record)
		}
	}
	return false, nil
}

// matches reports whether the filter chooses a record, as package journal does.
func matches(f *journal.Filter, r *journal.Record) bool {
	named := func(want, name string) bool { return want == "" || name == want[:cut(want, journal.MaxName)] }
	return r.Decision.Disposition >= f.MinDisposition && r.Decision.Severity >= f.MinSeverity &&
		(len(f.Kinds) == 0 || slices.Contains(f.Kinds, r.Kind)) &&
		(f.Signature == 0 || r.Signature.ID == f.Signature) &&
		named(f.Operation, r.OperationID) && named(f.Rule, r.Decision.Rule) && named(f.Source, r.Source) &&
		(strings.Contains(r.Message, f.Contains) || strings.Contains(r.Stack, f.Contains))
}
