package coalesce

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
)

// operation is one life of an operation: an id that starts again is another operation.
type operation struct {
	ref operationRef // in its place in a State, see [operation.MarshalJSON]

	ID     string       `json:",omitzero"`
	Parent string       `json:",omitzero"` // "" for a root
	Method string       `json:",omitzero"`
	Status event.Status `json:",omitzero"` // StatusNone: not seen to start or end

	Seen  bool `json:",omitzero"` // by its own name, not only as the parent of another
	Begun bool `json:",omitzero"` // seen to start

	Started logicalTime `json:",omitzero"` // or named first
	Ended   logicalTime `json:",omitzero"` // or was abandoned

	Abandoned bool          `json:",omitzero"`
	Gap       VerdictReason `json:",omitzero"` // why evidence was incomplete while it ran, or ""
	Doubtful  bool          `json:",omitzero"` // its end leaves open how it ended
	Marked    mark          `json:",omitzero"` // urgent entries in its window that are not charged to it

	Worst event.Disposition `json:",omitzero"` // of the entries charged to it alone
	Item  uint64            `json:",omitzero"` // number of the related item, 0: none

	openItem *item   // of a root: the item that gathers its burst
	Gathers  itemRef `json:",omitzero"` // openItem, in a State
}

// running reports whether the operation was seen, and neither to end nor given
// up.
func (o *operation) running() bool { return o.Seen && !o.Status.Ended() && !o.Abandoned }

// lingers reports whether the operation ended so recently that w has not passed.
func (o *operation) lingers(w *Window, now logicalTime) bool {
	return o.Status.Ended() && !w.passed(o.Ended, now)
}

// note records that an entry of disposition d, folded into item number, came
// of o.
func (o *operation) note(d event.Disposition, number uint64) {
	if d > o.Worst {
		o.Worst, o.Item = d, number
	}
}

// unsettled reports whether an end leaves open how the operation ended.
func unsettled(s event.Status) bool { return s == event.StatusTimedOut || s == event.StatusCancelled }

// maxDepth bounds the walk from an operation to its root. Hosts nest a few deep; a deeper operation counts as a root of
// its own.
const maxDepth = 32

// maxOperationID bounds a stored operation id or method, in bytes.
const maxOperationID = 256

// operations is a bounded table of operations in the order of their arrival.
type operations struct {
	byID   map[string]*operation
	order  []*operation // oldest first, capacity fixed
	recent []*operation // of these, at least those that run, or ended within Linger
	live   []*operation // of these, those seen to start that run, or ended within Linger
	only   *operation   // the root that an entry which names none belongs to, or nil
}

// holds reports whether o is in the table: neither evicted, nor another life of
// its id.
func (t *operations) holds(o *operation) bool { return t.byID[o.ID] == o }

// get returns the operation called id, or nil.
func (t *operations) get(id string) *operation { return t.byID[boundID(id)] }

// evict drops the operation of the least use: one at rest before a running one, one without an open item before one
// with an item, then the oldest.
func (t *operations) evict() {
	for cost := range 4 {
		for _, o := range t.order {
			if o.running() == (cost > 1) && (o.openItem != nil) == (cost%2 == 1) {
				t.drop(o)
				return
			}
		}
	}
}

// drop removes an operation, whose parent inherits its worst entry, its mark and its doubts.
func (t *operations) drop(o *operation) {
	if parent := t.byID[o.Parent]; o.Parent != "" && parent != nil {
		parent.Gap = cmp.Or(parent.Gap, o.Gap)
		if o.running() || o.Abandoned {
			parent.Gap = cmp.Or(parent.Gap, ReasonMissing)
		}
		parent.Marked = parent.Marked.stronger(o.Marked)
		parent.note(o.Worst, o.Item)
		if o.Doubtful {
			parent.Doubtful = true
			parent.Item = cmp.Or(parent.Item, o.Item)
		}
	}
	delete(t.byID, o.ID)
	i := slices.Index(t.order, o)
	t.order = slices.Delete(t.order, i, i+1)
	t.recent = slices.DeleteFunc(t.recent, func(other *operation) bool { return other == o })
}

// up yields an operation, then those that it is a part of, the nearest first.
func (t *operations) up(o *operation) iter.Seq[*operation] {
	return func(yield func(*operation) bool) {
		// Without a parent the map is not looked at: with 32 running operations a repeat costs 0.37 µs in place of 0.95.
		for depth := 0; o != nil && depth <= maxDepth && yield(o) && o.Parent != ""; depth++ {
			o = t.byID[o.Parent]
		}
	}
}

