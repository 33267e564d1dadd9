package coalesce

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// State is the state of a [Coalescer] in a form that JSON keeps: items that are open or remembered, operations,
// consumers, bursts, pending updates, time and counts. [Coalescer.Retention] is about a journal, and is not part of it.
type State struct {
	Epoch       string
	Bounds      [len(bounds)]int // of its Config
	Now         logicalTime
	Pos         uint64
	Base        [2]int64 // seconds since 1970, nanoseconds
	Blind       bool
	Consumers   []consumer
	Calls       calls
	Phases      phases `json:",omitempty"`
	Load        load
	Allowance   allowance
	Escalations []*escalation `json:",omitempty"`
	Stats       Stats

	FreshSince, Numbers, Clears, LoadEnded, BlindItem, EpisodeAcked uint64
	ConsumerCalls, ConsumersEvicted                                 uint64
	OperationsEvicted, OperationsAbandoned, OperationsAnonymous     uint64

	Operations             []storedOperation `json:",omitempty"` // the table, then others that items name
	Table                  int               // how many are in the table
	Items                  []storedItem
	Episode, Blindly, Pool itemRef
	EpisodeLast            logicalTime
	Queue                  []itemRef `json:",omitempty"`
}

// A reference is a position in State.Items or State.Operations plus one, 0: none.
type (
	itemRef      int
	operationRef int
)

// A storedX has the fields of an X that are kept. Whoever adds a field to X adds it here and in the two conversions.
type (
	storedOperation struct {
		ID                                     string
		Parent, Method                         string            `json:",omitzero"`
		Status                                 event.Status      `json:",omitzero"`
		Seen, Begun, Gone, Abandoned, Doubtful bool              `json:",omitzero"`
		Started, Ended                         logicalTime       `json:",omitzero"`
		Gap                                    VerdictReason     `json:",omitzero"`
		Marked                                 mark              `json:",omitzero"`
		Worst                                  event.Disposition `json:",omitzero"`
		Item, LastItem                         uint64            `json:",omitzero"`
		OpenItem                               itemRef           `json:",omitzero"`
	}
	storedItem struct {
		State                                            itemState         `json:",omitzero"`
		Scope                                            scopeKind         `json:",omitzero"`
		Disposition                                      event.Disposition `json:",omitzero"`
		Severity                                         event.Severity    `json:",omitzero"`
		Key, Known, Pending                              string            `json:",omitzero"`
		ClearedBy, PendingWhy                            Reason            `json:",omitzero"`
		Opened, PendingAt                                storedPlace       `json:",omitzero"`
		Latest, Alive                                    logicalTime       `json:",omitzero"`
		Root, CauseBy                                    operationRef      `json:",omitzero"`
		Cause                                            storedCause       `json:",omitzero"`
		Rate                                             rate              `json:",omitzero"`
		Consumer                                         int               `json:",omitzero"`
		Number, LatestPos, Total, Untracked, Prelude     uint64            `json:",omitzero"`
		SevereAt, InvalidatedAt, NextCount, NextGroups   uint64            `json:",omitzero"`
		Viewed, AckRate, Predecessor, AckedAt, ClearedAt uint64            `json:",omitzero"`
		Invalidates, AllRules, Acked, Shared             bool              `json:",omitzero"`
		Deferred, Told, Past, Unpinned                   bool              `json:",omitzero"`
		Delivered                                        []uint64          `json:",omitempty"`
		Covers                                           []cover           `json:",omitempty"`
		Rows                                             []storedRow       `json:",omitempty"`
		Rules                                            []storedRule      `json:",omitempty"`
		Uncounted                                        *storedUncounted  `json:",omitzero"`
		Digest                                           *storedDigest     `json:",omitzero"`
	}
	storedRow struct {
		Signature      signature.Signature
		Rule, Variant  string            `json:",omitzero"`
		Text           string            `json:",omitzero"`
		Accused        Accused           `json:",omitempty"`
		Disposition    event.Disposition `json:",omitzero"`
		Severity       event.Severity    `json:",omitzero"`
		Invalidates    bool              `json:",omitzero"`
		Count, LastPos uint64            `json:",omitzero"`
		First          storedPlace
		Last           logicalTime
		FirstBy        operationRef `json:",omitzero"`
		Worst, Raised  storedTurn
		Recurrence     *recurrence `json:",omitzero"`
	}
	storedTurn struct {
		At          storedPlace
		Named       operationRef      `json:",omitzero"`
		Count       uint64            `json:",omitzero"`
		Disposition event.Disposition `json:",omitzero"`
		Severity    event.Severity    `json:",omitzero"`
	}
	storedRule struct {
		Rule, Summary string
		Advice        string  `json:",omitzero"`
		Effects       Effects `json:",omitzero"`
		Disposition   event.Disposition
		First         uint64
		Untracked     uint64 `json:",omitzero"`
		Resolved      bool   `json:",omitzero"`
	}
	storedUncounted struct {
		Keys    keys
		Rules   []string
		Inexact bool
	}
	storedDigest struct {
		Items   int
		Entries uint64
		From    storedPlace
		Samples []storedSample
	}
	storedCause struct { // as CauseEntry
		Seq, Pos  uint64
		Rule      string
		Signature signature.Signature
		ID        signature.ID `json:"-"`
		Phase     string       `json:",omitzero"`
	}
	storedSample struct { // as Sample
		Level                       event.Severity
		Message                     string
		RepeatCount, LatestSequence uint64
		Rule                        string
		Signature                   signature.Signature
		ID                          signature.ID `json:"-"`
		Variants                    Variants     `json:",omitempty"`
		FirstPos, LatestPos         uint64
		Blame                       []string `json:",omitempty"`
	}
	storedPlace [2]uint64
	keys        []uint64

	plainItem      storedItem
	plainRow       storedRow
	plainOperation storedOperation
	plainSample    storedSample
)

