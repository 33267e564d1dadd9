package session

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gate"
)

// Call is a call of a tool. Its ID is only shown, since bridges may give one twice:
// the operation has an id of its own.
type Call = gate.Call

// Running is a call under way.
type Running struct {
	s       *Session
	call    Call
	id      string // of the operation, "" for a call that only looks
	began   uint64
	fed     uint64 // what the game had told before
	started time.Time

	once    sync.Once
	verdict heed.Verdict
	related *heed.Attention
	err     error
}

// Begin notes that a call is dispatched: an operation starts, unless the call only
// looks. End must be called once it is over.
func (s *Session) Begin(call Call) *Running {
	r := &Running{s: s, call: call, started: s.now()}
	s.inFlight.Add(1)
	if call.Diagnostic() {
		return r
	}
	r.id = "call-" + s.run + "-" + strconv.FormatUint(s.calls.Add(1), 10)
	r.fed = s.fed.Load()
	r.began = s.Observe(event.Operation{Time: r.started, ID: r.id, Method: call.Tool, Status: event.StatusStarted}.Entry()).Seq
	s.timeline.began(r)
	return r
}

// ID returns the id of the operation, "" for a call that only looks.
func (r *Running) ID() string { return r.id }

// End notes how the call ended, takes in what the log says of it, and returns the
// verdict and the item that tells what came of it, or that opened meanwhile; nil
// where there is none. The item counts as shown to the caller. Status is one of
// [event.StatusCompleted], [event.StatusFailed], [event.StatusCancelled] and
// [event.StatusTimedOut]. An error says that not all of the log was taken in: then
// what is returned is what is known without it.
//
// It takes as long as taking in the log, and [Config].Settle more where the log
// grew. Something blocking that is known ends the wait. Once is enough: another call
// returns the same.
func (r *Running) End(ctx context.Context, status event.Status, errText string) (heed.Verdict, *heed.Attention, error) {
	r.once.Do(func() { r.end(ctx, event.Operation{Status: status, Error: errText}) })
	return r.verdict, r.related, r.err
}

// EndBy is End for a call that its own caller cancelled.
func (r *Running) EndBy(ctx context.Context, errText string) (heed.Verdict, *heed.Attention, error) {
	r.once.Do(func() { r.end(ctx, event.Operation{Status: event.StatusCancelled, Error: errText, ByCaller: true}) })
	return r.verdict, r.related, r.err
}

func (r *Running) end(ctx context.Context, o event.Operation) {
	s := r.s
	defer s.inFlight.Add(-1)
	if r.id == "" {
		return
	}
	o.ID, o.Method = r.id, r.call.Tool
	s.Observe(o.Entry())
	ended := s.now()
	r.err = r.settle(ctx)
	r.look()
	if r.related != nil {
		s.disk.keep(r.related.ID)
		s.engine.Shown(r.call.Viewer, r.related.ID, r.related.LatestSequence)
	}
	s.timeline.ended(r, o.Status, ended)
}

// look finds out what came of the call so far.
func (r *Running) look() { r.verdict, r.related = gate.Related(r.s.engine, r.id, r.began) }

// settle waits for what the log says of the call. It returns as soon as something
// blocking is known, and at once where the game has said nothing since the call
// began.
func (r *Running) settle(ctx context.Context) error {
	s := r.s
	timer := time.NewTimer(s.cfg.Settle)
	defer timer.Stop()
	for last := r.fed; ; {
		if err := s.Sync(ctx); err != nil {
			return err
		}
		fed := s.fed.Load()
		if fed == last {
			return nil
		}
		last = fed
		r.look()
		if r.related != nil && r.related.Blocking {
			return nil
		}
		quiet := time.NewTimer(s.cfg.Quiet)
		select {
		case <-ctx.Done():
			quiet.Stop()
			return ctx.Err()
		case <-timer.C:
			quiet.Stop()
			return s.Sync(ctx)
		case <-quiet.C:
		}
	}
}
