package workload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

func newEngine(tb testing.TB) *heed.Engine {
	tb.Helper()
	e := testkit.Must(heed.New(heed.Config{}))
	return e
}

// BenchmarkLog measures Engine.Log, whole, on storms of each mode. Lines are
// made beforehand; 16,384 of them take turns, so that all modes but Distinct
// meet known signatures, and Distinct meets them from the second turn on.
func BenchmarkLog(b *testing.B) {
	for _, mode := range Modes() {
		b.Run(string(mode), func(b *testing.B) {
			lines := NewStorm(mode, 1).Strings(1 << 14)
			e := newEngine(b)
			total := 0
			for _, l := range lines {
				e.Log(event.Log{Level: event.LevelError, Message: l})
				total += len(l)
			}
			b.SetBytes(int64(total / len(lines)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				e.Log(event.Log{Level: event.LevelError, Message: lines[i&(len(lines)-1)]})
			}
			stats := e.Stats()
			require.NoError(b, stats.Check())
			require.Equal(b, stats.Received, stats.Folded)
			checkGroups(b, mode, &stats)
		})
	}
}

func checkGroups(tb testing.TB, mode Mode, stats *heed.Stats) {
	tb.Helper()
	switch mode {
	case Same:
		require.EqualValues(tb, 1, stats.Classify.Misses)
	case IDs:
		require.EqualValues(tb, Templates, stats.Classify.Misses)
	}
}

// BenchmarkLogNew measures Engine.Log on signatures that are never known.
func BenchmarkLogNew(b *testing.B) {
	storm := NewStorm(Distinct, 2)
	e := newEngine(b)
	b.ReportAllocs()
	n := uint64(0)
	for b.Loop() {
		b.StopTimer()
		line := string(storm.Next())
		b.StartTimer()
		e.Log(event.Log{Level: event.LevelError, Message: line})
		n++
	}
	stats := e.Stats()
	require.Equal(b, n, stats.Classify.Misses)
}

// BenchmarkLogIgnored measures Engine.Log on a line that no rule finds worth
// attention.
func BenchmarkLogIgnored(b *testing.B) {
	const line = "Unloading 17 Unused Serialized files (Serialized files now loaded: 8)"
	e := newEngine(b)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		e.Log(event.Log{Message: line})
	}
	stats := e.Stats()
	require.Equal(b, stats.Received, stats.Ignored)
}

// TestStorm holds the storms to what they promise: the same for the same seed,
// twenty groups of changing ids, and a template of its own for each distinct
// line.
func TestStorm(t *testing.T) {
	const n = 20_000
	for _, mode := range Modes() {
		t.Run(string(mode), func(t *testing.T) {
			lines := NewStorm(mode, 7).Strings(n)
			require.Equal(t, lines, NewStorm(mode, 7).Strings(n))
			e := newEngine(t)
			seen := map[string]bool{}
			for _, l := range lines {
				e.Log(event.Log{Level: event.LevelError, Message: l})
				seen[l] = true
			}
			stats := e.Stats()
			require.NoError(t, stats.Check())
			checkGroups(t, mode, &stats)
			if mode == Distinct {
				require.Len(t, seen, n)
				require.EqualValues(t, n, stats.Classify.Misses)
				require.Equal(t, n, stats.Classify.Groups.Groups)
			}
		})
	}
}

// TestLogAllocatesNothing: whatever the storm, known signatures cost no
// allocation, by each way in, as open items grow and the journal comes around.
// What is distinct takes turns, so that all of it is known.
func TestLogAllocatesNothing(t *testing.T) {
	const lines = 512
	storms := map[string][]event.Log{"ignored": {{Message: "Unloading 17 Unused Serialized files (Serialized files now loaded: 8)"}}}
	for _, mode := range Modes() {
		records := make([]event.Log, 0, lines)
		for _, l := range NewStorm(mode, 3).Strings(lines) {
			records = append(records, event.Log{Level: event.LevelError, Source: "Unity", Message: l})
		}
		storms[string(mode)] = records
	}
	for name, records := range storms {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			for range 3 {
				for _, r := range records {
					e.Log(r)
				}
			}
			e.Updates(nil)
			known := e.Stats().Classify.Misses
			for way, log := range map[string]func(i int){
				"Log":     func(i int) { e.Log(records[i%len(records)]) },
				"Observe": func(i int) { e.Observe(records[i%len(records)].Entry()) },
			} {
				i := 0
				require.Zero(t, testing.AllocsPerRun(4*lines, func() { log(i); i++ }), way)
			}
			stats := e.Stats()
			require.NoError(t, stats.Check())
			require.Equal(t, known, stats.Classify.Misses)
		})
	}
}
