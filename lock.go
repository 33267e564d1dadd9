package heed

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// lock is the engine's one lock: a sync.Mutex of which is known whether anybody
// waits for it. Taking one that is free costs no more.
//
// A sync.Mutex favors who runs: a reader that takes it turn by turn has it back
// before the writer that it woke is there, again and again, until the mutex notices
// after a millisecond. So whoever is in no hurry gives it back by Release.
type lock struct {
	mu      sync.Mutex
	waiting atomic.Int32
}

// Lock takes the lock.
func (l *lock) Lock() {
	if !l.mu.TryLock() {
		l.wait()
	}
}

func (l *lock) wait() {
	l.waiting.Add(1)
	l.mu.Lock()
	l.waiting.Add(-1)
}

// Unlock gives the lock back.
func (l *lock) Unlock() { l.mu.Unlock() }

// Release gives the lock back, and lets those who wait for it go first. Where
// nobody waits, it does not give up the processor.
func (l *lock) Release() {
	l.mu.Unlock()
	if l.waiting.Load() > 0 {
		runtime.Gosched()
	}
}
