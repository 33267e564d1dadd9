package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/heedlog/heed/journal"
)

// Errors of a [Journal] that callers may want to tell apart.
var (
	// ErrClosed says that the journal was closed.
	ErrClosed = errors.New("store: journal is closed")
	// ErrSequence says that a record does not come after those that the epoch
	// already has. An engine that counts from 1 again needs an epoch of its
	// own.
	ErrSequence = errors.New("store: record out of sequence")
)

// batchBytes is how much one write takes, and a record more.
const batchBytes = 64 << 10

// lockName is the file in a journal's directory by which it is locked.
const lockName = "lock"

// Journal keeps records on disk. All methods are safe for concurrent use. Make
// one with [OpenJournal], and [Journal.Close] it.
type Journal struct {
	mu     sync.Mutex
	fs     filesystem
	config JournalConfig // without zeros
	lock   io.Closer     // nil once closed

	segments []*segment // of all epochs, by number
	number   uint64     // of the segment that was begun last

	// pos is the last sequence number of the run that the segments account for,
	// taken the last that was ever handed in. They differ while the journal is
	// failed.
	pos, taken uint64

	// The segment being written, nil if the next record begins one; what it
	// was at the last sync; and what was written since.
	active   *segment
	out      outFile
	synced   segment
	entries  int
	durable  uint64
	buf      []byte  // reused
	frames   []frame // reused
	recovery Recovery

	// The failed state: the reason, how often in a row, and the sequence number
	// from which on to try again.
	failure error
	streak  int
	retry   uint64

	counts JournalStats // the counters of it
}

// OpenJournal opens the journal in a directory, and goes through all that is
// there, of whatever epoch; unless the policy is [SyncNever], it syncs what it
// finds. The journal goes on where its epoch ended, if the directory knows it,
// and makes no segment before there is a record.
//
// An error names the field of the configuration that is wrong, wraps
// [ErrVersion] for a directory of a newer program, or is that of the file
// system, also when another journal has the directory open.
func OpenJournal(c JournalConfig) (*Journal, error) { return openJournal(osFS{}, c) }

func openJournal(fs filesystem, c JournalConfig) (*Journal, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	j := &Journal{fs: fs, config: c.withDefaults()}
	if err := fs.mkdir(c.Dir); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	lock, err := fs.lock(filepath.Join(c.Dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("store: the journal is in use, or cannot be locked: %w", err)
	}
	if err := j.load(); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("store: %w", err)
	}
	j.lock = lock
	return j, nil
}

func (j *Journal) path(s *segment) string { return filepath.Join(j.config.Dir, segmentName(s.number)) }

// Recovery returns what OpenJournal found.
func (j *Journal) Recovery() Recovery { return j.recovery }

// Append adds one record; its Seq must be larger than that of the one before,
// and a jump is kept as a gap of cause [GapMissed]. It copies what it keeps.
//
// An error is [ErrClosed], [ErrSequence], or why the disk did not take the
// record: then the journal is failed, the record is lost and counted, and a
// later Append tries again. With [SyncAppend] a nil error says that the record
// is durable.
func (j *Journal) Append(r journal.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return ErrClosed
	}
	if r.Seq <= j.taken {
		return fmt.Errorf("%w: record %d after %d of epoch %q", ErrSequence, r.Seq, j.taken, j.config.Epoch)
	}
	j.taken = r.Seq
	if j.failure != nil && r.Seq < j.retry {
		return j.failure
	}
	return j.write([]journal.Record{r})
}

// Source is what a journal is drained from: an engine, or a journal in memory.
type Source interface {
	Read(after journal.Cursor, limit int, f journal.Filter) journal.Page
}

// Drained is what one [Journal.Drain] did.
type Drained struct {
	Records uint64 // written
	Missed  uint64 // no longer held by the source, and kept as gaps
}

// Drain writes what the source has that is not on disk yet, up to what it had
// when Drain was called. What the source no longer holds becomes a gap, of cause
// [GapFailed] if the journal was failed meanwhile, of cause [GapMissed]
// otherwise. The journal's lock is held while a page of the source is read and
// written, and given back in between.
//
// An error is [ErrClosed], that of the source for the cursor (the epochs differ,
// or the source counts from 1 again), or why the disk did not take records:
// then the journal is failed, and a later Drain tries again with what the source
// still has.
func (j *Journal) Drain(from Source) (Drained, error) {
	var d Drained
	var until uint64
	for {
		more, err := j.drainPage(from, &d, &until)
		if err != nil || !more {
			return d, err
		}
	}
}

func (j *Journal) drainPage(from Source, d *Drained, until *uint64) (more bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return false, ErrClosed
	}
	limit := journal.MaxLimit
	if j.failure != nil {
		limit = 1 // until it is known whether it is time to try again
	}
	p := from.Read(journal.Cursor{Epoch: j.config.Epoch, Seq: j.pos}, limit, journal.Filter{})
	if p.Err != nil {
		return false, fmt.Errorf("store: drain: %w", p.Err)
	}
	if j.failure != nil && p.Latest < j.retry {
		return false, j.failure
	}
	*until = cmp.Or(*until, p.Latest)
	before := j.counts
	err = j.write(p.Records)
	d.Records += j.counts.Written - before.Written
	d.Missed += j.counts.Missed + j.counts.Failed - before.Missed - before.Failed
	return len(p.Records) > 0 && j.pos < *until, err
}

// Sync makes durable all that was appended, unless the policy is [SyncNever].
// While the journal is failed it returns the reason, and lets the next Append or
// Drain try again without waiting.
func (j *Journal) Sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return ErrClosed
	}
	if err := j.sync(); err != nil {
		return j.fail(err, nil)
	}
	if j.failure != nil {
		j.retry = 0
	}
	return j.failure
}

// DurableUpTo returns the sequence number up to which everything that the
// journal took in was synced to the device, as a record or as the gap that says
// what was lost; 0 if nothing was. It survives a loss of power, until MaxBytes
// makes its segment go. It never falls.
func (j *Journal) DurableUpTo() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.durable
}

// Close syncs, unless the policy is [SyncNever], and gives the directory back.
// The host drains before. If entries were lost while the journal is failed, it
// tries once more to leave the gap that says so.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return ErrClosed
	}
	err := j.leave()
	if err != nil {
		err = j.fail(err, nil)
	}
	err = errors.Join(err, j.lock.Close())
	j.lock = nil
	return err
}

// leave writes the gap that no record was left to follow, and seals.
func (j *Journal) leave() error {
	if j.pos < j.taken {
		if err := j.begin(); err != nil {
			return err
		}
		j.buf = j.buf[:0]
		var b batch
		g := Gap{After: j.pos, To: j.taken, Cause: GapFailed}
		j.frame(&b, span{after: g.After, to: g.To, gap: true, cause: g.Cause}, func(dst []byte) []byte { return appendGap(dst, g) })
		b.failed = g.To - g.After
		j.active.file = j.active.size + int64(len(j.buf))
		if _, err := j.out.Write(j.buf); err != nil {
			return err
		}
		j.commit(b)
	}
	return j.seal()
}
