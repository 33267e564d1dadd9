package coalesce

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// State is the state of a [Coalescer] in a form that JSON keeps: items that are open or remembered, operations,
// consumers, bursts, pending updates, time and counts. [Coalescer.Retention] is about a journal, and is not part of it.
type State struct {
	Config      Config
	Now         logicalTime
	Pos         uint64
	Base        [2]int64 // seconds since 1970, nanoseconds
	Consumers   []consumer
	Calls       calls
	Load        load
	Allowance   allowance
	Escalations []escalation `json:",omitempty"`
	Stats       Stats

	FreshSince, Numbers, BlindItem, ConsumerCalls uint64

	Operations []storedOperation `json:",omitempty"` // the table, then others that items name
	Table      int               // how many are in the table
	Items      []*item           // nil: free
	Episode    episode
	Blindly    itemRef
	Queue      []itemRef `json:",omitempty"`
}

type (
	storedOperation operation // whose JSON has all fields
	plainItem       item
	plainCounter    counter
	plainOperation  storedOperation
)

// The large structures are read by methods: encoding/json then ends at the first that is no object, instead of making
// an empty one.

func (it *item) UnmarshalJSON(b []byte) error           { return object(b, (*plainItem)(it)) }
func (c *counter) UnmarshalJSON(b []byte) error         { return object(b, (*plainCounter)(c)) }
func (x *storedOperation) UnmarshalJSON(b []byte) error { return object(b, (*plainOperation)(x)) }

// MarshalJSON writes a reference to o, for all that names it.
func (o *operation) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(o.ref), 10), nil
}

// UnmarshalJSON reads a reference. [Restore] then puts the operation in the place of o.
func (o *operation) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &o.ref) }

func object(b []byte, to any) error {
	if b[0] != '{' {
		return errors.New("an object is missing")
	}
	return json.Unmarshal(b, to)
}

func (m logicalTime) MarshalJSON() ([]byte, error) {
	b := strconv.AppendUint(append(make([]byte, 0, 48), '['), m.seq, 10)
	b = strconv.AppendUint(append(b, ','), m.generation, 10)
	return append(strconv.AppendInt(append(b, ','), int64(m.at), 10), ']'), nil
}

func (m *logicalTime) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&m.seq, &m.generation, &m.at})
}

func (p place) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", p.Seq, p.Pos), nil }

func (p *place) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[]any{&p.Seq, &p.Pos}) }

// State copies the state. The function that it returns puts the copy into the form that is kept. It needs no lock.
func (c *Coalescer) State() func() *State {
	copied, live := *c, c.items
	copied.items, copied.queue = slices.Clone(c.items), slices.Clone(c.queue)
	copied.ops.order = slices.Clone(c.ops.order)
	copied.consumers.list = slices.Clone(c.consumers.list)
	table := make([]operation, len(c.ops.order))
	for i, o := range c.ops.order {
		table[i] = *o
	}
	copied.escalations = slices.Clone(c.escalations)
	for i, x := range c.escalations {
		copied.escalations[i].Last = slices.Clone(x.Last)
	}
	for i := range copied.items {
		it := &copied.items[i]
		it.Counters.Rows, it.Rules = slices.Clone(it.Counters.Rows), slices.Clone(it.Rules)
		it.Covers, it.Delivered = slices.Clone(it.Covers), slices.Clone(it.Delivered)
		for k := range it.Counters.Rows {
			r := &it.Counters.Rows[k]
			r.Accused = slices.Clone(r.Accused)
			if r.Recurrence != nil {
				x := *r.Recurrence
				r.Recurrence = &x
			}
		}
	}
	return func() *State { return copied.state(live, table) }
}

