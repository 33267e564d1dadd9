package heed

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// lock is the engine's one lock: a sync.Mutex that counts its waiters. Taking a free one
// costs the same.
//
// A sync.Mutex favors running goroutines: a reader that takes it in turns has it back
// before the writer that it woke runs, until the mutex starves the writer for a
// millisecond. So readers unlock by Release.
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

// Unlock releases the lock.
func (l *lock) Unlock() { l.mu.Unlock() }

// Release releases the lock and lets waiters go first. Without a waiter it does not
// yield the processor.
func (l *lock) Release() {
	l.mu.Unlock()
	if l.waiting.Load() > 0 {
		runtime.Gosched()
	}
}
