package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/report"
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

// place is a line of a capture.
type place struct {
	file string
	line int
}

func (p place) String() string { return p.file + ":" + strconv.Itoa(p.line) }

// parsePlace reads "FILE:LINE". The last colon counts: a name may hold others.
func (p *program) parsePlace(cmd *cobra.Command, arg string) (place, error) {
	i := strings.LastIndexByte(arg, ':')
	if i > 0 {
		if n, err := strconv.Atoi(arg[i+1:]); err == nil && n > 0 {
			return place{p.named(arg[:i]), n}, nil
		}
	}
	return place{}, cli.Usage(cmd, "%q is not FILE:LINE, such as Player.log:87; lines count from 1", arg)
}

// found is the record at a place, with the state of the engine at that record.
type found struct {
	place   place
	family  string         // of the log, when the record came
	layout  capture.Layout // of the log there; an upload's is its own
	rec     *capture.Record
	outcome heed.Outcome
	blame   []heed.Suspect
	blind   *blindness // when the record came
}

// find replays a capture up to the record that covers a line: the earlier records set its phase. If no record covers
// the line, it returns the notice of capture there.
func (p *program) find(ctx context.Context, set *rules.Set, at place, scrubber *report.Scrubber) (*found, error) {
	f := &found{place: at}
	var notice *found // at the line
	var nearest []string
	err := p.observe(ctx, set, at.file, func(src *source, o *heed.Outcome) bool {
		rec := src.Record
		f.family = src.Family
		scrubber.Learn(rec.Message, rec.Stack)
		switch {
		case rec.StartLine == 0: // a notice of capture itself
			if at.line == rec.Line() {
				own := *rec
				own.StartLine, own.EndLine, own.Message = at.line, at.line, strings.Clone(rec.Message)
				n := *f
				n.layout, n.rec, n.outcome = src.Records.At().Layout, &own, *o
				notice = &n
			}
		case rec.StartLine > at.line:
			nearest = append(nearest, "line "+report.LineRange(rec.StartLine, rec.EndLine))
			return false
		case rec.EndLine >= at.line:
			f.layout, f.rec, f.outcome, f.blame = src.Records.At().Layout, rec, *o, src.Blame()
			return false
		default:
			nearest = []string{"line " + report.LineRange(rec.StartLine, rec.EndLine)}
		}
		switch {
		case !o.Blind:
			f.blind = nil
		case f.blind == nil:
			f.blind = &blindness{rec.Line(), o.Decision.Rule}
		}
		return true
	})
	if err != nil || f.rec != nil {
		return f, err
	}
	if notice != nil {
		return notice, nil
	}
	if nearest == nil {
		return nil, cli.Failed(exitUsage, fmt.Errorf("%s: the file has no record", at))
	}
	return nil, cli.Failed(exitUsage, fmt.Errorf("%s is in no record: the line is blank or missing; the nearest records are at %s", at,
		strings.Join(nearest, " and ")))
}
