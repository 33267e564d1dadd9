package bridge

import (
	"context"
	"log/slog"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
)

// evidence is the input about the game: the mod's events and the log.
type evidence struct {
	session *session.Session
	mod     *mod
	log     *slog.Logger
	within  time.Duration // bounds a drain
}

// drainTimeout bounds how long an answer waits for the events that the mod sent before it.
const drainTimeout = 500 * time.Millisecond

// drain returns when the events are ingested that the mod sent before what has come over a connection, or their time is
// over.
func (e *evidence) drain(ctx context.Context, client *gabp.Client) {
	ctx, cancel := context.WithTimeout(ctx, e.within)
	defer cancel()
	if err := e.mod.drain(ctx, client); err != nil {
		e.log.Debug("not all events of the mod were read in time", "error", err)
	}
}

// sync ingests everything that is there: the mod's events, and the log.
func (e *evidence) sync(ctx context.Context) error {
	if client := e.mod.current(); client != nil {
		e.drain(ctx, client)
	}
	return e.session.Sync(ctx)
}

// gateSource is the session as the gate sees it.
type gateSource struct {
	gate.Recorder
	evidence *evidence
	handler  *gabp.AttentionHandler // nil without attention
	failOpen bool
}

// Current implements [gate.Source]. Where the log cannot be read, the item is the handler's, so that the gate and
// attention/current agree, and there is an item to acknowledge.
func (s *gateSource) Current(ctx context.Context, consumer string) (heed.Item, bool, error) {
	if s.handler == nil {
		return heed.Item{}, false, gate.ErrNoAttention
	}
	if client := s.evidence.mod.current(); client != nil {
		s.evidence.drain(ctx, client)
	}
	a, open, err := s.Recorder.Current(ctx, consumer)
	if err == nil || s.failOpen {
		return *s.handler.Present(a), open, err
	}
	current := s.handler.Current(ctx, consumer).Attention
	if current == nil {
		return heed.Item{}, false, nil // acknowledged
	}
	return *current, true, nil
}
