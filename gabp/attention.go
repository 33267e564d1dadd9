package gabp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

// defaultBudget is the default of [AttentionConfig.Budget]. Bridges in the field
// wait two seconds, and let the call through after that.
const defaultBudget = 1500 * time.Millisecond

// AttentionSource holds the items that an [AttentionHandler] serves. A [heed.Engine] is one,
// and documents the methods.
type AttentionSource interface {
	Current(consumer string) (heed.Item, bool)
	Ack(consumer, id string, through uint64) heed.AckResult
	Item(id string) (heed.Item, bool)
	Open(dst []heed.Item) []heed.Item
	Delivered(consumer, id string, through uint64) bool
}

// AttentionConfig configures an [AttentionHandler].
type AttentionConfig struct {
	// Source has the attention. Required.
	Source AttentionSource

	// Publish sends events: [Server.Publish]. Without it there are none.
	Publish func(channel, key string, payload any, sent func(*ServerSession)) error

	// ObserveOnly makes every item advisory: no call is held back.
	ObserveOnly bool

	// Before ingests all evidence that exists, before an answer. Where it fails or
	// does not return in time, the absence of items proves nothing: the answer is a
	// blocking item with that summary. It should return when ctx is done. Optional.
	Before func(ctx context.Context) error

	// Budget bounds the time of an answer. Default 1.5 s.
	Budget time.Duration
}

// AttentionHandler serves the attention of a source over the protocol.
//
// Only the current item is sent, so that a client that holds a single item is never
// misled: an event carries the item that is current now, or clears one that was. The
// last event is never a cleared one while an item is open. Events carry state, not
// history: the authority is attention/current.
//
// While evidence cannot be ingested, the handler is blind: an item of its own is
// current. It can be acknowledged like others; answers are then what the source
// holds, until evidence was ingested and fails again.
type AttentionHandler struct {
	cfg   AttentionConfig
	slots chan struct{} // bounds concurrent answers

	blindPrefix string

	// pumping orders announcements; it is held while the source is called.
	pumping sync.Mutex

	// mu guards the fields below, and is never held while the source is called: a
	// late answer must not wait for a source that is stuck.
	mu            sync.Mutex
	lastAnnounced string               // id of the item announced last; "" for none
	announced     map[string]heed.Item // open items by id, as they were announced
	blind         *heed.Item           // nil unless blind
	acked         bool                 // of blind
	count         uint64               // blind items so far
}

// maxAnswers bounds concurrent answers. One more is late at once.
const maxAnswers = 256

// NewAttentionHandler returns a handler. An error names the field of cfg that is at fault.
func NewAttentionHandler(cfg AttentionConfig) (*AttentionHandler, error) {
	if cfg.Source == nil {
		return nil, errors.New("gabp: AttentionConfig.Source is nil")
	}
	if cfg.Budget < 0 {
		return nil, fmt.Errorf("gabp: AttentionConfig.Budget is %v, want it positive", cfg.Budget)
	}
	cfg.Budget = cmp.Or(cfg.Budget, defaultBudget)
	return &AttentionHandler{
		cfg: cfg, slots: make(chan struct{}, maxAnswers),
		blindPrefix: "blind-" + newID()[:13] + "-",
		announced:   map[string]heed.Item{},
	}, nil
}

// Register adds attention/current, attention/ack and the event channels of
// attention to m, which makes a server advertise them.
func (h *AttentionHandler) Register(m *Mux) {
	m.channels = append(m.channels, ChannelOpened, ChannelUpdated, ChannelCleared)
	m.Handle(MethodAttentionCurrent, func(ctx context.Context, r *Request) (any, error) {
		return h.Current(ctx, r.Session.Consumer()), nil
	})
	m.Handle(MethodAttentionAck, func(ctx context.Context, r *Request) (any, error) {
		params, e := parseAck(r.Params)
		if e != nil {
			return nil, e
		}
		return h.Ack(ctx, r.Session.Consumer(), params.AttentionID).AckResult, nil
	})
}

// Current answers attention/current for a consumer: the current item, once all
// evidence is ingested. It answers within the budget, whatever happens to the
// source. The item counts as delivered to the consumer.
func (h *AttentionHandler) Current(ctx context.Context, consumer string) CurrentResult {
	answer, ok := within(ctx, h, func() CurrentResult {
		return CurrentResult{Attention: h.current(consumer)}
	})
	if !ok {
		return CurrentResult{Attention: h.late(ctx)}
	}
	return answer
}

