package coalesce

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// maxConsumerName bounds the name of a consumer, in bytes.
const maxConsumerName = 64

// consumer receives attention and acknowledges it. Its watermark in an item is
// item.delivered at its index.
type consumer struct {
	Name     string
	Attached bool
	Used     uint64 // at which call it was named last
}

// consumers is a bounded table. The first has no name, and is never evicted: it is the
// host itself, which drains the updates, or the only consumer.
type consumers struct {
	List  []consumer
	Calls uint64
}

// consumer returns the index of the consumer called name, made where it is not
// known.
func (c *Coalescer) consumer(name string) int {
	name = strings.ToValidUTF8(name[:min(len(name), maxConsumerName)], "?")
	v := &c.Consumers
	v.Calls++
	for i := range v.List {
		if v.List[i].Name == name {
			v.List[i].Used = v.Calls
			return i
		}
	}
	i := len(v.List)
	if i < cap(v.List) {
		v.List = v.List[:i+1]
	} else {
		if i == 1 {
			return 0 // MaxConsumers is 1
		}
		i = slices.Index(v.List, slices.MinFunc(v.List[1:], func(a, b consumer) int {
			rank := map[bool]int{true: 1}
			return cmp.Or(cmp.Compare(rank[a.Attached], rank[b.Attached]), cmp.Compare(a.Used, b.Used))
		}))
		c.Counts.ConsumersEvicted++
		for k := range c.Items {
			it := &c.Items[k]
			it.Delivered[i] = 0
			if it.Consumer == i {
				it.Covers = it.Covers[:0]
			}
		}
	}
	v.List[i] = consumer{Name: strings.Clone(name), Used: v.Calls}
	return i
}

// Delivered raises the watermark of a consumer in the item called id to a sequence number, for a delivery by other
// means than [Coalescer.Current], such as an update. It returns false if the item is not known.
func (c *Coalescer) Delivered(consumer, id string, through uint64) bool {
	it := c.lookup(id)
	if it == nil {
		return false
	}
	v := c.consumer(consumer)
	it.Delivered[v] = max(it.Delivered[v], min(through, it.Latest.seq))
	return true
}

// Detach records that a consumer has left. Its watermarks stay.
func (c *Coalescer) Detach(consumer string) { c.Consumers.List[c.consumer(consumer)].Attached = false }

// Current returns the one open item that an agent should see first: blocking before advisory, then items of the present
// run of the game before earlier ones, then by the weight of their dominant members ([Member.Compare]), then the
// oldest. An earlier item that explains the first comes before it. Its summary names the others, as many as
// Config.MaxNamed and MaxSummaryTokens allow. An acknowledgement of it by the same consumer covers those, unless
// another consumer received it since. It returns false when nothing is open. The item counts as delivered to the
// consumer, and belongs to the caller.
func (c *Coalescer) Current(consumer string) (Item, bool) {
	v := c.consumer(consumer)
	open := c.ordered()
	if len(open) == 0 {
		return Item{}, false
	}
	top, others := open[0], open[1:]
	top.Delivered[v] = top.Latest.seq
	top.Consumer, top.Viewed = v, top.Latest.seq
	top.Covers = top.Covers[:0]
	a, named := c.attention(top, others...)
	for _, it := range others[:named] {
		it.Delivered[v] = it.Latest.seq
		top.Covers = append(top.Covers, it.Number)
	}
	return a, true
}

// ordered returns the open items in the order of precedence.
func (c *Coalescer) ordered() []*item {
	var open []*item
	weights := map[*item]*Member{}
	for i := range c.Items {
		if it := &c.Items[i]; it.open() {
			open = append(open, it)
			weights[it] = &c.members(it)[0]
		}
	}
	rank := func(it *item) int {
		switch {
		case !it.blocking():
			return 2
		case it.State == itemPast:
			return 1
		}
		return 0
	}
	slices.SortFunc(open, func(a, b *item) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), weights[a].Compare(weights[b]))
	})
	if i := slices.IndexFunc(open, func(it *item) bool {
		return rank(it) == rank(open[0]) && weights[it].began < weights[open[0]].began &&
			weights[open[0]].ExplainedBy(weights[it])
	}); i > 0 {
		cause := open[i]
		open = slices.Insert(slices.Delete(open, i, i+1), 0, cause)
	}
	return open
}

// OpenIDs returns the ids of the open items, in the order of precedence.
func (c *Coalescer) OpenIDs() []string { return ids(c.ordered()) }

// AckedIDs returns the ids of the acknowledged items of this run that blocked, the latest first. No rule has resolved
// them, so the reported state may remain.
func (c *Coalescer) AckedIDs() []string {
	var acked []*item
	for i := range c.Items {
		if it := &c.Items[i]; it.State == itemAcked && it.Disposition == event.Blocking && !it.resolved() {
			acked = append(acked, it)
		}
	}
	slices.SortFunc(acked, func(a, b *item) int { return cmp.Compare(b.ClearedAt, a.ClearedAt) })
	return ids(acked)
}

func ids(items []*item) (ids []string) {
	for _, it := range items {
		ids = append(ids, it.id)
	}
	return ids
}

// Item returns the item called id while it is open or remembered. It does not
// count as showing it.
func (c *Coalescer) Item(id string) (Item, bool) {
	it := c.lookup(id)
	if it == nil {
		return Item{}, false
	}
	a, _ := c.attention(it)
	return a, true
}

// Know records in an item a line that the host knows from elsewhere, such as from earlier runs of the game. 256
// characters of the text are kept, on one line, and the summary has them in quotes. It causes no update. It returns
// false if no item has this id.
func (c *Coalescer) Know(id, line string) bool {
	it := c.lookup(id)
	if it == nil {
		return false
	}
	it.Known = strings.Clone(text.Safe(line, maxItemName))
	return true
}
