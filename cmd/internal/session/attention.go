package session

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
)

// Attention is the effect of items on calls.
type Attention uint8

// The effects of items.
const (
	HoldsCalls Attention = iota // an item that blocks holds calls back
	OnlyShown                   // items are shown to agents as advisory
	LeftToMod                   // agents see the attention of the game's mod
)

// attention has the item that the engine does not know: the log cannot be read. This item is current before the items
// of the engine, and can be acknowledged. It ends when evidence was ingested; the next failure is another item.
type attention struct {
	slots  chan struct{}           // bounds concurrent answers
	drains []func(context.Context) // see [Session.DrainFirst]
	news   atomic.Bool             // the blind item changed, and no sink was called since

	// mu is held while blind and count change, and never while the engine or the disk is asked: a late answer must not
	// wait for them.
	mu    sync.Mutex
	blind atomic.Pointer[heed.Item] // nil while the log can be read; cleared once it is acknowledged
	count uint64                    // blind items so far
	known atomic.Pointer[heed.Item] // the most urgent item of the engine at the latest look, nil without one
}

// maxAnswers bounds concurrent answers. One more is late at once.
const maxAnswers = 256

// DrainFirst adds evidence that does not come from the log, such as the events of the game's mod: f ingests it before
// an answer about the current item, and returns when ctx is done. It is called before the session runs.
func (s *Session) DrainFirst(f func(ctx context.Context)) {
	s.attention.drains = append(s.attention.drains, f)
}

// Gather ingests all evidence: by the functions of [Session.DrainFirst], and the log as [Session.Sync] does.
func (s *Session) Gather(ctx context.Context) error {
	for _, drain := range s.attention.drains {
		drain(ctx)
	}
	return s.Sync(ctx)
}

// Attention returns the effect of items on calls.
func (s *Session) Attention() Attention { return s.cfg.Attention }

// Present returns an item as agents see it.
func (s *Session) Present(a heed.Item) heed.Item {
	a.Blocking = a.Blocking && s.cfg.Attention == HoldsCalls
	return a
}

// Current returns the item that a consumer should see first, once all evidence is ingested; see [heed.Engine.Current].
// It returns within [Config].AnswerWithin. The log that could not be read until then is an item.
func (s *Session) Current(ctx context.Context, consumer string) (heed.Item, bool) {
	a, ok := within(ctx, s, func() *heed.Item { return s.current(consumer) })
	if !ok {
		a = s.late(ctx)
	}
	return item(a)
}

// item returns the item that a points to, and false for none.
func item(a *heed.Item) (heed.Item, bool) {
	if a == nil {
		return heed.Item{}, false
	}
	return *a, true
}

func (s *Session) current(consumer string) *heed.Item {
	if blind := s.attention.openBlind(); blind != nil {
		return new(s.Present(*blind))
	}
	s.timeline.meet(consumer)
	var current *heed.Item
	s.ordered.Lock()
	a, open := s.engine.Current(consumer)
	if open {
		s.act(event.StatusDelivered, consumer, "", 0)
	}
	s.ordered.Unlock()
	if open {
		s.disk.keep(a.ID)
		current = new(s.Present(a))
	}
	s.attention.known.Store(current)
	return current
}

// within ingests evidence and returns the result of f. It returns false if that takes longer than
// [Config].AnswerWithin, or ctx is done; f may then still run, and its result is lost.
func within[T any](ctx context.Context, s *Session, f func() T) (answer T, ok bool) {
	select {
	case s.attention.slots <- struct{}{}:
	default:
		return answer, false
	}
	work, cancel := context.WithTimeout(ctx, s.cfg.AnswerWithin)
	defer cancel()
	answers := make(chan T, 1)
	go func() {
		defer func() { <-s.attention.slots }()
		// A quarter of the time remains for f in any case.
		before, cancel := context.WithTimeout(work, s.cfg.AnswerWithin*3/4)
		err := s.Gather(before)
		cancel()
		if ctx.Err() == nil { // else the caller is gone, and the error means nothing
			s.gathered(err)
		}
		answers <- f()
	}()
	select {
	case answer = <-answers:
		return answer, true
	case <-work.Done():
		return answer, false
	}
}

// gathered records whether evidence could be ingested.
func (s *Session) gathered(err error) {
	t := &s.attention
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil && !s.noLog.Load(): // else an item of the engine says so
		s.goBlind("its log could not be read: " + err.Error())
	case t.blind.Swap(nil) != nil:
		s.blindChanged()
	}
}

// late records that an answer took too long, and returns the current item as far as it is known without the engine.
func (s *Session) late(ctx context.Context) *heed.Item {
	t := &s.attention
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Err() == nil {
		s.goBlind("reading its log took too long")
	}
	if blind := t.openBlind(); blind != nil {
		return new(s.Present(*blind))
	}
	return t.known.Load()
}