// Acknowledgement is the answer of [AttentionHandler.Ack]: the result of attention/ack, and
// what the protocol has no place for in it. It belongs to the caller.
type Acknowledgement struct {
	AckResult

	// Covered holds the items that the acknowledgement cleared, as they are now, the one that
	// was named first. It is empty where that was not open.
	Covered []heed.Item

	// Open holds the items that are open now, the most urgent first. An item that holds what
	// was not covered has a covered one as its Predecessor.
	Open []heed.Item
}

// Ack answers attention/ack for a consumer: it acknowledges the item with this id,
// through what was delivered of it to the consumer. Existing evidence is ingested
// first, so that the items that are open afterwards are current too. An unknown id is
// not acknowledged, and no error. It answers within the budget; where the source did not,
// Covered and Open are as far as they are known without it.
func (h *AttentionHandler) Ack(ctx context.Context, consumer, id string) Acknowledgement {
	answer, ok := within(ctx, h, func() Acknowledgement {
		a := Acknowledgement{Covered: h.ackBlind(id)}
		if a.Acknowledged = a.Covered != nil; a.Acknowledged {
			h.Pump(nil)
		} else {
			res := h.cfg.Source.Ack(consumer, id, 0)
			a.AttentionID = res.ID // the source may know it by a shorter name, too
			if a.Acknowledged = res.Acknowledged; res.Acknowledged && !res.Already {
				a.Covered = h.items(append([]string{res.ID}, res.Covered...))
			}
		}
		a.AttentionID = cmp.Or(a.AttentionID, id)
		a.CurrentAttention, a.Open = h.current(consumer), h.open()
		return a
	})
	if !ok {
		// Whether the source acknowledged it is unknown; a retry is harmless.
		answer = Acknowledgement{Covered: h.ackBlind(id)}
		answer.Acknowledged = answer.Covered != nil
		answer.AttentionID, answer.CurrentAttention = id, h.late(ctx)
		if answer.CurrentAttention != nil {
			answer.Open = []heed.Item{*answer.CurrentAttention}
		}
	}
	return answer
}

// items returns those items of the source that it still knows.
func (h *AttentionHandler) items(ids []string) []heed.Item {
	var list []heed.Item
	for _, id := range ids {
		if a, ok := h.cfg.Source.Item(id); ok {
			list = append(list, a)
		}
	}
	return list
}

// open returns the open items, the most urgent first, advisory with ObserveOnly.
func (h *AttentionHandler) open() []heed.Item {
	var list []heed.Item
	if blind := h.openBlind(); blind != nil {
		list = append(list, *blind)
	}
	for _, a := range h.cfg.Source.Open(nil) {
		a.Blocking = a.Blocking && !h.cfg.ObserveOnly
		list = append(list, a)
	}
	return list
}

// within ingests evidence and returns the result of f. It returns false where
// that takes longer than the budget, or ctx is done; f may then still run, and
// its result is lost.
func within[T any](ctx context.Context, h *AttentionHandler, f func() T) (answer T, ok bool) {
	select {
	case h.slots <- struct{}{}:
	default:
		return answer, false
	}
	work, cancel := context.WithTimeout(ctx, h.cfg.Budget)
	answers := make(chan T, 1)
	go func() {
		defer func() { <-h.slots }()
		if h.cfg.Before != nil {
			// A quarter of the budget remains for f in any case.
			before, cancel := context.WithTimeout(work, h.cfg.Budget*3/4)
			err := h.cfg.Before(before)
			cancel()
			if ctx.Err() == nil { // else the caller is gone, and the error means nothing
				h.evidence(err)
			}
		}
		answers <- f()
	}()
	defer cancel()
	select {
	case answer = <-answers:
		return answer, true
	case <-work.Done():
		return answer, false
	}
}

// evidence records whether evidence could be ingested.
func (h *AttentionHandler) evidence(err error) {
	h.mu.Lock()
	before := h.blind
	if err != nil {
		h.goBlindLocked("its log could not be read: " + err.Error())
	} else {
		h.blind, h.acked = nil, false
	}
	changed := h.blind != before
	h.mu.Unlock()
	if changed {
		h.Pump(nil)
	}
}

// late records that an answer took too long, and returns the current item as far as
// it is known without the source.
func (h *AttentionHandler) late(ctx context.Context) *heed.Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() == nil {
		h.goBlindLocked("reading its log took too long")
		if !h.acked && h.lastAnnounced != h.blind.ID {
			h.announceLocked(ChannelOpened, *h.blind)
		}
	}
	if h.blind != nil && !h.acked {
		return h.Present(*h.blind)
	}
	// Blindness is acknowledged; items announced before still stand.
	var known *heed.Item
	for id, a := range h.announced {
		if h.blind != nil && id == h.blind.ID {
			continue
		}
		if known == nil || a.Blocking && !known.Blocking ||
			a.Blocking == known.Blocking && a.OpenedAtSequence < known.OpenedAtSequence {
			known = &a
		}
	}
	if known == nil {
		return nil
	}
	return h.Present(*known)
}

