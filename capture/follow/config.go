package follow

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/bounds"
)

// idle is how long a file must not grow before its last record is delivered: a game writes the lines of a record within
// a millisecond. While the file grows all the time, no line waits for its record longer than half as long again.
// syncIdle is how long [Follower.Sync] waits for the end of the last line.
const (
	idle     = 15 * time.Millisecond
	syncIdle = time.Millisecond
)

// Defaults of a [Config].
const (
	// defaultPartialIdle is how long a line that has no end yet waits for it.
	defaultPartialIdle = 250 * time.Millisecond

	// defaultPoll is the interval of polling without notifications. With them it is ten
	// times as long.
	defaultPoll = 15 * time.Millisecond
)

// Config configures a [Follower]. The zero value of each field but Path is its
// default.
type Config struct {
	// Path is the file to follow. It need not exist yet. Required.
	Path string

	// FromEnd skips the text that the file has at the start: it belongs to an earlier run. Its beginning still decides the
	// layout. By default all of the file is read: it is the log of a running game, and has its phase, mods and blindness.
	// A file that replaces the first is read from its beginning in any case.
	FromEnd bool

	// NewRun reports that the program whose log this is starts later than the follower's first look, which a
	// [Follower.Sync] waits for. A file that is there before is of an earlier run: it is not read, and counts as present
	// only once it grows, is emptied or is replaced. From then on the log is that file, under any name: another file at
	// the path is followed only if it is known to be the program's.
	NewRun bool

	// Named reports, with NewRun, that a person named the path: the file there is the program's as soon as it grows,
	// unless it is known to be another program's. By default a file proves nothing by its growth if it was written
	// within a minute before the start.
	Named bool

	// Writers returns when the program of the log, and when another one, was started that has a file open for writing;
	// a time is zero if no such program is known. It is asked about once a second while there is doubt. A file that the
	// program still has open stays the log when another takes its place. If a program started before the log began, its
	// next file continues the log. Optional.
	Writers func(file fs.FileInfo) (own, other time.Time)

	// Open returns a name by which the file can be opened that the program has open for writing as the log of path, ""
	// where that is not known. With NewRun it is asked as Writers is, where the file at the path is another program's or
	// not there: the program's own may have been renamed before it was seen. Optional.
	Open func(path string) string

	// Resume is how far an earlier Follower has come with the log: the records that it delivered come again as Known, and
	// then the others, also of a file that was renamed. A file that is another one, or has other bytes before
	// the position, is read from its beginning, with a notice. It replaces FromEnd if it is a position in the log of Path,
	// and has no effect with NewRun. Optional.
	Resume Position

	// Hurry, once it is closed, ends the reading of the remaining bytes when the context of [Follower.Run] has ended:
	// they are reported as a hole. Optional.
	Hurry <-chan struct{}

	// Continues reports that a file which replaces another, or is emptied, continues it, as when a
	// writer rotates by size: the files are one log, without a notice of a restart.
	Continues bool

	// PartialIdle is how long a line without an end waits for it, but for the first of a file.
	PartialIdle time.Duration

	// Poll is the interval at which the file is polled without notifications of the
	// operating system. With them it is ten times as long, until a change came without
	// one (network file systems).
	Poll time.Duration

	// NoNotify disables the notifications of the operating system.
	NoNotify bool

	// Capture are the options for reading. A missing layout is recognized in the text at the first record, and again as
	// more comes.
	Capture capture.Options
}

// complete sets defaults, and reports the first field that is out of its range.
func (c *Config) complete() error {
	if c.Path == "" {
		return errors.New("follow: Config.Path: name the log to follow")
	}
	if _, err := capture.NewStream(c.Capture); err != nil {
		return fmt.Errorf("follow: Config.Capture: %w", err)
	}
	return bounds.Complete("follow: Config",
		bounds.Of("PartialIdle", &c.PartialIdle, defaultPartialIdle, 1, 0), bounds.Of("Poll", &c.Poll, defaultPoll, 1, 0))
}
