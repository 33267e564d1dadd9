package capture

import (
	"fmt"
	"io"
)

// Defaults and fixed bounds of a [Reader].
const (
	// defaultMaxRecordText holds the longest normal record of the reference
	// captures (17 KB on one line) several times over.
	defaultMaxRecordText = 64 << 10

	// maxRefs and maxRefBytes hold every distinct stack trace of the reference captures that
	// a line "[Ref X] Duplicate stacktrace" may name; an evicted trace, the least recently used
	// first, is reported as unresolved.
	maxRefs     = 1024
	maxRefBytes = 1 << 20

	// windowSize is how much of a line is looked at. The longest line of the
	// reference captures that is text has 17 KB.
	windowSize = 256 << 10

	// detectSize is how much of the input is read before the first record, to
	// recognize the layout.
	detectSize = 64 << 10
)

// Options configures a [Reader]. The zero value is all defaults.
type Options struct {
	// Layout of the input. LayoutAuto, the zero value, recognizes it from the
	// first 64 KiB. With any other value the first record does not wait for
	// that much input. Evidence met later (an engine's version, a logging
	// frame) refines a Unity layout in either case; that a log is one of Unity's and not
	// plain text is seen later only where the layout is to be recognized.
	Layout Layout

	// maxRecordText is how many bytes of a record's message, and again of its stack, are kept, in place of
	// defaultMaxRecordText; the rest is counted in Record.Cut.
	maxRecordText int

	// Tee gets the bytes of the input, unpacked, in order and as they are read: all of them where it is read to its end.
	// With an Ahead that is in another goroutine, until Next has returned an error. Optional.
	Tee io.Writer

	// LastLine is a text that a line of each whole log contains: a log without it ends in [event.StatusTruncated], and so
	// does a log whose game started again after that line. Optional.
	LastLine string
}

// validate reports the first field that is out of its range.
func (o Options) validate() error {
	if o.Layout >= layoutCount {
		return fmt.Errorf("capture: Options.Layout: unknown layout %d", o.Layout)
	}
	return nil
}
