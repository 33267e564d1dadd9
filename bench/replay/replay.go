// Package replay measures the cost of a replay by stages: captures, one after the other and again until so much was
// read, or a storm of single lines without any capture.
//
//	go run ./bench replay -size 1GB testdata/captures/*
//	go run ./bench replay -size 200MB
//
// The whole replay, as classify-replay does it, comes first, so that the peak of the resident memory is its own. Then
// the stages are added one at a time, all in one goroutine; the cost of a stage is the difference between its pass and
// the pass before. That is right to a few hundredths: a stage also pays for its use of the caches of the others.
package replay

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report"
	replaying "github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// Run runs the command with its arguments.
func Run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	flags.SetOutput(stderr)
	sizeText := flags.String("size", "200MB", "how much to read, in bytes, kB, MB or GB")
	mode := flags.String("storm", string(workload.IDs), "the storm without FILES: same, ids, distinct or mixed")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	size, err := parseSize(*sizeText)
	if err != nil {
		return err
	}
	storm, err := workload.ParseMode(*mode)
	if err != nil {
		return err
	}
	in := &input{files: flags.Args(), storm: storm, size: size}
	if err := in.load(); err != nil {
		return err
	}
	set, err := rules.Compile(rules.Defaults()...)
	if err != nil {
		return err
	}
	return measure(in, set, stdout)
}

// parseSize reads a size such as "1GB".
func parseSize(s string) (int64, error) {
	number, unit := s, int64(1)
	for suffix, u := range map[string]int64{"kB": 1e3, "MB": 1e6, "GB": 1e9} {
		if n, ok := strings.CutSuffix(s, suffix); ok {
			number, unit = n, u
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n*float64(unit) < 1 || n*float64(unit) > 1e15 {
		return 0, fmt.Errorf("-size %q: want a number of bytes, kB, MB or GB, such as 1GB", s)
	}
	return int64(n * float64(unit)), nil
}

// stages are the passes over the input, each with one more stage than the one
// before it.
var stages = []struct {
	name string
	pass func(io.Reader, *rules.Set) error
}{
	{"read", readOnly},
	{"split", split},
	{"signature", sign},
	{"engine", func(r io.Reader, set *rules.Set) error { return replay(r, set, nil) }},
	{"report", func(r io.Reader, set *rules.Set) error { return replay(r, set, io.Discard) }},
}

func measure(in *input, set *rules.Set, stdout io.Writer) error {
	rate := func(d time.Duration) float64 { return float64(in.size) / 1e6 / d.Seconds() }
	wall, cpu := time.Now(), workload.Now()
	if err := overlapped(in.reader(), set, io.Discard); err != nil {
		return err
	}
	used, took := workload.Now()-cpu, time.Since(wall)
	out := fmt.Appendf(nil, "%s, %s, %d processors\n", in, runtime.Version(), runtime.GOMAXPROCS(0))
	out = fmt.Appendf(out, "replay     %6.0f MB/s by the time of day, %.0f MB/s by %s, peak RSS %.1f MiB\n\n",
		rate(took), rate(used), workload.Clock, float64(workload.PeakRSS())/(1<<20))

	spent := make([]time.Duration, len(stages))
	for i, s := range stages {
		runtime.GC()
		start := workload.Now()
		if err := s.pass(in.reader(), set); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		spent[i] = workload.Now() - start
	}
	total := spent[len(spent)-1]
	out = fmt.Appendf(out, "%-10s %9s %9s %12s\n", "stage", "seconds", "share", "MB/s so far")
	for i, s := range stages {
		own := spent[i]
		if i > 0 {
			own -= spent[i-1]
		}
		out = fmt.Appendf(out, "%-10s %9.2f %7.0f %% %12.0f\n",
			s.name, own.Seconds(), 100*own.Seconds()/total.Seconds(), rate(spent[i]))
	}
	_, err := stdout.Write(out)
	return err
}

// readOnly reads as capture does.
func readOnly(r io.Reader, _ *rules.Set) error {
	buf := make([]byte, 256<<10)
	for {
		if _, err := r.Read(buf); err != nil {
			return ended(err)
		}
	}
}

// each calls f with each record of r.
func each(r io.Reader, f func(*capture.Record)) error {
	in, err := capture.NewReader(r, capture.Options{})
	if err != nil {
		return err
	}
	var rec capture.Record
	for {
		if err := in.Next(&rec); err != nil {
			return ended(err)
		}
		f(&rec)
	}
}

func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

func split(r io.Reader, _ *rules.Set) error { return each(r, func(*capture.Record) {}) }

func sign(r io.Reader, set *rules.Set) error {
	normalizer, err := signature.New(set.Masking())
	if err != nil {
		return err
	}
	var sum uint64 // so that no key is left out
	err = each(r, func(rec *capture.Record) { sum += normalizer.Key(rec.Message, rec.Stack).Hash })
	runtime.KeepAlive(sum)
	return err
}

// replay replays r in one goroutine; where out is nil, without a report.
func replay(r io.Reader, set *rules.Set, out io.Writer) error {
	p, err := newPlayer(set, out != nil)
	if err != nil {
		return err
	}
	if err := each(r, p.take); err != nil {
		return err
	}
	return p.finish(out)
}

// overlapped replays r as classify-replay does: a goroutine of its own reads and splits.
func overlapped(r io.Reader, set *rules.Set, out io.Writer) error {
	p, err := newPlayer(set, true)
	if err != nil {
		return err
	}
	in, err := capture.NewReader(r, capture.Options{})
	if err != nil {
		return err
	}
	records := capture.NewAhead(in)
	defer records.Close()
	for {
		rec, err := records.Next()
		if err := ended(err); err != nil {
			return err
		}
		if err != nil {
			return p.finish(out)
		}
		p.take(rec)
	}
}

// player is an engine with the bounds of classify-replay, and the report of a log.
type player struct {
	engine  *heed.Engine
	report  *report.Replay // nil for none
	updates []heed.Update
}

func newPlayer(set *rules.Set, reports bool) (*player, error) {
	cfg := heed.Config{Rules: set}
	cfg.Journal.Entries, cfg.Journal.Bytes = 256, 64<<10
	cfg.Journal.Firsts, cfg.Journal.FirstsBytes = 64, 64<<10
	cfg.Journal.Pinned, cfg.Journal.PinnedBytes = 64, 64<<10
	p := &player{}
	var err error
	if p.engine, err = heed.New(cfg); err != nil || !reports {
		return p, err
	}
	p.report = report.New((&replaying.Replay{Engine: p.engine}).Report("bench", nil))
	return p, nil
}

// take gives a record to the engine, and its outcome to the report.
func (p *player) take(rec *capture.Record) {
	if rec.Mods != nil {
		p.engine.LearnMods(rec.Mods.Plain())
	}
	var o heed.Outcome
	p.engine.ObserveInto(&o, &rec.Entry)
	p.updates = p.updates[:0]
	if o.Pending {
		p.updates = p.engine.Updates(p.updates)
	}
	if p.report == nil {
		return
	}
	p.report.Observe(rec, &o)
	for i := range p.updates {
		p.report.Update(&p.updates[i])
	}
}

// finish checks the accounting and writes the report, if there is one.
func (p *player) finish(out io.Writer) error {
	stats := p.engine.Stats()
	if err := stats.Check(); err != nil || p.report == nil {
		return err
	}
	p.report.End(report.End{Stats: stats, Open: p.engine.Open(nil)})
	_, err := out.Write(report.Text(nil, p.report.Document(10), report.TextOptions{Width: 120}))
	return err
}
