package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
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

// Recovery is what [OpenJournal] found.
type Recovery struct {
	Segments int
	Records  uint64 // whole, and readable

	// TornBytes is how much was cut from the end of the last segment: what a
	// kill or a loss of power left of a last write.
	TornBytes int64

	// DamagedBytes is how much of all other segments cannot be read: behind the
	// first frame that is not whole, or superseded by a later segment. It is
	// left where it is until its segment is deleted.
	DamagedBytes int64

	// Err is what the file system said where something could not be read or
	// cut, nil if there was nothing of the kind.
	Err error
}

// OpenJournal opens the journal in a directory, and goes through all that is
// there. It syncs what it finds, unless
// the policy is [SyncNever]. The journal goes on where its epoch ended, if the
// directory knows it.
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

// load finds the segments and what is whole of them.
func (j *Journal) load() error {
	names, err := j.fs.list(j.config.Dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if n, ok := segmentNumber(name); ok {
			j.segments = append(j.segments, &segment{number: n})
			j.number = max(j.number, n)
		}
	}
	slices.SortFunc(j.segments, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })

	// From the newest to the oldest, since a segment ends where the next of its
	// epoch begins: what stands behind that was withdrawn.
	limits := map[string]uint64{}
	for i, s := range slices.Backward(j.segments) {
		if err := j.recoverSegment(s, limits, i == len(j.segments)-1); err != nil {
			return err
		}
	}
	j.segments = slices.DeleteFunc(j.segments, func(s *segment) bool { return s.file == 0 })
	j.recovery.Segments = len(j.segments)

	_, last := j.run(j.config.Epoch)
	j.pos, j.taken = last, last
	if j.config.Sync == SyncNever {
		return nil
	}
	for _, s := range j.segments { // what a killed process had not synced, whatever its epoch
		if s.epoch == "" {
			continue
		}
		if err := j.fs.sync(j.path(s)); err != nil {
			return err
		}
	}
	j.durable = last
	return j.fs.syncDir(j.config.Dir)
}

