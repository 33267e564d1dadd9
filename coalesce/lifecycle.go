package coalesce

import (
	"slices"
	"strconv"

	"github.com/heedlog/heed/event"
)

// open returns an open item for an entry that is new, or that an acknowledged item does not cover: the open advisory
// item for an advisory entry; an item that lapsed and is opened again; or a new one. It returns false if the item was
// open before, as when MaxOpen items block.
func (c *Coalescer) open(in *Input, to *destination, before *known) (*item, bool) {
	advisory := in.Decision.Disposition == event.Advisory && to.Scope.plain()
	if advisory {
		pool := c.best(func(it *item) bool {
			return it.takes() && it.Disposition == event.Advisory && it.Scope.plain()
		}, newer)
		if pool != nil {
			pool.Shared = true
			return pool, false
		}
	}
	lapsed := c.lapsed(in, to, advisory)
	if other := c.makeRoom(); other != nil {
		c.Counts.Overflowed++
		return other, false
	}
	if lapsed != nil && before.item == nil {
		c.Counts.Reopened++
		lapsed.on(onOpen)
		lapsed.ClearedBy, lapsed.ClearedAt, lapsed.Shared = "", 0, lapsed.Scope.plain()
		if lapsed.Unpinned {
			lapsed.Unpinned = false
			c.retention = append(c.retention, Retention{Owner: lapsed.Number, Pin: lapsed.Cause.Seq})
		}
		if lapsed.Pending == Cleared { // its update was not drained
			lapsed.Pending = ""
			c.dequeue(lapsed)
		}
		lapsed.burst = to.burst
		return lapsed, lapsed.Disposition == event.Blocking
	}
	var predecessor uint64
	if before.item != nil {
		predecessor = before.item.Number
	}
	it := c.slot()
	opens := onOpen
	if c.Loading() && (c.Load.Playing.seq == 0 || c.Load.Acked) && to.Scope.plain() {
		opens = onDefer
	}
	c.start(it, &to.burst, predecessor, opens)
	return it, true
}

// id returns the attention id of item number n.
func (c *Coalescer) id(n uint64) string {
	if n == 0 {
		return ""
	}
	return c.Config.Epoch + "-" + strconv.FormatUint(n, 10)
}

// start makes a free item the open one of a burst, by an event.
func (c *Coalescer) start(it *item, of *burst, predecessor uint64, by itemEvent) {
	c.Numbers++
	c.Counts.Opened++
	it.on(by)
	it.Number, it.id = c.Numbers, c.id(c.Numbers)
	it.burst, it.Predecessor = *of, predecessor
	if of.Scope == scopeBlind {
		c.BlindItem = it.Number
	}
}

// lapsed returns the item to be opened again for an entry: it was cleared without an
// acknowledgement, is as urgent, and holds the entry's group, or, of advisory ones, was
// cleared last. It returns nil for none.
func (c *Coalescer) lapsed(in *Input, to *destination, advisory bool) *item {
	d := &in.Decision
	return c.best(func(it *item) bool {
		return it.State == itemLapsed && it.Scope != scopeDigest && it.Disposition == d.Disposition &&
			(it.Scope == to.Scope && it.Key == to.Key || it.Scope.plain() && to.Scope.plain()) &&
			(advisory || it.Counters.first(d.Rule, in.Signature) != nil)
	}, func(a, b *item) bool { return a.ClearedAt > b.ClearedAt })
}

// best returns the item that fits and comes before all others that do, or nil.
func (c *Coalescer) best(fits func(*item) bool, before func(a, b *item) bool) (found *item) {
	for i := range c.Items {
		if it := &c.Items[i]; fits(it) && (found == nil || before(it, found)) {
			found = it
		}
	}
	return found
}

// lookup returns the item called id, or nil.
func (c *Coalescer) lookup(id string) *item {
	return c.best(func(it *item) bool { return it.id == id }, newer)
}

func newer(a, b *item) bool { return a.Number > b.Number }

// makeRoom lets another item be opened. With MaxOpen items open it clears the quietest of the advisory items and the
// items of an earlier run. If all others block, it returns the newest of them, to be shared.
func (c *Coalescer) makeRoom() *item {
	if open := c.Counts.Opened + c.Counts.Reopened - c.Counts.Cleared; int(open) < c.Config.MaxOpen {
		return nil
	}
	victim := c.best(func(it *item) bool {
		return it.open() && (it.Disposition != event.Blocking || it.State == itemPast)
	}, func(a, b *item) bool { return a.Latest.seq < b.Latest.seq })
	if victim == nil {
		return c.best((*item).open, newer)
	}
	c.clear(victim, ReasonEvicted)
	return nil
}

