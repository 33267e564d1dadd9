package coalesce

import (
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// counter holds one variant of one group of an item: the entries of one signature that one
// rule decided.
type counter struct {
	sig     signature.Signature
	rule    string
	variant string // see Input.Variant, or others

	disposition event.Disposition
	severity    event.Severity
	invalidates bool

	count   uint64
	first   place
	firstBy *operation // that the first entry named, or nil
	last    logicalTime
	lastPos uint64

	// worst is where the disposition reached its present height, raised where
	// the group became worse last in any way; neither is before first. An
	// acknowledgement of what was before a turn has not seen what is after it.
	worst  turn
	raised turn

	text    string // escaped sample of the first entry
	accused Accused

	calm uint64 // Coalescer.version at which item.unmoved held of it; see Coalescer.repeat

	recurrence *recurrence // nil for a single occurrence
}

// turn is an entry at which a group became worse.
type turn struct {
	place
	named *operation // that the entry named, or nil

	// What the group was before.
	count       uint64
	disposition event.Disposition
	severity    event.Severity
}

// add counts one entry at now, which named an operation or nil.
func (c *counter) add(in *Input, named *operation, now logicalTime) {
	d, at := &in.Decision, place{now.seq, in.Entry.Pos}
	if c.count == 0 {
		c.first, c.firstBy = at, named
	}
	if c.count == 0 || c.worsens(d) {
		c.raised = turn{place: at, named: named, count: c.count, disposition: c.disposition, severity: c.severity}
		if c.count == 0 || d.Disposition > c.disposition {
			c.worst = c.raised
		}
		c.severity = max(c.severity, d.Severity)
		c.disposition = max(c.disposition, d.Disposition)
		c.invalidates = c.invalidates || d.Invalidates
	}
	c.bump(in, now)
}

// bump counts one entry at now.
func (c *counter) bump(in *Input, now logicalTime) {
	c.count++
	c.last, c.lastPos = now, in.Entry.Pos
	if len(in.Blame) > 0 {
		c.accused.Add(in.Blame, in.Entry.Pos)
	}
}

// worsens reports whether an entry that d decides about makes the group worse
// than it is.
func (c *counter) worsens(d *event.Decision) bool {
	return d.Severity > c.severity || d.Disposition > c.disposition || d.Invalidates && !c.invalidates
}

// since makes t, a turn of c, count from an earlier one on. Of a group merged
// from two, a turn may have counted less than was before it, or than an earlier
// one; but what is after the first entry has that before it.
func (t *turn) since(c *counter, earlier turn) {
	t.count -= min(t.count, earlier.count)
	if t.seq > c.first.seq {
		t.count = max(t.count, 1)
	}
}

// split takes from c what it counted from turn t on, and returns it as a group
// of its own. t is worst, or raised, or where the group began. The last entry
// that c is left with is not known; it keeps the one it had. What moves is taken
// to be as bad as all of c was: where a host reports one thing now as blocking and
// now as advisory, that may be worse than it is.
func (c *counter) split(t turn) counter {
	next := *c
	c.recurrence = nil
	next.count = c.count - t.count
	next.first, next.firstBy = t.place, t.named
	if next.worst.seq < t.seq {
		next.worst = t
	}
	next.worst.since(&next, t)
	next.raised.since(&next, t)
	next.accused = c.accused.atMost(next.count)

	c.count, c.accused = t.count, c.accused.atMost(t.count)
	c.disposition, c.severity = t.disposition, t.severity
	if c.worst.seq >= t.seq {
		c.worst = turn{place: c.first, named: c.firstBy}
	}
	return next
}

// counters are the variants of the groups of one item, in the order in which they came. They
// are rows of the index that all items share.
type counters struct {
	index    *index
	base     uint32    // of the item's rows in index.rows
	rows     []counter // index.rows from base on; its capacity is that of the item
	variants int       // rows whose group has a row before them
	last     int       // row that was found last: storms repeat themselves

	uncounted uncounted
}

// maxGroups bounds Config.MaxGroups.
const maxGroups = 1 << 14

// find returns the counter of (rule, sig, variant), or nil.
func (t *counters) find(rule string, sig signature.Signature, variant string) *counter {
	if t.last < len(t.rows) {
		if r := &t.rows[t.last]; r.sig == sig && r.variant == variant && r.rule == rule {
			return r
		}
	}
	x := t.index
	for ref := x.groups.first(uint64(sig.ID)); ref != 0; ref = x.groups.next[ref] {
		if n := ref - t.base; n < uint32(len(t.rows)) { // else it is a row of another item
			if r := &t.rows[n]; r.sig == sig && r.variant == variant && r.rule == rule {
				t.last = int(n)
				return r
			}
		}
	}
	return nil
}

// holds reports whether any of the first n rows is of the group (rule, sig).
func (t *counters) holds(rule string, sig signature.Signature, n int) bool {
	x := t.index
	for ref := x.groups.first(uint64(sig.ID)); ref != 0; ref = x.groups.next[ref] {
		if r := &x.rows[ref]; ref-t.base < uint32(n) && r.sig == sig && r.rule == rule {
			return true
		}
	}
	return false
}

// add appends a row, whose variant of its group must not be there yet. The table must
// not be full.
func (t *counters) add(c counter) *counter {
	t.rows = append(t.rows, c)
	t.last = len(t.rows) - 1
	t.index.enter(t.base + uint32(t.last))
	t.noteRow(t.last)
	return &t.rows[t.last]
}

// retain drops every row that keep refuses.
func (t *counters) retain(keep func(*counter) bool) {
	kept := t.rows[:0]
	for i := range t.rows {
		t.index.leave(t.base + uint32(i))
	}
	for i := range t.rows {
		if keep(&t.rows[i]) {
			kept = append(kept, t.rows[i])
		}
	}
	clear(t.rows[len(kept):])
	t.rows, t.last = kept, 0
	for i := range t.rows {
		t.index.enter(t.base + uint32(i))
	}
	t.recount()
}

// reset drops every row.
func (t *counters) reset() {
	t.forget()
	t.retain(func(*counter) bool { return false })
}

// Merge makes one group of two, which turned out to be forms of the same thing:
// under each rule, what was counted of from is from now on counted of into, variant by
// variant. It changes no item but for its number of groups, and for the variants that
// are then beyond maxVariants, which join the others. It costs a pass over the groups
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
		c.version++
		it.counters.move(func(r *counter) (signature.Signature, string, bool) { return into, r.variant, r.sig == from })
	}
	c.mergeUncounted(from, into)
	for rule, variant, ok := c.index.surplus(into); ok; rule, variant, ok = c.index.surplus(into) {
		for i := range c.items {
			if it := &c.items[i]; it.counters.find(rule, into, variant) != nil {
				c.version++
				it.counters.move(func(r *counter) (signature.Signature, string, bool) {
					return into, others, r.sig == into && r.rule == rule && r.variant == variant
				})
			}
		}
	}
}

