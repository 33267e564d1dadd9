package follow

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/capture"
)

// errStopped is the error of Sync after Run has returned.
var errStopped = errors.New("follow: the follower has stopped")

// Follower follows one file. Run does the work; Sync and Status may be called
// from any goroutine, also before Run and after it.
type Follower struct {
	cfg     Config
	ran     atomic.Bool
	syncs   chan *syncing
	stopped chan struct{}

	// watch is the function watch, or its replacement in tests.
	watch func(path string) (changes <-chan struct{}, stop func(), err error)

	mu     sync.Mutex
	status Status
}

// New returns a Follower of cfg.Path. The error is about cfg, or says that no log can be at the path: a directory, a
// pipe or a device is there.
func New(cfg Config) (*Follower, error) {
	if err := errors.Join(cfg.complete(), check(cfg.Path)); err != nil {
		return nil, err
	}
	return &Follower{
		cfg: cfg, syncs: make(chan *syncing), stopped: make(chan struct{}), watch: watch,
		status: Status{Path: cfg.Path},
	}, nil
}

// Run follows the file until ctx ends, and calls h with each record, in order and in one goroutine: a slow h slows the
// reading, and loses nothing. Then it delivers the remaining text, until Config.Hurry is closed, and returns nil. A
// file that is absent or not readable is looked for again, and reported by Status. Run may be called once.
func (f *Follower) Run(ctx context.Context, h func(*Record)) error {
	if f.ran.Swap(true) {
		return errors.New("follow: Follower.Run was called before")
	}
	defer close(f.stopped)
	t := newTail(f, h)
	defer t.close()
	return t.run(ctx)
}

// Sync returns nil when every byte that was in the file at the call has been delivered, including a last record to
// which more may belong. It waits a millisecond for the end of the last line. It reads the file itself. The error is
// the cause of ctx, the end of Run, or the reason why the file cannot be read. h of Run must not call it.
func (f *Follower) Sync(ctx context.Context) error {
	s := &syncing{done: make(chan error, 1)}
	select {
	case f.syncs <- s:
	case <-f.stopped:
		return errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-s.done: // also when Run returns
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Status returns the state of the following.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// syncing is a call of Sync.
type syncing struct {
	done chan error // with a buffer for the answer

	seen    bool      // the size of the file was looked at
	file    uint64    // which log it was ...
	place   uint64    // ... and which file or text of it
	through int64     // its size then
	line    int       // of the stream, when all of that had been read; 0: it has not been
	since   time.Time // when that was
}

// Record is a record of the followed file with when it came. It and its strings
// are valid for the call of h of [Follower.Run] only.
type Record struct {
	capture.Record

	// Arrived is when the bytes that completed the record were read, in UTC and without a
	// monotonic part, so that a recording holds it exactly. It is also the Time of an
	// entry to which the log gives none. Zero for History.
	Arrived time.Time

	// Position is how far the log was followed with this record. Known reports that the record is before
	// [Config].Resume, and has the Position of that.
	Position Position
	Known    bool

	// History reports that the record was in the file when the Follower started: when it
	// was written is not known.
	History bool
}

// Status is the state of the following.
type Status struct {
	// Path is the followed file, as configured. Present reports that the log exists and is open. Absent has the reason why
	// not, for a person; it is empty if LastError has it. Evidence has the reason why the file belongs to the new run.
	Path     string `json:"path" jsonschema:"The file, as it was named at the start."`
	Present  bool   `json:"present" jsonschema:"The log is there."`
	Absent   string `json:"absent,omitempty" jsonschema:"Why it is not."`
	Evidence string `json:"evidence,omitempty" jsonschema:"Why the file is the log of this run of the game, if heed has started it."`

	// Renamed reports that another file, or none, is at the path, and the log is followed under its new name.
	Renamed bool `json:"renamed,omitzero" jsonschema:"Another file, or none, is at path: the log is followed under its new name."`

	// Offset counts the bytes that were read, Size is the length at the last look, in bytes. Skipped counts the bytes at
	// the start that are not read.
	Offset  int64 `json:"offset" jsonschema:"Bytes read from it."`
	Size    int64 `json:"size" jsonschema:"Bytes it had at the last check."`
	Skipped int64 `json:"-"`

	// Unwritten counts the NULs at the end of the file: a place that is reserved for text.
	Unwritten int64 `json:"unwritten,omitzero" jsonschema:"Bytes at its end that are reserved and not written."`

	// LastGrowth is when it was last seen to have grown. Zero: never.
	LastGrowth time.Time `json:"lastGrowth,omitzero" jsonschema:"When it last grew."`

	// Lines and Records count lines read and records delivered, over all files.
	Lines   uint64 `json:"lines" jsonschema:"Lines read."`
	Records uint64 `json:"records" jsonschema:"Records in them."`

	// Continued is how many records were delivered again, in full or in part, because
	// lines came late.
	Continued uint64 `json:"continued" jsonschema:"Records with lines that came late."`

	// Rotations counts files that replaced another, Truncations how often one was
	// truncated and written again.
	Rotations   uint64 `json:"rotations" jsonschema:"How often another file replaced it."`
	Truncations uint64 `json:"truncations" jsonschema:"How often it was emptied and started again."`

	// LostBytes is how many bytes are known to have been removed before they were read.
	LostBytes uint64 `json:"lostBytes" jsonschema:"Bytes that were lost before heed read them."`

	// Notified reports that the operating system notifies of changes. Missed counts the
	// changes that it did not notify of.
	Notified bool   `json:"notified" jsonschema:"The operating system reports changes."`
	Missed   uint64 `json:"missed" jsonschema:"Changes that it did not report."`

	// LastError is why the file cannot be followed now, nil while it can. A file that
	// does not exist yet is no error.
	LastError error `json:"-"`
}