// goBlind opens the blind item, unless there is one. The lock is held.
func (s *Session) goBlind(why string) {
	t := &s.attention
	if t.blind.Load() != nil {
		return
	}
	t.count++
	title := "heed cannot see what the game does, because " + why
	blind := &heed.Item{
		ID:    "blind-" + s.run + "-" + strconv.FormatUint(t.count, 10),
		State: coalesce.Open, Disposition: event.Blocking, Severity: event.SeverityError, Blocking: true,
		StateInvalidated: true, Title: title,
		Summary: "blind: " + title + ". Until it can, the effects of calls are not known. Acknowledge to continue anyway.",
	}
	blind.Sanitize()
	t.blind.Store(blind)
	s.blindChanged()
}

// blindChanged has the sinks called: the current item is another one, without an update of the engine.
func (s *Session) blindChanged() {
	s.attention.news.Store(true)
	s.wake()
}

// openBlind returns the blind item while it is open, else nil. It precedes all others, since the missing evidence may
// be of anything.
func (t *attention) openBlind() *heed.Item {
	if blind := t.blind.Load(); blind != nil && blind.State == coalesce.Open {
		return blind
	}
	return nil
}

// ackBlind acknowledges the blind item, if it has this id.
func (s *Session) ackBlind(id string) Acked {
	t := &s.attention
	t.mu.Lock()
	defer t.mu.Unlock()
	a := Acked{AckResult: heed.AckResult{ID: id}}
	if blind := t.blind.Load(); blind != nil && blind.ID == id {
		cleared := *blind
		cleared.State, cleared.Blocking = coalesce.Cleared, false
		t.blind.Store(&cleared)
		s.blindChanged()
		a.Acknowledged, a.Items = true, []heed.Item{cleared}
	}
	return a
}

// Open appends the open items, the most urgent first; see [heed.Engine.Open].
func (s *Session) Open(dst []heed.Item) []heed.Item {
	if blind := s.attention.openBlind(); blind != nil {
		dst = append(dst, *blind)
	}
	open := s.engine.Open(nil)
	var first *heed.Item
	for i := range open {
		s.disk.keep(open[i].ID)
	}
	if len(open) > 0 {
		first = new(s.Present(open[0]))
	}
	s.attention.known.Store(first)
	return append(dst, open...)
}

// ItemID returns the id of the item that people and agents name: by its id, or by the number that ends it, which is
// unique in the session's epoch and names no item of another one.
func (s *Session) ItemID(name string) string {
	if n, err := strconv.ParseUint(name, 10, 64); err == nil {
		return s.engine.Latest().Epoch + "-" + strconv.FormatUint(n, 10)
	}
	return name
}

// ShortID returns the number that ends the id of an item of this epoch, as people and [Session.ItemID] take it; any
// other id as it is.
func ShortID(id, epoch string) string {
	if n, ok := strings.CutPrefix(id, epoch+"-"); ok && epoch != "" {
		return n
	}
	return id
}

// Item returns an item that is open, or cleared and not evicted; see [heed.Engine.Item].
func (s *Session) Item(id string) (heed.Item, bool) {
	if blind := s.attention.blind.Load(); blind != nil && blind.ID == id {
		return *blind, true
	}
	return s.engine.Item(id)
}

// Verdict returns the evidence about an operation; see [heed.Engine.Verdict].
func (s *Session) Verdict(operation string) heed.Verdict {
	v := s.engine.Verdict(operation)
	s.disk.keep(v.AttentionID)
	return v
}

// Delivered records that an item was delivered to a consumer; see [heed.Engine.Delivered].
func (s *Session) Delivered(consumer, id string, upTo uint64) bool {
	s.ordered.Lock()
	defer s.ordered.Unlock()
	s.act(event.StatusDelivered, consumer, id, upTo)
	return s.engine.Delivered(consumer, id, upTo)
}

// Acked is the answer to an acknowledgement. It belongs to the caller.
type Acked struct {
	heed.AckResult

	// Items are the items that it cleared, as they are now, the named item first: none if that was not open.
	Items []heed.Item

	// Left are the open items, the most urgent first. An item with the entries that were not covered has a cleared item
	// as its Predecessor.
	Left []heed.Item
}

// Ack acknowledges an item for a consumer, once all evidence is ingested, so that the items that are open then are
// current, too; see [heed.Engine.Ack] and [Session.ItemID]. It is on disk and in the timeline before the answer, which
// comes within [Config].AnswerWithin. If the engine did not answer in time, a retry is harmless. An id that was cleared
// before is not acknowledged while an item that continues it blocks.
func (s *Session) Ack(ctx context.Context, consumer, id string, upTo uint64) Acked {
	a, ok := within(ctx, s, func() Acked {
		a := s.ackBlind(id)
		if !a.Acknowledged {
			a = s.ack(consumer, s.ItemID(id), upTo)
		}
		a.Left = peers{s}.Open(nil)
		a.Current, a.Open = item(s.current(consumer))
		a.Acknowledged = a.Acknowledged && !(a.Already && slices.ContainsFunc(a.Left, func(it heed.Item) bool {
			return it.Blocking && s.continues(it, a.ID)
		}))
		return a
	})
	if !ok {
		a = s.ackBlind(id)
		if a.Current, a.Open = item(s.late(ctx)); a.Open {
			a.Left = []heed.Item{a.Current}
		}
	}
	return a
}

