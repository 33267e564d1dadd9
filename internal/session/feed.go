package session

import (
	"context"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/event"
)

// Feed is a log that grows while it is read: a [follow.Follower].
type Feed interface {
	// Run calls h with each record, in order and in one goroutine, until ctx ends. An error means that the log cannot be
	// followed at all.
	Run(ctx context.Context, h follow.Handler) error

	// Sync returns nil when h was called with everything that was there at the call.
	Sync(ctx context.Context) error

	// Status returns how the following does.
	Status() follow.Status
}

// Recorder records an engine's input, so that it can be replayed: a [follow.Recorder]. Calls do not overlap.
type Recorder interface {
	Record(rec *capture.Record)
	Ack(consumer, id string, through uint64)
	Advance(now time.Time)
	StateRead()
}

// ingest ingests a record of the log. Its time is the feed's: what was there before the session began gets none.
func (s *Session) ingest(r *follow.Record) {
	rec := &r.Record
	s.enter()
	defer s.leave()
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Record(rec)
	}
	s.fed.Add(1)
	if rec.Kind == event.KindLog {
		if rec.Mods != nil {
			s.learnMods(rec.Mods)
		}
		s.learnGame(rec)
	}
	s.engine.Observe(rec.Entry)
}

// learnGame sets the name of the game's program in the engine, once the log has it.
func (s *Session) learnGame(rec *capture.Record) {
	if s.program != "" {
		return
	}
	s.began.Observe(rec)
	if s.program = s.began.Program(); s.program != "" {
		s.engine.LearnGame(s.program)
	}
}

// learnMods sets the mods of a list in the log in the engine.
func (s *Session) learnMods(list *capture.ModList) {
	mods := make([]heed.Mod, len(list.Mods))
	for i, m := range list.Mods {
		mods[i] = heed.Mod(m.Mod)
	}
	if n := s.engine.LearnMods(mods); n > 0 {
		s.log.Info("the log lists mods", "mods", n, "omitted", list.Omitted)
	}
}
