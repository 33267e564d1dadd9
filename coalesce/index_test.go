package coalesce

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestKnowing asks, after each of many calls, which acknowledged items know each
// group there is, and compares with a look at all of them.
func TestKnowing(t *testing.T) {
	found, streams := 0, uint64(15)
	if testkit.IsFull() {
		streams = 60
	}
	for stream := range streams {
		rng := rand.New(rand.NewPCG(stream, 4))
		cfg := smallConfig(1+rng.IntN(6), []int{1, 12, 40}[rng.IntN(3)], 1+rng.IntN(5))
		cfg.MaxRemembered = 8
		c, err := New(cfg)
		require.NoError(t, err)
		m := &caller{intn: rng.IntN, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
		for range 200 {
			m.next()(c)
			checkStructure(t, c)
			for _, rule := range []string{"r", "s", "t", "blinds", "op"} {
				for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
					sig, variant := groupSignature(name), m.one("", "open", "vv")
					var want, got []uint64
					for i := range c.items {
						if it := &c.items[i]; it.State == itemAcked && it.Counters.find(rule, sig, variant) != nil {
							want = append(want, it.Number)
						}
					}
					look := func(i int) {
						it := &c.items[i]
						if it.State == itemAcked && it.Counters.find(rule, sig, variant) != nil && !slices.Contains(got, it.Number) {
							got = append(got, it.Number)
						}
					}
					c.index.each(rule, sig, func(i int, _ *counter) { look(i) })
					require.ElementsMatch(t, want, got, "%s %s", rule, name)
					found += len(got)
				}
			}
		}
	}
	require.Greater(t, found, 25*int(streams))
}
