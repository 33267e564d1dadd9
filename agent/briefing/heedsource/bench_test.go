package heedsource

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/event"
)

// BenchmarkLedger asks a journal that is full: 24,576 entries of which half are one storm.
func BenchmarkLedger(b *testing.B) {
	e, err := heed.New(heed.Config{})
	require.NoError(b, err)
	for i := range 60_000 {
		at := start.Add(time.Duration(i) * 10 * time.Millisecond)
		switch {
		case i == 40_000:
			e.Log(event.Log{Time: at, Level: event.LevelError, Message: "[Press] jam in roller", Stack: "  at Press.Turn ()"})
		case i == 41_000:
			e.Observe(event.Operation{Time: at, ID: "op-1", Method: "a/b", Status: event.StatusFailed}.Entry())
		case i%2 == 0:
			e.Log(event.Log{
				Time: at, Level: event.LevelError, Message: fmt.Sprintf("NullReferenceException: lost %d", i),
				Stack: "  at Loom.Weaver.Turn () [0x00001] in <0>:0\n  at Game.Tick () [0x00001] in <0>:0",
			})
		default:
			e.Log(event.Log{Time: at, Level: event.LevelInfo, Message: fmt.Sprintf("%c%c ready: %d", 'a'+i%26, 'a'+i/26%26, i)})
		}
	}
	require.GreaterOrEqual(b, e.Stats().Journal.Held, uint64(24_576))
	ledger := &ledger{e}
	for name, c := range map[string]struct {
		query briefing.LedgerQuery
		want  int
	}{
		"latest":    {briefing.LedgerQuery{MaxEntries: 10}, -1},
		"storm":     {briefing.LedgerQuery{MaxEntries: 10, Filters: map[string]string{"disposition": "advisory"}}, 1},
		"recent":    {briefing.LedgerQuery{MaxEntries: 10, Recency: 50 * time.Millisecond}, -1},
		"rare":      {briefing.LedgerQuery{MaxEntries: 10, EventType: "operation"}, 1},
		"operation": {briefing.LedgerQuery{MaxEntries: 10, Filters: map[string]string{"operation": "op-1"}}, 1},
		"contains":  {briefing.LedgerQuery{MaxEntries: 10, Filters: map[string]string{"contains": "jam in"}}, 1},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				found, err := ledger.Entries(b.Context(), &briefing.Input{}, &c.query)
				require.NoError(b, err)
				if c.want >= 0 {
					require.Len(b, found.Fragments, c.want)
				}
			}
		})
	}
}
