package session

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/text"
)

// EventKind is the kind of an [Event] of the timeline.
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
	AckUnknown   EventKind = "ack_unknown" // no open item had the id
)

// Event is something that happened between agents, calls and attention. Fields that do not belong to its kind are zero.
// It belongs to the caller.
type Event struct {
	Number uint64    `json:"number"        jsonschema:"Counts from 1 since heed was started."`
	Time   time.Time `json:"time,omitzero"`
	Kind   EventKind `json:"kind"          jsonschema:"ack_unknown: no open item had the id." enum:"call_began,call_ended,call_refused,item_opened,item_updated,item_cleared,acknowledged,ack_unknown"`

	Consumer  string `json:"consumer,omitempty"  jsonschema:"Who called or acknowledged."`
	Tool      string `json:"tool,omitempty"      jsonschema:"The tool that was called."`
	Operation string `json:"operation,omitempty" jsonschema:"The operation of the call; heed/operation shows it."`
	Request   string `json:"request,omitempty"   jsonschema:"The caller's own id of the call."`
	Status    string `json:"status,omitempty"    jsonschema:"How the call ended."`
	Outcome   string `json:"outcome,omitempty"   jsonschema:"Its verdict at its end; reason has why."`

	Text         string `json:"text,omitempty"         jsonschema:"The verdict in one sentence."`
	CleanThrough uint64 `json:"cleanThrough,omitempty" jsonschema:"Number of the latest entry that the verdict covers."`
	Final        bool   `json:"final,omitempty"        jsonschema:"The verdict did not change any more."`

	Attention string   `json:"attention,omitempty" jsonschema:"The item that opened, changed, was cleared or acknowledged, that stopped the call, or that resulted from it."`
	Blocking  bool     `json:"blocking,omitempty"  jsonschema:"The item stops calls."`
	Reason    string   `json:"reason,omitempty"    jsonschema:"Why the item changed, why the call was refused without an item, or why its verdict has this outcome."`
	AfterMs   uint64   `json:"afterMs,omitempty"   jsonschema:"How long the call took, or the time from the opening of the item to its acknowledgement or end."`
	Read      *bool    `json:"read,omitempty"      jsonschema:"For an acknowledgement: the consumer had read the item's samples or its cause."`
	Successor string   `json:"successor,omitempty" jsonschema:"The item with what the acknowledgement did not cover."`
	Covered   []string `json:"covered,omitempty"   jsonschema:"Other items that it covered."`
}

// maxNotes bounds the items whose opening and readers are known, and maxReaders the readers of each.
const (
	maxNotes   = 256
	maxReaders = 16
	maxName    = 128 // bytes of a peer's name
)

// timeline has the latest events, and the acknowledgements by others that an agent does not know. It is not part of the
// state on disk.
type timeline struct {
	mu     sync.Mutex
	events []Event // oldest first
	limit  int
	last   uint64                          // number of the latest event
	notes  *simplelru.LRU[string, *note]   // by item
	untold *simplelru.LRU[string, *untold] // by agent

	dropped        atomic.Uint64 // items of untold that were dropped before they were delivered
	people, agents atomic.Uint64 // acknowledgements by each
}

// note has the opening and the readers of an item.
type note struct {
	opened  time.Time
	readers []string
}

func (t *timeline) init(limit int) {
	t.limit = limit
	t.notes, _ = simplelru.NewLRU[string, *note](maxNotes, nil)
	t.untold, _ = simplelru.NewLRU(maxListeners, func(_ string, u *untold) { t.dropped.Add(uint64(len(u.items))) })
}

// add appends e, with the facts that the note about its item has, in place of the oldest event if there are too many.
func (t *timeline) add(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e.Kind {
	case ItemOpened:
		t.of(e.Attention).opened = e.Time
	case ItemCleared, Acknowledged:
		n := t.of(e.Attention)
		if !n.opened.IsZero() {
			e.AfterMs = millis(since(n.opened, e.Time))
		}
		if e.Kind == Acknowledged {
			e.Read = new(slices.Contains(n.readers, e.Consumer))
		}
	}
	t.last++
	e.Number = t.last
	t.events = append(t.events, e)
	t.events = t.events[max(0, len(t.events)-t.limit):]
}

// of returns the note about an item, made if there is none. The lock is held.
func (t *timeline) of(id string) *note {
	n, known := t.notes.Get(id)
	if !known {
		n = &note{}
		t.notes.Add(id, n)
	}
	return n
}

// millis returns a duration in milliseconds, at least one if it is positive.
func millis(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return max(1, uint64(d.Milliseconds()))
}

func (t *timeline) read(consumer, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.of(id)
	if consumer = cut(consumer); !slices.Contains(n.readers, consumer) && len(n.readers) < maxReaders {
		n.readers = append(n.readers, consumer)
	}
	t.knows(consumer, id)
}

func (t *timeline) update(u *heed.Update, now time.Time) {
	t.add(Event{
		Time: now, Kind: EventKind("item_" + u.Kind), Attention: u.Item.ID, Blocking: u.Item.Blocking,
		Reason: string(u.Reason),
	})
}

