package session

import (
	"context"
	"slices"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

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
