package follow

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errStopped says that the Follower does not run any more.
var errStopped = errors.New("follow: the follower has stopped")

// Follower follows one file. Run does the work; Sync and Status may be called
// from any goroutine, also before Run and after it.
type Follower struct {
	cfg     Config
	ran     atomic.Bool
	syncs   chan *syncing
	stopped chan struct{}

	// watch is the function of that name, or what stands in for it in tests.
	watch func(path string, poke, ended func()) (stop func(), err error)

	mu     sync.Mutex
	status Status
}

// New returns a Follower of cfg.Path. It does not look at the file yet.
func New(cfg Config) (*Follower, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Follower{
		cfg: cfg.withDefaults(), syncs: make(chan *syncing), stopped: make(chan struct{}), watch: watch,
	}, nil
}

// Run follows the file until ctx ends, and calls h with each record. Then it
// hands over what is there and returns nil. An error says that the path cannot be
// followed at all: it is a directory, a pipe or a device. What may heal (a file
// that is absent, or must not be read) is tried again, and shown by Status. Run
// may be called once.
func (f *Follower) Run(ctx context.Context, h Handler) error {
	if f.ran.Swap(true) {
		return errors.New("follow: Follower.Run was called before")
	}
	defer close(f.stopped)
	t, err := newTail(f, h)
	if err != nil {
		return err
	}
	defer t.close()
	return t.run(ctx)
}

// Sync returns nil when every byte that was in the file at the call has been
// handed over, a last record without an end included. Where a record is open it
// waits for the file to be quiet for Config.SyncIdle, and no longer than
// Config.Idle. The error is that of ctx, [errStopped] once Run has returned, or
// why the file cannot be read. It must not be called by the Handler.
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
	case err := <-s.done:
		return err
	case <-f.stopped:
		select {
		case err := <-s.done:
			return err
		default:
			return errStopped
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Status says how the following goes.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// syncing is a call of Sync.
type syncing struct {
	done chan error // has room for the answer

	seen  bool      // the size of the file was looked at
	file  uint64    // which file it was
	upTo  int64     // its size then
	line  int       // of the stream, when all of that had been read; 0: it has not been
	since time.Time // when that was
}
