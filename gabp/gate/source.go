package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// Engine returns a [Recorder] on an engine in the same process. Calls become its
// operations under their ids, which must be unique; diagnostic ones ([Call.Diagnostic])
// do not, so that they have a verdict only if an entry names their id, and those that read
// the game's state ([Call.ReadsState]) are reported by [heed.Engine.StateRead] once they
// have completed. now returns the time of day, such as time.Now; nil means that entries
// have none. Without an engine there is no Recorder: it is nil.
//
// It does not wait for evidence: the host observes all entries that precede a Check
// before it, and those that belong to a call before its Done.
func Engine(e *heed.Engine, now func() time.Time) Recorder {
	if e == nil {
		return nil
	}
	if now == nil {
		now = func() time.Time { return time.Time{} }
	}
	return &engine{e: e, now: now}
}

type engine struct {
	e     *heed.Engine
	now   func() time.Time
	begin sync.Mutex // held by Begin, so that of two calls with one id only the first begins
}

// Current implements [Source]. An item counts as delivered only if it blocks.
func (s *engine) Current(ctx context.Context, consumer string) (a heed.Item, open bool, err error) {
	if items := s.e.Open(nil); len(items) > 0 {
		if a, open = items[0], true; a.Blocking {
			a, open = s.e.Current(consumer)
		}
	}
	return a, open, ctx.Err()
}

// Ack implements [Source].
func (s *engine) Ack(ctx context.Context, consumer, id string, through uint64) (heed.AckResult, error) {
	if err := ctx.Err(); err != nil {
		return heed.AckResult{}, err
	}
	return s.e.Ack(consumer, id, through), nil
}

// Begin implements [Recorder].
func (s *engine) Begin(call Call) (Running, error) {
	r := &running{source: s, call: call, began: ^uint64(0)}
	if call.Diagnostic() {
		return r, nil
	}
	if call.ID == "" {
		return nil, errors.New("Call.ID is empty: each call needs an id of its own")
	}
	s.begin.Lock()
	defer s.begin.Unlock()
	if v := s.e.Verdict(call.ID); v.Status == event.StatusStarted && !v.Abandoned {
		return nil, fmt.Errorf("a call %q is running: each call needs an id of its own", text.Safe(call.ID, maxReason))
	}
	r.began = s.e.Observe(event.Operation{
		Time: s.now(), ID: call.ID, Method: call.Tool,
		Status: event.StatusStarted,
	}.Entry()).Seq
	return r, nil
}

// Refused implements [Recorder]. The engine does not record calls that were not
// executed.
func (s *engine) Refused(Decision) {}

type running struct {
	source *engine
	call   Call
	began  uint64 // of a call that is not journaled the greatest
}

// End implements [Running].
func (r *running) End(_ context.Context, status event.Status, errText string) (heed.Verdict, *heed.Item, error) {
	e := r.source.e
	switch {
	case !r.call.Diagnostic():
		e.Observe(event.Operation{
			Time: r.source.now(), ID: r.call.ID, Method: r.call.Tool, Status: status, Error: errText,
		}.Entry())
	case status == event.StatusCompleted && r.call.ReadsState():
		e.StateRead()
	}
	v, related := Related(e, r.call.ID, r.began)
	if !v.Known && r.call.Diagnostic() {
		v = heed.Verdict{}
	}
	if related != nil {
		e.Delivered(r.call.Consumer, related.ID, related.LatestSequence)
	}
	return v, related, nil
}

// Related returns the verdict of an operation that began with the entry of this sequence number, and the item to return
// to its caller: the open item of the verdict, or else the most urgent blocking item that opened since, or else the
// cleared item of the verdict if it makes the outcome unknown. It does not count as delivered.
func Related(e *heed.Engine, operation string, began uint64) (heed.Verdict, *heed.Item) {
	v := e.Verdict(operation)
	a, known := e.Item(v.AttentionID)
	if known && a.ClearedBy == "" {
		return v, &a
	}
	for _, a := range e.Open(nil) {
		if a.Blocking && a.OpenedAtSequence > began {
			return v, &a
		}
	}
	if known && (v.Reason == coalesce.ReasonBackground || v.Reason == coalesce.ReasonStanding) {
		return v, &a
	}
	return v, nil
}

// caller sends a request and decodes the answer into result.
type caller interface {
	Call(ctx context.Context, method string, params, result any) error
}

// Remote returns a [Source] that asks a peer over GABP through c, a [gabp.Client]. methods are the methods that the
// peer advertises: Welcome().Capabilities.Methods of the client. If attention/current is not among them, the peer is
// never asked and the answer is [ErrNoAttention].
//
// An answer that [gabp.ParseAttention] refuses is an error. An acknowledgement over GABP has no sequence number: it
// covers the entries that the peer delivered.
func Remote(c caller, methods []string) Source {
	return &remote{
		caller:  c,
		current: slices.Contains(methods, gabp.MethodAttentionCurrent),
		ack:     slices.Contains(methods, gabp.MethodAttentionAck),
	}
}

type remote struct {
	caller       caller
	current, ack bool
}

// Current implements [Source].
func (r *remote) Current(ctx context.Context, _ string) (heed.Item, bool, error) {
	if !r.current {
		return heed.Item{}, false, ErrNoAttention
	}
	var answer gabp.CurrentResult
	if err := r.caller.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &answer); err != nil {
		return heed.Item{}, false, fmt.Errorf("%s: %w", gabp.MethodAttentionCurrent, err)
	}
	if answer.Attention == nil {
		return heed.Item{}, false, nil
	}
	return *answer.Attention, true, nil
}

// Ack implements [Source].
func (r *remote) Ack(ctx context.Context, _, id string, _ uint64) (heed.AckResult, error) {
	if !r.ack {
		return heed.AckResult{}, ErrNoAttention
	}
	var answer gabp.AckResult
	if err := r.caller.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &answer); err != nil {
		return heed.AckResult{}, fmt.Errorf("%s: %w", gabp.MethodAttentionAck, err)
	}
	res := heed.AckResult{Acknowledged: answer.Acknowledged, ID: id}
	if answer.CurrentAttention != nil {
		res.Current, res.Open = *answer.CurrentAttention, true
	}
	return res, nil
}
