package coalesce

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestProperties makes calls at random and checks structure, snapshot and counts after each. The simulator of
// internal/sim compares each item with all entries.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &caller{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
		if rapid.Bool().Draw(t, "clock") {
			m.now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		c, err := New(smallConfig(1+m.intn(4), []int{1, 3, 30}[m.intn(3)], 1+m.intn(4)))
		require.NoError(t, err)
		for range rapid.IntRange(0, 60).Draw(t, "calls") {
			m.next()(c)
			s := c.Stats()
			require.NoError(t, s.Check())
			require.Equal(t, m.seq, s.Received)
			require.LessOrEqual(t, s.Open, c.Config.MaxOpen)
			require.LessOrEqual(t, s.Operations, c.Config.MaxOperations)
			checkStructure(t, c)
			if m.seq%4 == 0 {
				checkSnapshot(t, c)
			}
			for i := range c.Items {
				it := &c.Items[i]
				unused := slices.ContainsFunc(it.Counters.Rows[len(it.Counters.Rows):cap(it.Counters.Rows)],
					func(r *counter) bool { return r != nil }) ||
					slices.ContainsFunc(it.Rules[len(it.Rules):cap(it.Rules)], func(r ruleCount) bool {
						return r.Rule != "" || r.ExplainedBy != nil
					})
				require.False(t, unused, "what is not used keeps nothing alive")
			}
		}
	})
}
