package coalesce

import (
	"strings"

	"github.com/heedlog/heed/event"
)

// operation is what is known of one operation.
type operation struct {
	id     string
	parent string // "" for a root
	method string
	status event.Status // StatusNone: named by others, not seen to start

	started moment
	ended   moment

	abandoned bool
	blind     bool // evidence was incomplete while it ran
	doubtful  bool // it, or a part of it, ended in a way that nobody knows

	worst event.Disposition // of what came of it and of its parts
	item  uint64            // number of the related item, 0: none

	// For roots: the item of its burst that is open, and the item that was
	// acknowledged last.
	openItem *item
	lastItem uint64
}

func (o *operation) running() bool { return !o.status.Ended() && !o.abandoned }

// over returns when the operation ended or was given up.
func (o *operation) over() bool { return !o.running() }

// maxDepth bounds the walk from an operation to its root. Hosts nest a few
// deep; a chain of this length is a loop.
const maxDepth = 32

// maxOperationID bounds a stored operation id or method, in bytes.
const maxOperationID = 256

// operations is a bounded table of operations in the order of their arrival.
type operations struct {
	byID  map[string]*operation
	order []*operation // oldest first, capacity fixed
	limit int

	displaced        uint64 // ended operations dropped to make room
	displacedRunning uint64 // operations dropped while they ran
	abandoned        uint64
	anonymous        uint64 // operation events without an id
}

func newOperations(limit int) operations {
	return operations{
		byID:  make(map[string]*operation, limit),
		order: make([]*operation, 0, limit),
		limit: limit,
	}
}

// get returns the operation called id, or nil.
func (t *operations) get(id string) *operation { return t.byID[boundID(id)] }

// ensure returns the operation called id, made at now where it is not known.
func (t *operations) ensure(id string, now moment) *operation {
	id = boundID(id)
	if o := t.byID[id]; o != nil {
		return o
	}
	if len(t.order) == t.limit {
		t.displace()
	}
	o := &operation{id: strings.Clone(id), started: now}
	t.byID[o.id] = o
	t.order = append(t.order, o)
	return o
}

// displace drops the oldest operation that is over, or the oldest one.
func (t *operations) displace() {
	victim := 0
	for i, o := range t.order {
		if o.over() {
			victim = i
			break
		}
	}
	o := t.order[victim]
	if o.over() {
		t.displaced++
	} else {
		t.displacedRunning++
	}
	delete(t.byID, o.id)
	t.order = append(t.order[:victim], t.order[victim+1:]...)
}

// root returns the operation that o is a part of, which may be o.
func (t *operations) root(o *operation) *operation {
	root := o
	t.upwards(o, func(o *operation) { root = o })
	return root
}

// note records that an entry of disposition d, folded into item number, came
// of o, and so of everything that o is a part of.
func (t *operations) note(o *operation, d event.Disposition, number uint64) {
	t.upwards(o, func(o *operation) {
		if d > o.worst {
			o.worst, o.item = d, number
		}
	})
}

// doubt records that nobody knows how o ended, and so how anything ended that
// o is a part of. The item says so.
func (t *operations) doubt(o *operation, number uint64) {
	t.upwards(o, func(o *operation) {
		o.doubtful = true
		if o.item == 0 {
			o.item = number
		}
	})
}

// upwards calls f for o and for all that it is a part of.
func (t *operations) upwards(o *operation, f func(*operation)) {
	for range maxDepth {
		f(o)
		parent := t.byID[o.parent]
		if o.parent == "" || parent == nil || parent == o {
			return
		}
		o = parent
	}
}

// boundID cuts an id or a method to maxOperationID bytes.
func boundID(id string) string {
	if len(id) > maxOperationID {
		return id[:maxOperationID]
	}
	return id
}
