package heedsource

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
)

// step is something that a host does to its engine. What it returns is compared.
type step func(e *heed.Engine) any

// play returns what a host does in a session with faults: the same for the same seed.
func play(seed uint64, n int) []step {
	rng := rand.New(rand.NewPCG(seed, 0))
	pick := func(words ...string) string { return words[rng.IntN(len(words))] }
	now, operation := start, 0
	steps := make([]step, n)
	for i := range steps {
		now = now.Add(time.Duration(rng.IntN(3000)) * time.Millisecond)
		at := now
		if rng.IntN(8) == 0 {
			at = time.Time{}
		}
		pos := uint64(i + 1)
		id := fmt.Sprintf("op-%d", operation)
		switch k := rng.IntN(20); {
		case k < 12:
			entry := event.Log{
				Time: at, Level: event.Level(rng.IntN(6)), Pos: pos,
				Message: pick("Save failed: ", "tick ", "low on wood: ", "[Press] jam ", "> [ledger x] no such ",
					"Broken plan of the pawn called Anna in the ", "Broken plan of the pawn called Boris in the ") +
					pick("1", "2", "on fire"),
				Stack: pick("", "", "  at Press.Roller.Turn () [0x00001] in <0>:0\n  at Game.Tick ()", "  at Loom.Run ()"),
			}
			if rng.IntN(2) == 0 {
				entry.OperationID = id
			}
			steps[i] = func(e *heed.Engine) any { return e.Observe(entry.Entry()) }
		case k < 14:
			operation++
			entry := event.Operation{
				Time: at, ID: fmt.Sprintf("op-%d", operation), Method: pick("colony/build", "colony/haul"),
				Status: event.StatusStarted, Pos: pos,
			}
			if rng.IntN(3) == 0 {
				entry.Parent = id
			}
			steps[i] = func(e *heed.Engine) any { return e.Observe(entry.Entry()) }
		case k < 15:
			entry := event.Operation{
				Time: at, ID: id, Status: event.StatusCompleted + event.Status(rng.IntN(4)), Error: "no wood", Pos: pos,
			}
			steps[i] = func(e *heed.Engine) any { return e.Observe(entry.Entry()) }
		case k < 16:
			entry := event.State{Time: at, Status: event.StatusPhase, Phase: pick("load", "play", "menu"), Pos: pos}
			steps[i] = func(e *heed.Engine) any { return e.Observe(entry.Entry()) }
		case k < 17:
			entry := event.Notice{Time: at, Status: event.StatusHole, Count: 7, Pos: pos}
			steps[i] = func(e *heed.Engine) any { return e.Observe(entry.Entry()) }
		case k < 18:
			consumer := pick("agent", "person")
			steps[i] = func(e *heed.Engine) any { a, ok := e.Current(consumer); return []any{a, ok} }
		case k < 19:
			steps[i] = func(e *heed.Engine) any {
				open := e.Open(nil)
				if len(open) == 0 {
					return nil
				}
				return e.Ack("agent", open[len(open)-1].ID, 0)
			}
		default:
			steps[i] = func(e *heed.Engine) any { e.Advance(now); return e.Updates(nil) }
		}
	}
	return steps
}

// small returns an engine whose journal does not hold all that is played.
func small(t *testing.T, set *rules.Set) *heed.Engine {
	t.Helper()
	e, err := heed.New(heed.Config{
		Rules: set, Journal: journal.Config{Entries: 300, Firsts: 16, Pinned: 64, FirstsPerBurst: 4},
		Coalesce: coalesce.Config{},
	})
	require.NoError(t, err)
	return e
}

// all returns the sources of an engine with every registry.
func all(e *heed.Engine, set *rules.Set) briefing.Config {
	c := Sources(Config{
		Engine: e, Rules: func() *rules.Set { return set },
		Mods: func() []capture.ListedMod { return []capture.ListedMod{{Mod: heed.Mod{Name: "Press"}}} },
		Next: func(_ string, a *heed.Item) []string { return []string{"read " + a.ID} },
	})
	c.Now = func() time.Time { return start }
	return c
}

