package session

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
)

// Session is one engine with its shell. Make one with [New], and let it [Session.Run].
type Session struct {
	cfg      Config
	log      *slog.Logger
	engine   *heed.Engine
	run      string // distinguishes this process in the ids of operations
	started  time.Time
	restored bool

	continued bool // restored for the same run of the game

	at follow.Position // of the latest record of the log that the engine has observed

	ordered  sync.Mutex    // held around changes of engine, recorder, acknowledgements in the timeline and at
	changed  broadcast     // after every entry
	pumping  chan struct{} // wakes the pump
	calls    atomic.Uint64
	inFlight atomic.Int64
	held     atomic.Uint64 // calls that were refused
	running  atomic.Bool

	// How much the engine had received, and since when. Used by the ticking goroutine only.
	seen   uint64
	seenAt time.Time

	observed func(rec *capture.Record, o *heed.Outcome) // see OnObserved

	sinkMu sync.Mutex
	sinks  []func([]heed.Update)
	waits  atomic.Int64

	attention attention
	timeline  timeline
	disk      disk
	rules     ruleFiles

	logMu  sync.Mutex  // guards the next fields, which lookForLog changes
	noLog  atomic.Bool // the missing log was reported, and not since that it was found
	hadLog bool
	absent time.Time // since when there is no log, zero while there is one

	// Facts about the game, which the feeding goroutine changes.
	aboutMu sync.Mutex // of began
	began   capture.Environment
	family  string // of the log; the engine knows it
	mods    atomic.Pointer[[]capture.ListedMod]
}

// New returns a session for cfg. It reads the rule files and the snapshot. A snapshot that is not restored as a whole
// is logged and shown by [Session.Status]. An unreadable snapshot leads to a new engine in an epoch of its own, with
// one blocking item about it. The error names the invalid field or file.
func New(cfg Config) (*Session, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Session{
		cfg: cfg, pumping: make(chan struct{}, 1), observed: func(*capture.Record, *heed.Outcome) {},
	}
	s.log, s.started = s.cfg.Logger, s.cfg.Now()
	s.mods.Store(new([]capture.ListedMod))
	s.timeline.init(s.cfg.Timeline)
	s.attention.slots = make(chan struct{}, maxAnswers)
	var bits [8]byte
	_, _ = rand.Read(bits[:]) // never fails
	s.run = hex.EncodeToString(bits[:4])
	set, err := s.rules.init(&s.cfg)
	if err != nil {
		return nil, err
	}
	ec := s.cfg.Engine
	ec.Rules = set
	if ec.Epoch == "" {
		ec.Epoch = s.started.UTC().Format("20060102T150405") + "." + hex.EncodeToString(bits[4:])
	}
	if err := s.open(ec); err != nil {
		return nil, err
	}
	if n := s.engine.LearnInstalled(s.cfg.Installed); n > 0 {
		s.log.Info("names of installed mods were read", "mods", n)
	}
	s.continued = s.restored
	if s.cfg.Log == nil && s.cfg.LogFrom != "" {
		s.log.Warn("there is no log to follow", "because", s.cfg.LogFrom)
		s.Observe(event.Notice{Status: event.StatusNoLog, Detail: s.cfg.LogFrom}.Entry())
	}
	return s, nil
}

// open restores the engine, or makes a new one.
func (s *Session) open(ec heed.Config) (err error) {
	var refused error
	s.engine, refused = s.restore(ec)
	if s.restored = s.engine != nil; !s.restored {
		if s.engine, err = heed.New(ec); err != nil {
			return err
		}
	}
	s.disk.init(s, refused)
	if refused != nil {
		s.log.Warn("the saved state was not restored as a whole", "file", s.cfg.Snapshot, "error", refused)
	}
	if refused != nil && !s.restored {
		s.Raise(heed.Report{
			Key: "state", Disposition: event.Blocking, Severity: event.SeverityError, Invalidates: true,
			Summary: "the saved state cannot be read: faults from before are not known", Message: refused.Error(),
		})
	}
	return nil
}

// Engine returns the session's engine, for reading. Changes, and reports of items, go through the Session, which wakes
// waiters and saves first.
func (s *Session) Engine() *heed.Engine { return s.engine }

