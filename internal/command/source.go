package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/rules"
)

// source is a capture that is being fed to an engine.
type source struct {
	input   io.Closer
	records *capture.Ahead
	engine  *heed.Engine

	began capture.Environment // from the beginning of the capture
	mods  report.Environment  // those that were listed

	record  *capture.Record // the last one
	acted   bool            // it is an act of a host, without an outcome
	outcome heed.Outcome    // what became of it
}

// open opens a capture and makes an engine for it. What is no log is refused with
// an error that names the next step. Tee gets the bytes that are read; nil for none.
func (p *program) open(ctx context.Context, config heed.Config, name string, tee io.Writer) (*source, error) {
	in, err := p.openAny(ctx, name)
	if err != nil {
		return nil, err
	}
	reader, err := capture.NewReader(in, capture.Options{Tee: tee})
	if err != nil {
		_ = in.Close() // only read from
		return nil, ioError(fmt.Errorf("%s: %w", name, err))
	}
	if err := files.Text(reader.Head(readSize)); err != nil {
		_ = in.Close()
		if name == standardInput {
			name = standardInputName
		}
		if errors.Is(err, files.ErrBinary) {
			err = fmt.Errorf("%w: %s reads logs, plain or compressed with gzip or zstd", err, p.Name)
		}
		return nil, ioError(fmt.Errorf("%s %w", name, err))
	}
	engine, err := heed.New(config)
	if err != nil {
		_ = in.Close()
		return nil, err
	}
	engine.LearnInstalled(p.installed())
	return &source{input: in, records: capture.NewAhead(reader), engine: engine}, nil
}

// observe replays a capture and calls f with each record and what became of it,
// until f returns false. The record is that of src, and valid until the next one is read.
func (p *program) observe(ctx context.Context, set *rules.Set, name string,
	f func(src *source, o *heed.Outcome) bool,
) error {
	src, err := p.open(ctx, engineConfig(set), name, nil)
	if err != nil {
		return err
	}
	defer src.close()
	return src.each(ctx, name, f)
}

// each replays what is left of a capture, as [program.observe] does.
func (s *source) each(ctx context.Context, name string, f func(src *source, o *heed.Outcome) bool) error {
	var updates []heed.Update
	for {
		err := s.next()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return nil
		default:
			return ioError(fmt.Errorf("%s: %w", name, err))
		}
		if s.acted || s.outcome.Pending {
			updates = s.engine.Updates(updates[:0]) // of no interest here; not drained, they would pile up to a bound
		}
		if !s.acted && !f(s, &s.outcome) {
			return nil
		}
	}
}

// engineConfig returns the set-up of an engine for a replay. Nobody reads its
// journal: whoever wants the lines around a cause has the log itself. So the
// journal is kept small, and memory is the same for a log of any length.
func engineConfig(set *rules.Set) heed.Config {
	c := heed.Config{Rules: set}
	c.Journal.Entries, c.Journal.Bytes = 256, 64<<10
	c.Journal.Firsts, c.Journal.FirstsBytes = 64, 64<<10
	c.Journal.Pinned, c.Journal.PinnedBytes = 64, 64<<10
	return c
}

// close closes the input, which ends a read that waits there. It was only read
// from: its error means nothing.
func (s *source) close() {
	_ = s.input.Close()
	s.records.Close()
}

// next takes the next record and gives it to the engine.
func (s *source) next() error {
	rec, err := s.records.Next()
	if err != nil {
		return err
	}
	s.record = rec
	if rec.Kind == event.KindNotice && rec.Status == event.StatusRestarted {
		s.mods = report.Environment{}
	}
	if program := s.began.Observe(rec); program != "" {
		s.engine.LearnGame(program)
	}
	if s.acted = rec.Kind == event.KindHost; s.acted {
		switch rec.Status {
		case event.StatusAcknowledged:
			s.engine.Current(rec.Source) // what it names is covered
			s.engine.Ack(rec.Source, rec.Message, rec.Count)
		case event.StatusStateRead:
			s.engine.StateRead()
		default:
			s.engine.Advance(rec.Time)
		}
		return nil
	}
	if rec.Mods != nil {
		s.learn(rec.Mods)
	}
	s.engine.ObserveInto(&s.outcome, &rec.Entry)
	return nil
}

// environment returns where the capture was made, as far as that is known by now.
func (s *source) environment() report.Environment {
	e := s.mods
	e.Facts = s.began.Facts()
	return e
}

// bytes returns how many bytes of the log were read, 0 where that is not how long
// it is: in JSON lines, notices are about what the lines were made from.
func (s *source) bytes() uint64 {
	if s.records.Layout() == capture.LayoutJSON {
		return 0
	}
	return s.records.Bytes()
}

// learn passes the mods that a record lists to the engine.
func (s *source) learn(list *capture.ModList) {
	s.mods.Mods = append(s.mods.Mods, list.Mods...)
	s.mods.MoreMods += list.Omitted
	s.engine.LearnMods(list.Plain())
}

// blame returns the mods that s.record points at.
func (s *source) blame() []heed.Suspect { return s.engine.Blame(&s.record.Entry) }

// sampleOf returns one line that an entry can be recognized by.
func sampleOf(e *event.Entry) string {
	text := firstLine(strings.TrimSpace(e.Message))
	if e.Kind == event.KindLog {
		return text
	}
	return strings.TrimSpace(strings.Join([]string{e.Kind.String(), e.Status.String(), e.Source, text}, " "))
}
