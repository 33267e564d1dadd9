package bridge

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
)

// The bounds of answers about operations.
const (
	defaultOperations = 20
	maxOperations     = 100
	operationEntries  = 50
	scanLimit         = journal.MaxLimit
)

// Operation is a call of a tool, or a part of one, with its verdict.
type Operation struct {
	ID     string       `json:"id" jsonschema:"Its id."`
	Method string       `json:"method,omitempty" jsonschema:"The tool or method."`
	Parent string       `json:"parent,omitempty" jsonschema:"The operation of which it is a part."`
	Status event.Status `json:"status" jsonschema:"started while it runs, then completed, failed, cancelled or timed_out."`

	Outcome      string `json:"outcome" enum:"unknown,clean,advisory,blocking" jsonschema:"The verdict: clean, it resulted in no item; advisory or blocking, its worst result; unknown, evidence is missing or does not tell."`
	Reason       string `json:"reason" enum:"quiet,charged,background,standing,blind,missing,running,abandoned,doubtful,unknown_operation" jsonschema:"Why the outcome is this one."`
	Text         string `json:"text,omitempty" jsonschema:"The verdict in one sentence."`
	Final        bool   `json:"final" jsonschema:"The verdict does not change any more: enough time has passed since the end."`
	CleanThrough uint64 `json:"cleanThrough" jsonschema:"Number of the latest entry that the verdict covers."`
	Abandoned    bool   `json:"abandoned,omitempty" jsonschema:"No end was seen in time."`
	Evicted      bool   `json:"evicted,omitempty" jsonschema:"heed has only its entries left: there is no verdict."`
	Attention    string `json:"attention,omitempty" jsonschema:"The item with its worst result, or that makes the outcome unknown; heed/item shows it."`

	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	Events    int       `json:"events" jsonschema:"How many of its events heed holds."`
	Cursor    string    `json:"cursor,omitempty" jsonschema:"Use it as after of heed/entries to read all entries from its first event on."`

	last uint64 // number of its latest event
}

// Operations is the answer of heed/operations.
type Operations struct {
	Epoch      string      `json:"epoch" jsonschema:"Identifies this count of entries."`
	Operations []Operation `json:"operations" jsonschema:"The latest first."`
	Omitted    int         `json:"omitted" jsonschema:"How many older ones are not shown."`
	Lost       uint64      `json:"lost" jsonschema:"Entries that were evicted; operations may be among them."`
	Behind     string      `json:"behind,omitempty" jsonschema:"Why newer ones may be missing."`
}