// Run does the session's work until ctx ends, and then returns nil: it follows the log, delivers updates, advances the
// engine's time, watches the rule files and saves. An error means that the log cannot be followed, which ends Run. It
// may be called once.
func (s *Session) Run(ctx context.Context) error {
	if !s.running.CompareAndSwap(false, true) {
		return errors.New("session: Session.Run was called before")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	wg.Go(func() { s.pump(ctx) })
	wg.Go(func() { every(ctx, s.cfg.Tick, s.tick) })
	if len(s.cfg.RuleFiles) > 0 {
		wg.Go(func() { every(ctx, RulePoll, s.reloadIfChanged) })
	}
	if s.disk.path != "" {
		wg.Go(func() { every(ctx, SnapshotEvery, func() { s.disk.through(s.engine.Latest().Seq) }) })
	}
	if s.cfg.Log != nil {
		wg.Go(func() {
			if err := s.cfg.Log.Run(ctx, s.ingest); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("session: log: %w", err))
			}
		})
	}
	<-ctx.Done()
	wg.Wait()
	s.deliver(nil) // updates since the pump stopped
	s.disk.through(s.engine.Latest().Seq)
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	return nil
}

// leave ends a change of the engine, for which the lock is held, and wakes waiters.
func (s *Session) leave() {
	s.ordered.Unlock()
	s.wake()
}

// wake wakes the waiters and the pump.
func (s *Session) wake() {
	s.changed.notify()
	select {
	case s.pumping <- struct{}{}:
	default: // the pump is going to look
	}
}

// now is the time of day without a monotonic reading, which a recording could not hold.
func (s *Session) now() time.Time { return s.cfg.Now().Round(0) }

// OnObserved has f called with each entry of [Session.Observe] and of the log from now on, in order, with the outcome.
// The outcome of a record that the restored state has is zero. It comes before Run, once. f must be quick, and must not
// call the Session. Calls do not overlap, and rec is valid during one only.
func (s *Session) OnObserved(f func(rec *capture.Record, o *heed.Outcome)) { s.observed = f }

// Observe ingests an entry that did not come from the followed log, such as that the game exited. A zero time becomes
// now. Calls are recorded by [Session.Begin].
func (s *Session) Observe(e event.Entry) heed.Outcome {
	if e.Time.IsZero() {
		e.Time = s.now()
	}
	s.ordered.Lock()
	defer s.leave()
	s.cfg.Recorder.Record(&capture.Record{Entry: e})
	o := s.engine.Observe(e)
	s.observed(&capture.Record{Entry: e}, &o)
	return o
}

// Raise opens an item for a report of the host itself; see [heed.Engine.Raise]. It is not recorded.
func (s *Session) Raise(r heed.Report) string {
	if r.Time.IsZero() {
		r.Time = s.now()
	}
	s.ordered.Lock()
	id := s.engine.Raise(r)
	s.leave()
	s.disk.keep(id)
	return id
}

// BeginRun records that the game is started again, see [heed.Engine.BeginRun]; it does nothing for a session that was
// not restored. It comes before Run. A recording has its notice.
func (s *Session) BeginRun() {
	if !s.restored {
		return
	}
	now := s.now()
	s.continued = false
	s.ordered.Lock()
	defer s.leave()
	e := s.engine.BeginRun(now)
	s.cfg.Recorder.Record(&capture.Record{Entry: e})
}

// Continues reports whether the session continues the state of a game that was running before: the state was restored,
// and [Session.BeginRun] was not called.
func (s *Session) Continues() bool { return s.continued }

// EndLeft ends the calls that ran when the process before ended, in a session that continues its state: no answer to
// them will be known, though some may still run. Calls that ended since the latest snapshot end as they did. It comes
// before Run.
func (s *Session) EndLeft() {
	if !s.continued {
		return
	}
	for _, o := range s.disk.unsaved() {
		if v := s.engine.Verdict(o.ID); !v.Known || v.Status == event.StatusStarted && o.Status != v.Status {
			s.Observe(o.Entry())
		}
	}
	for _, id := range s.engine.Operations() {
		v := s.engine.Verdict(id)
		if strings.HasPrefix(id, callPrefix) && v.Status == event.StatusStarted && !v.Abandoned {
			s.Observe(event.Operation{
				ID: id, Method: v.Method, Status: event.StatusTimedOut, Error: "heed ended before the call was answered",
			}.Entry())
		}
	}
}

// StateRead records that the game's state was read again; see [heed.Engine.StateRead]. [Running.End] does it for a call
// that reads it.
func (s *Session) StateRead() {
	s.ordered.Lock()
	defer s.leave()
	s.act(event.StatusStateRead, "", "", 0)
	s.engine.StateRead()
}

