package coalesce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestCombine holds what is kept of two groups that become one: all counts, the later end, and where the one became
// worse than the other.
func TestCombine(t *testing.T) {
	group := func(d event.Disposition, s event.Severity, raised, before, first uint64) *counter {
		return &counter{
			First: place{Seq: first}, Last: logicalTime{seq: first + 50}, LastPos: first * 10, Count: 40,
			gravity: gravity{Disposition: d, Severity: s}, Raised: turn{At: place{Seq: raised}, Count: before},
		}
	}
	for _, c := range []struct {
		name           string
		a, b           *counter
		raised, before uint64
	}{
		{"alike", group(event.Advisory, 1, 1, 0, 1), group(event.Advisory, 1, 9, 0, 9), 1, 0},
		{"less", group(event.Blocking, 1, 1, 0, 1), group(event.Advisory, 1, 20, 5, 9), 1, 0},
		{"worse from its first entry", group(event.Advisory, 1, 1, 0, 1), group(event.Blocking, 1, 9, 0, 9), 9, 1},
		{"worse later", group(event.Advisory, 1, 1, 0, 1), group(event.Blocking, 1, 20, 5, 9), 20, 5},
		{"more severe", group(event.Blocking, 1, 1, 0, 1), group(event.Advisory, 2, 9, 0, 9), 9, 1},
		{"worse before the first became so", group(event.Advisory, 2, 30, 7, 1), group(event.Blocking, 1, 9, 0, 9), 30, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, s := max(c.a.Disposition, c.b.Disposition), max(c.a.Severity, c.b.Severity)
			c.a.combine(c.b)
			require.Equal(t, []uint64{c.raised, c.before, 59, 90, 80},
				[]uint64{c.a.Raised.At.Seq, c.a.Raised.Count, c.a.Last.seq, c.a.LastPos, c.a.Count})
			require.Equal(t, d, c.a.Disposition)
			require.Equal(t, s, c.a.Severity)
		})
	}
	for _, first := range []bool{true, false} {
		a, b := group(event.Advisory, 1, 1, 0, 1), group(event.Advisory, 2, 2, 0, 2)
		a.Invalidates, b.Invalidates = first, !first
		b.Accused = Accused{{"y", 2, 0}, {"x", 1, 0}}
		if first {
			a.Accused = Accused{{"x", 3, 0}}
		}
		a.combine(b)
		require.True(t, a.Invalidates)
		require.EqualValues(t, 2, a.Severity)
		want := map[bool]Accused{true: {{"x", 4, 0}, {"y", 2, 0}}, false: {{"y", 2, 0}, {"x", 1, 0}}}
		require.Equal(t, want[first], a.Accused)
	}
}

// TestInvalidatesStays holds that what a group invalidated once, it has.
func TestInvalidatesStays(t *testing.T) {
	var c counter
	for i, in := range []Input{
		{Entry: &event.Entry{}, Decision: event.Decision{Disposition: event.Advisory, Invalidates: true}},
		{Entry: &event.Entry{}, Decision: event.Decision{Disposition: event.Blocking}},
	} {
		c.add(&in, nil, logicalTime{seq: uint64(i + 1)}, false)
	}
	require.True(t, c.Invalidates)
	require.EqualValues(t, 2, c.Count)
	require.EqualValues(t, 2, c.Raised.At.Seq)
	require.EqualValues(t, 1, c.First.Seq)
}
