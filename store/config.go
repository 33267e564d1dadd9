package store

import (
	"cmp"
	"errors"
	"fmt"
)

// Defaults of [JournalConfig].
const (
	DefaultSegmentBytes = 8 << 20
	DefaultMaxBytes     = 256 << 20
	DefaultMaxText      = 64 << 10 // four times what a default engine keeps of an entry
	DefaultSyncEntries  = 1024
	DefaultSyncBytes    = 1 << 20
	DefaultRetryEntries = 4096
	DefaultReadEntries  = 4096    // as in package journal
	DefaultReadBytes    = 1 << 20 // as in package journal
)

const (
	// maxMaxText bounds what one frame can ask a reader to allocate, whatever
	// configuration it was written with.
	maxMaxText = 8 << 20
	// maxSegment keeps offsets within 32 bits and a file below every file
	// system's limit.
	maxSegment = 1 << 30
	// maxEpoch is that of an engine.
	maxEpoch = 64
)

// SyncPolicy says when a [Journal] syncs its records to the device, and so what
// [Journal.DurableUpTo] means.
type SyncPolicy uint8

// Policies.
const (
	// SyncBatched syncs after JournalConfig.SyncEntries records or
	// JournalConfig.SyncBytes bytes, whichever is first, at the end of a
	// segment, and when the host calls [Journal.Sync]. A loss of power takes
	// at most that much. It is the default.
	SyncBatched SyncPolicy = iota

	// SyncAppend syncs before Append or Drain returns; a Drain once for all
	// that it drained, or for each segment.
	SyncAppend

	// SyncNever leaves it to the operating system. Sync does nothing and
	// DurableUpTo stays 0. Everything survives the end of the process, and
	// nothing is promised of a loss of power.
	SyncNever
)

var syncNames = [...]string{"batched", "append", "never"}

// String returns the policy's name in lower case.
func (p SyncPolicy) String() string {
	if int(p) < len(syncNames) {
		return syncNames[p]
	}
	return fmt.Sprintf("sync(%d)", uint8(p))
}

// JournalConfig sets up a [Journal]. Dir and Epoch are required; in all other
// fields zero means the default, and negative is an error. All are hard limits.
type JournalConfig struct {
	// Dir is the directory of the segments. It is made, with permissions 0700,
	// if it is not there, and belongs to one Journal at a time.
	Dir string

	// Epoch is that of the engine whose records are kept: 1 to 64 bytes of
	// letters, digits, '.', '_' and '-'. There is no default, since no value is
	// right twice: an engine that counts from 1 again needs another epoch. A
	// directory holds the segments of any number of epochs.
	Epoch string

	// SegmentBytes is how large a segment grows before the next begins. It must
	// have room for the largest record, MaxText and 8 KiB, and be at most
	// 1 GiB. Default [DefaultSegmentBytes].
	SegmentBytes int64

	// MaxBytes bounds all segments together: the oldest are deleted before a
	// new one begins. At least twice SegmentBytes. Default [DefaultMaxBytes],
	// or twice SegmentBytes if that is more.
	MaxBytes int64

	// MaxText is how many bytes are kept of a record's message and stack
	// together, as in the engine's journal: of one with more, the stack keeps
	// up to a quarter, the message the rest, and the record says so. At most
	// 8 MiB. Default [DefaultMaxText].
	MaxText int

	// Sync is the policy. Default [SyncBatched].
	Sync SyncPolicy

	// SyncEntries and SyncBytes are those of [SyncBatched]. Defaults
	// [DefaultSyncEntries] and [DefaultSyncBytes].
	SyncEntries int
	SyncBytes   int64

	// RetryEntries is how many entries a failed journal waits at most before it
	// tries again. Default [DefaultRetryEntries].
	RetryEntries int

	// ReadEntries is how many records one [Journal.Read] examines, including
	// those that a filter leaves out. Default [DefaultReadEntries].
	ReadEntries int

	// ReadBytes is how many bytes of records one [Journal.Read] examines; at
	// least one record, whatever its size. Default [DefaultReadBytes].
	ReadBytes int
}

// Validate returns an error that names the first field with a value that
// [OpenJournal] would refuse. It changes nothing and looks at no disk.
func (c JournalConfig) Validate() error {
	for _, f := range []struct {
		name string
		v    int64
	}{
		{"SegmentBytes", c.SegmentBytes},
		{"MaxBytes", c.MaxBytes},
		{"MaxText", int64(c.MaxText)},
		{"SyncEntries", int64(c.SyncEntries)},
		{"SyncBytes", c.SyncBytes},
		{"RetryEntries", int64(c.RetryEntries)},
		{"ReadEntries", int64(c.ReadEntries)},
		{"ReadBytes", int64(c.ReadBytes)},
	} {
		if f.v < 0 {
			return fmt.Errorf("store: JournalConfig.%s is %d; it must not be negative (0 means the default)", f.name, f.v)
		}
	}
	if c.Dir == "" {
		return errors.New("store: JournalConfig.Dir is empty; it is the directory of the journal")
	}
	if !validEpoch(c.Epoch) {
		return fmt.Errorf("store: JournalConfig.Epoch is %q; it must be that of the engine, 1 to %d letters, digits, '.', '_' or '-'", c.Epoch, maxEpoch)
	}
	if c.Sync > SyncNever {
		return fmt.Errorf("store: JournalConfig.Sync is %v; it is one of SyncBatched, SyncAppend and SyncNever", c.Sync)
	}
	c = c.withDefaults()
	if c.MaxText > maxMaxText {
		return fmt.Errorf("store: JournalConfig.MaxText is %d; the largest is %d", c.MaxText, maxMaxText)
	}
	if least := segmentHeader + int64(c.MaxText) + maxBesideText; c.SegmentBytes < least {
		return fmt.Errorf("store: JournalConfig.SegmentBytes is %d; with a MaxText of %d the least is %d", c.SegmentBytes, c.MaxText, least)
	}
	if c.SegmentBytes > maxSegment {
		return fmt.Errorf("store: JournalConfig.SegmentBytes is %d; the largest is %d", c.SegmentBytes, int64(maxSegment))
	}
	if c.MaxBytes < 2*c.SegmentBytes {
		return fmt.Errorf("store: JournalConfig.MaxBytes is %d; the least is two segments, %d", c.MaxBytes, 2*c.SegmentBytes)
	}
	return nil
}

// withDefaults returns c with its zeros replaced.
func (c JournalConfig) withDefaults() JournalConfig {
	c.SegmentBytes = cmp.Or(c.SegmentBytes, DefaultSegmentBytes)
	c.MaxBytes = cmp.Or(c.MaxBytes, max(DefaultMaxBytes, 2*c.SegmentBytes))
	c.MaxText = cmp.Or(c.MaxText, DefaultMaxText)
	c.SyncEntries = cmp.Or(c.SyncEntries, DefaultSyncEntries)
	c.SyncBytes = cmp.Or(c.SyncBytes, DefaultSyncBytes)
	c.RetryEntries = cmp.Or(c.RetryEntries, DefaultRetryEntries)
	c.ReadEntries = cmp.Or(c.ReadEntries, DefaultReadEntries)
	c.ReadBytes = cmp.Or(c.ReadBytes, DefaultReadBytes)
	return c
}

func validEpoch(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxEpoch
}