// The large structures are read by methods: encoding/json then ends at the first that is no object, instead of making
// an empty one.

func (x *storedItem) UnmarshalJSON(b []byte) error      { return object(b, (*plainItem)(x)) }
func (x *storedRow) UnmarshalJSON(b []byte) error       { return object(b, (*plainRow)(x)) }
func (x *storedOperation) UnmarshalJSON(b []byte) error { return object(b, (*plainOperation)(x)) }
func (x *storedSample) UnmarshalJSON(b []byte) error    { return object(b, (*plainSample)(x)) }

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

func (p place) stored() storedPlace { return storedPlace{p.seq, p.pos} }

func (p storedPlace) place() place { return place{p[0], p[1]} }

func (s span) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", s.at, s.entries), nil }

func (s *span) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[]any{&s.at, &s.entries}) }

// copies are the memory of a copied state, for the next one.
type copies struct {
	items      []item
	operations []operation
	rows       []counter
	rules      []ruleCount
	covers     []cover
	numbers    []uint64
}

// State copies the state. The function that it returns puts the copy into the form that is kept. It needs no lock, but
// must have returned before the next call of State.
func (c *Coalescer) State() func() *State {
	m := &c.copies
	*m = copies{m.items[:0], m.operations[:0], m.rows[:0], m.rules[:0], m.covers[:0], m.numbers[:0]}
	copied, live := *c, c.items
	copied.items, copied.queue = carve(&m.items, c.items), slices.Clone(c.queue)
	copied.ops.order = slices.Clone(c.ops.order)
	copied.phases, copied.consumers.list = slices.Clone(c.phases), slices.Clone(c.consumers.list)
	for _, o := range c.ops.order {
		m.operations = append(m.operations, *o)
	}
	copied.escalations = nil
	for _, x := range c.escalations {
		copied.escalations = append(copied.escalations, &escalation{x.Rule, x.After, slices.Clone(x.Ring), x.Next})
	}
	for i := range copied.items {
		it := &copied.items[i]
		u := &it.counters.uncounted
		it.counters.rows, it.rules = carve(&m.rows, it.counters.rows), carve(&m.rules, it.rules)
		it.covers = carve(&m.covers, it.covers)
		it.delivered, u.keys = carve(&m.numbers, it.delivered), carve(&m.numbers, u.keys)
		u.rules = slices.Clone(u.rules)
		for k := range it.counters.rows {
			if r := &it.counters.rows[k]; r.recurrence != nil {
				x := *r.recurrence
				x.Stops = slices.Clone(x.Stops)
				r.recurrence = &x
			}
		}
	}
	table := m.operations
	return func() *State {
		s := storing{Coalescer: &copied, live: live, refs: map[*operation]operationRef{}}
		return s.state(table)
	}
}