// move moves rows to other groups or variants, of which each may become one with one
// other row.
func (t *counters) move(to func(*counter) (sig signature.Signature, variant string, ok bool)) {
	for i := range t.rows {
		r := &t.rows[i]
		sig, variant, ok := to(r)
		if !ok {
			continue
		}
		other := t.find(r.rule, sig, variant)
		t.index.leave(t.base + uint32(i))
		r.sig, r.variant = sig, variant
		t.index.enter(t.base + uint32(i))
		if other == nil {
			continue
		}
		// The row that came first stays, so that rows keep their order.
		if other.first.seq < r.first.seq {
			r, other = other, r
		}
		r.combine(other)
		other.count = 0
	}
	t.retain(func(c *counter) bool { return c.count > 0 })
}

// combine adds a group that came later to c. Counts are exact; of an entry at
// which c became worse, the count of what was before it includes the other
// group only where all of that was before it, so that an acknowledgement which
// splits c there rather shows too much again than too little.
func (c *counter) combine(o *counter) {
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
	if c.recurrence == nil {
		c.recurrence = o.recurrence
	} else if o.recurrence != nil {
		c.recurrence.Times += o.recurrence.Times
		for i, n := range o.recurrence.Seen {
			c.recurrence.Seen[i] += n
		}
	}
	c.accused = c.accused.join(o.accused)
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

// Rename gives each mod that entries point at the name that of returns, such as the name in a list of mods that came
// after the entries. That alone is no update.
func (c *Coalescer) Rename(of func(name string) string) {
	for i := range c.items {
		it := &c.items[i]
		for k := range it.counters.rows {
			r := &it.counters.rows[k]
			renamed := Accused(nil)
			for _, s := range r.accused {
				s.Name = of(s.Name)
				renamed.count(s)
			}
			r.accused = renamed
		}
	}
}

// causeRow returns the counter of the item's cause, or nil.
func (it *item) causeRow() (row *counter) {
	for i := range it.counters.rows {
		r := &it.counters.rows[i]
		if r.rule == it.cause.Rule && r.sig == it.cause.Signature && (row == nil || r.worst.seq == it.cause.Seq) {
			row = r
		}
	}
	return row
}
