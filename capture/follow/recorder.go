package follow

import (
	"io"
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

// line has the members of a line of a recording, in their order.
type line struct {
	Kind      string     `json:"kind"`
	Time      *time.Time `json:"time,omitempty"`
	Schema    int        `json:"schemaVersion,omitempty"`
	Family    string     `json:"family,omitempty"`
	Consumer  string     `json:"consumer,omitempty"`
	Attention string     `json:"attention,omitempty"`
	Through   *uint64    `json:"through,omitempty"`
	Level     string     `json:"level,omitempty"`
	Source    string     `json:"source,omitempty"`
	Operation string     `json:"operation,omitempty"`
	Status    string     `json:"status,omitempty"`
	Parent    string     `json:"parent,omitempty"`
	Method    string     `json:"method,omitempty"`

	// Texts that must be read back byte for byte: each is in base64 if JSON cannot hold it, or not compactly.
	Error     string  `json:"error,omitempty"`
	Error64   []byte  `json:"errorBase64,omitempty"`
	Phase     string  `json:"phase,omitempty"`
	Detail    string  `json:"detail,omitempty"`
	Detail64  []byte  `json:"detailBase64,omitempty"`
	Message   *string `json:"message,omitempty"` // of each log record
	Message64 []byte  `json:"messageBase64,omitempty"`
	Stack     string  `json:"stack,omitempty"`
	Stack64   []byte  `json:"stackBase64,omitempty"`

	ByCaller bool    `json:"byCaller,omitempty"`
	Count    *uint64 `json:"count,omitempty"`
}

// NewRecorder returns a Recorder that writes to w, and writes the first line, which names
// the format.
func NewRecorder(w io.Writer) *Recorder {
	r := &Recorder{w: w}
	r.write(time.Time{}, &line{Kind: "recording", Schema: recordingVersion})
	return r
}

// Record writes an entry for an engine: a record of a followed log, or an entry of a host.
func (r *Recorder) Record(rec *capture.Record) {
	if rec.Kind == event.KindHost {
		switch rec.Status {
		case event.StatusAcknowledged:
			r.Ack(rec.Source, rec.Message, rec.Count)
		case event.StatusDelivered:
			l := &line{Kind: "delivered", Consumer: rec.Source, Attention: rec.Message}
			if rec.Message != "" {
				l.Through = &rec.Count
			}
			r.write(time.Time{}, l)
		case event.StatusStateRead:
			r.StateRead()
		default:
			r.Advance(rec.Time)
		}
		return
	}
	if rec.Family != "" && rec.Family != r.family {
		r.family = rec.Family
		r.write(time.Time{}, &line{Kind: "recording", Schema: recordingVersion, Family: r.family})
	}
	l := &line{Kind: rec.KindName(), Operation: rec.OperationID, ByCaller: rec.ByCaller}
	if rec.Kind == event.KindLog {
		l.Level, l.Source = rec.Level.String(), rec.Source
		if l.Message64 = quoted(new(string), rec.Message); l.Message64 == nil {
			l.Message = &rec.Message
		}
		l.Stack64 = quoted(&l.Stack, rec.Stack)
		r.write(rec.Time, l)
		return
	}
	l.Status, l.Parent, l.Method = rec.Status.String(), rec.Parent, rec.Source
	switch {
	case rec.Kind == event.KindOperation:
		l.Error64 = quoted(&l.Error, rec.Message)
	case rec.Status == event.StatusPhase:
		l.Phase = rec.Message
	default:
		l.Detail64 = quoted(&l.Detail, rec.Message)
	}
	if rec.Kind == event.KindNotice {
		l.Count = &rec.Count
	}
	r.write(rec.Time, l)
}

// maxQuoted is how long a text may be that is written as one. In JSON it grows up
// to sixfold, and a line must not be longer than package capture reads.
const maxQuoted = 8 << 10

// quoted sets to to a text that JSON can hold, and returns another, which is to be written in base64.
func quoted(to *string, s string) []byte {
	if len(s) > maxQuoted || !utf8.ValidString(s) {
		return []byte(s)
	}
	*to = s
	return nil
}

// Ack writes that a consumer acknowledged an item through a sequence number.
func (r *Recorder) Ack(consumer, id string, through uint64) {
	r.write(time.Time{}, &line{Kind: "ack", Consumer: consumer, Attention: id, Through: &through})
}

// Advance writes the time that the engine was given.
func (r *Recorder) Advance(now time.Time) { r.write(now, &line{Kind: "advance"}) }

// StateRead writes that the game's state was read again.
func (r *Recorder) StateRead() { r.write(time.Time{}, &line{Kind: "state_read"}) }

// Err returns the first error of the writer.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// write writes a line, with its time if it has one.
func (r *Recorder) write(at time.Time, l *line) {
	if !at.IsZero() {
		l.Time = new(at.UTC())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.w.Write(append(text.JSON(l), '\n'))
	}
}