// carve returns a copy of s in an arena.
func carve[T any](arena *[]T, s []T) []T {
	n := len(*arena)
	*arena = append(*arena, s...)
	return (*arena)[n:]
}

// storing makes a State of a copied Coalescer, whose pointers lead to the items and operations of the live one. It
// reads no live item, and of the live operations only those outside of the table, which do not change any more.
type storing struct {
	*Coalescer
	live       []item
	refs       map[*operation]operationRef
	operations []storedOperation
}

func (s *storing) item(it *item) itemRef {
	for i := range s.live {
		if &s.live[i] == it {
			return itemRef(i + 1)
		}
	}
	return 0
}

func (s *storing) operation(o *operation) operationRef {
	if o == nil {
		return 0
	}
	ref, known := s.refs[o]
	if !known {
		s.operations = append(s.operations, storedOperation{ID: o.id, Method: o.method, Gone: o.gone})
		ref = operationRef(len(s.operations))
		s.refs[o] = ref
	}
	return ref
}

func (s *storing) state(table []operation) *State {
	c := s.Coalescer
	for i := range table {
		o := &table[i]
		s.operations = append(s.operations, storedOperation{
			o.id, o.parent, o.method, o.status, o.seen, o.begun, o.gone, o.abandoned, o.doubtful, o.started, o.ended, o.gap,
			o.marked, o.worst, o.item, o.lastItem, s.item(o.openItem),
		})
		s.refs[c.ops.order[i]] = operationRef(i + 1)
	}
	items := make([]storedItem, len(c.items))
	for i := range items {
		if c.items[i].state != itemFree {
			items[i] = s.storedItem(&c.items[i])
		}
	}
	state := &State{
		Epoch: c.cfg.Epoch, Bounds: c.cfg.bounds(), Now: c.now, Pos: c.pos, Blind: c.blind,
		Base:      [2]int64{c.base.Unix(), int64(c.base.Nanosecond())},
		Consumers: c.consumers.list, Calls: c.calls, Phases: c.phases, Load: c.load, Allowance: c.allowance,
		Escalations: c.escalations, Stats: c.stats,
		FreshSince: c.freshSince, Numbers: c.numbers, Clears: c.clears, LoadEnded: c.loadEnded, BlindItem: c.blindItem,
		ConsumerCalls: c.consumers.calls, ConsumersEvicted: c.consumers.evicted,
		OperationsEvicted: c.ops.evicted, OperationsAbandoned: c.ops.abandoned, OperationsAnonymous: c.ops.anonymous,
		Operations: s.operations, Table: len(table), Items: items,
		Episode: s.item(c.episode.item), EpisodeLast: c.episode.last, EpisodeAcked: c.episode.acked,
		Blindly: s.item(c.blindly), Pool: s.item(c.pool),
	}
	for _, it := range c.queue {
		state.Queue = append(state.Queue, s.item(it))
	}
	return state
}