// root returns the operation that o is a part of, which may be o.
func (t *operations) root(o *operation) (root *operation) {
	for a := range t.up(o) {
		root = a
	}
	return root
}

// covered reports whether o was only named, and is a part of an operation that was seen to
// start: when it runs is for that one to say.
func (t *operations) covered(o *operation) bool { return !o.Begun && t.root(o) != o && t.root(o).Begun }

// isPart reports whether o is whole or a part of it.
func (t *operations) isPart(o, whole *operation) bool {
	for a := range t.up(o) {
		if a == whole {
			return true
		}
	}
	return false
}

// Parts returns the ids of the known operations that are parts of the one called id, which is not "", or of a part of
// it, in the order of their arrival. Its cost grows with the number of operations known.
func (c *Coalescer) Parts(id string) []string {
	var parts []string
	id = boundID(id)
	for _, o := range c.ops.order {
		for a := range c.ops.up(o) {
			if a.Parent == id {
				parts = append(parts, o.ID)
			}
		}
	}
	return parts
}

// boundID cuts an id or a method to maxOperationID bytes, and makes it UTF-8, as JSON keeps it.
func boundID(id string) string {
	return strings.ToValidUTF8(id[:min(len(id), maxOperationID)], "?")
}

// operation returns the operation called id, which an entry names, made where
// it is not known: named by others before it was seen to start, or without a
// start.
func (c *Coalescer) operation(id string) *operation {
	o := c.known(id)
	if !o.Seen {
		o.Seen, o.Started = true, c.now
		c.ops.recent = append(c.ops.recent, o)
		if c.stats.Blind {
			o.Gap = cmp.Or(o.Gap, ReasonBlind)
		}
		c.set(&c.cfg.OperationMax, o.Started)
		c.survey()
	}
	return o
}

// known returns the operation called id, made where it is not known.
func (c *Coalescer) known(id string) *operation {
	if o := c.ops.get(id); o != nil {
		return o
	}
	return c.begin(id)
}

// begin returns a new life of the operation called id. Operations that name it
// as their parent are its parts from now on.
func (c *Coalescer) begin(id string) *operation {
	t := &c.ops
	o := &operation{ID: strings.Clone(boundID(id)), Started: c.now}
	if old := t.byID[o.ID]; old != nil {
		t.drop(old)
	} else if len(t.order) == cap(t.order) {
		c.stats.OperationsEvicted++
		t.evict()
	}
	t.byID[o.ID] = o
	t.order = append(t.order, o)
	for _, part := range c.ops.order {
		if part.Parent == o.ID {
			c.handUp(part)
		}
	}
	return o
}

// handUp moves the burst of an operation that turns out to be a part to its root.
func (c *Coalescer) handUp(o *operation) {
	root := c.ops.root(o)
	if root.openItem == nil {
		root.openItem = o.openItem
		if it := o.openItem; it != nil && it.Root == o {
			it.Root = root
		}
	}
	o.openItem = nil
}

// operationEvent applies an event of an operation and returns the operation, or nil
// where the event has no id.
func (c *Coalescer) operationEvent(e *event.Entry) *operation {
	if e.OperationID == "" {
		c.stats.OperationsAnonymous++
		return nil
	}
	// A start begins another life, whose items are its own. Where o ended and no start was seen, it has only come late.
	if o := c.ops.get(e.OperationID); e.Status == event.StatusStarted &&
		(o == nil || o.Seen && !o.running() && (o.Begun || o.Abandoned)) {
		c.begin(e.OperationID)
	}
	o := c.operation(e.OperationID)
	if e.Source != "" && o.Method == "" {
		o.Method = strings.Clone(boundID(e.Source))
	}
	if e.Parent != "" && o.Parent == "" {
		if parent := c.known(e.Parent); !c.ops.isPart(parent, o) {
			o.Parent = parent.ID
			c.handUp(o)
		}
	}
	switch {
	case e.Status == event.StatusStarted:
		c.started(o)
	case e.Status.Ended() && (o.running() || o.Abandoned || o.Doubtful):
		c.ended(o, e.Status)
	case unsettled(e.Status):
		o.Doubtful = true // it ended otherwise before
	}
	c.survey()
	return o
}

// started records that o starts. As a root, it is a call, and receives the mark that waits for the next one.
func (c *Coalescer) started(o *operation) {
	if o.Status == event.StatusNone {
		o.Status, o.Started = event.StatusStarted, c.now
		c.set(&c.cfg.OperationMax, o.Started)
	}
	o.Begun = true
	if o.Parent == "" {
		c.calls.Begun++
		c.calls.BegunAt = c.now.seq
		o.Marked, c.calls.Pending = cmp.Or(o.Marked, c.calls.Pending), mark{}
	}
	c.meetOpen(o)
}

