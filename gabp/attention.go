package gabp

import (
	"context"
	"slices"
	"sync"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
)

// AttentionSource has the items that an [Attention] serves. Current and Ack ingest all
// evidence that exists first, and answer in time; see [heed.Engine] for the rest.
type AttentionSource interface {
	Current(ctx context.Context, consumer string) (heed.Item, bool)
	Ack(ctx context.Context, consumer, id string) heed.AckResult
	Item(id string) (heed.Item, bool)
	Open(dst []heed.Item) []heed.Item
	Delivered(consumer, id string, through uint64) bool
}

// Attention serves items over the protocol. Set Engine or Source before it is registered.
//
// Only the current item is sent, so that a client that holds a single item is never misled: an event carries the
// current item, or clears an earlier one. The last event is never a cleared one while an item is open. Events carry
// state, not history: the authority is attention/current.
type Attention struct {
	// Engine has the items. Its host observes all evidence before a request is answered.
	Engine *heed.Engine

	// Source has the items in place of Engine.
	Source AttentionSource

	// Publish sends events: [Server.Publish]. It is set as in [Tools].
	Publish publisher

	mu        sync.Mutex  // orders announcements
	announced []heed.Item // open items as they were announced, the latest last
}

// engineSource is an engine as a source.
type engineSource struct{ *heed.Engine }

// Current implements [AttentionSource].
func (e engineSource) Current(_ context.Context, consumer string) (heed.Item, bool) {
	return e.Engine.Current(consumer)
}

// Ack implements [AttentionSource].
func (e engineSource) Ack(_ context.Context, consumer, id string) heed.AckResult {
	return e.Engine.Ack(consumer, id, 0)
}

func (a *Attention) source() AttentionSource {
	if a.Source != nil {
		return a.Source
	}
	return engineSource{a.Engine}
}

// Register adds attention/current, attention/ack and the event channels of attention to m, which makes a server
// advertise them. The item of attention/current counts as delivered. attention/ack acknowledges the entries of the item
// that were delivered to the consumer. An unknown id is not acknowledged, and is no error. Register panics without
// Engine and Source.
func (a *Attention) Register(m *Mux) {
	if a.Engine == nil && a.Source == nil {
		panic("gabp: Attention.Engine and Attention.Source are nil; set one before Register")
	}
	source := a.source()
	if a.Publish != nil {
		m.channels = append(m.channels, ChannelOpened, ChannelUpdated, ChannelCleared)
	}
	m.Handle(MethodAttentionCurrent, func(ctx context.Context, r *Request) (any, error) {
		it, open := source.Current(ctx, r.Session.Consumer)
		return CurrentResult{Attention: itemOrNull(it, open)}, nil
	})
	m.Handle(MethodAttentionAck, func(ctx context.Context, r *Request) (any, error) {
		res := source.Ack(ctx, r.Session.Consumer, r.read.(AckParams).AttentionID)
		return AckResult{
			Acknowledged: res.Acknowledged, AttentionID: res.ID, CurrentAttention: itemOrNull(res.Current, res.Open),
		}, nil
	})
}

func itemOrNull(it heed.Item, open bool) *heed.Item {
	if !open {
		return nil
	}
	return Project(&it)
}

// Pump publishes changes of the current item. It must be called with each batch of
// the source's updates, in order. Without updates it publishes only if another
// item has become current. Each call renders the source's open items.
func (a *Attention) Pump(updates []heed.Update) {
	a.mu.Lock()
	defer a.mu.Unlock()
	source := a.source()
	open := source.Open(nil)
	before := len(a.announced)
	for _, it := range slices.Backward(a.announced) {
		if index(open, it.ID) < 0 {
			if now, ok := source.Item(it.ID); ok {
				it = now
			}
			it.State, it.Blocking = coalesce.Cleared, false
			a.publish(source, ChannelCleared, it)
		}
	}
	a.announced = slices.DeleteFunc(a.announced, func(it heed.Item) bool { return index(open, it.ID) < 0 })
	if len(open) == 0 {
		return
	}
	current, channel := open[0], ChannelOpened
	if i := index(a.announced, current.ID); i >= 0 {
		channel = ChannelUpdated
		if i == before-1 && a.announced[i].Summary == current.Summary &&
			!slices.ContainsFunc(updates, func(u heed.Update) bool { return u.Item.ID == current.ID }) {
			return
		}
		a.announced = slices.Delete(a.announced, i, i+1)
	}
	a.announced = append(a.announced, current)
	a.publish(source, channel, current)
}

// index returns the place of an item, or -1.
func index(list []heed.Item, id string) int {
	return slices.IndexFunc(list, func(it heed.Item) bool { return it.ID == id })
}

func (a *Attention) publish(source AttentionSource, channel string, it heed.Item) {
	announce(a.Publish, channel, it.ID, Project(&it), func(s *ServerSession) {
		source.Delivered(s.Consumer, it.ID, it.LatestSequence)
	})
}