func (t *timeline) ended(r *Running, status event.Status, at time.Time) {
	e := callEvent(CallEnded, &r.call, r.id, at)
	e.Status, e.AfterMs = status.String(), millis(since(r.started, at))
	v := &r.verdict
	e.Outcome, e.Reason, e.Text, e.CleanThrough, e.Final = v.Outcome, string(v.Reason), v.Text, v.CleanThrough, v.Final
	if r.related != nil {
		e.Attention, e.Blocking = r.related.ID, r.related.Blocking
	}
	t.add(e)
}

func callEvent(kind EventKind, c *Call, operation string, at time.Time) Event {
	return Event{
		Time: at, Kind: kind, Consumer: cut(c.Consumer), Operation: operation, Request: cut(c.ID), Tool: cut(c.Tool),
	}
}

func (t *timeline) refused(d *gate.Decision, now time.Time) {
	e := callEvent(CallRefused, &d.Call, "", now)
	if d.Attention != nil {
		e.Attention, e.Blocking = d.Attention.ID, true
	} else {
		e.Reason = "cannot see"
	}
	t.add(e)
}

func (t *timeline) acked(consumer string, a *Acked, now time.Time) {
	consumer = cut(consumer)
	e := Event{Time: now, Kind: AckUnknown, Consumer: consumer, Attention: cut(a.ID)}
	cleared := a.Acknowledged && !a.Already
	if cleared {
		e.Kind, e.Successor, e.Covered = Acknowledged, a.Successor, slices.Clone(a.Covered)
	}
	t.add(e)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.knows(consumer, a.ID)
	if cleared {
		t.share(consumer, a.Items, now)
	}
}

// cut bounds a name that a peer gave.
func cut(name string) string { return name[:text.Prefix(name, maxName)] }

// Timeline returns the events after the one with a number, oldest first, how many after it are evicted, and the number
// of the latest.
func (s *Session) Timeline(after uint64) (events []Event, lost, latest uint64) {
	t := &s.timeline
	t.mu.Lock()
	defer t.mu.Unlock()
	oldest := t.last - uint64(len(t.events)) // number of the oldest, less one
	if after < oldest {
		lost, after = oldest-after, oldest
	}
	for n := after; n < t.last; n++ {
		e := t.events[n-oldest]
		e.Covered = slices.Clone(e.Covered)
		events = append(events, e)
	}
	return events, lost, t.last
}

// ClientPrefix begins the names of heed's own clients: its commands and its page. A consumer with such a name is a
// person; every other is an agent.
const ClientPrefix = "heed-"

// Person reports whether a consumer is a person, by the name that its client gave.
func Person(consumer string) bool { return strings.HasPrefix(consumer, ClientPrefix) }

// AckedByOther is an item that another consumer acknowledged.
type AckedByOther struct {
	Item heed.Item // cleared, as it was then
	By   string    // the consumer, a peer's text
	Time time.Time
}

// The bounds of acknowledgements by others: consumers, and items for each.
const (
	maxListeners = 32
	maxUntold    = 8
)

// untold holds the acknowledgements by others that an agent does not know, until they were delivered to it.
type untold struct {
	items []AckedByOther // oldest first
	more  uint64         // that were dropped
}

// meet records that a consumer reads or calls: from now on it has to know acknowledgements by others.
func (t *timeline) meet(consumer string) {
	if Person(consumer) {
		return
	}
	consumer = cut(consumer)
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.untold.Get(consumer); !known {
		t.untold.Add(strings.Clone(consumer), &untold{})
	}
}

// share keeps for the other agents the items that a consumer acknowledged. The lock is held.
func (t *timeline) share(by string, items []heed.Item, now time.Time) {
	if Person(by) {
		t.people.Add(1)
	} else {
		t.agents.Add(1)
	}
	for _, consumer := range t.untold.Keys() {
		u, _ := t.untold.Peek(consumer)
		if consumer == by {
			continue
		}
		for _, it := range items {
			if len(u.items) == maxUntold {
				u.items = slices.Delete(u.items, 0, 1)
				u.more++
				t.dropped.Add(1)
			}
			u.items = append(u.items, AckedByOther{Item: it, By: by, Time: now})
		}
	}
}

// knows records that a consumer read an item, or acknowledged it itself. The lock is held.
func (t *timeline) knows(consumer, id string) {
	if u, known := t.untold.Peek(consumer); known {
		u.items = slices.DeleteFunc(u.items, func(a AckedByOther) bool { return a.Item.ID == id })
	}
}

// TakeAckedByOthers returns the items that others acknowledged since a consumer reads or calls, the newest first, and
// how many more there were. They count as delivered to it: each is returned once. Items that the consumer has since
// read with [Session.MarkRead], or acknowledged itself, are not among them.
func (s *Session) TakeAckedByOthers(consumer string) (items []AckedByOther, more uint64) {
	t := &s.timeline
	t.mu.Lock()
	if u, known := t.untold.Peek(cut(consumer)); known {
		items, more = u.items, u.more
		*u = untold{}
	}
	t.mu.Unlock()
	slices.Reverse(items)
	for _, a := range items {
		s.Delivered(consumer, a.Item.ID, a.Item.LatestSequence)
	}
	return items, more
}
