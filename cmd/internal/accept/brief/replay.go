package brief

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/rules"
)

// game is a log that is being written, with an engine that reads it.
type game struct {
	*replay.Replay
	lines  []string
	briefs *briefing.Service
}

// newGame returns a game whose engine has rules. Without files, its service need not be closed.
func newGame(r *replay.Replay, set *rules.Set) (g *game, err error) {
	g = &game{Replay: r}
	g.briefs, err = briefing.New(heedsource.Sources(heedsource.Config{
		Engine:      r.Engine,
		Rules:       func() *rules.Set { return set },
		Mods:        func() []capture.ListedMod { return r.Mods.Mods },
		Environment: r.Began.Facts,
		Next:        way.SessionNext,
		Now:         still,
	}))
	return g, err
}

// brief assembles a brief for an agent about an item, or about all open items for "".
func (g *game) brief(item string, tokens int) (*briefing.Context, error) {
	b, err := g.briefs.Assemble(context.Background(), briefing.Request{
		AgentClass: heedsource.TemplateAgent, WorkOrderID: item, MaxContextTokens: tokens,
	})
	if err == nil && b.Used.Tokens > tokens {
		err = fmt.Errorf("a brief of %d tokens, not %d", b.Used.Tokens, tokens)
	}
	return b, err
}

// still is a clock that never moves: no budget of time changes a text.
func still() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

// open returns a log whose records the engine does not have yet.
func open(path string, set *rules.Set) (*game, error) {
	log, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	in, err := capture.NewReader(bytes.NewReader(log), capture.Options{})
	if err != nil {
		return nil, err
	}
	engine, err := heed.New(heed.Config{Rules: set, Family: in.Family()})
	if err != nil {
		return nil, err
	}
	g, err := newGame(&replay.Replay{Engine: engine, Family: in.Family()}, set)
	if err != nil {
		return nil, err
	}
	g.lines, g.Records = split(log), capture.NewAhead(in)
	return g, nil
}

// play gives the records to the engine, as the commands do, and calls after with each.
func (g *game) play(after func(*capture.Record, *heed.Outcome)) error {
	for {
		if err := g.Next(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if !g.Acted {
			after(g.Record, &g.Outcome)
		}
	}
}

// replayed is a replayed log, for the truth about it.
type replayed struct {
	*game
	records  []record
	blocking map[string]int    // by item that blocks at any time: the line at which it first does
	advice   map[string]string // by item and rule, with a space between
	methods  map[string]string // by operation
}

// record is a record of a log, with its outcome.
type record struct {
	first, last int
	item, rule  string
	began       int // the line at which the phase began, 0 where it is not known

	phase     string // at the record, or after it where none was known before
	operation string // that it names
	message   string // its first line, where the line of the log holds other things as well
	frame     string // of its stack, the nearest to the fault
}

// replayOf replays a log, and calls after with the last line of each record and the items that block from there.
func replayOf(path string, set *rules.Set, after func(r *replayed, line int, blocking []string)) (*replayed, error) {
	g, err := open(path, set)
	if err != nil {
		return nil, err
	}
	r := &replayed{game: g, blocking: map[string]int{}, advice: map[string]string{}, methods: map[string]string{}}
	err = g.play(func(rec *capture.Record, o *heed.Outcome) {
		line := r.observe(rec, o)
		var blocking []string
		for _, u := range g.Engine.Updates(nil) {
			if a := u.Item; a.Blocking && r.blocking[a.ID] == 0 {
				r.blocking[a.ID] = line
				blocking = append(blocking, a.ID)
			}
			for _, m := range u.Item.Members {
				r.advice[u.Item.ID+" "+m.Rule] = m.Advice
			}
		}
		after(r, line, blocking)
	})
	return r, err
}

// observe keeps a record, and returns its last line.
func (r *replayed) observe(rec *capture.Record, o *heed.Outcome) int {
	at := record{
		first: rec.StartLine, last: rec.EndLine, item: o.AttentionID, rule: o.Decision.Rule,
		phase: o.Phase, operation: strings.Clone(rec.OperationID), frame: frame(rec.Stack),
	}
	if at.first == 0 {
		at.first, at.last = int(rec.Pos), int(rec.Pos)
	}
	if rec.Layout == capture.LayoutJSON {
		message, _, _ := strings.Cut(rec.Message, "\n")
		at.message = strings.Clone(message)
	}
	if rec.Kind == event.KindOperation && rec.Status == event.StatusStarted {
		r.methods[at.operation] = strings.Clone(rec.Source)
	}
	if n := len(r.records); n > 0 { // the phase that an entry begins is seen with the next one
		before := &r.records[n-1]
		if at.began = before.began; before.phase != o.Phase {
			if at.began = before.first; before.phase == "" {
				before.phase, before.began = o.Phase, at.began
			}
		}
	}
	r.records = append(r.records, at)
	return at.last
}

// split returns the lines of a log.
func split(text []byte) []string {
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, "\r")
	}
	return lines
}

// frame returns the method of the first frame of a stack.
func frame(stack string) string {
	for line := range strings.Lines(stack) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "at "); ok {
			method, _, _ := strings.Cut(rest, "(")
			return strings.Clone(strings.TrimSpace(method))
		}
	}
	return ""
}

// at returns the record that a line is in, nil for none.
func (r *replayed) at(line int) *record {
	i := sort.Search(len(r.records), func(i int) bool { return r.records[i].last >= line })
	if i == len(r.records) || r.records[i].first > line {
		return nil
	}
	return &r.records[i]
}
