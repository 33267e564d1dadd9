package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

// source is a capture that is being fed to an engine.
type source struct {
	*replay.Replay
	input   io.Closer
	records *capture.Ahead
}

// How much the heap grows between two runs of the collector, in percent. A replay makes little garbage: 100 copies of a
// capture take as long with 20 as with Go's own 100, and an eighth less memory. Rules and tables of an engine are made
// once: with 900 they take three quarters of the time, and no more memory than the replay.
const (
	growthAtStart  = 900
	growthByItself = 100
	growthOfReplay = 20
)

// letGrow sets how much the heap grows, if the process is the command's own.
func (p *program) letGrow(percent int) {
	if p.Stdin == os.Stdin {
		debug.SetGCPercent(percent)
	}
}

// open opens a capture and makes an engine for it. A file that is not a log is refused with an error that names the
// next step. tee gets the bytes read; it may be nil.
func (p *program) open(ctx context.Context, config heed.Config, name string, tee io.Writer) (_ *source, err error) {
	in, err := p.openAny(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = in.Close() // only read from
		}
	}()
	reader, err := capture.NewReader(in, capture.Options{Tee: tee, LastLine: p.lastLine})
	if err != nil {
		return nil, ioError(fmt.Errorf("%s: %w", name, err))
	}
	head := reader.Head(readSize)
	if err := text.Check(head); err != nil {
		if name == standardInput {
			name = standardInputName
		}
		said := p.inWords(err)
		if errors.Is(err, text.ErrBinary) && p.language() == nil {
			said = fmt.Errorf("%w: %s reads logs, plain or compressed with gzip or zstd", err, p.Name)
		}
		return nil, ioError(fmt.Errorf("%s %w", name, said))
	}
	config.Family = reader.Family()
	engine, err := heed.New(config)
	if err != nil {
		return nil, err
	}
	if len(head) == readSize { // else the log has come to its end
		p.letGrow(growthOfReplay)
	}
	engine.LearnInstalled(p.installed())
	records := capture.NewAhead(reader)
	return &source{&replay.Replay{Engine: engine, Records: records, Family: config.Family}, in, records}, nil
}

// observe replays a capture and calls f with each record and its outcome, until f returns false. The record is
// src.Record, and is valid until the next record is read.
func (p *program) observe(ctx context.Context, set *rules.Set, name string,
	f func(src *source, o *heed.Outcome) bool,
) error {
	src, err := p.open(ctx, replay.Config(set), name, nil)
	if err != nil {
		return err
	}
	defer src.close()
	err = src.Each(func() bool { return f(src, &src.Outcome) }, func(*heed.Update) bool { return true })
	if err != nil {
		return ioError(fmt.Errorf("%s: %w", name, err)) // of an interrupt, too, which [cli.Program.Fail] finds in it
	}
	return ctx.Err()
}

// eachLog reads logs in order, until an interrupt. It reports a log that cannot be read and continues.
func (p *program) eachLog(ctx context.Context, names []string, read func(name string) error) {
	for _, name := range names {
		if ctx.Err() != nil {
			p.Raise(exitInterrupted)
			return
		}
		if err := read(name); err != nil {
			p.Fail(err)
		}
	}
}

// close closes the input, which ends a read that waits there. It was only read
// from: its error means nothing.
func (s *source) close() {
	_ = s.input.Close()
	s.records.Close()
}
