package gabp

import (
	"container/list"
	"encoding/json"
	"sync"
)

// outbox is what waits to be written to one peer: replies, for which whoever
// makes them waits when there are too many, and events, for which nobody waits.
// Its lock is held for moments only.
type outbox struct {
	maxReplies int
	maxEvents  int
	maxBytes   int // of payloads that wait

	mu      sync.Mutex
	changed sync.Cond // on any change, of mu
	replies []message
	events  list.List // of pendingEvent, in the order in which they are sent
	byKey   map[eventKey]*list.Element
	lost    map[string]uint64 // events that gave way, by channel, since its last that was taken
	bytes   int
	ending  bool // nothing more is taken; what is there is written
	closed  bool // nothing more is written
}

// pendingEvent is an event that waits for one subscriber.
type pendingEvent struct {
	channel, key string
	payload      json.RawMessage // shared by all subscribers
	sent         func(*ServerSession)
	passing      bool   // gives way where there is no room
	lost         uint64 // of its channel that are missing right before it; those that gave way are added when it is taken
}

type eventKey struct{ channel, key string }

func newOutbox(lim *Limits) *outbox {
	b := &outbox{
		maxReplies: 2 * lim.ConcurrentRequests,
		maxEvents:  lim.EventQueue,
		maxBytes:   lim.MessageSize,
		byKey:      map[eventKey]*list.Element{},
		lost:       map[string]uint64{},
	}
	b.changed.L = &b.mu
	return b
}

// reply adds a reply, and waits while there are too many: that slows down only
// the peer that does not read them. A reply to a session that is over is lost. placed, if
// not nil, is called when the reply has its place and cannot be written yet; it must not wait.
func (b *outbox) reply(m message, placed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.replies) >= b.maxReplies && !b.ending && !b.closed {
		b.changed.Wait()
	}
	if b.ending || b.closed {
		return
	}
	b.replies = append(b.replies, m)
	if placed != nil {
		placed()
	}
	b.changed.Broadcast()
}

// event adds an event. One of the same channel and key that still waits is
// replaced: the new one goes to the end, since what it tells may be the
// consequence of what waits in between. Where the queue is full, events that pass give
// way, the oldest first, and e itself where it is one and there is no other. It returns how
// many did, and false where there is still no room.
func (b *outbox) event(e pendingEvent) (conflated bool, gaveWay uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ending || b.closed {
		return false, 0, true
	}
	k := eventKey{e.channel, e.key}
	if e.key != "" {
		if old := b.byKey[k]; old != nil {
			b.removeLocked(old)
			conflated = true
		}
	}
	for !b.fitsLocked(len(e.payload)) {
		old := b.oldestPassingLocked()
		if old == nil {
			if e.passing {
				b.lost[e.channel] += 1 + e.lost
				gaveWay++
			}
			return conflated, gaveWay, e.passing
		}
		gone := b.removeLocked(old)
		b.lost[gone.channel] += 1 + gone.lost
		gaveWay++
	}
	el := b.events.PushBack(e)
	b.bytes += len(e.payload)
	if e.key != "" {
		b.byKey[k] = el
	}
	b.changed.Broadcast()
	return conflated, gaveWay, true
}

// fitsLocked reports whether there is room for a payload of so many bytes. A lone event
// is taken whatever its size.
func (b *outbox) fitsLocked(size int) bool {
	return b.events.Len() == 0 || b.events.Len() < b.maxEvents && b.bytes+size <= b.maxBytes
}

// oldestPassingLocked returns the oldest event that passes, nil where there is none. Before it
// wait only events that do not, which are few: they have keys.
func (b *outbox) oldestPassingLocked() *list.Element {
	for el := b.events.Front(); el != nil; el = el.Next() {
		if el.Value.(pendingEvent).passing {
			return el
		}
	}
	return nil
}

func (b *outbox) removeLocked(el *list.Element) pendingEvent {
	e := b.events.Remove(el).(pendingEvent)
	b.bytes -= len(e.payload)
	if e.key != "" {
		delete(b.byKey, eventKey{e.channel, e.key})
	}
	return e
}

// drop forgets the events of a channel.
func (b *outbox) drop(channel string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.lost, channel)
	for el := b.events.Front(); el != nil; {
		next := el.Next()
		if el.Value.(pendingEvent).channel == channel {
			b.removeLocked(el)
		}
		el = next
	}
}

// writeBatch bounds what is taken at a time, so that what comes meanwhile can
// still be conflated.
const (
	writeBatch      = 32
	writeBatchBytes = 64 << 10
)

// take waits for something to write. Replies come first: a gate waits for
// them. It returns false when there is nothing more to come.
func (b *outbox) take(replies []message, events []pendingEvent) ([]message, []pendingEvent, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.replies) == 0 && b.events.Len() == 0 && !b.ending && !b.closed {
		b.changed.Wait()
	}
	if b.closed {
		return replies, events, false
	}
	n, size := 0, 0
	for n < len(b.replies) && n < writeBatch && size < writeBatchBytes {
		size += len(b.replies[n].Result)
		n++
	}
	replies = append(replies, b.replies[:n]...)
	b.replies = append(b.replies[:0], b.replies[n:]...)
	clear(b.replies[len(b.replies):cap(b.replies)])
	// One event at least, so that a peer with many requests still gets some.
	for k := 0; b.events.Len() > 0 && k < writeBatch && (k == 0 || size < writeBatchBytes); k++ {
		e := b.removeLocked(b.events.Front())
		if n := b.lost[e.channel]; n > 0 {
			e.lost += n
			delete(b.lost, e.channel)
		}
		size += len(e.payload)
		events = append(events, e)
	}
	b.changed.Broadcast()
	return replies, events, len(replies) > 0 || len(events) > 0
}

// end has what is there written, and nothing more.
func (b *outbox) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending = true
	b.changed.Broadcast()
}

// close ends all waits.
func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.changed.Broadcast()
}
