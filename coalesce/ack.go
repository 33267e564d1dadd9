package coalesce

import (
	"slices"

	"github.com/heedlog/heed/event"
)

// AckResult is the answer to an acknowledgement. It belongs to the caller.
type AckResult struct {
	ID string `json:"attentionId"`

	// Watermark is the sequence number up to which the item was acknowledged: 0 where
	// it was not, or had been before.
	Watermark uint64 `json:"watermark"`

	// Acknowledged reports that the item is known and no longer open. It is false
	// for an id that is not known (any more).
	Acknowledged bool `json:"acknowledged"`

	// Already reports that the item had been cleared before: by an earlier
	// acknowledgement, by a rule, by time, or to make room.
	Already bool `json:"already"`

	// Successor is the id of the item with the new entries that were not delivered to the acknowledger, or "".
	Successor string `json:"successor,omitempty"`

	// Covered holds the ids of the other items that the acknowledged view
	// named, and that are cleared with it. They may have successors as well.
	Covered []string `json:"covered,omitempty"`

	// Current is the item that is open now, if Open.
	Current Item `json:"current,omitzero"`
	Open    bool `json:"open"`
}

// Ack acknowledges, for a consumer, the item called id up to the sequence number through, the latest that was delivered
// to the consumer. If through is 0, it is the latest that [Coalescer.Current] or [Coalescer.Delivered] delivered, at
// least the entry that opened the item. The item is cleared in any case, for all consumers. Entries after through that
// are new to it open a successor; repeats stay in its totals. Items that the consumer's view of it named are
// acknowledged with it, each as far as it was delivered, unless through is older than that view. An unknown id is no
// error.
func (c *Coalescer) Ack(consumer, id string, through uint64) AckResult {
	res := AckResult{ID: id}
	v := c.consumer(consumer)
	if it := c.lookup(id); it != nil {
		res.Acknowledged, res.Already = true, !it.open()
		if it.open() {
			watermark := c.watermark(it, v, through)
			res.Watermark = watermark
			var covers []uint64
			if it.Consumer == v && watermark >= it.Viewed {
				covers = slices.Clone(it.Covers)
			}
			res.Successor = c.id(c.acknowledge(it, watermark))
			for _, number := range covers {
				if other := c.numbered(number); other != nil && other.open() {
					c.acknowledge(other, c.watermark(other, v, 0))
					res.Covered = append(res.Covered, other.id)
				}
			}
		}
	}
	res.Current, res.Open = c.Current(consumer)
	return res
}

// watermark returns the sequence number up to which an acknowledgement of it by a consumer goes. A consumer that knows
// the id has seen at least the opening of the item.
func (c *Coalescer) watermark(it *item, consumer int, through uint64) uint64 {
	if through == 0 {
		through = it.Delivered[consumer]
	}
	return max(through, it.Opened.Seq)
}

// acknowledge clears an open item up to watermark and returns the number of its
// successor, or 0. The burst of the item continues in the successor.
func (c *Coalescer) acknowledge(it *item, watermark uint64) uint64 {
	ofLoad, past := c.Loading() && it.Scope.plain() && it.Opened.Seq >= c.Load.Began.seq, it.State == itemPast
	c.Load.Acked = c.Load.Acked || ofLoad
	it.AckedAt = c.Now
	c.Counts.Acknowledged++
	c.clear(it, ReasonAcknowledged)
	if !slices.ContainsFunc(it.Counters.Rows, func(r *counter) bool { return it.news(r, watermark) }) {
		return 0
	}
	// One item was just closed, so a slot is free, or another item can be evicted.
	next := c.slot()
	c.start(next, &it.burst, it.Number, onOpen)
	next.Shared = it.Shared
	it.part(next, watermark)
	switch {
	case past:
		next.on(onRun)
	case ofLoad && next.Severity < event.SeverityFatal:
		next.State = itemDeferred
	}
	next.Alive = c.Now
	c.announce(next, Opened, reasonNew, place{next.Latest.seq, next.LatestPos})
	c.retention = append(c.retention, Retention{Owner: next.Number, Pin: next.Cause.Seq})
	c.wake(next)
	return next.Number
}