// goBlindLocked opens the blind item, unless it is open.
func (h *AttentionHandler) goBlindLocked(why string) {
	if h.blind != nil {
		return
	}
	h.count++
	h.blind = &heed.Item{
		ID:    h.blindPrefix + strconv.FormatUint(h.count, 10),
		State: coalesce.Open, Severity: event.SeverityError, Blocking: true, StateInvalidated: true,
		Summary: "blind: heed cannot see what the game does, because " + why +
			". Until it can, the effects of calls are not known. Acknowledge to continue anyway.",
	}
	h.blind.Sanitize()
	h.acked = false
}

// ackBlind acknowledges the blind item and returns it, cleared, and nil for another id.
func (h *AttentionHandler) ackBlind(id string) []heed.Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blind == nil || h.blind.ID != id {
		return nil
	}
	h.acked = true
	return []heed.Item{asCleared(*h.blind)}
}

// openBlind returns the blind item while it is not acknowledged. It precedes all
// others, since the missing evidence may be of anything.
func (h *AttentionHandler) openBlind() *heed.Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.blind == nil || h.acked {
		return nil
	}
	return h.Present(*h.blind)
}

// current returns the current item for a consumer.
func (h *AttentionHandler) current(consumer string) *heed.Item {
	if blind := h.openBlind(); blind != nil {
		return blind
	}
	a, ok := h.cfg.Source.Current(consumer)
	if !ok {
		return nil
	}
	return h.Present(a)
}

// Present returns an item as clients may see it: with the fields of the protocol, advisory with ObserveOnly.
func (h *AttentionHandler) Present(a heed.Item) *heed.Item {
	a.Blocking = a.Blocking && !h.cfg.ObserveOnly
	a = Project(&a)
	return &a
}

// Pump publishes changes of the current item. It must be called with each batch of
// the source's updates, in order. Without updates it publishes only where another
// item has become current. Each call renders the source's open items.
func (h *AttentionHandler) Pump(updates []heed.Update) {
	h.pumping.Lock()
	defer h.pumping.Unlock()
	open := h.cfg.Source.Open(nil)
	cleared := h.cleared(open)

	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range cleared {
		h.announceLocked(ChannelCleared, a)
	}
	var current *heed.Item
	switch {
	case h.blind != nil && !h.acked:
		current = h.blind
	case len(open) > 0:
		current = &open[0]
	default:
		return
	}
	before, known := h.announced[current.ID]
	switch {
	case !known:
		h.announceLocked(ChannelOpened, *current)
	case len(cleared) > 0 || current.ID != h.lastAnnounced || before.Summary != current.Summary ||
		slices.ContainsFunc(updates, func(u heed.Update) bool { return u.Item.ID == current.ID }):
		h.announceLocked(ChannelUpdated, *current)
	}
}

// cleared returns the items that were announced and are no longer open, as they
// are now, the one announced last first.
func (h *AttentionHandler) cleared(open []heed.Item) []heed.Item {
	h.mu.Lock()
	var list []heed.Item
	for id, a := range h.announced {
		switch {
		case h.blind != nil && !h.acked && id == h.blind.ID:
		case slices.ContainsFunc(open, func(o heed.Item) bool { return o.ID == id }):
		default:
			list = append(list, asCleared(a))
		}
	}
	last := h.lastAnnounced
	h.mu.Unlock()
	slices.SortFunc(list, func(a, b heed.Item) int {
		if (a.ID == last) != (b.ID == last) {
			if a.ID == last {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
	for i := range list {
		if a, ok := h.cfg.Source.Item(list[i].ID); ok {
			list[i] = asCleared(a)
		}
	}
	return list
}

// asCleared returns a in the state cleared.
func asCleared(a heed.Item) heed.Item {
	a.State, a.Blocking = coalesce.Cleared, false
	return a
}

// announceLocked publishes an event, and records it.
func (h *AttentionHandler) announceLocked(channel string, a heed.Item) {
	if channel == ChannelCleared {
		delete(h.announced, a.ID)
	} else {
		h.announced[a.ID] = a
		h.lastAnnounced = a.ID
	}
	if h.cfg.Publish == nil {
		return
	}
	// An item is small and has a JSON form, so that Publish cannot fail.
	_ = h.cfg.Publish(channel, a.ID, h.Present(a), func(s *ServerSession) {
		h.cfg.Source.Delivered(s.Consumer(), a.ID, a.LatestSequence)
	})
}
