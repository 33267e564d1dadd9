package store

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

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
	j.removeBare()
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
	in, size, err := j.fs.open(j.path(s))
	if err != nil {
		j.note(err)
		s.file = leastOnDisk // unknown, and not nothing
		return nil
	}
	s.file = size
	err = s.scan(in, limits)
	_ = in.Close()
	if errors.Is(err, ErrVersion) {
		return fmt.Errorf("%s: %w", j.path(s), err)
	}
	j.note(err)
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
	case err == nil && s.epoch == "" && s.file <= segmentHeader:
		j.recovery.TornBytes += rest // it ended as it began
		err = j.discard(s)
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
	j.note(err)
	return nil
}

// removeBare removes the segments of which the header alone is there, as a kill
// leaves them, unless that header is all that says how far its epoch came: the
// segments before it were deleted, or lost their ends. A position that fell from
// one opening to the next would give a sequence number twice.
func (j *Journal) removeBare() {
	reached := map[string]uint64{}
	for _, s := range j.segments {
		if s.epoch != "" && s.file == segmentHeader && s.last <= reached[s.epoch] {
			j.note(j.discard(s))
			continue
		}
		reached[s.epoch] = max(reached[s.epoch], s.last)
	}
}

// discard removes a segment without frames. Its file has size 0 then.
func (j *Journal) discard(s *segment) error {
	s.epoch, s.void = "", true
	err := j.fs.remove(j.path(s))
	if err == nil {
		s.file = 0
	}
	return err
}

// note keeps an error that stops nothing.
func (j *Journal) note(err error) { j.recovery.Err = errors.Join(j.recovery.Err, err) }
