package coalesce

import (
	"strings"

	"github.com/heedlog/heed/event"
)

// operation returns the operation called id, which an entry names, made where
// it is not known: named by others before it was seen to start, or without a
// start.
func (c *Coalescer) operation(id string) *operation {
	o := c.known(id)
	if !o.seen {
		o.seen, o.started = true, c.now
		o.blind = o.blind || c.blind
		c.only.valid = false
		c.abandon.add(&c.cfg.OperationMax, o.started, c.now)
	}
	return o
}

// known returns the operation called id, made where it is not known. One that
// was displaced, and is named again, gets back its items.
func (c *Coalescer) known(id string) *operation {
	if o := c.ops.get(id); o != nil {
		return o
	}
	o := c.begin(id)
	for i := range c.items {
		it := &c.items[i]
		if it.root == nil || !it.root.gone || it.root.id != o.id {
			continue
		}
		it.root = o
		if it.open() {
			o.openItem = it
		} else if it.acked {
			o.lastItem = max(o.lastItem, it.number)
		}
	}
	return o
}

// begin returns a new life of the operation called id. Operations that name it
// as their parent are its parts from now on.
func (c *Coalescer) begin(id string) *operation {
	o := c.ops.add(id, c.now)
	for _, part := range c.ops.order {
		if part.parent == o.id {
			c.handUp(part)
		}
	}
	return o
}

// handUp lets what a part gathered while it was a root go on in the burst of
// its root.
func (c *Coalescer) handUp(o *operation) {
	root := c.ops.root(o)
	if root.openItem == nil {
		root.openItem = o.openItem
		if it := o.openItem; it != nil && it.root == o {
			it.root = root
		}
	}
	o.openItem = nil
	root.lastItem = max(root.lastItem, o.lastItem)
}

// operationEvent takes in an event of an operation and returns the operation,
// or nil where the event does not say which.
func (c *Coalescer) operationEvent(e *event.Entry) *operation {
	if e.OperationID == "" {
		c.ops.anonymous++
		return nil
	}
	c.only.valid = false
	if o := c.ops.get(e.OperationID); e.Status == event.StatusStarted && (o == nil || o.startsAnew()) {
		c.begin(e.OperationID) // another life, whose items are its own
	}
	o := c.operation(e.OperationID)
	if e.Source != "" && o.method == "" {
		o.method = strings.Clone(boundID(e.Source))
	}
	if e.Parent != "" && o.parent == "" && c.ops.link(o, c.known(e.Parent)) {
		c.handUp(o)
	}
	switch {
	case e.Status == event.StatusStarted:
		if o.status == event.StatusNone {
			o.status, o.started = e.Status, c.now
			c.abandon.add(&c.cfg.OperationMax, o.started, c.now)
		}
		o.begun = true
	case e.Status.Ended() && (o.running() || o.abandoned || o.doubtful):
		// A late end tells what nobody knew before.
		o.status, o.ended, o.abandoned, o.doubtful = e.Status, c.now, false, false
	}
	return o
}

// inference is the answer of onlyRoot, which holds until an operation begins,
// ends or is given up, or until the alarm.
type inference struct {
	valid bool
	root  *operation
	until alarm
}

// onlyRoot returns the root operation that an entry which names none belongs
// to: the only one that runs, itself or in a part, or, with none running, the
// only one that ended within Linger. It returns nil where the answer is not
// plain. An operation that was named but not seen to start is no answer, and
// stands in the way of another one.
func (c *Coalescer) onlyRoot() *operation {
	if c.only.valid && !c.only.until.due(c.now) {
		return c.only.root
	}
	c.only = inference{valid: true}
	var running, lingering roots
	for _, o := range c.ops.order {
		switch {
		case o.running():
			running.add(c.ops.root(o), o.begun)
		case o.lingers(&c.cfg.Linger, c.now):
			lingering.add(c.ops.root(o), true)
			c.only.until.add(&c.cfg.Linger, o.ended, c.now)
		}
	}
	if running.first != nil {
		c.only.root = running.only()
	} else {
		c.only.root = lingering.only()
	}
	return c.only.root
}

// roots is a set of operations of which only matters whether it has one member.
type roots struct {
	first *operation
	more  bool
	sure  bool
}

func (r *roots) add(root *operation, sure bool) {
	r.more = r.more || r.first != nil && r.first != root
	r.sure = r.sure || sure
	r.first = root
}

func (r *roots) only() *operation {
	if r.more || !r.sure {
		return nil
	}
	return r.first
}

// setBlind notes that evidence became incomplete or complete.
func (c *Coalescer) setBlind(blind bool) {
	c.blind = blind
	c.stats.Blind = blind
	if blind {
		c.missEvidence()
	}
}

// missEvidence notes that something is not known of what runs, or ended just
// now.
func (c *Coalescer) missEvidence() {
	for _, o := range c.ops.order {
		if !o.status.Ended() || o.lingers(&c.cfg.Linger, c.now) {
			o.blind = true
		}
	}
}

// giveUp abandons operations that have run for OperationMax.
func (c *Coalescer) giveUp() {
	c.abandon = alarm{}
	for _, o := range c.ops.order {
		if !o.running() {
			continue
		}
		if c.cfg.OperationMax.passed(o.started, c.now) {
			o.abandoned, o.ended = true, c.now
			c.only.valid = false
			c.ops.abandoned++
		} else {
			c.abandon.add(&c.cfg.OperationMax, o.started, c.now)
		}
	}
}
