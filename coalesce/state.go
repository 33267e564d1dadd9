package coalesce

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// State is the state of a [Coalescer] in a form that JSON keeps: items that are open or remembered, operations,
// consumers, bursts, pending updates, time and counts. [Coalescer.Retention] is about a journal, and is not part of it.
type State kept

// kept is the part of a [Coalescer] that is in its [State].
type kept struct {
	Config Config

	Now  logicalTime // latest sequence number, engine's time
	Base [2]int64    // from which it counts: seconds since 1970, nanoseconds
	Pos  uint64      // of the latest entry

	Items   []item // open and cleared; they never move
	Numbers uint64

	Episode   episode
	BlindItem uint64 // number of the latest item of blindness
	Load      load

	Operations operations
	Calls      calls

	FreshSince uint64 // sequence number from which the game's state is the one it is
	Consumers  consumers

	Escalations []escalation `json:",omitempty"` // of the rules that were met, at most maxEscalations

	Queue     []uint64 `json:",omitempty"` // numbers of the items with a pending update, oldest first
	Allowance allowance
	Counts    Stats
}

type (
	plainItem      item
	plainCounter   counter
	plainOperation operation
)

// The large structures are read by methods: encoding/json then ends at the first that is no object, instead of making
// an empty one.

func (it *item) UnmarshalJSON(b []byte) error     { return object(b, (*plainItem)(it)) }
func (c *counter) UnmarshalJSON(b []byte) error   { return object(b, (*plainCounter)(c)) }
func (o *operation) UnmarshalJSON(b []byte) error { return object(b, (*plainOperation)(o)) }

func object(b []byte, to any) error {
	if b[0] != '{' {
		return errors.New("an object is missing")
	}
	return json.Unmarshal(b, to)
}

func (m logicalTime) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%d,%d]", m.seq, m.generation, m.at), nil
}

func (m *logicalTime) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&m.seq, &m.generation, &m.at})
}

func (p place) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", p.Seq, p.Pos), nil }

func (p *place) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[]any{&p.Seq, &p.Pos}) }

// State copies the state.
func (c *Coalescer) State() *State {
	s := c.kept
	s.Queue, s.Consumers.List = slices.Clone(s.Queue), slices.Clone(s.Consumers.List)
	s.Operations = operations{Order: slices.Clone(s.Operations.Order)}
	for i, o := range s.Operations.Order {
		s.Operations.Order[i] = new(*o)
	}
	s.Escalations = slices.Clone(s.Escalations)
	for i := range s.Escalations {
		x := &s.Escalations[i]
		x.Last = slices.Clone(x.Last)
	}
	s.Items = slices.Clone(s.Items)
	for i := range s.Items {
		it := &s.Items[i]
		it.Counters.Rows, it.Rules = slices.Clone(it.Counters.Rows), slices.Clone(it.Rules)
		it.Covers, it.Delivered = slices.Clone(it.Covers), slices.Clone(it.Delivered)
		for k := range it.Counters.Rows {
			r := new(*it.Counters.Rows[k])
			it.Counters.Rows[k] = r
			r.Accused = slices.Clone(r.Accused)
			if r.Recurrence != nil {
				r.Recurrence = new(*r.Recurrence)
			}
		}
	}
	return (*State)(&s)
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
		c.restore(s)
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("coalesce: state: %w", err)
	}
	c.survey()
	c.alarm.seq = 1 // other windows take effect
	return c, nil
}

// restore sets a new Coalescer to a state that fits it.
func (c *Coalescer) restore(s *State) {
	fresh := c.kept
	c.kept = kept(*s)
	c.Config, c.Items = fresh.Config, fresh.Items
	c.Queue = append(fresh.Queue, s.Queue...)
	c.Consumers.List = append(fresh.Consumers.List[:0], s.Consumers.List...)
	c.Operations = fresh.Operations
	for _, o := range s.Operations.Order {
		c.Operations.Order = append(c.Operations.Order, o)
		c.Operations.byID[o.ID] = o
	}
	for i := range s.Items {
		it := c.slot()
		free := *it
		*it = s.Items[i]
		it.id, it.Counters, it.Delivered = c.id(it.Number), free.Counters, free.Delivered
		copy(it.Delivered, s.Items[i].Delivered)
		for _, r := range s.Items[i].Counters.Rows {
			it.Counters.add(*r)
		}
	}
}
