package session

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed"
)

// ClientPrefix begins the names of heed's own clients: its commands and its page. Who acknowledges by one of them is a
// person; everybody else is an agent.
const ClientPrefix = "heed-"

// Person reports whether a consumer is a person, by the name that its client gave.
func Person(consumer string) bool { return strings.HasPrefix(consumer, ClientPrefix) }

// AckedByOther is an item that another consumer than the one that is told of it acknowledged.
type AckedByOther struct {
	Item heed.Item // cleared, as it was then
	By   string    // the consumer, a peer's text
	Time time.Time
}

// The bounds of what is kept of acknowledgements by others: for how many consumers, and how many items for each.
const (
	maxListeners = 32
	maxUntold    = 8
)

// others has for each agent what others acknowledged, until it was delivered to the agent. It is not part of the state
// on disk.
type others struct {
	mu      sync.Mutex
	of      []untold // by use, the latest last
	dropped uint64   // items that were dropped before they were delivered

	people, agents uint64 // acknowledgements by each
}

// untold is what an agent does not know.
type untold struct {
	consumer string
	items    []AckedByOther // oldest first
	more     uint64         // that were dropped
}

// find returns the index of what a consumer does not know, or -1. The lock is held.
func (o *others) find(consumer string) int {
	return slices.IndexFunc(o.of, func(u untold) bool { return u.consumer == consumer })
}

// meet records that a consumer reads or calls: from now on it has to know what others acknowledge.
func (o *others) meet(consumer string) {
	if Person(consumer) {
		return
	}
	consumer = cut(consumer)
	o.mu.Lock()
	defer o.mu.Unlock()
	u := untold{consumer: consumer}
	if i := o.find(consumer); i >= 0 {
		u = o.of[i]
		o.of = slices.Delete(o.of, i, i+1)
	} else if len(o.of) == maxListeners {
		o.dropped += uint64(len(o.of[0].items))
		o.of = slices.Delete(o.of, 0, 1)
	}
	o.of = append(o.of, u)
}

// acked records what a consumer acknowledged.
func (o *others) acked(by string, items []heed.Item, now time.Time) {
	by = cut(by)
	o.mu.Lock()
	defer o.mu.Unlock()
	if Person(by) {
		o.people++
	} else {
		o.agents++
	}
	for i := range o.of {
		u := &o.of[i]
		if u.consumer == by {
			continue
		}
		for _, it := range items {
			if len(u.items) == maxUntold {
				u.items = slices.Delete(u.items, 0, 1)
				u.more++
				o.dropped++
			}
			u.items = append(u.items, AckedByOther{Item: it, By: by, Time: now})
		}
	}
}

// told records that a consumer read an item, or acknowledged it itself.
func (o *others) told(consumer, id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := o.find(cut(consumer)); i >= 0 {
		o.of[i].items = slices.DeleteFunc(o.of[i].items, func(a AckedByOther) bool { return a.Item.ID == id })
	}
}

// TakeAckedByOthers returns the items that others acknowledged since a consumer reads or calls, the newest first, and
// how many more there were. They count as delivered to it: each is returned once. What the consumer read with
// [Session.MarkRead] since, or acknowledged itself, is not among them.
func (s *Session) TakeAckedByOthers(consumer string) (items []AckedByOther, more uint64) {
	o := &s.others
	o.mu.Lock()
	i := o.find(cut(consumer))
	if i < 0 {
		o.mu.Unlock()
		return nil, 0
	}
	items, more = o.of[i].items, o.of[i].more
	o.of[i].items, o.of[i].more = nil, 0
	o.mu.Unlock()
	slices.Reverse(items)
	for _, a := range items {
		s.engine.Delivered(consumer, a.Item.ID, a.Item.LatestSequence)
	}
	return items, more
}

// status returns how many acknowledgements came from people and from agents, and how many items were dropped before an
// agent was told that others acknowledged them.
func (o *others) status() (people, agents, dropped uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.people, o.agents, o.dropped
}