// ended records that o ends with status s. A late end settles how it ended. Entries in between were not charged to it:
// their absence is no evidence.
func (c *Coalescer) ended(o *operation, s event.Status) {
	if o.Abandoned || !o.running() && c.cfg.Linger.passed(o.Ended, c.now) {
		o.Gap = cmp.Or(o.Gap, o.unknown(false))
	}
	if s == event.StatusCompleted && o.running() {
		c.completed(o)
	}
	if c.ops.holds(o) && !slices.Contains(c.ops.recent, o) { // else its parent took its place
		c.ops.recent = append(c.ops.recent, o)
	}
	o.Status, o.Ended, o.Abandoned = s, c.now, false
	o.Doubtful = unsettled(s)
}

// resurvey is survey for a new generation of time, or for other windows: any operation may be under way again.
func (c *Coalescer) resurvey() {
	c.ops.recent = append(c.ops.recent[:0], c.ops.order...)
	c.survey()
}

// survey finds the operations under way, and the root operation for entries that name none: the only one that runs,
// itself or in a part, or, with none running, the only one that ended within Linger. An operation that was named but
// not seen to start is never this one, and prevents another one. It follows each event of an operation, and each end of
// Linger.
func (c *Coalescer) survey() {
	t := &c.ops
	t.recent = slices.DeleteFunc(t.recent, func(o *operation) bool {
		return !o.running() && !o.lingers(&c.cfg.Linger, c.now)
	})
	t.live, t.only, c.calls.marked = t.live[:0], nil, false
	runs, sure, more := false, false, false // of those that count: one runs, was seen to start or to end, has another root
	for _, o := range t.recent {
		running := o.running()
		if !running {
			c.set(&c.cfg.Linger, o.Ended)
		}
		if o.Begun {
			t.live = append(t.live, o)
		}
		if t.covered(o) || !running && runs {
			continue
		}
		if running && !runs {
			runs, sure, more, t.only = true, false, false, nil
		}
		root := t.root(o)
		more, sure = more || t.only != nil && t.only != root, sure || !running || o.Begun
		t.only = root
	}
	if more || !sure {
		t.only = nil
	}
}

// missEvidence marks the operations that run, or ended just now, as seen in part.
func (c *Coalescer) missEvidence(why VerdictReason) {
	for _, o := range c.ops.order {
		if !o.Status.Ended() || o.lingers(&c.cfg.Linger, c.now) {
			o.Gap = cmp.Or(o.Gap, why)
		}
	}
}

// abandonOverdue abandons operations that have run for OperationMax.
func (c *Coalescer) abandonOverdue() {
	for _, o := range c.ops.recent {
		switch {
		case !o.running() || c.ops.covered(o):
		case c.cfg.OperationMax.passed(o.Started, c.now):
			c.abandon(o)
		default:
			c.set(&c.cfg.OperationMax, o.Started)
		}
	}
	c.survey()
}

// abandon gives up an operation whose end was not seen.
func (c *Coalescer) abandon(o *operation) {
	o.Abandoned, o.Ended = true, c.now
	c.stats.OperationsAbandoned++
}

// concern charges an entry in item number n to its operation, and marks the others under way. If why is not "", it
// charges none, unless the entry is advisory: whether a call caused that matters little.
func (c *Coalescer) concern(in *Input, to *destination, n uint64, why VerdictReason) {
	o := to.named
	if o != nil && unsettled(in.Entry.Status) {
		o.Item = cmp.Or(o.Item, n) // it reports that the end is not known
		c.mark(n, ReasonBackground, o)
		return
	}
	if o == nil {
		o = to.root
	}
	if why == "" && in.Entry.Status == event.StatusStall {
		why = ReasonBackground // a game that does not answer may work on the call
	}
	advisory := in.Decision.Disposition == event.Advisory
	if o == nil && advisory && to.scope == scopeAmbient && len(c.ops.live) > 0 {
		o = c.ops.only
	}
	if why != "" && !advisory {
		if o != nil {
			o.mark(n, why)
		}
		c.mark(n, why, nil)
		return
	}
	if o == nil {
		if !advisory || to.scope != scopeHost && to.scope != scopeDigest { // which are no evidence of the log
			c.mark(n, ReasonBackground, nil)
		}
		return
	}
	o.note(in.Decision.Disposition, n)
	c.mark(n, ReasonBackground, o)
}

// A reference is a position in State.Items or State.Operations plus one, 0: none.
type (
	itemRef      int
	operationRef int
)
