package workload

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

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
