package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// turns is how many lines of a storm take turns: all of them are known.
const turns = 1 << 12

// cases are the benchmarks that are compared with the baseline.
func cases() ([]*benchmark, error) {
	set, err := rules.Compile(rules.Defaults()...)
	if err != nil {
		return nil, err
	}
	normalizer, err := signature.New(set.Masking())
	if err != nil {
		return nil, err
	}
	var list []*benchmark
	for _, mode := range workload.Modes() {
		list = append(list, keyCase("Key/"+string(mode), normalizer, workload.NewStorm(mode, 1).Strings(turns)))
	}
	for _, mode := range workload.Modes() {
		b, err := logCase("Log/"+string(mode), heed.Config{Rules: set}, workload.NewStorm(mode, 1).Strings(turns))
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	fresh, err := newCase(heed.Config{Rules: set})
	if err != nil {
		return nil, err
	}
	replay, err := replayCase(heed.Config{Rules: set}, filepath.Join("testdata", "captures", "*.*"))
	if err != nil {
		return nil, err
	}
	return append(list, fresh, replay), nil
}

// keyCase is signature.Key on lines that take turns.
func keyCase(name string, normalizer *signature.Normalizer, lines []string) *benchmark {
	var sum uint64
	next := 0
	return &benchmark{
		name: name,
		run: func(n int) {
			for range n {
				sum += normalizer.Key(lines[next], "").Hash
				next = (next + 1) % len(lines)
			}
		},
		check: func() error {
			if sum == 0 {
				return errors.New("no key was computed")
			}
			return nil
		},
	}
}

// logCase is Engine.Log on known lines that take turns. Each turn takes the
// updates once.
func logCase(name string, cfg heed.Config, lines []string) (*benchmark, error) {
	engine, err := heed.New(cfg)
	if err != nil {
		return nil, err
	}
	return recordsCase(name, engine, recordsOf(lines)), nil
}

// recordsOf returns lines as errors.
func recordsOf(lines []string) []event.Log {
	records := make([]event.Log, len(lines))
	for i, l := range lines {
		records[i] = event.Log{Level: event.LevelError, Message: l}
	}
	return records
}

func recordsCase(name string, engine *heed.Engine, records []event.Log) *benchmark {
	for _, r := range records {
		engine.Log(r)
	}
	before := engine.Stats()
	var updates []heed.Update
	next, logged := 0, uint64(0)
	return &benchmark{
		name: name,
		run: func(n int) {
			for range n {
				engine.Log(records[next])
				if next++; next == len(records) {
					next = 0
					updates = engine.Updates(updates[:0])
				}
			}
			logged += uint64(n)
		},
		check: func() error {
			stats := engine.Stats()
			if got := stats.Received - before.Received; got != logged {
				return fmt.Errorf("%d entries received of %d", got, logged)
			}
			if stats.Classify.Misses != before.Classify.Misses {
				return fmt.Errorf("%d signatures were new", stats.Classify.Misses-before.Classify.Misses)
			}
			return stats.Check()
		},
	}
}

// newCase is Engine.Log on signatures that are never known.
func newCase(cfg heed.Config) (*benchmark, error) {
	engine, err := heed.New(cfg)
	if err != nil {
		return nil, err
	}
	b := madeCase(engine, workload.NewStorm(workload.Distinct, 2).Strings)
	b.name = "Log/new"
	b.check = func() error {
		stats := engine.Stats()
		if stats.Classify.Misses != stats.Received {
			return fmt.Errorf("%d of %d signatures were new", stats.Classify.Misses, stats.Received)
		}
		return stats.Check()
	}
	return b, nil
}

// madeCase is Engine.Log on the lines that a function makes.
func madeCase(engine *heed.Engine, next func(n int) []string) *benchmark {
	var lines []string
	return &benchmark{
		prepare: func(n int) { lines = next(n) },
		run: func(int) {
			for _, l := range lines {
				engine.Log(event.Log{Level: event.LevelError, Message: l})
			}
		},
	}
}

// replayCase is the replay of all captures that match the pattern, bytes to
// attention, with a new engine for each.
func replayCase(cfg heed.Config, pattern string) (*benchmark, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no capture is called %s: run in the root of the module", pattern)
	}
	var failed error
	var entries, passes uint64
	return &benchmark{
		name: "Replay",
		run: func(n int) {
			for range n {
				for _, file := range files {
					stats, err := replay(cfg, file)
					failed = errors.Join(failed, err)
					entries += stats.Received
				}
				passes++
			}
		},
		check: func() error {
			if failed == nil && (entries == 0 || entries%passes != 0) {
				return fmt.Errorf("%d entries in %d passes over the same files", entries, passes)
			}
			return failed
		},
	}, nil
}

func replay(cfg heed.Config, file string) (heed.Stats, error) {
	engine, err := heed.New(cfg)
	if err != nil {
		return heed.Stats{}, err
	}
	f, err := os.Open(file)
	if err != nil {
		return heed.Stats{}, err
	}
	err = workload.Feed(engine, f)
	stats := engine.Stats()
	if err = errors.Join(err, f.Close(), stats.Check()); err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return stats, err
}