// state makes a State of a copied Coalescer, whose pointers lead to the live items and operations. It reads no live
// item, and of the live operations only those outside of the table, which do not change any more.
func (c *Coalescer) state(live []item, table []operation) *State {
	position := func(it *item) itemRef {
		for i := range live {
			if &live[i] == it {
				return itemRef(i + 1)
			}
		}
		return 0
	}
	operations, refs := make([]storedOperation, len(table)), map[*operation]*operation{nil: nil}
	for i, o := range table {
		o.Gathers = position(o.openItem)
		operations[i] = storedOperation(o)
		refs[c.ops.order[i]] = &operation{ref: operationRef(i + 1)}
	}
	items := make([]*item, len(c.items))
	for i := range c.items {
		if c.items[i].State == itemFree {
			continue
		}
		items[i] = &c.items[i]
		items[i].eachOperation(func(o **operation) {
			ref, known := refs[*o]
			if !known {
				operations = append(operations, storedOperation{ID: (*o).ID, Method: (*o).Method})
				ref = &operation{ref: operationRef(len(operations))}
				refs[*o] = ref
			}
			*o = ref
		})
	}
	state := &State{
		Config: c.cfg, Now: c.now, Pos: c.pos,
		Base:      [2]int64{c.base.Unix(), int64(c.base.Nanosecond())},
		Consumers: c.consumers.list, Calls: c.calls, Load: c.load, Allowance: c.allowance,
		Escalations: c.escalations, Stats: c.stats,
		FreshSince: c.freshSince, Numbers: c.numbers, BlindItem: c.blindItem,
		ConsumerCalls: c.consumers.calls,
		Operations:    operations, Table: len(table), Items: items,
		Episode: c.episode, Blindly: position(c.blindly),
	}
	for _, it := range c.queue {
		state.Queue = append(state.Queue, position(it))
	}
	return state
}

// eachOperation calls f with each pointer to an operation.
func (it *item) eachOperation(f func(o **operation)) {
	f(&it.Root)
	f(&it.CauseBy)
	for i := range it.Counters.Rows {
		r := &it.Counters.Rows[i]
		f(&r.FirstBy)
	}
}

// Restore returns a Coalescer for cfg in the state s, and may keep parts of s. New windows, MaxSkew and larger
// bounds take effect. The error names the field if s is of another Epoch, was made with larger bounds, or cannot be the
// state of any Coalescer.
func Restore(cfg Config, s *State) (*Coalescer, error) {
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if err = s.fits(c); err == nil {
		err = c.restore(s)
	}
	if err != nil {
		return nil, fmt.Errorf("coalesce: state: %w", err)
	}
	c.resurvey()
	c.alarm.seq = 1 // other windows take effect
	return c, nil
}

// restore sets a new Coalescer to a state that fits it.
func (c *Coalescer) restore(s *State) error {
	c.now, c.pos, c.load, c.allowance = s.Now, s.Pos, s.Load, s.Allowance
	if c.now.generation != 0 {
		c.base = time.Unix(s.Base[0], s.Base[1]).UTC()
	}
	c.calls, c.escalations, c.stats = s.Calls, s.Escalations, s.Stats
	c.freshSince, c.numbers, c.blindItem = s.FreshSince, s.Numbers, s.BlindItem
	c.consumers.list = append(c.consumers.list[:0], s.Consumers...)
	c.consumers.calls = s.ConsumerCalls
	c.episode = s.Episode
	c.blindly = c.item(s.Blindly)
	for _, ref := range s.Queue {
		c.queue = append(c.queue, c.item(ref))
	}
	operations := make([]*operation, 1+len(s.Operations)) // by their reference
	for i := range s.Operations {
		o := operation(s.Operations[i])
		o.openItem, o.Gathers = c.item(o.Gathers), 0
		operations[i+1] = &o
		if i < s.Table {
			c.ops.order = append(c.ops.order, &o)
			c.ops.byID[o.ID] = &o
		}
	}
	for i, it := range s.Items {
		if it == nil {
			continue
		}
		it.eachOperation(func(o **operation) {
			if *o != nil {
				*o = operations[(*o).ref]
			}
		})
		c.restoreItem(&c.items[i], it)
	}
	return c.check()
}

// item returns the item of a reference, or nil.
func (c *Coalescer) item(ref itemRef) *item {
	if ref == 0 {
		return nil
	}
	return &c.items[ref-1]
}

// restoreItem sets a free item.
func (c *Coalescer) restoreItem(it, s *item) {
	free := *it
	*it = *s
	it.id, it.Counters, it.Delivered = c.id(s.Number), free.Counters, free.Delivered
	copy(it.Delivered, s.Delivered)
	for i := range s.Counters.Rows {
		it.Counters.add(s.Counters.Rows[i])
	}
}
