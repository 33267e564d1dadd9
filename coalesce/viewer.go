package coalesce

import "strings"

// maxConsumerName bounds the name of a consumer, in bytes.
const maxConsumerName = 64

// consumer is somebody who looks at attention and acknowledges it. What it was
// shown is kept with each item, at its index.
type consumer struct {
	name     string
	attached bool
	used     uint64 // when it was heard of last, in calls
}

// consumers are those that are known. The first has no name, and stays: it is the
// host itself, which drains the updates, or the only one there is.
type consumers struct {
	list      []consumer
	calls     uint64
	displaced uint64
}

func newConsumers(n int) consumers { return consumers{list: make([]consumer, 1, n)} }

// consumer returns the index of the consumer called name, made where it is not
// known.
func (c *Coalescer) consumer(name string) int {
	if len(name) > maxConsumerName {
		name = strings.ToValidUTF8(name[:maxConsumerName], "")
	}
	v := &c.consumers
	v.calls++
	for i := range v.list {
		if v.list[i].name == name {
			v.list[i].used = v.calls
			return i
		}
	}
	i := len(v.list)
	if i < cap(v.list) {
		v.list = v.list[:i+1]
	} else {
		if i == 1 {
			return 0 // there is room for nobody else
		}
		i = v.victim()
		v.displaced++
		for k := range c.items {
			it := &c.items[k]
			it.delivered[i] = 0
			if it.consumer == i {
				it.covers = it.covers[:0]
			}
		}
	}
	v.list[i] = consumer{name: strings.Clone(name), used: v.calls}
	return i
}

// victim returns the index of the consumer to be displaced.
func (v *consumers) victim() int {
	victim := 1
	for i := 2; i < len(v.list); i++ {
		a, b := &v.list[i], &v.list[victim]
		if a.attached != b.attached && b.attached || a.attached == b.attached && a.used < b.used {
			victim = i
		}
	}
	return victim
}

// Delivered notes that a consumer was shown the item called id up to a sequence
// number, by other means than View: an update that was delivered to it. It
// returns false where the item is not known.
func (c *Coalescer) Delivered(consumer, id string, through uint64) bool {
	it := c.lookup(id)
	if it == nil {
		return false
	}
	v := c.consumer(consumer)
	it.delivered[v] = max(it.delivered[v], min(through, it.latest.seq))
	return true
}

// Detach notes that a consumer has left. What it was shown stays known.
func (c *Coalescer) Detach(consumer string) { c.consumers.list[c.consumer(consumer)].attached = false }