// read reads everything that a brief may read.
func read(ctx context.Context, c *briefing.Config) error {
	in := &briefing.Input{Request: &briefing.Request{}, Estimate: func(l briefing.Line) int { return len(l.Text)/4 + 1 }}
	for _, ledger := range c.Ledgers {
		for _, q := range []briefing.LedgerQuery{
			{},
			{MaxEntries: 5},
			{EventType: "failed", Recency: time.Minute},
			{Filters: map[string]string{"operation": "op-1", "disposition": "advisory"}},
		} {
			if _, err := ledger.Entries(ctx, in, &q); err != nil {
				return err
			}
		}
		ledger.Revision(ctx)
	}
	for name, r := range c.Registries {
		if _, err := r.Rows(ctx, in, &briefing.RegistryQuery{Registry: name}); err != nil {
			return err
		}
	}
	_, err := brief(ctx, c)
	return err
}

// everything is a template with a stage of each type that reads.
var everything = `
template_id: everything
pipeline:
  - {type: attention, share: 0.5, config: {max_items: 4, neighbors: 2}}
  - {type: ledger_query, share: 0.5, config: {max_entries: 10}}
  - {stage: same, type: ledger_query, config: {max_entries: 3, filters: {signature: $attention.signature}}}
  - {stage: mods, type: registry_query, config: {registry: environment}}
  - {type: structuring, config: {strategy: hierarchical}}
  - {type: halting, config: {min_fragments: 1}}
budget: {max_context_tokens: 900}
cache_ttl: 0s
`

// brief assembles a context by each template, for all and for an operation, and returns their texts.
func brief(ctx context.Context, c *briefing.Config) (texts []string, err error) {
	t, err := briefing.Parse("everything.yaml", []byte(everything))
	if err != nil {
		return nil, err
	}
	own := *c
	own.Templates = append([]*briefing.Template{t}, c.Templates...)
	service, err := briefing.New(own)
	if err != nil {
		return nil, err
	}
	for _, t := range own.Templates {
		for _, work := range []string{"", "op-1"} {
			got, err := service.Assemble(ctx, briefing.Request{TemplateOverride: t.TemplateID, WorkOrderID: work})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", t.TemplateID, err)
			}
			texts = append(texts, got.Text)
		}
	}
	return texts, service.Close()
}

// TestBriefsChangeNothing plays sessions on two engines, of which one is read after every step: it answers, updates and
// ends as the other does, and each reading leaves its snapshot as it was, byte for byte.
func TestBriefsChangeNothing(t *testing.T) {
	set := testkit.Must(rules.Compile(testRules))
	seeds := uint64(1)
	if testkit.IsFull() {
		seeds = 8
	}
	for seed := range seeds {
		read1, alone := small(t, set), small(t, set)
		sources := all(read1, set)
		var before, after []byte
		for i, s := range play(seed, 600) {
			require.Equal(t, s(alone), s(read1), "seed %d, step %d", seed, i)
			if i%30 != 0 {
				continue
			}
			before, stats := read1.Snapshot(before[:0]), read1.Stats()
			require.NoError(t, read(t.Context(), &sources))
			after = read1.Snapshot(after[:0])
			require.Equal(t, before, after, "seed %d, step %d", seed, i)
			require.Equal(t, stats, read1.Stats())
		}
		require.Equal(t, alone.Snapshot(nil), read1.Snapshot(nil), "seed %d", seed)
		require.Equal(t, alone.Stats(), read1.Stats())
		require.Equal(t, alone.Updates(nil), read1.Updates(nil))
		others := all(alone, set)
		one := testkit.Must(brief(t.Context(), &sources))
		two := testkit.Must(brief(t.Context(), &others))
		require.Equal(t, one, two, "the same state gives the same text")
	}
}

// TestBriefsBesideAWriter reads from two goroutines while another goes on with the session.
func TestBriefsBesideAWriter(t *testing.T) {
	set := testkit.Must(rules.Compile(testRules))
	busy, alone := small(t, set), small(t, set)
	sources := all(busy, set)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				if err := read(t.Context(), &sources); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for _, s := range play(99, 2000) {
		s(busy)
	}
	close(done)
	readers.Wait()
	for _, s := range play(99, 2000) {
		s(alone)
	}
	require.Equal(t, alone.Snapshot(nil), busy.Snapshot(nil))
	require.Equal(t, alone.Stats(), busy.Stats())
	require.Equal(t, alone.Updates(nil), busy.Updates(nil))
}
