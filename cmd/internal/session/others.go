package session

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/heedlog/heed"
)

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
