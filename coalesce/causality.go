package coalesce

import (
	"strings"

	"github.com/heedlog/heed/event"
)

// operation returns the operation called id, made at now where it is not
// known: named by others before it was seen to start, or without a start.
func (c *Coalescer) operation(id string, now moment) *operation {
	o := c.ops.ensure(id, now)
	if o.status == event.StatusNone {
		c.only.valid = false
		c.alarm.add(&c.cfg.OperationMax, o.started)
	}
	return o
}

// operationEvent takes in an event of an operation and returns the operation,
// or nil where the event does not say which.
func (c *Coalescer) operationEvent(e *event.Entry, at moment) *operation {
	if e.OperationID == "" {
		c.ops.anonymous++
		return nil
	}
	o := c.operation(e.OperationID, at)
	c.only.valid = false
	if e.Status == event.StatusStarted && o.over() {
		// The id is used again: another life, whose items are its own.
		*o = operation{id: o.id, started: at}
	}
	if e.Parent != "" && o.parent == "" {
		o.parent = strings.Clone(boundID(e.Parent))
		c.operation(o.parent, at)
	}
	if e.Source != "" && o.method == "" {
		o.method = strings.Clone(boundID(e.Source))
	}
	switch {
	case e.Status == event.StatusStarted:
		if o.status == event.StatusNone {
			o.status, o.started = e.Status, at
		}
		o.blind = o.blind || c.blind
		c.alarm.add(&c.cfg.OperationMax, o.started)
	case e.Status.Ended() && o.running():
		o.status, o.ended = e.Status, at
		o.blind = o.blind || c.blind
	case e.Status.Ended() && (o.abandoned || o.status == event.StatusTimedOut):
		// A late end tells what nobody knew before.
		o.status, o.ended, o.abandoned, o.doubtful = e.Status, at, false, false
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
// to: the only one that runs, or, with none running, the only one that ended
// within Linger. It returns nil where the answer is not plain. An operation
// that was named but not seen to start is no answer, and stands in the way of
// another one.
func (c *Coalescer) onlyRoot() *operation {
	if c.only.valid && !c.only.until.due(c.now) {
		return c.only.root
	}
	c.only = inference{valid: true}
	var running, lingering *operation
	nRunning, nLingering := 0, 0
	for _, o := range c.ops.order {
		if o.parent != "" && c.ops.get(o.parent) != nil {
			continue
		}
		switch {
		case o.running():
			nRunning++
			running = o
		case o.abandoned:
		case !c.cfg.Linger.passed(o.ended, c.now):
			nLingering++
			lingering = o
			c.only.until.add(&c.cfg.Linger, o.ended)
		}
	}
	switch {
	case nRunning == 1 && running.status == event.StatusStarted:
		c.only.root = running
	case nRunning == 0 && nLingering == 1:
		c.only.root = lingering
	}
	return c.only.root
}

// setBlind notes that evidence became incomplete or complete.
func (c *Coalescer) setBlind(blind bool) {
	c.blind = blind
	c.stats.Blind = blind
	if !blind {
		return
	}
	for _, o := range c.ops.order {
		if o.running() || !c.cfg.Linger.passed(o.ended, c.now) {
			o.blind = true
		}
	}
}

// sweepOperations gives up operations that have run for OperationMax.
func (c *Coalescer) sweepOperations() {
	for _, o := range c.ops.order {
		if !o.running() {
			continue
		}
		if c.cfg.OperationMax.passed(o.started, c.now) {
			o.abandoned, o.ended = true, c.now
			c.only.valid = false
			c.ops.abandoned++
		} else {
			c.alarm.add(&c.cfg.OperationMax, o.started)
		}
	}
}
