package session

import (
	"slices"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gate"
)

// EventKind says what an [Event] of the timeline tells of.
type EventKind string

// The kinds of events.
const (
	CallBegan    EventKind = "call_began"
	CallEnded    EventKind = "call_ended"
	CallRefused  EventKind = "call_refused"
	ItemOpened   EventKind = "item_opened"
	ItemUpdated  EventKind = "item_updated"
	ItemCleared  EventKind = "item_cleared"
	Acknowledged EventKind = "acknowledged"
	AckInVain    EventKind = "ack_in_vain" // no open item had the id
)

// Event is something that happened between agents, calls and attention. Fields
// that do not belong to its kind are zero. It belongs to whoever got it.
type Event struct {
	Number uint64    `json:"number"` // counts from 1
	Time   time.Time `json:"time"`
	Kind   EventKind `json:"kind"`

	Viewer    string `json:"viewer,omitempty"`    // who called or acknowledged
	Operation string `json:"operation,omitempty"` // of a call
	Request   string `json:"request,omitempty"`   // [Call].ID
	Tool      string `json:"tool,omitempty"`
	Status    string `json:"status,omitempty"`  // how the call ended
	Outcome   string `json:"outcome,omitempty"` // its verdict, when it ended

	// Attention is the id of the item: that was opened, that held the call back,
	// that came of it, or that was acknowledged.
	Attention string `json:"attention,omitempty"`
	Blocking  bool   `json:"blocking,omitempty"`
	Reason    string `json:"reason,omitempty"` // of a change of an item; why a call was refused without one

	// After is how long a call took, or how long after it opened an item was
	// acknowledged or cleared.
	After time.Duration `json:"after,omitempty"`

	// Read says of an acknowledgement that its viewer had looked into the item
	// ([Session.MarkRead]).
	Read bool `json:"read,omitempty"`

	// Successor and Covered are those of an acknowledgement.
	Successor string   `json:"successor,omitempty"`
	Covered   []string `json:"covered,omitempty"`
}

// maxNotes bounds the items of which it is known when they opened and who read
// them, and maxReaders the readers of each.
const (
	maxNotes   = 256
	maxReaders = 16
	maxName    = 128 // bytes of a name that a peer gave
)

// timeline is the ring of the latest events.
type timeline struct {
	mu    sync.Mutex
	ring  []Event
	limit int
	next  uint64 // number of the next event, less one
	notes []note // by age
}

// note is what the timeline knows of an item.
type note struct {
	id      string
	opened  time.Time
	readers []string
}

func (t *timeline) init(limit int) { t.limit = limit }

// add remembers e. The lock is held.
func (t *timeline) add(e Event) {
	t.next++
	e.Number = t.next
	if len(t.ring) < t.limit {
		t.ring = append(t.ring, e)
		return
	}
	t.ring[(t.next-1)%uint64(t.limit)] = e
}

// of returns the note about an item, made where there is none.
func (t *timeline) of(id string) *note {
	if i := slices.IndexFunc(t.notes, func(n note) bool { return n.id == id }); i >= 0 {
		return &t.notes[i]
	}
	if len(t.notes) == maxNotes {
		t.notes = slices.Delete(t.notes, 0, 1)
	}
	t.notes = append(t.notes, note{id: id})
	return &t.notes[len(t.notes)-1]
}

func (t *timeline) after(id string, now time.Time) time.Duration {
	if opened := t.of(id).opened; !opened.IsZero() {
		return since(opened, now)
	}
	return 0
}

func (t *timeline) read(viewer, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.of(id)
	if viewer = cut(viewer); !slices.Contains(n.readers, viewer) && len(n.readers) < maxReaders {
		n.readers = append(n.readers, viewer)
	}
}

func (t *timeline) update(u *heed.Update, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := Event{Time: now, Attention: u.Attention.ID, Blocking: u.Attention.Blocking, Reason: string(u.Reason)}
	switch u.Kind {
	case coalesce.Opened:
		e.Kind = ItemOpened
		t.of(e.Attention).opened = now
	case coalesce.Cleared:
		e.Kind = ItemCleared
		e.After = t.after(e.Attention, now)
	default:
		e.Kind = ItemUpdated
	}
	t.add(e)
}

func (t *timeline) began(r *Running) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(r.event(CallBegan, r.started))
}

func (t *timeline) ended(r *Running, status event.Status, at time.Time) {
	e := r.event(CallEnded, at)
	e.Status, e.Outcome, e.After = status.String(), r.verdict.Outcome, since(r.started, at)
	if r.related != nil {
		e.Attention, e.Blocking = r.related.ID, r.related.Blocking
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(e)
}

func (r *Running) event(kind EventKind, at time.Time) Event {
	return Event{Time: at, Kind: kind, Viewer: cut(r.call.Viewer), Operation: r.id, Request: cut(r.call.ID), Tool: cut(r.call.Tool)}
}

func (t *timeline) refused(d *gate.Decision, now time.Time) {
	e := Event{Time: now, Kind: CallRefused, Viewer: cut(d.Call.Viewer), Request: cut(d.Call.ID), Tool: cut(d.Call.Tool)}
	if d.Attention != nil {
		e.Attention, e.Blocking = d.Attention.ID, true
	} else {
		e.Reason = "cannot see"
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(e)
}

func (t *timeline) acked(viewer string, res *heed.AckResult, now time.Time) {
	viewer = cut(viewer)
	t.mu.Lock()
	defer t.mu.Unlock()
	e := Event{Time: now, Kind: AckInVain, Viewer: viewer, Attention: cut(res.ID)}
	if res.Acknowledged && !res.Already {
		e.Kind, e.Successor, e.Covered = Acknowledged, res.Successor, slices.Clone(res.Covered)
		e.After, e.Read = t.after(res.ID, now), slices.Contains(t.of(res.ID).readers, viewer)
	}
	t.add(e)
}

// cut bounds what a peer called something.
func cut(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}
	return name
}

// Timeline returns at most limit (0 means 100) events after the one with a number,
// oldest first, and how many after it are no longer remembered.
func (s *Session) Timeline(after uint64, limit int) (events []Event, lost uint64) {
	if limit <= 0 {
		limit = pageLimit
	}
	t := &s.timeline
	t.mu.Lock()
	defer t.mu.Unlock()
	oldest := t.next - uint64(len(t.ring)) // number of the oldest, less one
	if after < oldest {
		lost, after = oldest-after, oldest
	}
	for n := after; n < t.next && len(events) < limit; n++ {
		e := t.ring[n%uint64(t.limit)]
		e.Covered = slices.Clone(e.Covered)
		events = append(events, e)
	}
	return events, lost
}
