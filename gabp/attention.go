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

// DefaultBudget is the default of [PlaneConfig.Budget]. Bridges in the field
// wait two seconds, and let the call through after that.
const defaultBudget = 1500 * time.Millisecond

// AttentionSource is where a [AttentionHandler] looks. *heed.Engine is one; its methods
// say what they do.
type AttentionSource interface {
	Current(viewer string) (heed.Attention, bool)
	Ack(viewer, id string, upTo uint64) heed.AckResult
	Item(id string) (heed.Attention, bool)
	Open(dst []heed.Attention) []heed.Attention
	Delivered(viewer, id string, upTo uint64) bool
}

// PlaneConfig sets up a [AttentionHandler].
type AttentionConfig struct {
	// Source has the attention. Required.
	Source AttentionSource

	// Publish sends events: [publishFunc]. Without it there are none.
	Publish func(channel, key string, payload any, sent func(*ServerSession)) error

	// ObserveOnly makes every item advisory: nobody is stopped.
	ObserveOnly bool

	// Before takes in all the evidence that is there, before an answer. Where it
	// fails, or does not return in time, nobody can say that nothing is wrong: the
	// answer is a blocking item that says so. It should return when ctx is done.
	// Optional.
	Before func(ctx context.Context) error

	// Budget bounds the time of an answer. Default [defaultBudget].
	Budget time.Duration
}

// Plane puts the attention of a source on the wire.
//
// Only the current item is projected, so that a client with room for one item
// is never misled: an event tells of the item that is current now, or clears one
// that was. The last event is never a cleared one while an item is open. Events
// tell of state, not of history: the authority is attention/current.
//
// While the evidence cannot be taken in, an item of the plane's own is current.
// It can be acknowledged like others; then answers are what the source knows,
// until the evidence could be taken in and fails again.
type AttentionHandler struct {
	cfg   AttentionConfig
	slots chan struct{} // bounds answers that are being worked out

	blindPrefix string

	// pumping orders announcements; it is held while the source is asked.
	pumping sync.Mutex

	// mu guards what follows, and is never held while the source is asked: an
	// answer that is late must not wait for a source that is stuck.
	mu    sync.Mutex
	last  string                    // id of the open item told of last; "" for none
	told  map[string]heed.Attention // open items that were told of, as they were told
	blind *heed.Attention           // what cannot be seen, nil while all can
	acked bool                      // of blind
	count uint64                    // of blind items so far
}

// maxAnswers bounds answers that are being worked out at a time. One more is
// late at once.
const maxAnswers = 256

// NewPlane returns a plane. An error names the field of cfg that is at fault.
func NewAttentionHandler(cfg AttentionConfig) (*AttentionHandler, error) {
	if cfg.Source == nil {
		return nil, errors.New("gabp: PlaneConfig.Source is nil")
	}
	if cfg.Budget < 0 {
		return nil, fmt.Errorf("gabp: PlaneConfig.Budget is %v, want it positive", cfg.Budget)
	}
	cfg.Budget = cmp.Or(cfg.Budget, defaultBudget)
	return &AttentionHandler{
		cfg: cfg, slots: make(chan struct{}, maxAnswers),
		blindPrefix: "blind-" + newID()[:13] + "-",
		told:        map[string]heed.Attention{},
	}, nil
}

// Register adds attention/current, attention/ack and the event channels of
// attention to m, which makes a server advertise them.
func (p *AttentionHandler) Register(m *Mux) {
	m.channels = append(m.channels, ChannelOpened, ChannelUpdated, ChannelCleared)
	m.Handle(MethodAttentionCurrent, func(ctx context.Context, r *Request) (any, error) {
		return p.Current(ctx, r.Session.Consumer()), nil
	})
	m.Handle(MethodAttentionAck, func(ctx context.Context, r *Request) (any, error) {
		params, e := parseAck(r.Params)
		if e != nil {
			return nil, e
		}
		return p.Ack(ctx, r.Session.Consumer(), params.AttentionID), nil
	})
}

