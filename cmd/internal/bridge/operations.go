package bridge

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
)

// operationEntries bounds the entries in an answer about an operation.
const operationEntries = 50

// OperationSummary is a call of a tool, or a part of one, with its verdict.
type OperationSummary struct {
	heed.Verdict

	Parent    string    `json:"parent,omitempty" jsonschema:"The operation of which it is a part."`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
	Events    int       `json:"events" jsonschema:"How many of its events heed holds."`
	Cursor    string    `json:"cursor,omitempty" jsonschema:"Use it as after of heed/entries to read all entries from its first event on."`

	last uint64 // number of its latest event
}

// Operations is the answer of heed/operations.
type Operations struct {
	Epoch      string             `json:"epoch" jsonschema:"Identifies this count of entries."`
	Operations []OperationSummary `json:"operations" jsonschema:"The latest first."`
	Omitted    int                `json:"omitted" jsonschema:"How many older ones are not shown."`
	Lost       uint64             `json:"lost" jsonschema:"Entries that were evicted; operations may be among them."`
	Behind     string             `json:"behind,omitempty" jsonschema:"Why newer ones may be missing."`
}

// OperationDetail is the answer of heed/operation.
type OperationDetail struct {
	OperationSummary

	EventEntries []Entry `json:"eventEntries" jsonschema:"Its events and those of its parts, oldest first."`
	Entries      []Entry `json:"entries" jsonschema:"Other entries that name it or a part of it, oldest first. Use its cursor to read entries after it that name none of them."`
	Item         *Item   `json:"item,omitempty" jsonschema:"The item with its worst result."`
	Next         string  `json:"next" jsonschema:"The cursor to continue from, with heed/entries and this operation as filter."`
	Lost         uint64  `json:"lost" jsonschema:"Entries that were evicted; some may have named it or a part of it."`
	More         bool    `json:"more" jsonschema:"More entries may name it or a part of it, after next."`
	Behind       string  `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// add adds an event of an operation.
func (o *OperationSummary) add(d *Diagnostics, r *journal.Record) {
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

// settle sets the verdict on the operation that the journal calls id. Status and method stay as its events have them if
// the engine has no other.
func (o *OperationSummary) settle(d *Diagnostics, id string) {
	v := d.session.Verdict(id)
	v.Operation, v.Method, v.AttentionID = named(id), cmp.Or(named(v.Method), o.Method), named(v.AttentionID)
	v.CleanThrough = integer(v.CleanThrough)
	if !v.Known {
		v.Status = o.Status
	}
	o.Verdict = v
}

// scan calls f with all records that are held and fit a filter, a page at a time.
func (d *Diagnostics) scan(filter heed.Filter, f func(*journal.Record)) (lost uint64) {
	for after := (heed.Cursor{}); ; {
		p := d.session.Engine().Read(after, journal.MaxLimit, filter)
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

type operationsArgs struct {
	Limit   int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"20" jsonschema:"The most operations to return."`
	Running bool   `json:"running,omitempty" jsonschema:"Only operations that have not ended."`
	Method  string `json:"method,omitempty" jsonschema:"Only operations of this tool or method."`
}

// operations answers heed/operations.
func (d *Diagnostics) operations(ctx context.Context, _ string, in operationsArgs) (*Operations, error) {
	out := Operations{Epoch: d.epoch, Operations: []OperationSummary{}, Behind: d.sync(ctx)}
	known := map[string]*OperationSummary{}
	out.Lost = d.scan(heed.Filter{Kinds: operationKinds, Source: in.Method}, func(r *journal.Record) {
		o := known[r.OperationID]
		if o == nil {
			o = &OperationSummary{Verdict: heed.Verdict{Operation: r.OperationID}}
			known[r.OperationID] = o
		}
		o.add(d, r)
	})
	maps.DeleteFunc(known, func(_ string, o *OperationSummary) bool {
		return in.Running && o.Status != event.StatusStarted
	})
	latestFirst := func(a, b *OperationSummary) int { return cmp.Compare(b.last, a.last) }
	all := slices.SortedFunc(maps.Values(known), latestFirst)
	shown := min(len(all), in.Limit)
	out.Omitted = len(all) - shown
	for _, o := range all[:shown] {
		o.settle(d, o.Operation)
		out.Operations = append(out.Operations, *o)
	}
	return &out, nil
}

