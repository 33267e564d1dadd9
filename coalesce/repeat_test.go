package coalesce

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
)

// FuzzRepeat drives two Coalescers alike, of which one takes repeats the way of
// all other entries: nothing that a host sees differs, nor anything else.
func FuzzRepeat(f *testing.F) {
	for stream := range uint64(150) {
		rng := rand.New(rand.NewPCG(stream, 3))
		calls := make([]byte, 200+rng.IntN(2000))
		for i := range calls {
			calls[i] = byte(rng.Uint32())
		}
		f.Add(calls)
	}
	f.Fuzz(func(t *testing.T, calls []byte) {
		m := &caller{intn: func(n int) int {
			if len(calls) == 0 {
				return 0
			}
			b := calls[0]
			calls = calls[1:]
			return int(b) % n
		}}
		cfg := smallConfig(1+m.intn(4), []int{1, 3, 30}[m.intn(3)], 1+m.intn(3))
		if m.intn(2) == 0 {
			m.now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		quick, err := New(cfg)
		require.NoError(t, err)
		thorough, err := New(cfg)
		require.NoError(t, err)
		thorough.thorough = true
		for len(calls) > 0 {
			// Mostly once, now and then as often as a storm repeats itself.
			do, again := m.next(), max(0, m.intn(40)-30)
			for range 1 + again {
				require.Equal(t, do(thorough), do(quick))
			}
			for range max(m.intn(4), again) * min(1, len(m.last.Decision.Rule)) {
				m.seq++
				e := *m.last.Entry
				e.Seq, e.Pos, e.Time = m.seq, m.seq*7, m.now
				in := m.last
				in.Entry = &e
				require.Equal(t, thorough.Fold(&in), quick.Repeat(&in))
				if !m.now.IsZero() {
					m.now = m.now.Add(time.Duration(m.intn(300)-20) * time.Millisecond)
				}
			}
			require.Equal(t, thorough.Retention(nil), quick.Retention(nil))
		}
		require.Equal(t, thorough.Stats(), quick.Stats())
		require.Equal(t, openItems(thorough), openItems(quick))
		require.Equal(t, snap(thorough, nil), snap(quick, nil))
		require.Equal(t, thorough.expiry, quick.expiry)
		checkStructure(t, quick)
	})
}

// TestRepeatUncounted is FuzzRepeat for items that are full of groups.
func TestRepeatUncounted(t *testing.T) {
	quickly := false
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 5))
		cfg := smallConfig(2, 2+rng.IntN(10), 2)
		quick, err := New(cfg)
		require.NoError(t, err)
		thorough, err := New(cfg)
		require.NoError(t, err)
		thorough.thorough = true
		for seq := range uint64(600) {
			in := Input{
				Entry:     &event.Entry{Seq: seq + 1, Message: "m", Pos: 7 * seq},
				Signature: groupSignature(strconv.Itoa(rng.IntN(40))), Variant: strconv.Itoa(rng.IntN(3)),
				Decision: event.Decision{Rule: "r" + strconv.Itoa(rng.IntN(2)), Disposition: event.Advisory},
			}
			switch rng.IntN(100) {
			case 0:
				in.Decision.Disposition = event.Blocking
			case 1:
				in.Decision.Severity = 2
			case 2:
				in.Decision.Invalidates = true
			case 3:
				in.Decision = event.Decision{}
				in.Resolves = []string{"r0"}
			case 4:
				in.Decision.Rule = "s" + strconv.Itoa(int(seq))
			}
			if it := quick.episode.item; it != nil {
				probe := *it
				probe.Rules = slices.Clone(it.Rules)
				quickly = quickly || quick.row(it, &in) == nil && quick.repeatUncounted(&probe, &in)
			}
			require.Equal(t, thorough.Fold(&in), quick.Fold(&in))
		}
		require.Equal(t, thorough.Stats(), quick.Stats())
		require.Equal(t, openItems(thorough), openItems(quick))
		require.Equal(t, snap(thorough, nil), snap(quick, nil))
		checkStructure(t, quick)
	}
	require.True(t, quickly)
}

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
