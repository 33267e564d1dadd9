package follow

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// Recorder writes the input of an engine, with its times and in its order, as JSON lines that package capture reads and
// cmd/classify-replay replays (docs/reference.md). Each line is one call of the writer. It holds one line.
//
// A Recorder is safe for concurrent use. A host that gives entries to an engine from
// several goroutines must hold a lock around both calls, or the orders differ. The first
// error of the writer ends the recording; Err returns it.
type Recorder struct {
	mu     sync.Mutex
	w      io.Writer
	err    error
	family string // that was written last
}

// recordingVersion is the version of the format, which the first line names.
const recordingVersion = 3

// NewRecorder returns a Recorder that writes to w, and writes the first line, which names
// the format.
func NewRecorder(w io.Writer) *Recorder {
	r := &Recorder{w: w}
	r.write(time.Time{}, "recording", "schemaVersion", recordingVersion)
	return r
}

// Record writes an entry for an engine: a record of a followed log, or an entry of a host.
func (r *Recorder) Record(rec *capture.Record) {
	if rec.Kind == event.KindHost {
		switch rec.Status {
		case event.StatusAcknowledged:
			r.Ack(rec.Source, rec.Message, rec.Count)
		case event.StatusDelivered:
			r.write(time.Time{}, "delivered", "consumer", rec.Source, "attention", rec.Message, "through", rec.Count)
		case event.StatusStateRead:
			r.StateRead()
		default:
			r.Advance(rec.Time)
		}
		return
	}
	if rec.Family != "" && rec.Family != r.family {
		r.family = rec.Family
		r.write(time.Time{}, "recording", "schemaVersion", recordingVersion, "family", r.family)
	}
	if rec.Kind == event.KindLog {
		r.write(rec.Time, rec.KindName(), "level", rec.Level.String(), "source", rec.Source,
			"operation", rec.OperationID, "message", rec.Message, "stack", rec.Stack, "byCaller", rec.ByCaller)
		return
	}
	name := "detail"
	switch {
	case rec.Kind == event.KindOperation:
		name = "error"
	case rec.Status == event.StatusPhase:
		name = "phase"
	}
	r.write(rec.Time, rec.KindName(), "operation", rec.OperationID, "status", rec.Status.String(), "parent", rec.Parent,
		"method", rec.Source, name, rec.Message, "byCaller", rec.ByCaller, "count", rec.Count)
}

// Ack writes that a consumer acknowledged an item through a sequence number.
func (r *Recorder) Ack(consumer, id string, through uint64) {
	r.write(time.Time{}, "ack", "consumer", consumer, "attention", id, "through", through)
}

// Advance writes the time that the engine was given.
func (r *Recorder) Advance(now time.Time) { r.write(now, "advance") }

// StateRead writes that the game's state was read again.
func (r *Recorder) StateRead() { r.write(time.Time{}, "state_read") }

// Err returns the first error of the writer.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// maxQuoted is how long a text may be that is written as one. In JSON it grows up
// to sixfold, and a line must not be longer than package capture reads.
const maxQuoted = 8 << 10

// bytesRead has the texts that must be read back byte for byte: each is in base64 if JSON cannot hold it, or not
// compactly.
var bytesRead = []string{"message", "stack", "error", "detail"}

// write writes a line of a kind, with its time if it has one, and with members, a name and a value in turn. Empty texts
// and zeros are left out, but for the message of a record.
func (r *Recorder) write(at time.Time, kind string, members ...any) {
	if !at.IsZero() {
		members = append([]any{"time", at.UTC()}, members...)
	}
	line := fmt.Appendf(nil, `{"kind":%q`, kind)
	for i := 0; i < len(members); i += 2 {
		name, value := members[i].(string), members[i+1]
		s, isText := value.(string)
		switch {
		case value == false, value == uint64(0), isText && s == "" && name != "message":
			continue
		case isText && slices.Contains(bytesRead, name) && (len(s) > maxQuoted || !utf8.ValidString(s)):
			name, value = name+"Base64", []byte(s)
		}
		line = append(fmt.Appendf(line, ",%q:", name), text.JSON(value)...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.w.Write(append(line, "}\n"...))
	}
}
