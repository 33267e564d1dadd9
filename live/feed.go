package live

import (
	"context"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// Feed is a log that grows while it is read.
type Feed interface {
	// Run calls take with each record, in order and in one goroutine, until ctx
	// ends. The record is valid for the call only. arrived is when it came, and
	// zero for what was there before anybody looked.
	Run(ctx context.Context, take func(rec *capture.Record, arrived time.Time)) error

	// Sync returns nil when take was called with everything that was there at the
	// call.
	Sync(ctx context.Context) error

	// Status says how the reading goes, in a form that has a JSON encoding.
	Status() any
}

// Recorder is told what an engine is given, so that it can be given again.
// Calls are one at a time.
type Recorder interface {
	Record(rec *capture.Record)
	Log(l *event.Log)
	Operation(o *event.Operation)
	State(s *event.State)
	Notice(n *event.Notice)
	Ack(viewer, id string, upTo uint64)
	Advance(now time.Time)
}

// take takes in a record of the log. The time of one that was there before is not
// known, and nothing is invented.
func (s *Session) take(rec *capture.Record, arrived time.Time) {
	defer s.order()()
	if s.cfg.Recorder != nil {
		s.cfg.Recorder.Record(rec)
	}
	s.fed.Add(1)
	switch rec.Kind {
	case capture.KindOperation:
		stamp(&rec.Operation.Time, arrived)
		s.engine.Operation(rec.Operation)
	case capture.KindState:
		stamp(&rec.State.Time, arrived)
		s.engine.State(rec.State)
	case capture.KindNotice:
		stamp(&rec.Notice.Time, arrived)
		s.engine.Notice(rec.Notice)
	default:
		if rec.Kind == capture.KindContext {
			s.learnMods(rec.Log.Message)
		}
		stamp(&rec.Log.Time, arrived)
		s.engine.Log(rec.Log)
	}
}

func stamp(t *time.Time, now time.Time) {
	if t.IsZero() {
		*t = now
	}
}

// learnMods tells the engine which mods a list in the log names.
func (s *Session) learnMods(message string) {
	listed := capture.AppendMods(nil, message)
	mods := make([]heed.Mod, len(listed))
	for i, m := range listed {
		mods[i] = heed.Mod(m)
	}
	if n := s.engine.LearnMods(mods); n > 0 {
		s.log.Info("the log lists mods", "mods", n)
	}
}
