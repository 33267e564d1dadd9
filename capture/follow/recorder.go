package follow

import (
	"encoding/base64"
	"io"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// Recorder writes what an engine was given, with its times and in its order, as
// JSON lines that package capture reads and cmd/classify-replay replays
// (docs/reference.md). Each line is one call of the writer. It holds one line.
//
// A Recorder is safe for concurrent use. A host that gives entries to an engine from
// several goroutines must hold a lock around both calls, or the orders differ. The first
// error of the writer ends the recording; Err returns it.
type Recorder struct {
	mu     sync.Mutex
	w      io.Writer
	buf    []byte
	err    error
	family string // that was written last
}

// recordingVersion is the version of the format, which the first line names.
const recordingVersion = 2

// NewRecorder returns a Recorder that writes to w, and writes the first line, which names
// the format.
func NewRecorder(w io.Writer) *Recorder {
	r := &Recorder{w: w}
	r.line("recording", time.Time{}, func(b []byte) []byte {
		return number(b, "schemaVersion", recordingVersion)
	})
	return r
}

// Record writes an entry that an engine is given: a record of a followed log, or one
// that a host made.
func (r *Recorder) Record(rec *capture.Record) {
	if rec.Kind == event.KindHost {
		switch rec.Status {
		case event.StatusAcknowledged:
			r.Ack(rec.Source, rec.Message, rec.Count)
		case event.StatusStateRead:
			r.StateRead()
		default:
			r.Advance(rec.Time)
		}
		return
	}
	if rec.Family != "" && rec.Family != r.family {
		r.family = rec.Family
		r.line("recording", time.Time{}, func(b []byte) []byte {
			return member(number(b, "schemaVersion", recordingVersion), "family", r.family)
		})
	}
	r.line(rec.KindName(), rec.Time, func(b []byte) []byte { return appendEntry(b, &rec.Entry) })
}

// appendEntry appends the members of e that are not empty.
func appendEntry(b []byte, e *event.Entry) []byte {
	if e.Kind == event.KindLog {
		b = member(b, "level", e.Level.String())
		b = member(b, "source", e.Source)
		b = member(b, "operation", e.OperationID)
		b = exact(b, "message", e.Message, true)
		return exact(b, "stack", e.Stack, false)
	}
	b = member(b, "operation", e.OperationID)
	b = member(b, "status", e.Status.String())
	b = member(b, "parent", e.Parent)
	b = member(b, "method", e.Source)
	switch {
	case e.Kind == event.KindOperation:
		b = exact(b, "error", e.Message, false)
	case e.Status == event.StatusPhase:
		b = member(b, "phase", e.Message)
	default:
		b = exact(b, "detail", e.Message, false)
	}
	if e.ByCaller {
		b = append(b, `,"byCaller":true`...)
	}
	if e.Kind == event.KindNotice {
		b = number(b, "count", e.Count)
	}
	return b
}

// Ack writes that a consumer acknowledged an item through a sequence number.
func (r *Recorder) Ack(consumer, id string, through uint64) {
	r.line("ack", time.Time{}, func(b []byte) []byte {
		b = member(b, "consumer", consumer)
		b = member(b, "attention", id)
		return number(b, "through", through)
	})
}

// Advance writes the time that the engine was given.
func (r *Recorder) Advance(now time.Time) { r.line("advance", now, func(b []byte) []byte { return b }) }

// StateRead writes that the game's state was read again.
func (r *Recorder) StateRead() { r.line("state_read", time.Time{}, func(b []byte) []byte { return b }) }

// Err returns the first error of the writer.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// line writes a line of some kind, whose further members rest appends.
func (r *Recorder) line(kind string, at time.Time, rest func(b []byte) []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	b := append(r.buf[:0], `{"kind":"`...)
	b = append(b, kind...)
	b = append(b, '"')
	if !at.IsZero() {
		b = append(b, `,"time":"`...)
		b = at.UTC().AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	b = append(rest(b), '}', '\n')
	r.buf = b
	_, r.err = r.w.Write(b)
}

func number(b []byte, key string, n uint64) []byte {
	b = append(append(append(b, ',', '"'), key...), '"', ':')
	return strconv.AppendUint(b, n, 10)
}

// member appends a text that names something, unless it is empty.
func member(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	b = append(append(append(b, ',', '"'), key...), '"', ':')
	return quoted(b, s)
}

// maxQuoted is how long a text may be that is written as one. In JSON it grows up
// to sixfold, and a line must not be longer than package capture reads.
const maxQuoted = 8 << 10

// exact appends a text that must be read back byte for byte: in base64 if JSON cannot
// hold it, or not compactly.
func exact(b []byte, key, s string, empty bool) []byte {
	switch {
	case s == "" && !empty:
		return b
	case len(s) <= maxQuoted && utf8.ValidString(s):
		b = append(append(append(b, ',', '"'), key...), '"', ':')
		return quoted(b, s)
	}
	b = append(append(append(b, ',', '"'), key...), `Base64":"`...)
	b = base64.StdEncoding.AppendEncode(b, []byte(s))
	return append(b, '"')
}

// quoted appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func quoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = utf8.AppendRune(b, c)
		}
	}
	return append(b, '"')
}
