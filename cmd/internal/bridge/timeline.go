package bridge

import (
	"context"
	"slices"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
)

// maxCovered bounds the items that an event names.
const maxCovered = 32

// Timeline is the answer of heed/timeline.
type Timeline struct {
	Run     string          `json:"run" jsonschema:"Identifies this process of heed; cursors are valid within it."`
	Events  []session.Event `json:"events" jsonschema:"Oldest first."`
	Next    string          `json:"next" jsonschema:"The cursor to continue from: use it as after."`
	Omitted int             `json:"omitted" jsonschema:"Earlier events that match, when after is not given."`
	Lost    uint64          `json:"lost" jsonschema:"Events after the cursor that were evicted."`
	More    bool            `json:"more" jsonschema:"There is more after next."`
}

// shown returns an event whose texts are safe to show.
func shown(e session.Event) session.Event {
	e.Number, e.Time, e.Reason = integer(e.Number), stamp(e.Time), named(e.Reason)
	e.CleanThrough = integer(e.CleanThrough)
	for _, name := range []*string{&e.Consumer, &e.Tool, &e.Operation, &e.Request, &e.Attention, &e.Successor} {
		*name = named(*name)
	}
	e.Covered = allNamed(e.Covered, maxCovered)
	return e
}

type timelineArgs struct {
	After     ref                 `json:"after,omitempty" minimum:"0" maximum:"512" jsonschema:"Start after this cursor: next of an earlier answer. Without it, the latest events are returned."`
	Limit     int                 `json:"limit,omitempty" minimum:"1" maximum:"200" default:"50" jsonschema:"The most events to return."`
	Kinds     []session.EventKind `json:"kinds,omitempty" enum:"call_began,call_ended,call_refused,item_opened,item_updated,item_cleared,acknowledged,ack_unknown" jsonschema:"Only events of these kinds."`
	Consumer  string              `json:"consumer,omitempty" jsonschema:"Only what this agent did."`
	Operation string              `json:"operation,omitempty" jsonschema:"Only events of this operation."`
	Attention string              `json:"attention,omitempty" jsonschema:"Only events of this item: its id, or the number that ends it."`
}

// timeline answers heed/timeline.
func (d *Diagnostics) timeline(_ context.Context, _ string, in timelineArgs) (*Timeline, error) {
	var after uint64
	run := ""
	if in.After != "" {
		var ok bool
		if run, after, ok = cutCursor(string(in.After)); !ok {
			return nil, gabp.BadArgument("after", wantCursor, "another text")
		}
	}
	events, lost, latest := d.session.Timeline(after)
	switch all, next := cursorText(d.run, 0), cursorText(d.run, latest); {
	case run != "" && run != d.run:
		return nil, notAfter("epoch", "a cursor of another process of heed, whose timeline is gone", "events", all, next)
	case after > latest:
		return nil, notAfter("beyond", "a cursor past the latest event", "events", all, next)
	}
	last := latest
	attention := d.session.ItemID(in.Attention)
	events = slices.DeleteFunc(events, func(e session.Event) bool {
		return len(in.Kinds) > 0 && !slices.Contains(in.Kinds, e.Kind) || in.Consumer != "" && e.Consumer != in.Consumer ||
			in.Operation != "" && e.Operation != in.Operation ||
			attention != "" && e.Attention != attention && e.Successor != attention && !slices.Contains(e.Covered, attention)
	})
	out := Timeline{Run: d.run, Events: []session.Event{}, Lost: integer(lost)}
	if len(events) > in.Limit {
		if in.After != "" {
			events, out.More = events[:in.Limit], true
			last = events[in.Limit-1].Number
		} else {
			out.Omitted = len(events) - in.Limit
			events = events[out.Omitted:]
		}
	}
	for i := range events {
		out.Events = append(out.Events, shown(events[i]))
	}
	out.Next = cursorText(d.run, last)
	return &out, nil
}
