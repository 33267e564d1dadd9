package intake

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/summary"
)

var (
	errEmpty   = errors.New("is empty")
	errTooLong = fmt.Errorf("has more than %d bytes", maxLog)
)

// maxLog bounds a log, unpacked: what expands without end is no log.
const maxLog = 16 << 30

// marks are the lengths of the beginnings of a log that are hashed: each 256 bytes, and 256 or more in each doubling.
var marks = func() (all []uint64) {
	for n, step := uint64(256), uint64(256); n <= maxLog; n += step {
		all = append(all, n)
		if n == 512*step {
			step *= 2
		}
	}
	return all
}()

// summarize returns the summary of a log, scrubbed as its text comes in. Of one that could not be read to its end it
// returns both what was read and the error; of what is no log, an error alone.
func summarize(set *rules.Set, name string, packed io.Reader) (s *summary.Session, err error) {
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, errors.New("heed failed on it, which is a fault of heed's")
			if wrong, ok := p.(runtime.Error); ok { // others may have text of the log
				err = fmt.Errorf("%w: %w", err, wrong)
			}
		}
	}()
	log, err := unpacked(packed)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // only read from
	hasher := summary.NewHasher(marks)
	text := &limitReader{r: io.TeeReader(log, hasher), left: maxLog}
	reader, err := capture.NewReader(text, capture.Options{})
	if err != nil {
		return nil, err
	}
	head := reader.Head(64 << 10)
	if err := files.Text(head); err != nil {
		return nil, err
	}
	engine, err := heed.New(engineConfig(set))
	if err != nil {
		return nil, err
	}
	r := replay{engine: engine, reader: reader}
	scrubber := &report.Scrubber{}
	r.report, err = report.New(report.Config{
		File: name, Template: engine.Template, Group: engine.Group, Mod: engine.Mod, Scrub: scrubber,
		Blame: func() []heed.Suspect { return engine.Blame(&r.record.Entry) },
	})
	if err != nil {
		return nil, err
	}
	err = r.run()
	s = r.report.Session(scrubber)
	s.Log, s.Rules = hasher.Log(name), set.Hash()
	if s.Log.Bytes == 0 {
		return nil, errors.Join(err, errEmpty)
	}
	return s, err
}

// engineConfig returns the set-up of an engine whose journal nobody reads.
func engineConfig(set *rules.Set) heed.Config {
	c := heed.Config{Rules: set}
	c.Journal.Entries, c.Journal.Bytes = 256, 64<<10
	c.Journal.Firsts, c.Journal.FirstsBytes = 64, 64<<10
	c.Journal.Pinned, c.Journal.PinnedBytes = 64, 64<<10
	return c
}

// replay feeds a log to an engine and what becomes of it to a report.
type replay struct {
	engine *heed.Engine
	reader *capture.Reader
	report *report.Replay

	record capture.Record
	began  capture.Environment
	mods   report.Environment
	lines  int
}

// run replays the log to its end. Acts of hosts that a recording has are not done again.
func (r *replay) run() error {
	var outcome heed.Outcome
	var updates []heed.Update
	for {
		if err := r.reader.Next(&r.record); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			r.end(err)
			return err
		}
		rec := &r.record
		r.lines = max(r.lines, rec.EndLine)
		if rec.Kind == event.KindHost {
			continue
		}
		if rec.Kind == event.KindNotice && rec.Status == event.StatusRestarted {
			r.mods = report.Environment{}
		}
		if program := r.began.Observe(rec); program != "" {
			r.engine.LearnGame(program)
		}
		if rec.Mods != nil {
			r.mods.Mods = append(r.mods.Mods, rec.Mods.Mods...)
			r.mods.MoreMods += rec.Mods.Omitted
			r.engine.LearnMods(rec.Mods.Plain())
		}
		r.engine.ObserveInto(&outcome, &rec.Entry)
		r.report.Observe(rec, &outcome)
		if outcome.Pending {
			updates = r.engine.Updates(updates[:0])
			for i := range updates {
				r.report.Update(&updates[i])
			}
		}
	}
}

func (r *replay) end(err error) {
	environment := r.mods
	environment.Facts = r.began.Facts()
	r.report.End(report.End{
		Layout: r.reader.Layout().String(), Lines: r.lines, Err: err, Stats: r.engine.Stats(), Open: r.engine.Open(nil),
		Environment: environment, Headless: r.began.Headless(), Unrecognized: !r.began.Recognized(),
	})
}

// limitReader fails where more is read than is left.
type limitReader struct {
	r    io.Reader
	left int64
}

func (l *limitReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
