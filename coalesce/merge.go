package coalesce

import (
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// Merge makes one group of two, which turned out to be forms of the same thing:
// under each rule, what was counted of from is from now on counted of into. It
// changes no item but for its number of groups. It costs a pass over the groups
// of each item that holds from, and next to nothing where none does.
func (c *Coalescer) Merge(from, into signature.Signature) {
	if from == into {
		return
	}
	for i, ok := c.index.holds(from); ok; i, ok = c.index.holds(from) {
		it := &c.items[i]
		if it.cause.Signature == from {
			it.cause.Signature = into
		}
		c.save(it)
		c.version++
		it.counters.merge(from, into)
	}
}

// merge moves the rows of from, of which there are some, to into.
func (t *counters) merge(from, into signature.Signature) {
	for i := range t.rows {
		r := &t.rows[i]
		if r.sig != from {
			continue
		}
		other := t.find(r.rule, into)
		t.index.groups.remove(uint64(from.ID), t.base+uint32(i))
		t.index.groups.add(uint64(into.ID), t.base+uint32(i))
		r.sig = into
		if other == nil {
			continue
		}
		// The row that came first stays, so that rows keep their order.
		if other.first.seq < r.first.seq {
			r, other = other, r
		}
		r.absorb(other)
		other.count = 0
	}
	t.retain(func(c *counter) bool { return c.count > 0 })
}

// absorb adds a group that came later to c. Counts are exact; of an entry at
// which c became worse, the count of what was before it includes the other
// group only where all of that was before it, so that an acknowledgement which
// splits c there rather shows too much again than too little.
func (c *counter) absorb(o *counter) {
	if o.disposition > c.disposition || o.disposition == c.disposition && o.worst.seq < c.worst.seq {
		c.worst = o.worst.after(c)
	} else {
		c.worst = c.worst.after(o)
	}
	if o.raised.seq > c.raised.seq {
		c.raised = o.raised.after(c)
	} else {
		c.raised = c.raised.after(o)
	}
	c.disposition = max(c.disposition, o.disposition)
	c.severity = max(c.severity, o.severity)
	c.invalidates = c.invalidates || o.invalidates
	c.count += o.count
	if c.blame == "" {
		c.blame = o.blame
	}
	if o.last.seq > c.last.seq {
		c.last, c.lastPos = o.last, o.lastPos
	}
}

// after returns t with what is known to be before it of o, another group: all of
// it, or what was before a turn of it, or at least its first entry.
func (t turn) after(o *counter) turn {
	switch {
	case o.last.seq < t.seq:
		t.count += o.count
		t.disposition = max(t.disposition, o.disposition)
		t.severity = max(t.severity, o.severity)
	case o.first.seq < t.seq:
		known := uint64(1)
		t.disposition = max(t.disposition, event.Advisory)
		if o.worst.seq < t.seq {
			known = o.worst.count + 1
			t.disposition = max(t.disposition, o.disposition)
		}
		if o.raised.seq < t.seq {
			known = max(known, o.raised.count+1)
			t.severity = max(t.severity, o.severity)
		}
		t.count += known
	}
	return t
}
