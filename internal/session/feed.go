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
	// Run calls h with each record, in order and in one goroutine, until ctx ends.
	// An error says that the log cannot be followed at all.
	Run(ctx context.Context, h follow.Handler) error

	// Sync returns nil when h was called with everything that was there at the
	// call.
	Sync(ctx context.Context) error

	// Status says how the following goes.
	Status() follow.Status
}

// Recorder is told what an engine is given, so that it can be given again:
// a [follow.Recorder]. Calls are one at a time.
type Recorder interface {
	Record(rec *capture.Record)
	Ack(viewer, id string, upTo uint64)
	Advance(now time.Time)
}

// take takes in a record of the log, whose times are the feed's: nothing is invented
// for what was there before anybody looked.
func (s *Session) take(r *follow.Record) {
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

// learnGame tells the engine how the game's program is called, once the log has.
func (s *Session) learnGame(rec *capture.Record) {
	if s.program != "" { // it is told once
		return
	}
	s.began.Observe(rec)
	if s.program = s.began.Program(); s.program != "" {
		s.engine.LearnGame(s.program)
	}
}

// learnMods tells the engine which mods a list in the log names.
func (s *Session) learnMods(list *capture.ModList) {
	mods := make([]heed.Mod, len(list.Mods))
	for i, m := range list.Mods {
		mods[i] = heed.Mod(m.Mod)
	}
	if n := s.engine.LearnMods(mods); n > 0 {
		s.log.Info("the log lists mods", "mods", n, "omitted", list.Omitted)
	}
}
