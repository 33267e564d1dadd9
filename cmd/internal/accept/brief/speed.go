package brief

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/rules"
)

// full is how many entries the tail of a journal holds.
const full = 24576

// operations is how many failed before the storm.
const operations = 8

// speed is how long each approach takes, over a number of rounds.
type speed struct {
	entries, items int // in the journal; open
	logBytes       int64
	took           map[approach][]cost
}

// cost is the time for one text, by the wall clock and of processors.
type cost struct{ wall, used time.Duration }

// storm returns an engine with a full journal and open items, and the log that it has read, in a folder.
func storm(folder, captures string, set *rules.Set) (*game, string, error) {
	engine, err := heed.New(heed.Config{Rules: set})
	if err != nil {
		return nil, "", err
	}
	var log bytes.Buffer
	files, err := filepath.Glob(filepath.Join(captures, "*.log"))
	if err != nil {
		return nil, "", err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, "", err
		}
		log.Write(text)
		if err := workload.Feed(engine, bytes.NewReader(text)); err != nil {
			return nil, "", err
		}
	}
	now := still()
	for i := range operations {
		id := fmt.Sprintf("op-%d", i)
		at := now.Add(time.Duration(i) * time.Minute)
		method := fmt.Sprintf("game/tool_%d", i)
		engine.Observe(event.Operation{Time: at, ID: id, Method: method, Status: event.StatusStarted}.Entry())
		line := fmt.Sprintf("Error in LordToil.Init(): System.NullReferenceException: %s", strings.Repeat("x", i))
		log.WriteString(line + "\n")
		engine.Log(event.Log{Message: line, Level: event.LevelError, OperationID: id, Time: at})
		failed := event.Operation{Time: at, ID: id, Method: method, Status: event.StatusFailed, Error: "no answer"}
		engine.Observe(failed.Entry())
	}
	now = now.Add(time.Hour)
	for lines := workload.NewStorm(workload.Mixed, 1); engine.Stats().Journal.Tail.Entries < full; {
		line := lines.Next()
		log.Write(line)
		log.WriteByte('\n')
		now = now.Add(time.Millisecond)
		engine.Log(event.Log{Time: now, Message: string(line), Level: event.LevelError})
		if engine.Latest().Seq > 10*full {
			return nil, "", errors.New("the journal does not become full")
		}
	}
	path := filepath.Join(folder, "game.log")
	g, err := newGame(&replay.Replay{Engine: engine}, set, time.Now)
	return g, path, errors.Join(err, os.WriteFile(path, log.Bytes(), 0o600))
}

// race measures rounds of each approach, the journal one entry further in each.
func race(captures string, set *rules.Set, rounds int) (s *speed, err error) {
	folder, err := os.MkdirTemp("", "heed-brief-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	g, path, err := storm(folder, captures, set)
	if err != nil {
		return nil, err
	}
	open := g.Engine.Open(nil)
	if len(open) == 0 {
		return nil, errors.New("nothing is open")
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s = &speed{
		entries: g.Engine.Stats().Journal.Tail.Entries, items: len(open), logBytes: info.Size(),
		took: map[approach][]cost{},
	}
	const tokens = 1500
	for i := range rounds {
		g.Engine.Log(quiet(i))
		for _, how := range approaches {
			start, used := time.Now(), workload.Now()
			if item, ok := how.item(open[0].ID); ok {
				_, err = g.brief(item, tokens)
			} else {
				var lines []string
				if lines, err = how.read(path); err == nil && how.excerpt(lines, tokens) == "" {
					err = errors.New("no text")
				}
			}
			took := cost{time.Since(start), workload.Now() - used}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", how, err)
			}
			s.took[how] = append(s.took[how], took)
		}
	}
	return s, nil
}

// quiet returns a line after the storm.
func quiet(i int) event.Log {
	at := still().Add(2*time.Hour + time.Duration(i)*time.Second)
	return event.Log{Time: at, Message: fmt.Sprintf("Quiet line %d after the storm", i)}
}

// read reads the lines of a file that the approach needs: all, as grep does, or the last ones, as tail does.
func (how approach) read(path string) ([]string, error) {
	const most = 64 << 10
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	if how == last50 {
		size, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, err
		}
		if _, err := f.Seek(max(0, size-most), io.SeekStart); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(f)
	return split(text), err
}

func (s *speed) String() string {
	b := fmt.Appendf(nil, "\n%d entries in the journal, %d items open, a log of %.1f MB; the last two by %s\n"+
		"%-22s %9s %9s %9s %9s %9s\n",
		s.entries, s.items, float64(s.logBytes)/1e6, workload.Clock, "", "p50", "p99", "most", "p50", "p99")
	for _, how := range approaches {
		took := s.took[how]
		if len(took) == 0 {
			continue
		}
		at := func(percent int, of func(cost) time.Duration) time.Duration {
			slices.SortFunc(took, func(a, b cost) int { return cmp.Compare(of(a), of(b)) })
			return of(took[(len(took)-1)*percent/100]).Round(10 * time.Microsecond)
		}
		wall, used := func(c cost) time.Duration { return c.wall }, func(c cost) time.Duration { return c.used }
		b = fmt.Appendf(b, "%-22s %9s %9s %9s %9s %9s\n", how, at(50, wall), at(99, wall), at(100, wall), at(50, used),
			at(99, used))
	}
	return string(b)
}