// OperationDetail is the answer of heed/operation.
type OperationDetail struct {
	Operation

	EventEntries []Entry `json:"eventEntries" jsonschema:"Its events and those of its parts, oldest first."`
	Entries      []Entry `json:"entries" jsonschema:"Other entries that name it or a part of it, oldest first. Use its cursor to read entries after it that name none of them."`
	Item         *Item   `json:"item,omitempty" jsonschema:"The item with its worst result."`
	Next         string  `json:"next" jsonschema:"The cursor to continue from, with heed/entries and this operation as filter."`
	Lost         uint64  `json:"lost" jsonschema:"Entries that were evicted; some may have named it or a part of it."`
	More         bool    `json:"more" jsonschema:"More entries may name it or a part of it, after next."`
	Behind       string  `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// add adds an event of an operation.
func (o *Operation) add(d *Diagnostics, r *journal.Record) {
	if o.Events == 0 {
		o.Cursor = cursorText(d.epoch, r.Seq-1)
	}
	o.Events++
	o.last = r.Seq
	o.Method = cmp.Or(o.Method, named(r.Source))
	o.Parent = cmp.Or(o.Parent, named(r.Parent))
	switch {
	case r.Status == event.StatusStarted:
		o.StartedAt, o.Status = stamp(r.Time), r.Status
	case r.Status.Ended():
		o.EndedAt, o.Status = stamp(r.Time), r.Status
	}
}

// settle adds the verdict. The id is that of the journal.
func (o *Operation) settle(d *Diagnostics, id string) {
	v := d.session.Verdict(id)
	o.ID, o.Final, o.Abandoned, o.Evicted = named(id), v.Final, v.Abandoned, !v.Known
	o.Outcome, o.Reason, o.Text, o.CleanThrough = v.Outcome, string(v.Reason), v.Text, integer(v.CleanThrough)
	if v.Known {
		o.Status, o.Method, o.Attention = v.Status, cmp.Or(named(v.Method), o.Method), named(v.AttentionID)
	}
}

// scan calls f with all records that are held and fit a filter, a page at a time.
func (d *Diagnostics) scan(filter heed.Filter, f func(*journal.Record)) (lost uint64) {
	for after := (heed.Cursor{}); ; {
		p := d.session.Engine().Read(after, scanLimit, filter)
		for i := range p.Records {
			f(&p.Records[i])
		}
		lost += p.Lost
		if !p.More {
			return lost
		}
		after = p.Next
	}
}

var operationKinds = []event.Kind{event.KindOperation}

// operations answers heed/operations.
func (d *Diagnostics) operations(ctx context.Context, _ string, a args) (any, error) {
	out := Operations{Epoch: d.epoch, Operations: []Operation{}, Behind: d.sync(ctx)}
	known := map[string]*Operation{}
	out.Lost = d.scan(heed.Filter{Kinds: operationKinds, Source: a.text("method")}, func(r *journal.Record) {
		o := known[r.OperationID]
		if o == nil {
			o = &Operation{ID: r.OperationID, Status: event.StatusNone}
			known[r.OperationID] = o
		}
		o.add(d, r)
	})
	all := make([]*Operation, 0, len(known))
	for _, o := range known {
		if !a.flag("running") || o.Status == event.StatusStarted {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *Operation) int { return cmp.Compare(b.last, a.last) })
	shown := min(len(all), a.integer("limit"))
	out.Omitted = len(all) - shown
	for _, o := range all[:shown] {
		o.settle(d, o.ID)
		out.Operations = append(out.Operations, *o)
	}
	return &out, nil
}

// operationEvents answers heed/operation_events.
func (d *Diagnostics) operationEvents(ctx context.Context, consumer string, a args) (any, error) {
	after, err := cursorOf(a, heed.Cursor{})
	if err != nil {
		return nil, err
	}
	f := heed.Filter{Kinds: operationKinds, Operation: a.text("operation"), Source: a.text("method")}
	return d.page(consumer, after, a, f, d.sync(ctx))
}

// operation answers heed/operation.
func (d *Diagnostics) operation(ctx context.Context, consumer string, a args) (any, error) {
	id := a.text("id")
	out := OperationDetail{
		Operation: Operation{Status: event.StatusNone}, EventEntries: []Entry{}, Entries: []Entry{},
		Behind: d.sync(ctx),
	}
	page, records, err := d.read(heed.Cursor{}, operationEntries, heed.Filter{Operation: id}, lookOf(a))
	if err != nil {
		return nil, err
	}
	d.scan(heed.Filter{Kinds: operationKinds, Operation: id}, func(r *journal.Record) {
		if r.OperationID == id { // not an event of a part
			out.add(d, r)
		}
	})
	for _, e := range page.Entries {
		if e.Kind == event.KindOperation {
			out.EventEntries = append(out.EventEntries, e)
		} else {
			out.Entries = append(out.Entries, e)
		}
	}
	out.Next, out.Lost, out.More = page.Next, page.Lost, page.More
	out.settle(d, id)
	if out.Evicted && len(page.Entries) == 0 {
		return nil, notHeld("id", "the id of an operation, from heed/operations", "an operation of which heed holds no entry")
	}
	if out.Attention != "" {
		if it, ok := d.session.Item(d.session.Verdict(id).AttentionID); ok {
			item := d.item(&it)
			out.Item = &item
		}
	}
	d.markRead(consumer, records)
	return &out, nil
}
