package store

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