// continues reports whether an item continues the item of an id, over any number of others.
func (s *Session) continues(it heed.Item, id string) bool {
	known := true
	for known && it.Predecessor != "" && it.Predecessor != id {
		it, known = s.engine.Item(it.Predecessor)
	}
	return it.Predecessor == id
}

// ack acknowledges an item of the engine, and is in the timeline before the updates that it causes.
func (s *Session) ack(consumer, id string, upTo uint64) (a Acked) {
	defer func() {
		if a.Acknowledged && !a.Already {
			s.disk.through(s.engine.Latest().Seq)
		}
	}()
	s.ordered.Lock()
	defer s.leave()
	a.AckResult = s.engine.Ack(consumer, id, upTo)
	s.act(event.StatusAcknowledged, consumer, id, cmp.Or(a.Watermark, upTo))
	if a.Acknowledged && !a.Already {
		for _, id := range append([]string{a.ID}, a.Covered...) {
			if it, known := s.engine.Item(id); known {
				a.Items = append(a.Items, it)
			}
		}
	}
	s.timeline.acked(consumer, &a, s.now())
	return a
}

// Attach records that an agent has arrived; see [heed.Engine.Attach]. It is not part of a recording.
func (s *Session) Attach(consumer string) string {
	s.timeline.meet(consumer)
	s.ordered.Lock()
	id := s.engine.Attach(consumer, s.now())
	s.leave()
	s.disk.keep(id)
	return id
}

// MarkRead records that a consumer read an item: its entries or its samples, not its summary alone. The timeline has
// for each acknowledgement whether the item was read.
func (s *Session) MarkRead(consumer, id string) {
	s.timeline.read(consumer, id)
}

// HasRead reports whether a consumer read an item, by [Session.MarkRead].
func (s *Session) HasRead(consumer, id string) bool {
	t := &s.timeline
	t.mu.Lock()
	defer t.mu.Unlock()
	n, known := t.notes.Peek(id)
	return known && slices.Contains(n.readers, cut(consumer))
}

// peers is a session as the protocol has it.
type peers struct{ *Session }

// Peers returns the attention as agents see it, for [gabp.Attention].
func (s *Session) Peers() gabp.AttentionSource { return peers{s} }

// Open implements [gabp.AttentionSource].
func (p peers) Open(dst []heed.Item) []heed.Item {
	n := len(dst)
	dst = p.Session.Open(dst)
	for i, a := range dst[n:] {
		dst[n+i] = p.Present(a)
	}
	return dst
}

// Ack implements [gabp.AttentionSource].
func (p peers) Ack(ctx context.Context, consumer, id string) heed.AckResult {
	return p.Session.Ack(ctx, consumer, id, 0).AckResult
}

// Source returns the source of a gate for this session. It ingests all evidence first, records calls as operations, and
// delivers a blocking item to the caller. Evidence that cannot be ingested is an item, or with failOpen an error.
func (s *Session) Source(failOpen bool) gate.Recorder {
	return source{s, failOpen || s.cfg.Attention == OnlyShown}
}

type source struct {
	s        *Session
	failOpen bool
}

// Current implements [gate.Source].
func (g source) Current(ctx context.Context, consumer string) (heed.Item, bool, error) {
	if g.s.cfg.Attention == LeftToMod {
		return heed.Item{}, false, gate.ErrNoAttention
	}
	switch err := g.s.Gather(ctx); {
	case err != nil && (g.failOpen || ctx.Err() != nil):
		return heed.Item{}, false, err
	case err != nil: // the answer of attention/current
		a, open := g.s.Current(ctx, consumer)
		return a, open, nil
	}
	g.s.gathered(nil)
	g.s.lookForLog(0)
	open := g.s.engine.Open(nil)
	if len(open) == 0 {
		return heed.Item{}, false, nil
	}
	if !open[0].Blocking { // it is not delivered, and need not be on disk
		return open[0], true, nil
	}
	a, known := item(g.s.current(consumer))
	return a, known, nil
}

// Ack implements [gate.Source].
func (g source) Ack(ctx context.Context, consumer, id string, upTo uint64) (heed.AckResult, error) {
	if err := ctx.Err(); err != nil {
		return heed.AckResult{}, err
	}
	return g.s.Ack(ctx, consumer, id, upTo).AckResult, nil
}

// Begin implements [gate.Recorder].
func (g source) Begin(call gate.Call) (gate.Running, error) { return g.s.Begin(call), nil }

// Refused implements [gate.Recorder].
func (g source) Refused(d gate.Decision) {
	g.s.held.Add(1)
	g.s.timeline.refused(&d, g.s.now())
}

// since returns how long ago t was, at least zero.
func since(t, now time.Time) time.Duration { return max(0, now.Sub(t)) }
