package session

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
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

// timeline has the latest events.
type timeline struct {
	mu     sync.Mutex
	events []Event // oldest first
	limit  int
	last   uint64                        // number of the latest event
	notes  *simplelru.LRU[string, *note] // by item
}

// note has the opening and the readers of an item.
type note struct {
	opened  time.Time
	readers []string
}

func (t *timeline) init(limit int) {
	t.limit = limit
	t.notes, _ = simplelru.NewLRU[string, *note](maxNotes, nil)
}

// add appends e in place of the oldest event if there are too many.
func (t *timeline) add(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
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

// after returns how long after it opened an item was acknowledged or cleared.
func (t *timeline) after(id string, now time.Time) uint64 {
	if opened := t.of(id).opened; !opened.IsZero() {
		return millis(since(opened, now))
	}
	return 0
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
}

func (t *timeline) update(u *heed.Update, now time.Time) {
	e := Event{Time: now, Attention: u.Item.ID, Blocking: u.Item.Blocking, Reason: string(u.Reason)}
	t.mu.Lock()
	switch u.Kind {
	case coalesce.Opened:
		e.Kind = ItemOpened
		t.of(e.Attention).opened = now
	case coalesce.Cleared:
		e.Kind = ItemCleared
		e.AfterMs = t.after(e.Attention, now)
	default:
		e.Kind = ItemUpdated
	}
	t.mu.Unlock()
	t.add(e)
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

func (t *timeline) acked(consumer string, res *heed.AckResult, now time.Time) {
	consumer = cut(consumer)
	e := Event{Time: now, Kind: AckUnknown, Consumer: consumer, Attention: cut(res.ID)}
	if res.Acknowledged && !res.Already {
		e.Kind, e.Successor, e.Covered = Acknowledged, res.Successor, slices.Clone(res.Covered)
		t.mu.Lock()
		e.AfterMs, e.Read = t.after(res.ID, now), new(slices.Contains(t.of(res.ID).readers, consumer))
		t.mu.Unlock()
	}
	t.add(e)
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

// others keeps for each agent the items that others acknowledged, until they were delivered to the agent. It is not
// part of the state on disk.
type others struct {
	mu sync.Mutex
	of *simplelru.LRU[string, *untold] // by consumer

	dropped        atomic.Uint64 // items that were dropped before they were delivered
	people, agents atomic.Uint64 // acknowledgements by each
}

// untold holds acknowledgements that an agent does not know.
type untold struct {
	items []AckedByOther // oldest first
	more  uint64         // that were dropped
}

func (o *others) init() {
	o.of, _ = simplelru.NewLRU(maxListeners, func(_ string, u *untold) { o.dropped.Add(uint64(len(u.items))) })
}

// meet records that a consumer reads or calls: from now on it has to know acknowledgements by others.
func (o *others) meet(consumer string) {
	if Person(consumer) {
		return
	}
	consumer = cut(consumer)
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.of.Get(consumer); !known {
		o.of.Add(strings.Clone(consumer), &untold{})
	}
}

// acked records the items that a consumer acknowledged.
func (o *others) acked(by string, items []heed.Item, now time.Time) {
	by = cut(by)
	o.mu.Lock()
	defer o.mu.Unlock()
	if Person(by) {
		o.people.Add(1)
	} else {
		o.agents.Add(1)
	}
	for _, consumer := range o.of.Keys() {
		u, _ := o.of.Peek(consumer)
		if consumer == by {
			continue
		}
		for _, it := range items {
			if len(u.items) == maxUntold {
				u.items = slices.Delete(u.items, 0, 1)
				u.more++
				o.dropped.Add(1)
			}
			u.items = append(u.items, AckedByOther{Item: it, By: by, Time: now})
		}
	}
}

// knows records that a consumer read an item, or acknowledged it itself.
func (o *others) knows(consumer, id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if u, known := o.of.Peek(cut(consumer)); known {
		u.items = slices.DeleteFunc(u.items, func(a AckedByOther) bool { return a.Item.ID == id })
	}
}

// TakeAckedByOthers returns the items that others acknowledged since a consumer reads or calls, the newest first, and
// how many more there were. They count as delivered to it: each is returned once. Items that the consumer has since
// read with [Session.MarkRead], or acknowledged itself, are not among them.
func (s *Session) TakeAckedByOthers(consumer string) (items []AckedByOther, more uint64) {
	o := &s.others
	o.mu.Lock()
	if u, known := o.of.Peek(cut(consumer)); known {
		items, more = u.items, u.more
		*u = untold{}
	}
	o.mu.Unlock()
	slices.Reverse(items)
	for _, a := range items {
		s.Delivered(consumer, a.Item.ID, a.Item.LatestSequence)
	}
	return items, more
}