func (s *storing) storedItem(it *item) storedItem {
	var d *storedDigest
	if it.scope == scopeDigest {
		d = &storedDigest{it.digest.items, it.digest.entries, it.digest.from.stored(), nil}
		for _, a := range it.digest.samples {
			d.Samples = append(d.Samples, storedSample(a))
		}
	}
	rows, rules := make([]storedRow, len(it.counters.rows)), make([]storedRule, len(it.rules))
	for i := range rows {
		r := &it.counters.rows[i]
		rows[i] = storedRow{
			r.sig, r.rule, r.variant, r.text, r.accused, r.disposition, r.severity, r.invalidates, r.count, r.lastPos,
			r.first.stored(), r.last, s.operation(r.firstBy), s.turn(&r.worst), s.turn(&r.raised), r.recurrence,
		}
	}
	for i := range rules {
		r := &it.rules[i]
		rules[i] = storedRule{r.rule, r.summary, r.advice, r.effects, r.disposition, r.first, r.untracked, r.resolved}
	}
	var u *storedUncounted
	if x := &it.counters.uncounted; len(x.keys) > 0 || x.inexact {
		u = &storedUncounted{x.keys, x.rules, x.inexact}
	}
	return storedItem{
		it.state, it.scope, it.disposition, it.severity, it.key, it.known, it.pending, it.clearedBy, it.pendingWhy,
		it.opened.stored(), it.pendingAt.stored(), it.latest, it.alive, s.operation(it.root), s.operation(it.causeBy),
		storedCause(it.cause), it.rate, it.consumer,
		it.number, it.latestPos, it.total, it.untracked, it.prelude, it.severeAt, it.invalidatedAt, it.nextCount,
		it.nextGroups, it.viewed, it.ackRate, it.predecessor, it.ackedAt, it.clearedAt, it.invalidates, it.allRules, it.acked,
		it.shared, it.deferred, it.told, it.past, it.unpinned, it.delivered, it.covers, rows, rules, u, d,
	}
}

func (s *storing) turn(t *turn) storedTurn {
	return storedTurn{t.stored(), s.operation(t.named), t.count, t.disposition, t.severity}
}