// slot returns a free item, for which the caller has a use: another one, or one that was cleared and is dropped.
func (c *Coalescer) slot() *item {
	if n := len(c.Items); n < cap(c.Items) {
		c.Items = c.Items[:n+1]
		it := &c.Items[n]
		it.Counters, it.Delivered = counters{index: c.index, of: it}, make([]uint64, c.Config.MaxConsumers)
		it.reset()
		return it
	}
	it := c.best(func(it *item) bool { return !it.open() }, evictedBefore)
	c.evict(it)
	return it
}

// evictedBefore reports whether item a, which is not open, is evicted before b: those come first whose end was
// announced, then those that were not acknowledged, then the oldest.
func evictedBefore(a, b *item) bool {
	if (a.Pending == "") != (b.Pending == "") {
		return a.Pending == ""
	}
	if (a.AckedAt.seq == 0) != (b.AckedAt.seq == 0) {
		return a.AckedAt.seq == 0
	}
	return a.ClearedAt < b.ClearedAt
}

// evict drops a cleared item, keeping its counts in the totals.
func (c *Coalescer) evict(it *item) {
	if it.Pending != "" {
		c.Counts.UpdatesDropped++
		c.dequeue(it)
	}
	c.Counts.Evicted++
	c.Counts.FoldedEvicted += it.Total
	c.retention = append(c.retention, Retention{Owner: it.Number, Evicted: true})
	it.reset()
}

// Withdraw ends the open item called id for the host. Its faults are new when they return. It returns false if no open
// item has this id.
func (c *Coalescer) Withdraw(id string) bool {
	it := c.lookup(id)
	if it == nil || !it.open() {
		return false
	}
	c.clear(it, reasonWithdrawn)
	return true
}

// clear ends an item at the latest entry.
func (c *Coalescer) clear(it *item, why Reason) {
	c.Counts.Cleared++
	switch why {
	case ReasonAcknowledged:
		it.on(onAck)
	case ReasonExpired, ReasonResolved, ReasonEvicted:
		it.on(onLapse)
	default:
		it.on(onFinish)
	}
	it.ClearedBy, it.ClearedAt = why, c.Counts.Cleared
	c.retention = append(c.retention, Retention{Owner: it.Number})
	c.announce(it, Cleared, why, place{c.Now.seq, c.Pos})
}

// resolve marks rules as resolved in every item that takes or covers entries, or may open again, and clears the open
// items with nothing unresolved. A resolved fault that returns is new, even if it was acknowledged.
func (c *Coalescer) resolve(rules []string) {
	for i := range c.Items {
		it := &c.Items[i]
		if it.State == itemOver {
			continue
		}
		hit := false
		for _, id := range rules {
			if r := it.rule(id); r != nil {
				r.Resolved, r.ResolvedAt, hit = true, c.Now.seq, true
			}
		}
		if hit && it.open() && it.resolved() {
			c.clear(it, ReasonResolved)
		}
	}
}

// endRun ends the items of the run of the game so far: they gather nothing more and are cleared. If there are
// consumers, blocking items stay until they are acknowledged or an agent arrives, so that an agent learns that the last
// run broke. Blindness and items of the host have ends of their own.
func (c *Coalescer) endRun() {
	c.endLoad()
	c.Episode = episode{}
	c.FreshSince = c.Now.seq
	agents := len(c.Consumers.List) > 1 || c.Consumers.List[0].Used > 0
	for i := range c.Items {
		it := &c.Items[i]
		if !it.Scope.plain() {
			continue
		}
		switch {
		case !it.open(), agents && it.Disposition == event.Blocking:
			it.on(onRun)
		default:
			c.clear(it, ReasonRestarted)
		}
	}
}

// wake sets the alarm for an advisory item.
func (c *Coalescer) wake(it *item) {
	if it.Disposition == event.Advisory {
		c.set(&c.Config.AdvisoryTTL, it.Alive)
	}
}

// sweep does the work that is due.
func (c *Coalescer) sweep() {
	if !c.alarm.due(c.Now) {
		return
	}
	c.alarm = alarm{}
	c.expire()
	c.abandonOverdue()
	if c.Loading() {
		c.overdueLoad()
	}
}

