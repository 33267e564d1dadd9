package gabp

import (
	"encoding/json"
	"slices"
	"sync"
)

// outbox queues messages for one peer: replies, whose producers wait if there are too many, and events, whose producers
// never wait. Its lock is held briefly.
type outbox struct {
	maxReplies int
	maxEvents  int
	maxBytes   int // of queued payloads

	mu      sync.Mutex
	changed sync.Cond // on any change, of mu
	replies []message
	replied bool              // a reply was taken last
	events  []pendingEvent    // in the order of sending
	lost    map[string]uint64 // dropped events by channel, since the last that was taken
	seq     map[string]uint64 // number of the last event that was taken, by channel
	bytes   int
	ended   bool // accepts nothing more; the rest is written
	closed  bool // writes nothing more, and has ended
}

// pendingEvent is an event that is queued for one subscriber.
type pendingEvent struct {
	channel, key string
	payload      json.RawMessage // shared by all subscribers
	sent         func(*ServerSession)
	droppable    bool   // if the queue is full
	lost         uint64 // events of its channel missing right before it; dropped ones are added when it is taken
}

func newOutbox(lim *Limits) *outbox {
	b := &outbox{
		maxReplies: 2 * lim.ConcurrentRequests,
		maxEvents:  lim.EventQueue,
		maxBytes:   min(lim.MessageSize, maxQueued),
		lost:       map[string]uint64{},
		seq:        map[string]uint64{},
	}
	b.changed.L = &b.mu
	return b
}

// reply adds a reply, and waits while there are too many, which slows down only the
// peer that does not read them. A reply to an ended session is discarded. placed, if not nil,
// is called when the reply is queued and cannot be written yet; it must not block.
func (b *outbox) reply(m message, placed func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.replies) >= b.maxReplies && !b.ended {
		b.changed.Wait()
	}
	if b.ended {
		return
	}
	b.replies = append(b.replies, m)
	if placed != nil {
		placed()
	}
	b.changed.Broadcast()
}

// event adds an event. A queued one of the same channel and key is replaced, with the
// new one at the end, since it may be a consequence of events in between. If the queue is
// full, droppable events are dropped, the oldest first, and e itself if it is the only one.
// It returns how many were dropped, and false if the queue is still full.
func (b *outbox) event(e pendingEvent) (conflated bool, dropped uint64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return false, 0, true
	}
	if e.key != "" {
		queued := func(old pendingEvent) bool { return old.channel == e.channel && old.key == e.key }
		if i := slices.IndexFunc(b.events, queued); i >= 0 {
			b.removeLocked(i)
			conflated = true
		}
	}
	// Into an empty queue, any payload fits.
	for len(b.events) > 0 && (len(b.events) >= b.maxEvents || b.bytes+len(e.payload) > b.maxBytes) {
		i := slices.IndexFunc(b.events, func(old pendingEvent) bool { return old.droppable })
		if i < 0 && !e.droppable {
			return conflated, dropped, false
		}
		gone := e
		if i >= 0 {
			gone = b.removeLocked(i)
		}
		b.lost[gone.channel] += 1 + gone.lost
		dropped++
		if i < 0 {
			return conflated, dropped, true
		}
	}
	b.events = append(b.events, e)
	b.bytes += len(e.payload)
	b.changed.Broadcast()
	return conflated, dropped, true
}

// removeLocked removes an event, mostly the first: the few before it move.
func (b *outbox) removeLocked(i int) pendingEvent {
	e := b.events[i]
	copy(b.events[1:], b.events[:i])
	b.events[0] = pendingEvent{}
	b.events = b.events[1:]
	b.bytes -= len(e.payload)
	return e
}

// drop drops the events of a channel.
func (b *outbox) drop(channel string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.lost, channel)
	b.events = slices.DeleteFunc(b.events, func(e pendingEvent) bool {
		if e.channel == channel {
			b.bytes -= len(e.payload)
		}
		return e.channel == channel
	})
}

// take returns a message to write. Replies come first, since gates wait for them; after each reply comes an event, so
// that many requests do not starve events. It returns false if there is none: with wait, only at the end.
func (b *outbox) take(wait bool) (m message, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for wait && len(b.replies) == 0 && len(b.events) == 0 && !b.ended {
		b.replied = false // no event has waited for a reply
		b.changed.Wait()
	}
	b.replied = len(b.replies) > 0 && (!b.replied || len(b.events) == 0)
	switch {
	case b.closed || len(b.replies) == 0 && len(b.events) == 0:
		return m, false
	case b.replied:
		m = b.replies[0]
		b.replies = slices.Delete(b.replies, 0, 1)
	default:
		e := b.removeLocked(0)
		b.seq[e.channel] += e.lost + b.lost[e.channel] + 1
		delete(b.lost, e.channel)
		m = message{
			ID: newID(), Type: typeEvent, Channel: e.channel, Seq: b.seq[e.channel], Payload: e.payload, sent: e.sent,
		}
	}
	b.changed.Broadcast()
	return m, true
}

// end makes the outbox accept nothing more, and ends all waits. The rest is written, unless it is discarded.
func (b *outbox) end(discard bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.closed = b.closed || discard
	b.changed.Broadcast()
}