type operationArgs struct {
	ID string `json:"id" jsonschema:"The id of the operation, from heed/operations, heed/timeline or causalOperationId."`
	look
}

// operation answers heed/operation.
func (d *Diagnostics) operation(ctx context.Context, consumer string, in operationArgs) (*OperationDetail, error) {
	id := in.ID
	out := OperationDetail{EventEntries: []Entry{}, Entries: []Entry{}, Behind: d.sync(ctx)}
	page, records, _ := d.read(heed.Cursor{}, operationEntries, heed.Filter{Operation: id}, in.look) // from the first
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
	if !out.Known && len(page.Entries) == 0 {
		return nil, notHeld("id", "the id of an operation", "an operation of which heed holds no entry")
	}
	if it, ok := d.session.Item(out.AttentionID); ok {
		out.Item = new(d.item(&it))
	}
	d.markRead(consumer, records)
	return &out, nil
}

// Timeline is the answer of heed/timeline.
type Timeline struct {
	Run     string          `json:"run" jsonschema:"Identifies this process of heed; cursors are valid within it."`
	Events  []session.Event `json:"events" jsonschema:"Oldest first."`
	Next    string          `json:"next" jsonschema:"The cursor to continue from: use it as after."`
	Omitted int             `json:"omitted" jsonschema:"Earlier events that match, when after is not given."`
	Lost    uint64          `json:"lost" jsonschema:"Events after the cursor that were evicted."`
	More    bool            `json:"more" jsonschema:"There is more after next."`
}

type timelineArgs struct {
	After     Ref                 `json:"after,omitempty" minimum:"0" maximum:"512" jsonschema:"Start after this cursor: next of an earlier answer. Without it, the latest events are returned."`
	Limit     int                 `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" jsonschema:"The most events to return."`
	Kinds     []session.EventKind `json:"kinds,omitempty" enum:"call_began,call_ended,call_refused,item_opened,item_updated,item_cleared,acknowledged,ack_unknown" jsonschema:"Only events of these kinds."`
	Consumer  string              `json:"consumer,omitempty" jsonschema:"Only what this agent did."`
	Operation string              `json:"operation,omitempty" jsonschema:"Only events of this operation."`
	Attention string              `json:"attention,omitempty" jsonschema:"Only events of this item: its id, or the number that ends it."`
}

// timeline answers heed/timeline.
func (d *Diagnostics) timeline(_ context.Context, _ string, in timelineArgs) (*Timeline, error) {
	after, err := in.After.cursor(heed.Cursor{})
	if err != nil {
		return nil, err
	}
	events, lost, latest := d.session.Timeline(after.Seq)
	switch all, next := cursorText(d.run, 0), cursorText(d.run, latest); {
	case after.Epoch != "" && after.Epoch != d.run:
		return nil, notAfter("epoch", "a cursor of another process of heed, whose timeline is gone", "events", all, next)
	case after.Seq > latest:
		return nil, notAfter("beyond", "a cursor past the latest event", "events", all, next)
	}
	last := latest
	attention := d.session.ItemID(in.Attention)
	events = slices.DeleteFunc(events, func(e session.Event) bool {
		return len(in.Kinds) > 0 && !slices.Contains(in.Kinds, e.Kind) || in.Consumer != "" && e.Consumer != in.Consumer ||
			in.Operation != "" && e.Operation != in.Operation ||
			attention != "" && e.Attention != attention && e.Successor != attention && !slices.Contains(e.Covered, attention)
	})
	out := Timeline{Run: d.run, Events: []session.Event{}, Lost: lost}
	if len(events) > in.Limit {
		if in.After != "" {
			events, out.More = events[:in.Limit], true
			last = events[in.Limit-1].Number
		} else {
			out.Omitted = len(events) - in.Limit
			events = events[out.Omitted:]
		}
	}
	out.Events = append(out.Events, events...)
	out.Next = cursorText(d.run, last)
	fit(reflect.ValueOf(&out))
	return &out, nil
}
