package session

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/gabp/gate"
)

// Current returns the item that a consumer should see first; see [heed.Engine.Current].
func (s *Session) Current(consumer string) (heed.Item, bool) {
	s.others.meet(consumer)
	a, open := s.engine.Current(consumer)
	s.disk.keep(a.ID)
	return a, open
}

// Open appends the open items; see [heed.Engine.Open].
func (s *Session) Open(dst []heed.Item) []heed.Item {
	n := len(dst)
	dst = s.engine.Open(dst)
	for i := range dst[n:] {
		s.disk.keep(dst[n+i].ID)
	}
	return dst
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

// Item returns an item that is open, or cleared and not evicted; see [heed.Engine.Item] and [Session.ItemID].
func (s *Session) Item(id string) (heed.Item, bool) { return s.engine.Item(s.ItemID(id)) }

// Verdict returns what is known of an operation; see [heed.Engine.Verdict].
func (s *Session) Verdict(operation string) heed.Verdict {
	v := s.engine.Verdict(operation)
	s.disk.keep(v.AttentionID)
	return v
}

// Delivered records that an item was delivered to a consumer; see [heed.Engine.Delivered].
func (s *Session) Delivered(consumer, id string, upTo uint64) bool {
	return s.engine.Delivered(consumer, s.ItemID(id), upTo)
}

// Ack acknowledges an item for a consumer; see [heed.Engine.Ack] and [Session.ItemID]. It is on disk and in the
// timeline before the answer.
func (s *Session) Ack(consumer, id string, upTo uint64) heed.AckResult {
	res := s.ack(consumer, s.ItemID(id), upTo)
	if res.Acknowledged && !res.Already {
		s.disk.through(s.engine.Latest().Seq)
	}
	s.disk.keep(res.Current.ID)
	return res
}

// ack acknowledges an item, and is in the timeline before the updates that it causes.
func (s *Session) ack(consumer, id string, upTo uint64) heed.AckResult {
	s.report.Lock()
	defer s.report.Unlock()
	s.enter()
	defer s.leave()
	res := s.engine.Ack(consumer, id, upTo)
	if s.cfg.Recorder != nil {
		// Deliveries are not recorded, so that the recording holds how far the acknowledgement went.
		s.cfg.Recorder.Ack(consumer, id, cmp.Or(res.Watermark, upTo))
	}
	now := s.now()
	s.timeline.acked(consumer, &res, now)
	s.others.told(consumer, res.ID)
	if res.Acknowledged && !res.Already {
		var items []heed.Item
		for _, id := range append([]string{res.ID}, res.Covered...) {
			if a, known := s.engine.Item(id); known {
				items = append(items, a)
			}
		}
		s.others.acked(consumer, items, now)
	}
	return res
}

// Attach records that an agent has arrived; see [heed.Engine.Attach]. It is not part of a recording.
func (s *Session) Attach(consumer string) string {
	s.others.meet(consumer)
	s.enter()
	id := s.engine.Attach(consumer, s.now())
	s.leave()
	s.disk.keep(id)
	return id
}

// MarkRead records that a consumer read an item: its entries or its samples, not its summary alone. The timeline has
// for each acknowledgement whether the item was read.
func (s *Session) MarkRead(consumer, id string) {
	s.timeline.read(consumer, id)
	s.others.told(consumer, id)
}

// Source returns the source of a gate for this session. It ingests the log first, records calls as operations, and
// delivers a blocking item to the caller.
func (s *Session) Source() gate.Recorder { return source{s} }

type source struct{ s *Session }

// Current implements [gate.Source].
func (g source) Current(ctx context.Context, consumer string) (heed.Item, bool, error) {
	if err := g.s.Sync(ctx); err != nil {
		return heed.Item{}, false, err
	}
	g.s.lookForLog(0)
	a, open := gate.Look(looker{g.s}, consumer)
	return a, open, nil
}

// looker reads items without delivering them: what is not delivered need not be on disk.
type looker struct{ *Session }

// Open appends the open items, as [gate.Look] asks for them.
func (l looker) Open(dst []heed.Item) []heed.Item { return l.engine.Open(dst) }

// Ack implements [gate.Source].
func (g source) Ack(ctx context.Context, consumer, id string, upTo uint64) (heed.AckResult, error) {
	if err := ctx.Err(); err != nil {
		return heed.AckResult{}, err
	}
	return g.s.Ack(consumer, id, upTo), nil
}

// Begin implements [gate.Recorder].
func (g source) Begin(call gate.Call) gate.Running { return g.s.Begin(call) }

// Refused implements [gate.Recorder].
func (g source) Refused(d gate.Decision) {
	g.s.held.Add(1)
	g.s.timeline.refused(&d, g.s.now())
}

// since returns how long ago t was, at least zero.
func since(t, now time.Time) time.Duration { return max(0, now.Sub(t)) }
