package coalesce

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
)

// operation is what is known of one life of an operation: an id that starts
// anew is another operation.
type operation struct {
	number uint64 // in the order of arrival, from 1 on

	id     string
	parent string // "" for a root
	method string
	status event.Status // StatusNone: not seen to start or end

	seen  bool // by its own name, not only as the parent of another
	begun bool // seen to start
	gone  bool // displaced from the table

	started logicalTime // or named first
	ended   logicalTime // or given up

	abandoned bool
	blind     bool // evidence was incomplete while it ran
	doubtful  bool // it ended in a way that nobody knows

	worst event.Disposition // of what came of it alone
	item  uint64            // number of the related item, 0: none

	// For roots: the item that gathers its burst, and the one that was
	// acknowledged last.
	openItem *item
	lastItem uint64

	known uint64 // number of the latest snapshot that has it in its table
	part  uint64 // number of the part of a snapshot that defined it last
}

// running reports whether the operation was seen, and neither to end nor given
// up.
func (o *operation) running() bool { return o.seen && !o.status.Ended() && !o.abandoned }

// startsAnew reports whether a start of o begins another life of it. Where it
// ended and no start was seen, that start has only come late.
func (o *operation) startsAnew() bool {
	return o.seen && !o.running() && (o.begun || o.abandoned)
}

// lingers reports whether the operation ended so recently that w has not passed.
func (o *operation) lingers(w *Window, now logicalTime) bool {
	return o.status.Ended() && !w.passed(o.ended, now)
}

// note records that an entry of disposition d, folded into item number, came
// of o.
func (o *operation) note(d event.Disposition, number uint64) {
	if d > o.worst {
		o.worst, o.item = d, number
	}
}

// doubt records that nobody knows how o ended. The item says so.
func (o *operation) doubt(number uint64) {
	o.doubtful = true
	if o.item == 0 {
		o.item = number
	}
}

// inherit takes over what came of a part that is about to be forgotten.
func (o *operation) inherit(part *operation) {
	o.blind = o.blind || part.blind || part.running() || part.abandoned
	o.note(part.worst, part.item)
	if part.doubtful {
		o.doubt(part.item)
	}
}

// maxDepth bounds the walk from an operation to its root. Hosts nest a few
// deep; what is deeper counts as a root of its own.
const maxDepth = 32

// maxOperationID bounds a stored operation id or method, in bytes.
const maxOperationID = 256

// operations is a bounded table of operations in the order of their arrival.
type operations struct {
	byID  map[string]*operation
	order []*operation // oldest first, capacity fixed
	limit int

	numbers   uint64 // given to operations
	displaced uint64 // operations dropped to make room
	abandoned uint64
	anonymous uint64 // operation events without an id
}

func newOperations(limit int) operations {
	return operations{
		byID:  make(map[string]*operation, limit),
		order: make([]*operation, 0, limit),
		limit: limit,
	}
}

// holds reports whether o is in the table: neither displaced, nor another life of
// its id.
func (t *operations) holds(o *operation) bool { return t.byID[o.id] == o }

// get returns the operation called id, or nil.
func (t *operations) get(id string) *operation { return t.byID[boundID(id)] }

// add returns a new operation called id. It takes the place of the one that has
// the id, if there is one.
func (t *operations) add(id string, now logicalTime) *operation {
	t.numbers++
	o := &operation{number: t.numbers, id: strings.Clone(boundID(id)), started: now}
	if old := t.byID[o.id]; old != nil {
		t.drop(slices.Index(t.order, old))
	} else if len(t.order) == t.limit {
		t.displace()
	}
	t.byID[o.id] = o
	t.order = append(t.order, o)
	return o
}

// displace drops the operation that is missed least: one that does not run
// before one that does, one without an open item before one with, and of those
// alike the oldest.
func (t *operations) displace() {
	victim, least := 0, 4
	for i, o := range t.order {
		cost := 0
		if o.running() {
			cost += 2
		}
		if o.openItem != nil {
			cost++
		}
		if cost < least {
			victim, least = i, cost
		}
		if cost == 0 {
			break
		}
	}
	o := t.order[victim]
	if parent := t.byID[o.parent]; o.parent != "" && parent != nil {
		parent.inherit(o)
	}
	t.displaced++
	o.gone = true
	t.drop(victim)
}

// drop removes operation number n.
func (t *operations) drop(n int) {
	delete(t.byID, t.order[n].id)
	t.order = slices.Delete(t.order, n, n+1)
}

// link makes o a part of parent, unless parent is a part of o.
func (t *operations) link(o, parent *operation) bool {
	for a, depth := parent, 0; a != nil && depth < maxDepth; a, depth = t.byID[a.parent], depth+1 {
		if a == o {
			return false
		}
		if a.parent == "" {
			break
		}
	}
	o.parent = parent.id
	return true
}

// root returns the operation that o is a part of, which may be o.
func (t *operations) root(o *operation) *operation {
	for range maxDepth {
		parent := t.byID[o.parent]
		if o.parent == "" || parent == nil {
			break
		}
		o = parent
	}
	return o
}

// isPart reports whether o is whole or a part of it.
func (t *operations) isPart(o, whole *operation) bool {
	for range maxDepth {
		if o == whole {
			return true
		}
		parent := t.byID[o.parent]
		if o.parent == "" || parent == nil {
			break
		}
		o = parent
	}
	return false
}

// boundID cuts an id or a method to maxOperationID bytes.
func boundID(id string) string {
	if len(id) > maxOperationID {
		return id[:maxOperationID]
	}
	return id
}
