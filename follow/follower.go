package follow

import "context"

// Follower follows one file. Run does the work; Sync and Status may be called
// from any goroutine, also before Run and after it.
type Follower struct{ cfg Config }

// New returns a Follower of cfg.Path. It does not look at the file yet.
func New(cfg Config) (*Follower, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Follower{cfg: cfg.withDefaults()}, nil
}

// Run follows the file until ctx ends, and calls h with each record. Then it
// hands over what is left and returns nil. An error says that the path cannot be
// followed at all: it is a directory, a pipe or a device. What may heal (a file
// that is absent, or must not be read) is tried again, and shown by Status. Run
// may be called once.
func (f *Follower) Run(ctx context.Context, h Handler) error {
	<-ctx.Done()
	return nil
}

// Sync returns nil when every byte that was in the file at the call has been
// handed over, a last record without an end included. It waits for the file to
// be quiet for Config.SyncIdle where a record is open, and no longer than
// Config.Idle. The error is that of ctx, [ErrStopped] once Run has returned, or
// why the file cannot be read.
func (f *Follower) Sync(ctx context.Context) error { return nil }

// Status says how the following goes.
func (f *Follower) Status() Status { return Status{} }
