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
	ID     string       `json:",omitzero"`
	Born   uint64       `json:",omitzero"` // number of the entry that named it first; no other life of the id has it
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

	name *life // see operation.life
}

// life names one life of an operation, which it outlasts, with the method that was known then.
type life struct {
	ID     string
	Born   uint64
	Method string `json:",omitzero"`
}

// life returns the name of o, nil for none.
func (o *operation) life() *life {
	if o == nil {
		return nil
	}
	if o.name == nil || o.name.Method != o.Method {
		o.name = &life{o.ID, o.Born, o.Method}
	}
	return o.name
}

// is reports whether n and o name one life, or are both nil.
func (n *life) is(o *life) bool {
	return n == o || n != nil && o != nil && n.Born == o.Born && n.ID == o.ID
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
	Order []*operation `json:",omitempty"` // oldest first, capacity fixed
	byID  map[string]*operation
	live  []*operation // of these, those seen to start that run, or ended within Linger
	only  *operation   // the root that an entry which names none belongs to, or nil
}

// get returns the operation called id, or nil.
func (t *operations) get(id string) *operation { return t.byID[boundID(id)] }

// evictOperation drops the operation of the least use: one at rest before a running one, one without an open item
// before one with an item, then the oldest.
func (c *Coalescer) evictOperation() {
	for cost := range 4 {
		for _, o := range c.Operations.Order {
			if o.running() == (cost > 1) && (c.itemOf(o) != nil) == (cost%2 == 1) {
				c.Operations.drop(o)
				return
			}
		}
	}
}

// itemOf returns the open item of the burst of an operation, or nil.
func (c *Coalescer) itemOf(o *operation) *item {
	return c.best(func(it *item) bool { return it.takes() && it.Root.is(o.life()) }, newer)
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
	i := slices.Index(t.Order, o)
	t.Order = slices.Delete(t.Order, i, i+1)
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

// Parts returns the ids of the known operations that are parts of the one called id, or of a part of it, in the order
// of their arrival: with "" all, except parts of an unknown one. Its cost grows with the number of operations known.
func (c *Coalescer) Parts(id string) []string {
	var parts []string
	id = boundID(id)
	for _, o := range c.Operations.Order {
		for a := range c.Operations.up(o) {
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
		o.Seen, o.Started = true, c.Now
		if c.Counts.Blind {
			o.Gap = cmp.Or(o.Gap, ReasonBlind)
		}
		c.set(&c.Config.OperationMax, o.Started)
		c.survey()
	}
	return o
}

// known returns the operation called id, made where it is not known.
func (c *Coalescer) known(id string) *operation {
	if o := c.Operations.get(id); o != nil {
		return o
	}
	return c.begin(id)
}

// begin returns a new life of the operation called id. Operations that name it
// as their parent are its parts from now on.
func (c *Coalescer) begin(id string) *operation {
	t := &c.Operations
	o := &operation{ID: strings.Clone(boundID(id)), Born: c.Now.seq, Started: c.Now}
	if old := t.byID[o.ID]; old != nil {
		t.drop(old)
	} else if len(t.Order) == cap(t.Order) {
		c.Counts.OperationsEvicted++
		c.evictOperation()
	}
	t.byID[o.ID] = o
	t.Order = append(t.Order, o)
	for _, part := range c.Operations.Order {
		if part.Parent == o.ID {
			c.handUp(part)
		}
	}
	return o
}

// handUp moves the burst of an operation that turns out to be a part to its root.
func (c *Coalescer) handUp(o *operation) {
	if it, root := c.itemOf(o), c.Operations.root(o); it != nil && c.itemOf(root) == nil {
		it.Root = root.life()
	}
}

// operationEvent applies an event of an operation and returns the operation, or nil
// where the event has no id.
func (c *Coalescer) operationEvent(e *event.Entry) *operation {
	if e.OperationID == "" {
		c.Counts.OperationsAnonymous++
		return nil
	}
	// A start begins another life, whose items are its own. Where o ended and no start was seen, it has only come late.
	if o := c.Operations.get(e.OperationID); e.Status == event.StatusStarted &&
		(o == nil || o.Seen && !o.running() && (o.Begun || o.Abandoned)) {
		c.begin(e.OperationID)
	}
	o := c.operation(e.OperationID)
	if e.Source != "" && o.Method == "" {
		o.Method = strings.Clone(boundID(e.Source))
	}
	if e.Parent != "" && o.Parent == "" {
		if parent := c.known(e.Parent); !c.Operations.isPart(parent, o) {
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
		o.Status, o.Started = event.StatusStarted, c.Now
		c.set(&c.Config.OperationMax, o.Started)
	}
	o.Begun = true
	if o.Parent == "" {
		c.Calls.Begun++
		c.Calls.BegunAt = c.Now.seq
		o.Marked, c.Calls.Pending = cmp.Or(o.Marked, c.Calls.Pending), mark{}
	}
	c.meetOpen(o)
}

// ended records that o ends with status s. A late end settles how it ended. Entries in between were not charged to it:
// their absence is no evidence.
func (c *Coalescer) ended(o *operation, s event.Status) {
	if o.Abandoned || !o.running() && c.Config.Linger.passed(o.Ended, c.Now) {
		o.Gap = o.unknown(false)
	}
	if s == event.StatusCompleted && o.running() {
		c.completed(o)
	}
	o.Status, o.Ended, o.Abandoned = s, c.Now, false
	o.Doubtful = unsettled(s)
}

// survey finds the operations under way, and the root operation for entries that name none: the only one that runs,
// itself or in a part, or, with none running, the only one that ended within Linger. An operation that was named but
// not seen to start is never this one, and prevents another one. It follows each event of an operation, and each end of
// Linger.
func (c *Coalescer) survey() {
	t := &c.Operations
	t.live, t.only, c.Calls.marked = t.live[:0], nil, false
	runs, sure, more := false, false, false // of those that count: one runs, was seen to start or to end, has another root
	for _, o := range t.Order {
		running := o.running()
		if !running {
			if !o.lingers(&c.Config.Linger, c.Now) {
				continue
			}
			c.set(&c.Config.Linger, o.Ended)
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
	for _, o := range c.Operations.Order {
		if !o.Status.Ended() || o.lingers(&c.Config.Linger, c.Now) {
			o.Gap = cmp.Or(o.Gap, why)
		}
	}
}

// abandonOverdue abandons operations that have run for OperationMax.
func (c *Coalescer) abandonOverdue() {
	for _, o := range c.Operations.Order {
		switch {
		case !o.running() || c.Operations.covered(o):
		case c.Config.OperationMax.passed(o.Started, c.Now):
			c.abandon(o)
		default:
			c.set(&c.Config.OperationMax, o.Started)
		}
	}
	c.survey()
}

// abandon gives up an operation whose end was not seen.
func (c *Coalescer) abandon(o *operation) {
	o.Abandoned, o.Ended = true, c.Now
	c.Counts.OperationsAbandoned++
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
	if o == nil && advisory && to.Scope == scopeAmbient && len(c.Operations.live) > 0 {
		o = c.Operations.only
	}
	if why != "" && !advisory {
		if o != nil {
			o.mark(n, why)
		}
		c.mark(n, why, nil)
		return
	}
	if o == nil {
		if !advisory || to.Scope != scopeHost && to.Scope != scopeDigest { // which are no evidence of the log
			c.mark(n, ReasonBackground, nil)
		}
		return
	}
	o.note(in.Decision.Disposition, n)
	c.mark(n, ReasonBackground, o)
}
