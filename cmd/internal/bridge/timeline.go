package bridge

import (
	"context"
	"slices"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
)

// The bounds of answers about the timeline.
const (
	defaultEvents = 50
	maxEvents     = 200
	maxCovered    = 32
)

// Timeline is the answer of heed/timeline.
type Timeline struct {
	Run     string          `json:"run" jsonschema:"Identifies this process of heed; cursors are valid within it."`
	Events  []session.Event `json:"events" jsonschema:"Oldest first."`
	Next    string          `json:"next" jsonschema:"The cursor to continue from: use it as after."`
	Omitted int             `json:"omitted" jsonschema:"Earlier events that match, when after is not given."`
	Lost    uint64          `json:"lost" jsonschema:"Events after the cursor that were evicted."`
	More    bool            `json:"more" jsonschema:"There is more after next."`
}

// timelineKinds are the kinds of events, in the order of the schema.
var timelineKinds = []any{
	session.CallBegan, session.CallEnded, session.CallRefused, session.ItemOpened, session.ItemUpdated,
	session.ItemCleared, session.Acknowledged, session.AckUnknown,
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

// timeline answers heed/timeline.
func (d *Diagnostics) timeline(_ context.Context, _ string, a args) (any, error) {
	var after uint64
	run := ""
	if a.has("after") {
		var ok bool
		if run, after, ok = cutCursor(a.text("after")); !ok {
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
	kinds, consumer, attention, operation := a.words("kinds"), a.text("consumer"), a.text("attention"), a.text("operation")
	if attention != "" {
		attention = d.session.ItemID(attention)
	}
	events = slices.DeleteFunc(events, func(e session.Event) bool {
		return len(kinds) > 0 && !slices.Contains(kinds, string(e.Kind)) || consumer != "" && e.Consumer != consumer ||
			operation != "" && e.Operation != operation ||
			attention != "" && e.Attention != attention && e.Successor != attention && !slices.Contains(e.Covered, attention)
	})
	out := Timeline{Run: d.run, Events: []session.Event{}, Lost: integer(lost)}
	if limit := a.integer("limit"); len(events) > limit {
		if a.has("after") {
			events, out.More = events[:limit], true
			last = events[limit-1].Number
		} else {
			out.Omitted = len(events) - limit
			events = events[out.Omitted:]
		}
	}
	for i := range events {
		out.Events = append(out.Events, shown(events[i]))
	}
	out.Next = cursorText(d.run, last)
	return &out, nil
}
