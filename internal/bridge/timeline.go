package bridge

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/heedlog/heed/internal/session"
)

// The bounds of answers about the timeline.
const (
	defaultEvents = 50
	maxEvents     = 200
	maxCovered    = 32
	wholeTimeline = math.MaxInt32
)

// TimelineEvent is something that happened between agents, calls and attention.
type TimelineEvent struct {
	Number uint64    `json:"number" jsonschema:"counts from 1 since heed was started"`
	Time   time.Time `json:"time,omitzero"`
	Kind   string    `json:"kind" enum:"call_began,call_ended,call_refused,item_opened,item_updated,item_cleared,acknowledged,ack_in_vain" jsonschema:"ack_in_vain: no open item had the id"`

	Viewer    string `json:"viewer,omitempty" jsonschema:"who called or acknowledged"`
	Tool      string `json:"tool,omitempty" jsonschema:"the tool that was called"`
	Operation string `json:"operation,omitempty" jsonschema:"the operation that the call became; heed/operation shows it"`
	Request   string `json:"request,omitempty" jsonschema:"the caller's own id of the call"`
	Status    string `json:"status,omitempty" jsonschema:"how the call ended"`
	Outcome   string `json:"outcome,omitempty" jsonschema:"its verdict when it ended"`

	Attention string   `json:"attention,omitempty" jsonschema:"the item: that opened, changed or was cleared, that held the call back, that came of it, or that was acknowledged"`
	Blocking  bool     `json:"blocking,omitempty" jsonschema:"the item stops calls"`
	Reason    string   `json:"reason,omitempty" jsonschema:"why the item changed, or why the call was refused without one"`
	AfterMs   uint64   `json:"afterMs,omitempty" jsonschema:"how long the call took, or how long after it opened the item was acknowledged or cleared"`
	Read      *bool    `json:"read,omitempty" jsonschema:"of an acknowledgement: the viewer had looked at the item's samples or its cause"`
	Successor string   `json:"successor,omitempty" jsonschema:"the item that holds what the acknowledgement did not cover"`
	Covered   []string `json:"covered,omitempty" jsonschema:"other items that it covered"`
}

// Timeline is the answer of heed/timeline.
type Timeline struct {
	Run     string          `json:"run" jsonschema:"names this process of heed; cursors hold within it"`
	Events  []TimelineEvent `json:"events" jsonschema:"oldest first"`
	Next    string          `json:"next" jsonschema:"the cursor to go on from: give it as after"`
	Omitted int             `json:"omitted" jsonschema:"events before these that fit, without after"`
	Lost    uint64          `json:"lost" jsonschema:"events after the cursor that are not remembered any more"`
	More    bool            `json:"more" jsonschema:"there is more after next"`
}

// timelineKinds are the kinds of events, in the order of the schema.
var timelineKinds = []string{
	string(session.CallBegan), string(session.CallEnded), string(session.CallRefused), string(session.ItemOpened), string(session.ItemUpdated),
	string(session.ItemCleared), string(session.Acknowledged), string(session.AckInVain),
}

func timelineEvent(e *session.Event) TimelineEvent {
	out := TimelineEvent{
		Number: integer(e.Number), Time: stamp(e.Time), Kind: string(e.Kind), Viewer: named(e.Viewer), Tool: named(e.Tool),
		Operation: named(e.Operation), Request: named(e.Request), Status: e.Status, Outcome: e.Outcome, Attention: named(e.Attention),
		Blocking: e.Blocking, Reason: named(e.Reason), AfterMs: millis(e.After), Successor: named(e.Successor),
		Covered: allNamed(e.Covered, maxCovered),
	}
	if e.Kind == session.Acknowledged {
		out.Read = &e.Read
	}
	return out
}

// timeline answers heed/timeline.
func (d *Diagnostics) timeline(_ context.Context, _ string, a args) (any, error) {
	var after uint64
	if a.has("after") {
		run, n, ok := cutCursor(a.text("after"))
		if !ok {
			return nil, timelineAfter.invalid()
		}
		if refused := d.checkTimeline(run, n); refused != nil {
			return nil, refused
		}
		after = n
	}
	events, lost := d.session.Timeline(after, wholeTimeline)
	last := after
	if n := len(events); n > 0 {
		last = events[n-1].Number
	}
	kinds, viewer, attention, operation := a.words("kinds"), a.text("viewer"), a.text("attention"), a.text("operation")
	events = slices.DeleteFunc(events, func(e session.Event) bool {
		return len(kinds) > 0 && !slices.Contains(kinds, string(e.Kind)) || viewer != "" && e.Viewer != viewer ||
			operation != "" && e.Operation != operation ||
			attention != "" && e.Attention != attention && e.Successor != attention && !slices.Contains(e.Covered, attention)
	})
	out := Timeline{Run: d.run, Events: []TimelineEvent{}, Lost: integer(lost)}
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
		out.Events = append(out.Events, timelineEvent(&events[i]))
	}
	out.Next = cursorText(d.run, last)
	return &out, nil
}

// checkTimeline refuses a cursor that the timeline cannot have given out.
func (d *Diagnostics) checkTimeline(run string, n uint64) error {
	var latest uint64
	if events, _ := d.session.Timeline(0, wholeTimeline); len(events) > 0 {
		latest = events[len(events)-1].Number
	}
	data := Refused{
		Field: "after", Allowed: timelineAfter.allowed(), Reason: "epoch",
		Oldest: cursorText(d.run, 0), Latest: cursorText(d.run, latest),
	}
	why := "a cursor of another process of heed, whose timeline is not kept"
	switch {
	case run != "" && run != d.run:
	case n > latest:
		data.Reason, why = "beyond", "a cursor past the latest event"
	default:
		return nil
	}
	return refuse(data, "after: %s; go on from %q for all that is remembered, or from %q for what comes from now on", why, data.Oldest, data.Latest)
}