// Current answers attention/current for a viewer: what is open, once all
// evidence is taken in. It answers within the budget, whatever happens to the
// source. What it returns counts as shown to the viewer.
func (p *AttentionHandler) Current(ctx context.Context, viewer string) CurrentResult {
	answer, ok := within(ctx, p, func() CurrentResult {
		return CurrentResult{Attention: p.view(viewer)}
	})
	if !ok {
		return CurrentResult{Attention: p.late(ctx)}
	}
	return answer
}

// Ack answers attention/ack for a viewer: it acknowledges the item called id up
// to what the viewer was shown of it. Evidence that is there is taken in before,
// so that what is open after is current too. An unknown id is not acknowledged,
// and no error.
func (p *AttentionHandler) Ack(ctx context.Context, viewer, id string) AckResult {
	answer, ok := within(ctx, p, func() AckResult {
		acked := p.ackBlind(id)
		if acked {
			p.Pump(nil)
		} else {
			acked = p.cfg.Source.Ack(viewer, id, 0).Acknowledged
		}
		return AckResult{Acknowledged: acked, AttentionID: id, CurrentAttention: p.view(viewer)}
	})
	if !ok {
		// Whether the source took it is not known; asking again is harmless.
		return AckResult{Acknowledged: p.ackBlind(id), AttentionID: id, CurrentAttention: p.late(ctx)}
	}
	return answer
}

