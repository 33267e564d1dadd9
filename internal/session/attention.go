package session

import (
	"cmp"
	"context"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/gate"
)

// View returns the item that a viewer should see first; see [heed.Engine.View].
func (s *Session) View(viewer string) (heed.Attention, bool) {
	a, open := s.engine.View(viewer)
	s.disk.keep(a.ID)
	return a, open
}

// Open appends the open items; see [heed.Engine.Open].
func (s *Session) Open(dst []heed.Attention) []heed.Attention {
	n := len(dst)
	dst = s.engine.Open(dst)
	for i := range dst[n:] {
		s.disk.keep(dst[n+i].ID)
	}
	return dst
}

// Item returns an item that is open or remembered; see [heed.Engine.Item].
func (s *Session) Item(id string) (heed.Attention, bool) { return s.engine.Item(id) }

// Verdict returns what is known of an operation; see [heed.Engine.Verdict].
func (s *Session) Verdict(operation string) heed.Verdict {
	v := s.engine.Verdict(operation)
	s.disk.keep(v.AttentionID)
	return v
}

// Shown notes that a viewer was shown an item; see [heed.Engine.Shown].
func (s *Session) Shown(viewer, id string, upTo uint64) bool {
	return s.engine.Shown(viewer, id, upTo)
}

// AckBy acknowledges an item for a viewer; see [heed.Engine.AckBy]. It is on disk
// and in the timeline before it is answered.
func (s *Session) AckBy(viewer, id string, upTo uint64) heed.AckResult {
	res := s.ack(viewer, id, upTo)
	if res.Acknowledged && !res.Already {
		s.disk.upTo(s.engine.Latest().Seq)
	}
	s.disk.keep(res.Current.ID)
	return res
}

// ack is in the timeline before the pump gets hold of what it clears.
func (s *Session) ack(viewer, id string, upTo uint64) heed.AckResult {
	s.telling.Lock()
	defer s.telling.Unlock()
	s.enter()
	defer s.leave()
	res := s.engine.AckBy(viewer, id, upTo)
	if s.cfg.Recorder != nil {
		// What was shown to whom is not recorded, so the recording says how far the
		// acknowledgement went.
		s.cfg.Recorder.Ack(viewer, id, cmp.Or(res.Watermark, upTo))
	}
	s.timeline.acked(viewer, &res, s.now())
	return res
}

// Attach notes that an agent has arrived; see [heed.Engine.Attach]. A recording
// does not hold it.
func (s *Session) Attach(viewer string) string {
	s.enter()
	id := s.engine.Attach(viewer, s.now())
	s.leave()
	s.disk.keep(id)
	return id
}

// Detach notes that an agent has left.
func (s *Session) Detach(viewer string) { s.engine.Detach(viewer) }

// MarkRead notes that a viewer looked into an item: at its entries or its samples,
// not at its summary alone. The timeline says of each acknowledgement whether it
// was read.
func (s *Session) MarkRead(viewer, id string) { s.timeline.read(viewer, id) }

// Source returns what a gate asks about this session. It takes in the log first,
// keeps account of calls, and shows a blocking item to who calls.
func (s *Session) Source() gate.Recorder { return source{s} }

type source struct{ s *Session }

// Current implements [gate.Source].
func (g source) Current(ctx context.Context, viewer string) (heed.Attention, bool, error) {
	if err := g.s.Sync(ctx); err != nil {
		return heed.Attention{}, false, err
	}
	a, open := gate.Look(looker{g.s}, viewer)
	return a, open, nil
}

// looker looks without telling: what it does not view needs not be on disk.
type looker struct{ *Session }

// Open implements [gate.Viewer].
func (l looker) Open(dst []heed.Attention) []heed.Attention { return l.engine.Open(dst) }

// Ack implements [gate.Source].
func (g source) Ack(ctx context.Context, viewer, id string, upTo uint64) (gate.Acked, error) {
	if err := ctx.Err(); err != nil {
		return gate.Acked{}, err
	}
	return gate.AckedBy(g.s.AckBy(viewer, id, upTo)), nil
}

// Begin implements [gate.Recorder].
func (g source) Begin(call gate.Call) gate.Running { return g.s.Begin(call) }

// Refused implements [gate.Recorder].
func (g source) Refused(d gate.Decision) { g.s.timeline.refused(&d, g.s.now()) }

// since returns how long ago t was, never less than nothing.
func since(t, now time.Time) time.Duration { return max(0, now.Sub(t)) }
