package session

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp/gate"
)

// Call is a call of a tool. Its ID is for display only, since bridges may give one twice: the operation has an id of
// its own.
type Call = gate.Call

// callPrefix begins the ids of operations that are calls. callerLeft is the text of a cancelled one, for rules, too.
const (
	callPrefix = "call-"
	callerLeft = "the caller left before the call was answered"
)

// Running is a call under way.
type Running struct {
	// Missed is why evidence that is not in the log was not ingested before End, nil if all was.
	Missed error

	s       *Session
	call    Call
	id      string // of the operation, "" for a call that only reads
	began   uint64
	started time.Time

	once    sync.Once
	verdict heed.Verdict
	related *heed.Item
	err     error
}

// Begin records that a call is dispatched: an operation starts, unless the call only reads. End must be called once it
// is over.
func (s *Session) Begin(call Call) *Running {
	r := &Running{s: s, call: call, started: s.now()}
	s.inFlight.Add(1)
	s.timeline.meet(call.Consumer)
	if call.Diagnostic() {
		return r
	}
	// The gate did not look for a missing log, or found it before.
	if s.cfg.Log != nil && !s.cfg.Log.Status().Present && !s.noLog.Load() {
		_ = s.Sync(context.Background()) // it may be there and not be looked at yet
		s.lookForLog(0)
	}
	r.id = callPrefix + s.run + "-" + strconv.FormatUint(s.calls.Add(1), 10)
	began := event.Operation{Time: r.started, ID: r.id, Method: call.Tool, Status: event.StatusStarted}
	r.began = s.Observe(began.Entry()).Seq
	s.disk.note(began)
	s.timeline.add(callEvent(CallBegan, &r.call, r.id, r.started))
	return r
}

// ID returns the id of the operation, "" for a call that only reads.
func (r *Running) ID() string { return r.id }

// End records the end of the call, ingests the present log, and returns the verdict and the item that resulted from the
// call or opened during it; nil without an item. The item counts as delivered to the caller. Status is one of
// [event.StatusCompleted], [event.StatusFailed], [event.StatusCancelled] and [event.StatusTimedOut]. An error means
// that a part of the log was not ingested; the results are then without that part, and no verdict is clean.
//
// It ingests the log as far as it is written, and then waits for [Config].Settle, unless a blocking item is known.
// Later lines are charged to the operation, too, and hold the next call. Further calls return the same.
func (r *Running) End(ctx context.Context, status event.Status, errText string) (heed.Verdict, *heed.Item, error) {
	r.once.Do(func() { r.end(ctx, status, errText) })
	return r.verdict, r.related, r.err
}

func (r *Running) end(ctx context.Context, status event.Status, errText string) {
	s := r.s
	defer s.inFlight.Add(-1)
	if r.id == "" {
		if status == event.StatusCompleted && r.call.ReadsState() {
			s.StateRead()
		}
		return
	}
	ended := s.now()
	if status == event.StatusCancelled {
		errText = callerLeft
	}
	r.err = errors.Join(r.Missed, s.Sync(ctx)) // lines before the answer are from the time of the call
	over := event.Operation{Time: s.now(), ID: r.id, Method: r.call.Tool, Status: status, Error: errText}
	s.Observe(over.Entry())
	s.disk.note(over)
	if r.err == nil {
		r.err = r.settle(ctx)
	}
	s.lookForLog(0)
	r.look()
	if r.err != nil && r.verdict.Outcome == coalesce.Clean {
		r.verdict.Outcome, r.verdict.Reason = coalesce.Unknown, coalesce.ReasonBlind
		r.verdict.Text = "What the game reported could not be read to its end in time."
	}
	if r.related != nil {
		s.disk.keep(r.related.ID)
		s.Delivered(r.call.Consumer, r.related.ID, r.related.LatestSequence)
	}
	s.timeline.ended(r, status, ended)
	if r.related != nil {
		*r.related = s.Present(*r.related)
	}
}

// Abandon gives up a call whose end does not come.
func (r *Running) Abandon() { r.once.Do(func() { r.s.inFlight.Add(-1) }) }

// look updates what resulted from the call so far.
func (r *Running) look() { r.verdict, r.related = gate.Related(r.s.engine, r.id, r.began) }

// settle waits for lines after the end of the call, until a blocking item is known.
func (r *Running) settle(ctx context.Context) error {
	s := r.s
	if s.cfg.Settle == 0 {
		return nil
	}
	late := time.After(s.cfg.Settle)
	for {
		changed := s.changed.wait()
		if r.look(); r.related != nil && r.related.Blocking {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late:
			return s.Sync(ctx)
		case <-changed:
		}
	}
}
