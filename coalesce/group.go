package coalesce

import (
	"slices"

	"github.com/heedlog/heed/signature"
)

// counter holds one variant of one group of an item: the entries of one signature that one
// rule decided.
type counter struct {
	Sig     signature.Signature `json:",omitzero"`
	Rule    string              `json:",omitzero"`
	Variant string              `json:",omitzero"` // see Input.Variant, or others
	Frame   frame               `json:",omitzero"` // see Input.Frame
	Spare   uint64              `json:",omitzero"` // latest other entry that it represents, or 1; see item.spares

	gravity

	Count   uint64      `json:",omitzero"`
	First   place       `json:",omitzero"`
	FirstBy *life       `json:",omitzero"` // that the first entry named, or nil
	Phase   string      `json:",omitzero"` // at the first entry
	Last    logicalTime `json:",omitzero"`
	LastPos uint64      `json:",omitzero"`
	Early   bool        `json:",omitzero"` // all entries came while the game started

	// Raised is where the group became worse last, or returned after its rule was resolved. An acknowledgement of
	// entries before it does not cover the entries after it.
	Raised turn `json:",omitzero"`

	Text    string  `json:",omitzero"` // escaped sample of the first entry
	Accused Accused `json:",omitempty"`

	Recurrence *recurrence `json:",omitzero"` // nil for a single occurrence

	of *item // that has it
}

// frame is a hash.
type frame uint64

// turn is an entry at which a group became worse, or returned.
type turn struct {
	At place `json:",omitzero"`

	// The group before that entry.
	Count uint64 `json:",omitzero"`
	gravity
}

// add counts one entry at now, which named an operation or nil. The group may have returned after it was resolved.
func (c *counter) add(in *Input, named *operation, now logicalTime, returned bool) {
	d, at := &in.Decision, place{now.seq, in.Entry.Pos}
	if c.Count == 0 {
		c.First, c.FirstBy, c.Phase = at, named.life(), in.Phase
	}
	if c.Count == 0 || returned || gravityOf(d).above(c.gravity) != "" {
		c.Raised = turn{at, c.Count, c.gravity}
		c.raise(gravityOf(d))
	}
	c.Early = (c.Count == 0 || c.Early) && in.starting()
	c.Count++
	c.Last, c.LastPos = now, in.Entry.Pos
	if len(in.Blame) > 0 {
		c.Accused.Add(in.Blame, in.Entry.Pos)
	}
}

// split moves the entries of c since it became worse last into a group of its own, which it returns. The last entry
// that stays is not known; c keeps its Last. The returned group is taken to be as bad as all of c: if a host reports
// one fault now as blocking and now as advisory, that may be worse than it is.
func (c *counter) split() counter {
	next, t := *c, c.Raised
	next.Count, next.First, next.FirstBy, next.Phase, next.Raised = c.Count-t.Count, t.At, nil, "", turn{At: t.At}
	next.Accused = slices.Clone(c.Accused)

	c.Count, c.Recurrence, c.gravity, c.Raised = t.Count, nil, t.gravity, turn{At: c.First}
	return next
}

// counters are the variants of the groups of one item, in the order in which they came.
type counters struct {
	index *index
	of    *item
	Rows  []*counter `json:",omitempty"` // at most index.size
}

// find returns the counter of (rule, sig, variant), or nil.
func (t *counters) find(rule string, sig signature.Signature, variant string) *counter {
	for _, r := range t.index.groups[sig] {
		if r.of == t.of && r.Variant == variant && r.Rule == rule {
			return r
		}
	}
	return nil
}

// left returns the number of rows for which there is room.
func (t *counters) left() int { return t.index.size - len(t.Rows) }

// add appends a row, whose variant of its group must not be there yet. The table must
// not be full.
func (t *counters) add(c counter) *counter {
	c.of = t.of
	t.Rows = append(t.Rows, &c)
	t.index.enter(&c)
	return &c
}

// first returns a row of a group, the same one as long as the item has it, or nil.
func (t *counters) first(rule string, sig signature.Signature) (first *counter) {
	t.index.each(rule, sig, func(r *counter) {
		if r.of == t.of && first == nil {
			first = r
		}
	})
	return first
}

// prune drops every row without entries.
func (t *counters) prune() {
	t.Rows = slices.DeleteFunc(t.Rows, func(r *counter) bool {
		if r.Count == 0 {
			t.index.leave(r)
		}
		return r.Count == 0
	})
}

// groups returns the number of distinct groups.
func (t *counters) groups() (n uint64) {
	for _, r := range t.Rows {
		if t.first(r.Rule, r.Sig) == r {
			n++
		}
	}
	return n
}

// Merge makes one group of two that turned out to be forms of the same text: under each rule, entries of from count for
// into from now on, variant by variant. It changes no item except for its number of groups. A group may then have more
// variants than maxVariants. It costs a pass over the groups of each item that holds from, and next to nothing if none
// does.
func (c *Coalescer) Merge(from, into signature.Signature) {
	if from == into {
		return
	}
	for _, r := range slices.Clone(c.index.groups[from]) {
		if r.of.Cause.Signature == from {
			r.of.Cause.Signature = into
		}
		t := &r.of.Counters
		other := t.find(r.Rule, into, r.Variant)
		t.index.leave(r)
		r.Sig = into
		t.index.enter(r)
		if other == nil {
			continue
		}
		// The row that came first stays, so that rows keep their order.
		if other.First.Seq < r.First.Seq {
			r, other = other, r
		}
		r.combine(other)
		other.Count = 0
		t.prune()
	}
}

// combine adds a group that came later to c. Counts are exact. Where the other one became worse than c, c became so:
// at least its first entry was before that, and an acknowledgement that splits c there shows too much again rather
// than too little.
func (c *counter) combine(o *counter) {
	if o.above(c.gravity) != "" {
		if c.Raised.At.Seq <= o.Raised.At.Seq {
			c.Raised = turn{o.Raised.At, max(1, o.Raised.Count), c.gravity}
		}
		c.raise(o.gravity)
	}
	c.Count += o.Count
	c.Spare = min(c.Spare, o.Spare)
	if c.Recurrence == nil {
		c.Recurrence = o.Recurrence
	} else if o.Recurrence != nil {
		c.Recurrence.Times += o.Recurrence.Times
		c.Recurrence.Alone += o.Recurrence.Alone
	}
	c.Accused, c.Early = c.Accused.join(o.Accused), c.Early && o.Early
	if o.Last.seq > c.Last.seq {
		c.Last, c.LastPos = o.Last, o.LastPos
	}
}

// Rename replaces the name of each mod that entries point at by the result of of, such as the name in a list of mods
// that came after the entries. It causes no update.
func (c *Coalescer) Rename(of func(name string) string) {
	for i := range c.Items {
		it := &c.Items[i]
		for _, r := range it.Counters.Rows {
			renamed := Accused(nil)
			for _, s := range r.Accused {
				s.Name = of(s.Name)
				renamed.count(s)
			}
			r.Accused = renamed
		}
	}
}

// causeRow returns the counter of the item's cause.
func (it *item) causeRow() *counter {
	return it.Counters.find(it.Cause.Rule, it.Cause.Signature, it.CauseOf)
}