// within takes the evidence in and returns what f returns. It returns false
// where that takes longer than the budget, or ctx is done; f may then still be
// running, and its answer is lost.
func within[T any](ctx context.Context, p *AttentionHandler, f func() T) (answer T, ok bool) {
	select {
	case p.slots <- struct{}{}:
	default:
		return answer, false
	}
	work, cancel := context.WithTimeout(ctx, p.cfg.Budget)
	answers := make(chan T, 1)
	go func() {
		defer func() { <-p.slots }()
		if p.cfg.Before != nil {
			// A part of the budget is left to look at what is there all the same.
			before, cancel := context.WithTimeout(work, p.cfg.Budget*3/4)
			err := p.cfg.Before(before)
			cancel()
			if ctx.Err() == nil { // else nobody waits, and the error says nothing
				p.see(err)
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

// see notes whether the evidence could be taken in.
func (p *AttentionHandler) see(err error) {
	p.mu.Lock()
	before := p.blind
	if err != nil {
		p.blindLocked("its log could not be read: " + err.Error())
	} else {
		p.blind, p.acked = nil, false
	}
	changed := p.blind != before
	p.mu.Unlock()
	if changed {
		p.Pump(nil)
	}
}

// late notes that an answer took too long, and returns what there is to say
// without asking the source.
func (p *AttentionHandler) late(ctx context.Context) *heed.Attention {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() == nil {
		p.blindLocked("it did not answer in time")
		if !p.acked && p.last != p.blind.ID {
			p.tellLocked(ChannelOpened, *p.blind)
		}
	}
	if p.blind != nil && !p.acked {
		return p.Present(*p.blind)
	}
	// The agent knows that nothing can be seen, and wants to go on; what was
	// known before still stands.
	var known *heed.Attention
	for id, a := range p.told {
		if p.blind != nil && id == p.blind.ID {
			continue
		}
		if known == nil || a.Blocking && !known.Blocking || a.Blocking == known.Blocking && a.OpenedAtSequence < known.OpenedAtSequence {
			known = &a
		}
	}
	if known == nil {
		return nil
	}
	return p.Present(*known)
}

// blindLocked opens the item that says that nothing can be seen, unless it is.
func (p *AttentionHandler) blindLocked(why string) {
	if p.blind != nil {
		return
	}
	p.count++
	p.blind = &heed.Attention{
		ID:    p.blindPrefix + strconv.FormatUint(p.count, 10),
		State: coalesce.Open, Severity: event.SeverityError, Blocking: true, StateInvalidated: true,
		Summary: "heed cannot see what the game does: " + why +
			". Until it can, nothing is known of what calls did. Acknowledge to go on all the same.",
	}
	p.blind.Sanitize()
	p.acked = false
}

// ackBlind acknowledges the plane's own item, and returns false for another.
func (p *AttentionHandler) ackBlind(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blind == nil || p.blind.ID != id {
		return false
	}
	p.acked = true
	return true
}

// unseen returns the plane's own item while it stands before all others: what
// cannot be seen may be anything.
func (p *AttentionHandler) unseen() *heed.Attention {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.blind == nil || p.acked {
		return nil
	}
	return p.Present(*p.blind)
}

// view returns what is current for a viewer.
func (p *AttentionHandler) view(viewer string) *heed.Attention {
	if blind := p.unseen(); blind != nil {
		return blind
	}
	a, ok := p.cfg.Source.Current(viewer)
	if !ok {
		return nil
	}
	return p.Present(a)
}

// Present returns an item as clients may see it: advisory where the plane only observes.
func (p *AttentionHandler) Present(a heed.Attention) *heed.Attention {
	if p.cfg.ObserveOnly {
		a.Blocking = false
	}
	return &a
}

// Pump publishes what became of the current item. It is to be called with each
// batch of the source's updates, in their order. Without updates it publishes
// only where another item is current than before. It costs a rendering of the
// source's open items.
func (p *AttentionHandler) Pump(updates []heed.Update) {
	p.pumping.Lock()
	defer p.pumping.Unlock()
	open := p.cfg.Source.Open(nil)
	gone := p.gone(open)

	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range gone {
		p.tellLocked(ChannelCleared, a)
	}
	var current *heed.Attention
	switch {
	case p.blind != nil && !p.acked:
		current = p.blind
	case len(open) > 0:
		current = &open[0]
	default:
		return
	}
	before, told := p.told[current.ID]
	switch {
	case !told:
		p.tellLocked(ChannelOpened, *current)
	case len(gone) > 0 || current.ID != p.last || before.Summary != current.Summary ||
		slices.ContainsFunc(updates, func(u heed.Update) bool { return u.Attention.ID == current.ID }):
		p.tellLocked(ChannelUpdated, *current)
	}
}

// gone returns the items that were told of and are not open any more, as they
// are now, the one told of last first.
func (p *AttentionHandler) gone(open []heed.Attention) []heed.Attention {
	p.mu.Lock()
	var list []heed.Attention
	for id, a := range p.told {
		switch {
		case p.blind != nil && !p.acked && id == p.blind.ID:
		case slices.ContainsFunc(open, func(o heed.Attention) bool { return o.ID == id }):
		default:
			list = append(list, cleared(a))
		}
	}
	last := p.last
	p.mu.Unlock()
	slices.SortFunc(list, func(a, b heed.Attention) int {
		if (a.ID == last) != (b.ID == last) {
			if a.ID == last {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
	for i := range list {
		if a, ok := p.cfg.Source.Item(list[i].ID); ok {
			list[i] = cleared(a)
		}
	}
	return list
}

// cleared returns a as it is once it is over.
func cleared(a heed.Attention) heed.Attention {
	a.State, a.Blocking = coalesce.Cleared, false
	return a
}

// tellLocked publishes an event, and remembers what was told.
func (p *AttentionHandler) tellLocked(channel string, a heed.Attention) {
	if channel == ChannelCleared {
		delete(p.told, a.ID)
		if p.last == a.ID {
			p.last = ""
		}
	} else {
		p.told[a.ID] = a
		p.last = a.ID
	}
	if p.cfg.Publish == nil {
		return
	}
	// An item is small and has a JSON form: there is no error to pass on.
	_ = p.cfg.Publish(channel, a.ID, p.Present(a), func(s *ServerSession) {
		p.cfg.Source.Delivered(s.Consumer(), a.ID, a.LatestSequence)
	})
}