// expire clears the advisory items that have been quiet for AdvisoryTTL.
func (c *Coalescer) expire() {
	for i := range c.Items {
		it := &c.Items[i]
		switch {
		case !it.open():
		case it.Disposition == event.Advisory && c.Config.AdvisoryTTL.passed(it.Alive, c.Now):
			c.clear(it, ReasonExpired)
		default:
			c.wake(it)
		}
	}
}

// announce merges an update into the pending update of the item: an item that was not announced is still to be opened,
// cleared ends all else, and of two reasons the weightier stays. An update that stops no call needs an allowance: if
// the opening of an item was not announced, its clearing is not, either.
func (c *Coalescer) announce(it *item, kind string, why Reason, at place) {
	switch {
	case kind == Cleared:
		if !it.announced() && why != ReasonAcknowledged {
			return
		}
	case !it.announced():
		if !it.blocking() && !c.allow(it, 2) {
			return
		}
		kind = Opened
	case kind == Updated && why != reasonDisposition && why != reasonLoaded && it.Pending == "" && !c.allow(it, 1):
		return
	}
	if kind == Opened && it.Pending == "" && it.Announced {
		kind = Updated
	}
	if it.Pending == "" {
		c.Queue = append(c.Queue, it.Number)
	} else if kind == Updated && (it.Pending == Opened || it.PendingWhy.weight() > why.weight()) {
		return
	}
	it.Pending, it.PendingWhy, it.PendingAt = kind, why, at
}

// allowance bounds the number of updates that stop no call.
type allowance struct {
	Groups uint64 // seen
	Stops  uint64 // items that blocked from the beginning
	Spent  uint64
}

// allow reports whether an update of an item that stops no call may be made, and counts its cost. Each tenfold of
// entries and of groups allows three, and each stop one. Reports of the host need none.
func (c *Coalescer) allow(it *item, cost uint64) bool {
	if it.Scope >= scopeHost {
		return true
	}
	a := &c.Allowance
	if 6+thresholds(c.Counts.Folded)+thresholds(a.Groups)+a.Stops < a.Spent+cost {
		return false
	}
	a.Spent += cost
	return true
}

// NextUpdate removes and returns the oldest pending update, with its item as it is
// now: there is at most one for each item. It costs a rendering: sorting the groups of
// the item, and a few allocations. It returns false where no update is pending.
func (c *Coalescer) NextUpdate() (Update, bool) {
	if len(c.Queue) == 0 {
		return Update{}, false
	}
	it := c.numbered(c.Queue[0])
	c.Queue = slices.Delete(c.Queue, 0, 1)
	u := Update{Kind: it.Pending, Reason: it.PendingWhy, Seq: it.PendingAt.Seq, Pos: it.PendingAt.Pos}
	u.Item, _ = c.attention(it)
	it.Pending, it.Announced = "", it.Pending != Cleared
	it.Delivered[0] = it.Latest.seq
	c.Counts.Updates++
	return u, true
}

// dequeue drops the pending update of an item.
func (c *Coalescer) dequeue(it *item) {
	c.Queue = slices.DeleteFunc(c.Queue, func(number uint64) bool { return number == it.Number })
}

// numbered returns the item with a number, or nil.
func (c *Coalescer) numbered(n uint64) *item {
	return c.best(func(it *item) bool { return it.Number == n }, newer)
}

// Retention is a change of the entries that a journal should keep for an item, the owner. Without Pin and Evicted it is
// a release: the item is cleared, and its first entries may be evicted for the first entries of others.
type Retention struct {
	Owner uint64 // number of the item, as in [Folded]

	// Pin is an entry to be pinned, or 0: the cause of an item.
	Pin uint64

	// Evicted reports that the item is gone, and with it the reason for its pins.
	Evicted bool
}

// Retention appends to dst the changes since the last call, oldest first. Call it after Fold, Ack and Advance: changes
// wait without a bound.
func (c *Coalescer) Retention(dst []Retention) []Retention {
	dst = append(dst, c.retention...)
	c.retention = c.retention[:0]
	return dst
}

// Unpin chooses the cleared item whose pins the caller takes back, to make room for the pins of an open one: the next
// to be evicted, each once. It returns false when no cleared item is left.
func (c *Coalescer) Unpin() (owner uint64, ok bool) {
	victim := c.best(func(it *item) bool { return !it.open() && !it.Unpinned }, evictedBefore)
	if victim == nil {
		return 0, false
	}
	victim.Unpinned = true
	return victim.Number, true
}