// Restore returns a Coalescer for cfg in the state s, of which it may keep parts. Windows, MaxSkew and larger bounds
// take effect from there on. The error names the field if s is of another Epoch, was made with larger bounds, or cannot
// be the state of any Coalescer.
func Restore(cfg Config, s *State) (*Coalescer, error) {
	c, err := New(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.fits(c); err != nil {
		return nil, fmt.Errorf("coalesce: state: %w", err)
	}
	if err := c.restore(s); err != nil {
		return nil, fmt.Errorf("coalesce: state: %w", err)
	}
	c.setAlarms()
	for i := range c.items {
		if it := &c.items[i]; it.acked {
			c.enterRules(it)
		}
	}
	return c, nil
}

// restore sets a new Coalescer to a state that fits it.
func (c *Coalescer) restore(s *State) error {
	c.now, c.pos, c.blind, c.phases, c.load, c.allowance = s.Now, s.Pos, s.Blind, s.Phases, s.Load, s.Allowance
	if c.now.generation != 0 {
		c.base = time.Unix(s.Base[0], s.Base[1]).UTC()
	}
	c.calls, c.escalations, c.stats = s.Calls, s.Escalations, s.Stats
	c.freshSince, c.numbers, c.clears = s.FreshSince, s.Numbers, s.Clears
	c.loadEnded, c.blindItem = s.LoadEnded, s.BlindItem
	c.consumers.list = append(c.consumers.list[:0], s.Consumers...)
	c.consumers.calls, c.consumers.evicted = s.ConsumerCalls, s.ConsumersEvicted
	c.ops.evicted, c.ops.abandoned, c.ops.anonymous = s.OperationsEvicted, s.OperationsAbandoned, s.OperationsAnonymous
	c.episode = episode{c.item(s.Episode), s.EpisodeLast, s.EpisodeAcked}
	c.blindly, c.pool = c.item(s.Blindly), c.item(s.Pool)
	for _, ref := range s.Queue {
		c.queue = append(c.queue, c.item(ref))
	}
	operations := make([]*operation, 1+len(s.Operations)) // by their reference
	for i := range s.Operations {
		o := &s.Operations[i]
		operations[i+1] = &operation{
			o.ID, o.Parent, o.Method, o.Status, o.Seen, o.Begun, o.Gone, o.Started, o.Ended, o.Abandoned, o.Gap,
			o.Doubtful, o.Marked, o.Worst, o.Item, c.item(o.OpenItem), o.LastItem,
		}
		if i < s.Table {
			c.ops.order = append(c.ops.order, operations[i+1])
			c.ops.byID[o.ID] = operations[i+1]
		}
	}
	for i := range s.Items {
		if s.Items[i].State == itemFree {
			continue
		}
		if err := c.restoreItem(&c.items[i], &s.Items[i], operations); err != nil {
			return fmt.Errorf("of Items[%d]: %w", i, err)
		}
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
func (c *Coalescer) restoreItem(it *item, s *storedItem, operations []*operation) error {
	var d digest
	if s.Digest != nil {
		d = digest{s.Digest.Items, s.Digest.Entries, s.Digest.From.place(), nil}
		for _, a := range s.Digest.Samples {
			d.samples = append(d.samples, Sample(a))
		}
	}
	copy(it.delivered, s.Delivered)
	*it = item{
		s.State, s.Number, c.id(s.Number), s.Scope, operations[s.Root], s.Key, d, s.Disposition, s.Severity, s.Invalidates,
		s.Opened.place(), s.Latest, s.LatestPos, s.Alive, s.Total, s.Untracked, it.counters, it.rules, s.AllRules,
		CauseEntry(s.Cause), operations[s.CauseBy], s.Prelude, s.SevereAt, s.InvalidatedAt, s.NextCount, s.NextGroups,
		it.delivered, s.Consumer, s.Viewed, s.Covers, s.Rate, s.AckRate, s.Predecessor, s.Known, s.ClearedBy,
		s.Acked, s.AckedAt, s.Shared, s.Deferred, s.Told, s.Past, s.Unpinned, s.ClearedAt, false, s.Pending,
		s.PendingWhy, s.PendingAt.place(),
	}
	back := func(t *storedTurn) turn {
		return turn{t.At.place(), operations[t.Named], t.Count, t.Disposition, t.Severity}
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		if it.counters.find(r.Rule, r.Signature, r.Variant) != nil {
			return fmt.Errorf("its Rows[%d] occurs twice", i)
		}
		it.counters.add(counter{
			r.Signature, r.Rule, r.Variant, r.Disposition, r.Severity, r.Invalidates, r.Count, r.First.place(),
			operations[r.FirstBy], r.Last, r.LastPos, back(&r.Worst), back(&r.Raised), r.Text, r.Accused, 0, r.Recurrence,
		})
	}
	it.counters.last = 0
	for i := range s.Rules {
		r := &s.Rules[i]
		it.rules = append(it.rules, ruleCount{r.Rule, r.Summary, r.Advice, r.Effects, r.Disposition, r.First, r.Untracked, r.Resolved})
		if it.rule(r.Rule) != &it.rules[i] {
			return fmt.Errorf("its Rules[%d] occurs twice", i)
		}
	}
	if u := s.Uncounted; u != nil {
		it.counters.uncounted.rules, it.counters.uncounted.inexact = u.Rules, u.Inexact
		for i, key := range u.Keys {
			if it.counters.uncounted.has(key) || c.index.uncounted == maxAllUncounted {
				return fmt.Errorf("its Uncounted.Keys[%d] occurs twice, or is one too many", i)
			}
			c.index.uncounted++
			it.counters.uncounted.add(key)
		}
		it.counters.recount()
	}
	return nil
}

// setAlarms sets the alarms for all that may become due. They are not part of a State, so that other windows take
// effect.
func (c *Coalescer) setAlarms() {
	for i := range c.items {
		if it := &c.items[i]; it.open() {
			c.wake(it)
		}
	}
	for _, o := range c.ops.order {
		if o.running() {
			c.set(&c.abandon, &c.cfg.OperationMax, o.started)
		}
	}
	c.findLive()
	if c.Loading() {
		c.overdueLoad()
	}
}
