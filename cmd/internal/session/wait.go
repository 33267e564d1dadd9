package session

import (
	"context"
	"sync"
	"time"

	"github.com/heedlog/heed"
)

// broadcast wakes all waiters at a change. The order "wait, look, receive" misses nothing: a change after wait closes
// the channel, an earlier one is there to be seen.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{} // nil without a waiter
}

// wait returns a channel that the next notify closes.
func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// pause is how long a waiter leaves the journal alone after a look without result, so that a flood of entries that it
// does not want costs no look for each.
const pause = 2 * time.Millisecond

// Wait returns the first page of at most limit records (0 means 100) after a cursor that has records, a loss, or an
// error about the cursor. If ctx ends before, it returns an empty page, whose Next is the cursor to continue from, and
// the context's error.
func (s *Session) Wait(ctx context.Context, after heed.Cursor, limit int, f heed.Filter) (heed.Page, error) {
	s.waits.Add(1)
	defer s.waits.Add(-1)
	for paused := true; ; {
		changed := s.changed.wait()
		p := s.engine.Read(after, limit, f)
		if len(p.Records) > 0 || p.Lost > 0 || p.Err != nil {
			return p, nil
		}
		after = p.Next
		if p.More {
			if ctx.Err() != nil {
				return p, ctx.Err()
			}
			continue
		}
		var over <-chan time.Time
		if paused = !paused; paused {
			over, changed = time.After(pause), nil
		}
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-changed:
		case <-over:
		}
	}
}
