package session

import (
	"sync"
	"sync/atomic"
)

// bell wakes everybody who waits for something to happen. Ringing costs an atomic
// load while nobody waits. The order "arm, look, wait" misses nothing: what
// happens after arm closes the channel, what happened before is there to be seen.
type bell struct {
	armed atomic.Bool
	mu    sync.Mutex
	ch    chan struct{} // nil while nobody waits
}

// arm returns a channel that the next ring closes.
func (b *bell) arm() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
		b.armed.Store(true)
	}
	return b.ch
}

func (b *bell) ring() {
	if !b.armed.Load() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
		b.armed.Store(false)
	}
}