// recoverSegment reads one file, and cuts what is torn if it is the newest. A
// file that it leaves with size 0 is gone.
func (j *Journal) recoverSegment(s *segment, limits map[string]uint64, newest bool) error {
	note := func(err error) { j.recovery.Err = errors.Join(j.recovery.Err, err) }
	in, size, err := j.fs.open(j.path(s))
	if err != nil {
		note(err)
		s.file = leastOnDisk // unknown, and not nothing
		return nil
	}
	s.file = size
	err = s.scan(in, limits)
	_ = in.Close()
	if errors.Is(err, ErrVersion) {
		return fmt.Errorf("%s: %w", j.path(s), err)
	}
	note(err)
	if s.last >= s.first && s.epoch != "" {
		limit, limited := limits[s.epoch]
		if !limited {
			limit = math.MaxUint64
		}
		limits[s.epoch] = min(limit, s.first-1)
	}
	j.recovery.Records += s.records

	rest := s.file - s.size
	switch {
	case err == nil && (s.file <= segmentHeader || newest && s.epoch != "" && s.last < s.first):
		// It ended as it began. A header alone is whole, and of no use.
		if rest > 0 {
			j.recovery.TornBytes += s.file
		}
		s.epoch, s.void = "", true
		if err = j.fs.remove(j.path(s)); err == nil {
			s.file = 0
		}
	case err != nil || !newest || s.epoch == "":
		// Of a file that could not be read, or is not one of ours, nothing is
		// cut; of one that is not the newest, a kill tore nothing.
		j.recovery.DamagedBytes += rest
		return nil
	case rest > 0:
		j.recovery.TornBytes += rest
		if err = j.fs.truncate(j.path(s), s.size); err == nil {
			s.file = s.size
		}
	}
	note(err)
	return nil
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
// otherwise. The lock of the journal is given back between pages of the source.
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

// write appends records, which come after pos, and what is missing before each
// of them as gaps.
func (j *Journal) write(records []journal.Record) error {
	for len(records) > 0 {
		if err := j.begin(); err != nil {
			return j.fail(err, records)
		}
		b, err := j.encode(records)
		if err != nil {
			return err
		}
		if b.records == 0 {
			if j.active.last < j.active.first {
				panic("BUG: store: a record is larger than a segment")
			}
			if err := j.seal(); err != nil {
				return j.fail(err, records)
			}
			continue
		}
		j.active.file = j.active.size + int64(len(j.buf)) // whatever becomes of the write
		if _, err := j.out.Write(j.buf); err != nil {
			return j.fail(err, records)
		}
		j.commit(b)
		records = records[b.records:]
		if j.due(0, 0) {
			if err := j.sync(); err != nil {
				return j.fail(err, records)
			}
		}
	}
	if j.config.Sync == SyncAppend {
		if err := j.sync(); err != nil {
			return j.fail(err, nil)
		}
	}
	return nil
}

// batch is what one write holds.
type batch struct {
	frames         []frame
	records, cut   int
	missed, failed uint64
}

// frame is a frame of a batch.
type frame struct {
	span
	size int
}

// encode puts into buf the frames of as many records as one write and the
// segment have room for.
func (j *Journal) encode(records []journal.Record) (batch, error) {
	b := batch{frames: j.frames[:0]}
	j.buf = j.buf[:0]
	pos := j.pos
	for i := range records {
		r := &records[i]
		if r.Seq <= pos {
			return batch{}, fmt.Errorf("%w: record %d after %d of epoch %q", ErrSequence, r.Seq, pos, j.config.Epoch)
		}
		begin, count := len(j.buf), len(b.frames)
		missing := r.Seq - 1 - pos
		cause := GapMissed
		if j.failure != nil && i == 0 {
			cause = GapFailed
		}
		if missing > 0 {
			g := Gap{After: pos, To: r.Seq - 1, Cause: cause}
			j.frame(&b, span{after: g.After, to: g.To, gap: true, cause: cause}, func(dst []byte) []byte { return appendGap(dst, g) })
		}
		cut := false
		j.frame(&b, span{after: r.Seq - 1, to: r.Seq}, func(dst []byte) []byte {
			dst, cut = appendRecord(dst, r, j.config.MaxText)
			return dst
		})
		if j.active.size+int64(len(j.buf)) > j.config.SegmentBytes {
			j.buf, b.frames = j.buf[:begin], b.frames[:count]
			break
		}
		b.records++
		if cut {
			b.cut++
		}
		if cause == GapFailed {
			b.failed += missing
		} else {
			b.missed += missing
		}
		pos = r.Seq
		if len(j.buf) >= batchBytes || j.due(b.records, len(j.buf)) {
			break
		}
	}
	return b, nil
}

// due reports whether SyncBatched asks for a sync, once so many records and
// bytes more are written.
func (j *Journal) due(records, bytes int) bool {
	return j.config.Sync == SyncBatched &&
		(j.entries+records >= j.config.SyncEntries || j.active.size-j.synced.size+int64(bytes) >= j.config.SyncBytes)
}

// frame appends a frame to a batch.
func (j *Journal) frame(b *batch, sp span, payload func([]byte) []byte) {
	at := len(j.buf)
	j.buf = payload(openFrame(j.buf))
	j.active.closeFrame(j.buf, at)
	b.frames = append(b.frames, frame{span: sp, size: len(j.buf) - at})
	j.frames = b.frames
}

// commit accounts for a batch that was written. The journal works again.
func (j *Journal) commit(b batch) {
	for _, f := range b.frames {
		j.active.add(f.span, int64(f.size))
	}
	j.pos = j.active.last
	j.taken = max(j.taken, j.pos)
	j.entries += b.records
	j.counts.Written += uint64(b.records)
	j.counts.Cut += uint64(b.cut)
	j.counts.Missed += b.missed
	j.counts.Failed += b.failed
	j.failure, j.streak = nil, 0
}

// begin makes the active segment, if there is none, after room was made for it.
func (j *Journal) begin() error {
	if j.active != nil {
		return nil
	}
	total := j.config.SegmentBytes
	for _, s := range j.segments {
		total += s.onDisk()
	}
	for total > j.config.MaxBytes {
		// The oldest goes, unless there is one that never held anything.
		i := max(0, slices.IndexFunc(j.segments, func(s *segment) bool { return s.void }))
		s := j.segments[i]
		if err := j.fs.remove(j.path(s)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		total -= s.onDisk()
		j.segments = slices.Delete(j.segments, i, i+1)
		j.counts.DeletedSegments++
		j.counts.DeletedRecords += s.records
		j.counts.DeletedBytes += s.file
	}

	j.number++ // also when it fails: the name may be taken by what is left of it
	s := &segment{number: j.number, epoch: j.config.Epoch, first: j.pos + 1, last: j.pos, size: segmentHeader, file: segmentHeader}
	out, err := j.fs.create(j.path(s))
	if err != nil {
		return err
	}
	j.segments = append(j.segments, s)
	j.active, j.out, j.synced, j.entries = s, out, *s, 0
	if _, err := out.Write(s.appendHeader(nil)); err != nil {
		return err
	}
	j.synced.seed = s.seed
	if j.config.Sync == SyncNever {
		return nil
	}
	return j.fs.syncDir(j.config.Dir)
}

// sync makes durable what was written.
func (j *Journal) sync() error {
	if j.active == nil || j.config.Sync == SyncNever || j.active.size == j.synced.size {
		return nil
	}
	if err := j.out.Sync(); err != nil {
		j.withdraw()
		return err
	}
	j.synced, j.entries, j.durable = *j.active, 0, j.pos
	return nil
}

// withdraw takes back what was written since the last sync, after one failed: a
// system may have dropped the pages, and a second sync would succeed without
// them.
func (j *Journal) withdraw() {
	j.counts.Withdrawn += j.active.records - j.synced.records
	file := j.active.file
	*j.active = j.synced
	j.active.file = file
}

// seal ends the active segment.
func (j *Journal) seal() error {
	if j.active == nil {
		return nil
	}
	if err := j.sync(); err != nil {
		return err
	}
	err := j.out.Close()
	j.out = nil
	if err != nil {
		return err
	}
	j.active = nil
	return nil
}

// fail puts the journal into the failed state, cuts the active segment back to
// what is good of it, and returns the error as callers see it. The records are
// those that were to be written.
func (j *Journal) fail(err error, records []journal.Record) error {
	j.counts.Failures++
	j.streak++
	wait := min(j.config.RetryEntries, 1<<min(j.streak-1, 30))
	seen := j.taken
	if len(records) > 0 {
		seen = max(seen, records[len(records)-1].Seq)
	}
	j.retry = seen + min(uint64(wait), math.MaxUint64-seen)
	j.failure = fmt.Errorf("store: journal: %w", err)

	s := j.active
	if s == nil {
		return j.failure
	}
	if j.out != nil {
		_ = j.sync() // or what is good of it would later pass for durable; it withdraws what it cannot sync
		_ = j.out.Close()
	}
	j.active, j.out, j.pos = nil, nil, s.last
	if s.last < s.first {
		s.epoch, s.void = "", true // it counts as long as it is there
		if j.fs.remove(j.path(s)) == nil {
			j.segments = j.segments[:len(j.segments)-1]
		}
	} else if s.file > s.size && j.fs.truncate(j.path(s), s.size) == nil {
		s.file = s.size
	}
	return j.failure
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

// JournalStats says what a [Journal] holds and what became of the rest. Counters
// begin with OpenJournal and never fall: what was withdrawn and is written anew
// counts again.
type JournalStats struct {
	Latest   uint64 // the last sequence number handed in, or found
	OnDisk   uint64 // the last that is on disk, as a record or in a gap; less than Latest only while failed
	Durable  uint64 // see DurableUpTo
	Segments int    // of all epochs
	Records  uint64 // of all epochs
	Bytes    int64  // of all epochs, as MaxBytes counts them

	Written   uint64 // records
	Cut       uint64 // records of which some text was cut
	Missed    uint64 // entries in gaps of cause GapMissed
	Failed    uint64 // entries in gaps of cause GapFailed
	Withdrawn uint64 // records written and taken back, since a sync failed

	DeletedSegments int // to keep within MaxBytes
	DeletedRecords  uint64
	DeletedBytes    int64

	Failures uint64 // times that the disk refused something
	Err      error  // why the journal is failed, nil if it is not
}

// Stats returns the present state. Its cost grows with the number of segments.
func (j *Journal) Stats() JournalStats {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.counts
	s.Latest, s.OnDisk, s.Durable, s.Err = j.taken, j.pos, j.durable, j.failure
	s.Segments = len(j.segments)
	for _, k := range j.segments {
		s.Records += k.records
		s.Bytes += k.onDisk()
	}
	return s
}
