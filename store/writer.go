package store

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/heedlog/heed/journal"
)

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