// Sync returns nil when everything that was in the followed log at the call is ingested, within [Config].SyncTimeout.
// Without a log there is nothing to wait for.
func (s *Session) Sync(ctx context.Context) error {
	if s.cfg.Log == nil {
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.SyncTimeout)
	defer cancel()
	if err := s.cfg.Log.Sync(ctx); err != nil {
		return fmt.Errorf("session: the log cannot be read: %w", err)
	}
	return nil
}

// tick advances the engine's time if the engine could act then. Only the ticking goroutine calls it.
func (s *Session) tick() {
	s.lookForLog(noLogAfter)
	now, st := s.now(), s.engine.Stats()
	if st.Received != s.seen || s.seenAt.IsZero() {
		s.seen, s.seenAt = st.Received, now
	}
	if st.Coalesce.Open > 0 || st.Coalesce.OperationsRunning > 0 || st.Busy || since(s.seenAt, now) < linger {
		s.Advance()
	}
}

// every calls f each time that d has passed, until ctx is done.
func every(ctx context.Context, d time.Duration, f func()) {
	tick := time.Tick(d)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			f()
		}
	}
}

// linger is how long after an entry the engine's time advances in any case: an entry that follows an operation belongs
// to it for seconds.
const linger = time.Minute

// Advance advances the engine's time to now. Run does so every [Config].Tick.
func (s *Session) Advance() {
	now := s.now()
	s.ordered.Lock()
	defer s.leave()
	s.cfg.Recorder.Record(&capture.Record{Entry: event.Entry{Kind: event.KindHost, Time: now}})
	s.engine.Advance(now)
}

// Rules returns the rules that decide now.
func (s *Session) Rules() *rules.Set { return s.rules.now.Load().set }

// OnUpdates adds a sink that receives every update from now on, in order, once it is on disk. One goroutine calls one
// sink after another: they must be quick, and must not keep or change the slice. It is empty if only the item of a
// log that cannot be read has changed.
func (s *Session) OnUpdates(sink func([]heed.Update)) {
	s.sinkMu.Lock()
	defer s.sinkMu.Unlock()
	s.sinks = append(slices.Clip(s.sinks), sink)
}

// pump delivers updates as they happen.
func (s *Session) pump(ctx context.Context) {
	var buf []heed.Update
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.pumping:
			buf = s.deliver(buf)
		}
	}
}

// deliver delivers the pending updates. Only one call runs at a time: the pump's, and Run's after it.
func (s *Session) deliver(buf []heed.Update) []heed.Update {
	s.ordered.Lock()
	updates := s.engine.Updates(buf[:0])
	for i := range updates {
		s.act(event.StatusDelivered, "", updates[i].Item.ID, updates[i].Item.LatestSequence)
	}
	s.ordered.Unlock()
	if news := s.attention.news.Swap(false); len(updates) == 0 && !news {
		return updates
	}
	now := s.now()
	for i := range updates {
		u := &updates[i]
		switch {
		case u.Kind == coalesce.Opened:
			s.disk.keep(u.Item.ID)
		case u.Item.ClearedBy == coalesce.ReasonAcknowledged:
			s.disk.through(s.engine.Latest().Seq)
		}
		s.timeline.update(u, now)
	}
	s.sinkMu.Lock()
	sinks := s.sinks
	s.sinkMu.Unlock()
	for _, sink := range sinks {
		sink(updates)
	}
	return updates
}

// broadcast wakes all waiters at a change. The order "wait, look, receive" misses nothing: a change after wait closes
// the channel, an earlier one is there to be seen.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{} // nil without a waiter
}

// wait returns a channel that the next notify closes.
func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// Wait returns the first page of at most limit records (0 means 100) after a cursor that has records, a loss, or an
// error about the cursor. If ctx ends before, it returns an empty page, whose Next is the cursor to continue from, and
// the context's error.
func (s *Session) Wait(ctx context.Context, after heed.Cursor, limit int, f heed.Filter) (heed.Page, error) {
	s.waits.Add(1)
	defer s.waits.Add(-1)
	for {
		changed := s.changed.wait()
		p := s.engine.Read(after, limit, f)
		if len(p.Records) > 0 || p.Lost > 0 || p.Err != nil {
			return p, nil
		}
		after = p.Next
		if p.More {
			if ctx.Err() != nil {
				return p, ctx.Err()
			}
			continue
		}
		select {
		case <-ctx.Done():
			return p, ctx.Err()
		case <-changed:
		}
	}
}
