package coalesce

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
)

// TestRepeatOfWhatWasResolved: a repeat of what was resolved is not resolved, however
// often it came before.
func TestRepeatOfWhatWasResolved(t *testing.T) {
	c, err := New(Config{})
	require.NoError(t, err)
	seq := uint64(0)
	fold := func(d event.Decision, resolves ...string) {
		seq++
		c.Fold(&Input{Entry: &event.Entry{Seq: seq}, Signature: groupSignature(d.Rule), Decision: d, Resolves: resolves})
	}
	r, s := event.Decision{Rule: "r", Disposition: event.Blocking}, event.Decision{Rule: "s", Disposition: event.Blocking}
	for range 8 {
		fold(r)
		fold(s)
	}
	fold(event.Decision{}, "r")
	fold(r)
	fold(event.Decision{}, "s")
	require.Len(t, openItems(c), 1)
	fold(event.Decision{}, "r")
	require.Empty(t, openItems(c))
}

// TestSince: since is Sub, within bounds, for any two times.
func TestSince(t *testing.T) {
	check := func(t require.TestingT, base, at time.Time) {
		require.Equal(t, min(max(at.Sub(base), -farthest), farthest), since(base, at), "%v %v", base, at)
	}
	edges := []int64{0, 1, 999_999_999, 1_000_000_000, int64(farthest), int64(farthest) + 1, math.MaxInt64}
	base := time.Unix(1_900_000_000, 123_456_789).UTC()
	for _, d := range edges {
		for e := int64(-1); e <= 1; e++ {
			for _, sign := range []int64{-1, 1} {
				check(t, base, base.Add(time.Duration(sign*d+e)))
			}
		}
	}
	seconds := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-ages-2, ages+2), rapid.Int64Range(-5e9, 5e9),
		rapid.SampledFrom([]int64{-ages, ages, -ages - 1, ages - 1}))
	nanoseconds := rapid.Int64Range(0, 999_999_999)
	rapid.Check(t, func(t *rapid.T) {
		base := time.Unix(seconds.Draw(t, "base"), nanoseconds.Draw(t, "base ns"))
		at := time.Unix(seconds.Draw(t, "at"), nanoseconds.Draw(t, "at ns"))
		check(t, base, at)
	})
	now := time.Now()
	check(t, now.Round(0), now) // with a monotonic clock
	check(t, base, now)
}
