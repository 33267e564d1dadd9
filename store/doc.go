// Package store keeps on disk what an engine would forget when its process ends.
//
// A [Journal] is the optional on-disk half of package journal: segments that are
// only ever appended to, filled from an engine with [Journal.Drain] (or by hand,
// with [Journal.Append]) and read with the cursors of package journal.
// [Save] and [Load] keep a snapshot of an engine, whole or not at all: where it is
// refused, Load makes a new engine in an epoch of its own. [WriteFile] and [ReadFile] keep one value whole: a file is the old one or the
// new one, never half of either, and says so when it is damaged.
//
//	j, err := store.OpenJournal(store.JournalConfig{Dir: dir, Epoch: epoch})
//	…
//	_, err = j.Drain(engine) // now and then: often enough that the engine's ring is not overrun
//
// # What survives
//
// When Append or Drain returns without an error, the records are with the
// operating system: they survive the end of the process, however it ends. When
// [Journal.DurableUpTo] has reached them they were synced to the device, and
// survive a loss of power as well, as far as the device keeps its word.
// [SyncPolicy] says how often that is.
//
// OpenJournal goes through what is there, up to the last whole record of each
// segment. The end of the last segment that a kill tore is cut off, and
// [Recovery] says how many bytes that were. A segment is never continued by
// another process: the next record begins a new one. How far an epoch
// came never falls from one opening to the next: a segment of which the header
// alone is left stays if nothing else says it.
//
// # What is lost is told
//
// Within an epoch every sequence number is accounted for, by a record or by a
// gap: [Page] has the gaps between its records, each with its cause, and they
// add up to its Lost. Gaps are explicit on disk, but for those that a deleted
// segment or damage leaves.
//
// A disk that is full, or a directory that may no longer be written, stops
// nobody: the journal is then failed, returns the error, and tries again with a
// new segment after 1, 2, 4, … entries. What was appended meanwhile is a gap in
// that segment. Drain loses nothing by it until the engine's ring is overrun,
// since it goes on from what is on disk. A failed sync is taken at its word:
// what was written since the last good one is withdrawn, and drained anew.
//
// # What it does not do
//
// It has no clock and starts no goroutine: the host says when to drain and when
// to sync. It does not compress or encrypt; files are 0600 and directories 0700,
// and hold the log as it came in. Text comes back as it was written, by whoever
// wrote it: escape it where it is shown.
//
// # Format
//
// A segment is a header (magic, version, epoch, first sequence number, checksum)
// and frames: length, CRC-32C, payload. The checksum of a frame goes on from
// that of the header, so that a frame is whole only in the file for which it was
// written. Payloads are records and gaps in varints. A segment or file of
// another version is refused whole, with [ErrVersion]: skipping what one does
// not know would be a loss that nobody is told of.
//
// # Bounds
//
// Disk use is at most [JournalConfig].MaxBytes, held by deleting the oldest
// segments, of whatever epoch, before a new one begins; each counts as at least
// 4 KiB. In memory a segment takes some 200 bytes and 16 for every 64 KiB of it
// (100 KiB by default), one Drain holds one page of the engine's journal, one
// Read what JournalConfig says.
//
// # Concurrency and cost
//
// All methods are safe for concurrent use. One lock orders them and is held
// during writes, reads and syncs of the disk; it is never held by an engine, so
// that a slow disk delays no entry. A Journal has its directory for itself, by
// a lock that ends with the process.
//
// Append is one write: 0.7 µs for a message of 85 bytes, and 1.0 µs with the syncs
// of the default policy. Drain writes 64 KiB at a time, 0.4 µs for each entry of
// a full ring, without syncs. A sync is the device's: 0.2 ms here, tens of
// milliseconds on a disk that turns. A page of 100 records is read in 0.13 ms, and
// what is there when the journal opens at 2.9 GB/s from the system's cache. (go
// test -bench ., Go 1.26, one core of an Intel Xeon.) Append allocates nothing.
package store
