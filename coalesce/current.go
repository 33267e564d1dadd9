package coalesce

import (
	"slices"

	"github.com/heedlog/heed/event"
)

// Current returns the one open item that an agent should see first: blocking
// before advisory, then by severity, then the oldest. Its summary names the
// others, as many as Config.MaxNamed and as it has room for; an acknowledgement of it by the same consumer
// covers those, unless another consumer looked at it since. It returns false when
// nothing is open. What it returns counts as shown to the consumer, and belongs to
// the caller.
func (c *Coalescer) Current(consumer string) (Attention, bool) {
	v := c.consumer(consumer)
	open := c.ordered()
	if len(open) == 0 {
		return Attention{}, false
	}
	top, others := open[0], open[1:]
	top.delivered[v] = top.latest.seq
	top.consumer, top.viewed = v, top.latest.seq
	top.covers = top.covers[:0]
	a := c.bare(top)
	var named int
	a.Summary, named = c.summarize(top, &a, others)
	for _, it := range others[:named] {
		it.delivered[v] = it.latest.seq
		top.covers = append(top.covers, cover{number: it.number, watermark: it.latest.seq})
	}
	a.Sanitize()
	return a, true
}

// ordered returns the open items in the order of precedence.
func (c *Coalescer) ordered() []*item {
	open := make([]*item, 0, c.nOpen)
	for i := range c.items {
		if it := &c.items[i]; it.open() {
			open = append(open, it)
		}
	}
	slices.SortFunc(open, func(a, b *item) int {
		if precedes(a, b) {
			return -1
		}
		return 1
	})
	return open
}

// precedes reports whether open item a is to be seen before b.
func precedes(a, b *item) bool {
	if x, y := a.disposition == event.Blocking, b.disposition == event.Blocking; x != y {
		return x
	}
	if a.severity != b.severity {
		return a.severity > b.severity
	}
	return a.number < b.number
}

// OpenIDs appends the ids of the open items to dst, in the order of precedence.
func (c *Coalescer) OpenIDs(dst []string) []string {
	for _, it := range c.ordered() {
		dst = append(dst, it.id)
	}
	return dst
}

// Item returns the item called id while it is open or remembered. It does not
// count as showing it.
func (c *Coalescer) Item(id string) (Attention, bool) {
	it := c.lookup(id)
	if it == nil {
		return Attention{}, false
	}
	return c.attention(it), true
}
