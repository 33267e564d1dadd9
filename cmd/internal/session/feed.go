package session

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
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
	Run(ctx context.Context, h func(*follow.Record)) error

	// Sync returns nil when h was called with everything that was there at the call.
	Sync(ctx context.Context) error

	// Status returns how the following does.
	Status() follow.Status
}

// Recorder records an engine's input, so that it can be replayed: a [follow.Recorder]. Calls do not overlap.
type Recorder interface {
	Record(rec *capture.Record)
}

// unrecorded is the Recorder of a session without one.
type unrecorded struct{}

func (unrecorded) Record(*capture.Record) {}

// act records a call of a method of the engine, as package capture reads it.
func (s *Session) act(status event.Status, consumer, id string, through uint64) {
	s.cfg.Recorder.Record(&capture.Record{Entry: event.Entry{
		Kind: event.KindHost, Status: status, Source: consumer, Message: id, Count: through,
	}})
}

// noLogAfter is how long there may be no log, such as before the game has begun to write it, until that is reported. A
// call does not wait for it.
const noLogAfter = 5 * time.Second

// lookForLog reports once that the log is missing or cannot be read, if that lasts for patience, and once that it is
// found again. Until then, a file that cannot be read is the error of [Session.Sync].
func (s *Session) lookForLog(patience time.Duration) {
	if s.cfg.Log == nil {
		return
	}
	s.logMu.Lock()
	defer s.logMu.Unlock()
	st, now := s.cfg.Log.Status(), s.now()
	switch {
	case st.Present && st.LastError == nil:
		// The restored state may be blind because there was no log.
		if s.noLog.Swap(false) || s.restored && !s.hadLog && s.engine.Stats().Blind {
			s.Observe(event.Notice{Time: now, Status: event.StatusLogFound, Detail: st.Path}.Entry())
			s.log.Info("there is a log to follow", "path", st.Path, "because", st.Evidence)
		}
		s.hadLog, s.absent = true, time.Time{}
		return
	case s.noLog.Load(), st.LastError != nil && patience == 0:
		return
	case s.absent.IsZero():
		if s.absent = now; st.LastError != nil {
			s.log.Error("the log cannot be read", "error", st.LastError)
		}
	}
	if since(s.absent, now) < patience {
		return
	}
	path, _ := filepath.Abs(st.Path) // which does not depend on the folder that heed was started in
	detail := cmp.Or(st.Absent, "there is no file "+cmp.Or(path, st.Path))
	if st.LastError != nil {
		detail = st.LastError.Error()
	}
	if s.cfg.LogFrom != "" {
		detail += " (" + s.cfg.LogFrom + ")"
	}
	s.noLog.Store(true)
	s.log.Warn("there is no log to follow", "path", st.Path, "because", detail)
	s.Observe(event.Notice{Time: now, Status: event.StatusNoLog, Detail: detail}.Entry())
}

// maxClockSkew is how far the time in a record may be from when it was read.
const maxClockSkew = time.Minute

// ingest ingests a record of the log, or learns mods and facts from a known one. Its time is the feed's: lines from
// before the session get none.
func (s *Session) ingest(r *follow.Record) {
	rec := &r.Record
	if s.noLog.Load() {
		s.lookForLog(noLogAfter) // the notice that the log exists comes before its records
	}
	if !rec.Time.IsZero() { // a log whose clock is another one's is as new as it is read
		if now := s.now(); rec.Time.Sub(now).Abs() > maxClockSkew {
			rec.Time = now
		}
	}
	s.ordered.Lock()
	defer s.leave()
	if rec.Status == event.StatusRestarted {
		s.mods.Store(new([]capture.ListedMod))
	}
	if list := rec.Mods; rec.Kind == event.KindLog && list != nil {
		if n := s.engine.LearnMods(list.Plain()); n > 0 {
			s.log.Info("the log lists mods", "mods", n, "omitted", list.Omitted)
		}
		known := s.Mods()
		s.mods.Store(new(append(slices.Clip(known), list.Mods[:min(len(list.Mods), maxMods-len(known))]...)))
	}
	s.learnGame(rec)
	if r.Known {
		s.observed(rec, &heed.Outcome{})
		return
	}
	s.at = r.Position
	o := s.engine.Observe(rec.Entry)
	if o.Seq == 0 { // a record that was ingested before
		return
	}
	if o.Part != rec.Part {
		rec.MakeRest()
		rec.LevelBy = 0
	}
	s.cfg.Recorder.Record(rec)
	s.observed(rec, &o)
}

// learnGame sets the family of the log and the name of the game's program in the engine, once the log has them.
func (s *Session) learnGame(rec *capture.Record) {
	if rec.Family != "" && rec.Family != s.family {
		s.family = rec.Family
		if err := s.engine.SetFamily(s.family); err != nil {
			s.log.Error("the rules of the log's family are not in use", "family", s.family, "error", err)
		}
	}
	s.aboutMu.Lock()
	program := s.began.Observe(rec)
	s.aboutMu.Unlock()
	if program != "" {
		s.engine.LearnGame(program)
	}
}

// Environment returns the facts in the log about the game's machine and versions.
func (s *Session) Environment() capture.Facts {
	s.aboutMu.Lock()
	defer s.aboutMu.Unlock()
	return s.began.Facts()
}

// maxMods bounds the mods that are kept of the lists in a log, as a log's reader bounds them.
const maxMods = 4096

// Mods returns the mods that the log has listed since the session began, or the latest run of the game in it, in load
// order. The slice is read only.
func (s *Session) Mods() []capture.ListedMod { return *s.mods.Load() }
