package coalesce

import (
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// counter holds one variant of one group of an item: the entries of one signature that one
// rule decided.
type counter struct {
	Sig     signature.Signature `json:",omitzero"`
	Rule    string              `json:",omitzero"`
	Variant string              `json:",omitzero"` // see Input.Variant, or others
	Frame   frame               `json:",omitzero"` // see Input.Frame

	Disposition event.Disposition `json:",omitzero"`
	Severity    event.Severity    `json:",omitzero"`
	Invalidates bool              `json:",omitzero"`

	Count   uint64      `json:",omitzero"`
	First   place       `json:",omitzero"`
	FirstBy *operation  `json:",omitzero"` // that the first entry named, or nil
	Last    logicalTime `json:",omitzero"`
	LastPos uint64      `json:",omitzero"`

	// Worst is where the disposition reached its present height, Raised where
	// the group became worse last in any way; neither is before first. An
	// acknowledgement of what was before a turn has not seen what is after it.
	Worst  turn `json:",omitzero"`
	Raised turn `json:",omitzero"`

	Text    string  `json:",omitzero"` // escaped sample of the first entry
	Accused Accused `json:",omitempty"`

	Recurrence *recurrence `json:",omitzero"` // nil for a single occurrence
}

// frame is a hash.
type frame uint64

// turn is an entry at which a group became worse.
type turn struct {
	At    place      `json:",omitzero"`
	Named *operation `json:",omitzero"` // that the entry named, or nil

	// What the group was before.
	Count       uint64            `json:",omitzero"`
	Disposition event.Disposition `json:",omitzero"`
	Severity    event.Severity    `json:",omitzero"`
}

// add counts one entry at now, which named an operation or nil.
func (c *counter) add(in *Input, named *operation, now logicalTime) {
	d, at := &in.Decision, place{now.seq, in.Entry.Pos}
	if c.Count == 0 {
		c.First, c.FirstBy = at, named
	}
	if c.Count == 0 || c.worsens(d) {
		c.Raised = turn{At: at, Named: named, Count: c.Count, Disposition: c.Disposition, Severity: c.Severity}
		if c.Count == 0 || d.Disposition > c.Disposition {
			c.Worst = c.Raised
		}
		c.Severity = max(c.Severity, d.Severity)
		c.Disposition = max(c.Disposition, d.Disposition)
		c.Invalidates = c.Invalidates || d.Invalidates
	}
	c.Count++
	c.Last, c.LastPos = now, in.Entry.Pos
	if len(in.Blame) > 0 {
		c.Accused.Add(in.Blame, in.Entry.Pos)
	}
}

// worsens reports whether an entry that d decides about makes the group worse
// than it is.
func (c *counter) worsens(d *event.Decision) bool {
	return d.Severity > c.Severity || d.Disposition > c.Disposition || d.Invalidates && !c.Invalidates
}

// since makes t, a turn of c, count from an earlier one on. Of a group merged
// from two, a turn may have counted less than was before it, or than an earlier
// one; but what is after the first entry has that before it.
func (t *turn) since(c *counter, earlier turn) {
	t.Count -= min(t.Count, earlier.Count)
	if t.At.Seq > c.First.Seq {
		t.Count = max(t.Count, 1)
	}
}

// split takes from c what it counted from turn t on, and returns it as a group
// of its own. t is worst, or raised, or where the group began. The last entry
// that c is left with is not known; it keeps the one it had. What moves is taken
// to be as bad as all of c was: where a host reports one thing now as blocking and
// now as advisory, that may be worse than it is.
func (c *counter) split(t turn) counter {
	next := *c
	c.Recurrence = nil
	next.Count = c.Count - t.Count
	next.First, next.FirstBy = t.At, t.Named
	if next.Worst.At.Seq < t.At.Seq {
		next.Worst = t
	}
	next.Worst.since(&next, t)
	next.Raised.since(&next, t)
	next.Accused = c.Accused.atMost(next.Count)

	c.Count, c.Accused = t.Count, c.Accused.atMost(t.Count)
	c.Disposition, c.Severity = t.Disposition, t.Severity
	if c.Worst.At.Seq >= t.At.Seq {
		c.Worst = turn{At: c.First, Named: c.FirstBy}
	}
	return next
}

// counters are the variants of the groups of one item, in the order in which they came. They
// are rows of the index that all items share.
type counters struct {
	index    *index
	base     uint32    // of the item's rows in index.rows
	Rows     []counter `json:",omitempty"` // index.rows from base on; its capacity is that of the item
	variants int       // rows whose group has a row before them
}

// maxGroups bounds Config.MaxGroups.
const maxGroups = 1 << 14

// find returns the counter of (rule, sig, variant), or nil.
func (t *counters) find(rule string, sig signature.Signature, variant string) *counter {
	x := t.index
	for ref := x.groups.first(uint64(sig.ID)); ref != 0; ref = x.groups.next[ref] {
		if n := ref - t.base; n < uint32(len(t.Rows)) { // else it is a row of another item
			if r := &t.Rows[n]; r.Sig == sig && r.Variant == variant && r.Rule == rule {
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
		if r := &x.rows[ref]; ref-t.base < uint32(n) && r.Sig == sig && r.Rule == rule {
			return true
		}
	}
	return false
}

// add appends a row, whose variant of its group must not be there yet. The table must
// not be full.
func (t *counters) add(c counter) *counter {
	n := len(t.Rows)
	t.Rows = append(t.Rows, c)
	t.enter(n)
	return &t.Rows[n]
}

// enter makes row n known to the index. Those before it are.
func (t *counters) enter(n int) {
	t.index.enter(t.base + uint32(n))
	if t.holds(t.Rows[n].Rule, t.Rows[n].Sig, n) {
		t.variants++
	}
}

// retain drops every row that keep refuses.
func (t *counters) retain(keep func(*counter) bool) {
	kept := t.Rows[:0]
	for i := range t.Rows {
		t.index.leave(t.base + uint32(i))
	}
	for i := range t.Rows {
		if keep(&t.Rows[i]) {
			kept = append(kept, t.Rows[i])
		}
	}
	clear(t.Rows[len(kept):])
	t.Rows, t.variants = kept, 0
	for i := range t.Rows {
		t.enter(i)
	}
}

// groups returns the number of distinct groups.
func (t *counters) groups() uint64 { return uint64(len(t.Rows) - t.variants) }

// Merge makes one group of two, which turned out to be forms of the same thing:
// under each rule, what was counted of from is from now on counted of into, variant by
// variant. It changes no item but for its number of groups, and for the variants that
// are then beyond maxVariants, which join the others. It costs a pass over the groups
// of each item that holds from, and next to nothing where none does.
func (c *Coalescer) Merge(from, into signature.Signature) {
	if _, held := c.index.holds(from); from == into || !held {
		return
	}
	for i, ok := c.index.holds(from); ok; i, ok = c.index.holds(from) {
		it := &c.items[i]
		if it.Cause.Signature == from {
			it.Cause.Signature = into
		}
		it.Counters.move(func(r *counter) (signature.Signature, string, bool) { return into, r.Variant, r.Sig == from })
	}
	for rule, variant, ok := c.index.surplus(into); ok; rule, variant, ok = c.index.surplus(into) {
		for i := range c.items {
			if it := &c.items[i]; it.Counters.find(rule, into, variant) != nil {
				it.Counters.move(func(r *counter) (signature.Signature, string, bool) {
					return into, others, r.Sig == into && r.Rule == rule && r.Variant == variant
				})
			}
		}
	}
}

// move moves rows to other groups or variants, of which each may become one with one
// other row.
func (t *counters) move(to func(*counter) (sig signature.Signature, variant string, ok bool)) {
	for i := range t.Rows {
		r := &t.Rows[i]
		sig, variant, ok := to(r)
		if !ok {
			continue
		}
		other := t.find(r.Rule, sig, variant)
		t.index.leave(t.base + uint32(i))
		r.Sig, r.Variant = sig, variant
		t.index.enter(t.base + uint32(i))
		if other == nil {
			continue
		}
		// The row that came first stays, so that rows keep their order.
		if other.First.Seq < r.First.Seq {
			r, other = other, r
		}
		r.combine(other)
		other.Count = 0
	}
	t.retain(func(c *counter) bool { return c.Count > 0 })
}

// combine adds a group that came later to c. Counts are exact; of an entry at
// which c became worse, the count of what was before it includes the other
// group only where all of that was before it, so that an acknowledgement which
// splits c there rather shows too much again than too little.
func (c *counter) combine(o *counter) {
	if o.Disposition > c.Disposition || o.Disposition == c.Disposition && o.Worst.At.Seq < c.Worst.At.Seq {
		c.Worst = o.Worst.after(c)
	} else {
		c.Worst = c.Worst.after(o)
	}
	if o.Raised.At.Seq > c.Raised.At.Seq {
		c.Raised = o.Raised.after(c)
	} else {
		c.Raised = c.Raised.after(o)
	}
	c.Disposition = max(c.Disposition, o.Disposition)
	c.Severity = max(c.Severity, o.Severity)
	c.Invalidates = c.Invalidates || o.Invalidates
	c.Count += o.Count
	if c.Recurrence == nil {
		c.Recurrence = o.Recurrence
	} else if o.Recurrence != nil {
		c.Recurrence.Times += o.Recurrence.Times
		for i, n := range o.Recurrence.Seen {
			c.Recurrence.Seen[i] += n
		}
	}
	c.Accused = c.Accused.join(o.Accused)
	if o.Last.seq > c.Last.seq {
		c.Last, c.LastPos = o.Last, o.LastPos
	}
}

// after returns t with what is known to be before it of o, another group: all of
// it, or what was before a turn of it, or at least its first entry.
func (t turn) after(o *counter) turn {
	switch {
	case o.Last.seq < t.At.Seq:
		t.Count += o.Count
		t.Disposition = max(t.Disposition, o.Disposition)
		t.Severity = max(t.Severity, o.Severity)
	case o.First.Seq < t.At.Seq:
		known := uint64(1)
		t.Disposition = max(t.Disposition, event.Advisory)
		if o.Worst.At.Seq < t.At.Seq {
			known = o.Worst.Count + 1
			t.Disposition = max(t.Disposition, o.Disposition)
		}
		if o.Raised.At.Seq < t.At.Seq {
			known = max(known, o.Raised.Count+1)
			t.Severity = max(t.Severity, o.Severity)
		}
		t.Count += known
	}
	return t
}

// Rename gives each mod that entries point at the name that of returns, such as the name in a list of mods that came
// after the entries. That alone is no update.
func (c *Coalescer) Rename(of func(name string) string) {
	for i := range c.items {
		it := &c.items[i]
		for k := range it.Counters.Rows {
			r := &it.Counters.Rows[k]
			renamed := Accused(nil)
			for _, s := range r.Accused {
				s.Name = of(s.Name)
				renamed.count(s)
			}
			r.Accused = renamed
		}
	}
}

// causeRow returns the counter of the item's cause, or nil.
func (it *item) causeRow() (row *counter) {
	for i := range it.Counters.Rows {
		r := &it.Counters.Rows[i]
		if r.Rule == it.Cause.Rule && r.Sig == it.Cause.Signature && (row == nil || r.Worst.At.Seq == it.Cause.Seq) {
			row = r
		}
	}
	return row
}
