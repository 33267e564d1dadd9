package gabp

import (
	"context"
	"sync"
)

// eventQueue passes events from the reader, which must not wait, to their
// handlers.
type eventQueue struct {
	maxEvents, maxBytes int

	mu     sync.Mutex
	filled sync.Cond
	queue  []Event
	bytes  int
	lost   uint64 // dropped before the oldest in the queue
	closed bool

	pushed, taken, handled uint64 // events so far; handled is taken without the one in progress
}

func (q *eventQueue) init(lim *Limits) {
	q.maxEvents, q.maxBytes = lim.EventQueue, 4*min(lim.MessageSize, maxQueued)
	q.filled.L = &q.mu
}

func (q *eventQueue) push(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) >= q.maxEvents || len(q.queue) > 0 && q.bytes+len(e.Payload) > q.maxBytes {
		q.shiftLocked()
		q.lost++
	}
	q.queue = append(q.queue, e)
	q.bytes += len(e.Payload)
	q.pushed++
	q.filled.Broadcast()
}

func (q *eventQueue) shiftLocked() Event {
	e := q.queue[0]
	q.queue[0] = Event{}
	q.queue = q.queue[1:]
	q.bytes -= len(e.Payload)
	q.taken++
	return e
}

// pop waits for an event, and returns false once the queue is closed and empty.
func (q *eventQueue) pop() (Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handled = q.taken
	q.filled.Broadcast()
	for len(q.queue) == 0 && !q.closed {
		q.filled.Wait()
	}
	if len(q.queue) == 0 {
		return Event{}, false
	}
	e := q.shiftLocked()
	e.Lost, q.lost = q.lost, 0
	return e, true
}

func (q *eventQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}

// wait waits until the events that are in the queue, and the one in progress, have been handled.
func (q *eventQueue) wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.filled.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	through := q.pushed
	for q.handled < through && !q.closed && ctx.Err() == nil {
		q.filled.Wait()
	}
	if q.handled >= through || q.closed {
		return nil
	}
	return ctx.Err()
}
