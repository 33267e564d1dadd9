package coalesce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestTurnAfter holds what is known to be before a turn of a group, of another that joins it: all of it, what was before
// one of its turns, or its first entry.
func TestTurnAfter(t *testing.T) {
	mine := turn{At: place{Seq: 10}, Count: 5, Disposition: event.Ignore, Severity: event.SeverityWarning}
	other := func(first, worst, raised, last uint64) *counter {
		return &counter{
			First: place{Seq: first}, Last: logicalTime{seq: last}, Count: 100,
			Disposition: event.Blocking, Severity: event.SeverityFatal,
			Worst: turn{At: place{Seq: worst}, Count: 20}, Raised: turn{At: place{Seq: raised}, Count: 30},
		}
	}
	for _, c := range []struct {
		name        string
		other       *counter
		count       uint64
		disposition event.Disposition
		severity    event.Severity
	}{
		{"all before", other(1, 2, 3, 9), 105, event.Blocking, event.SeverityFatal},
		{"it ends with the turn", other(1, 11, 11, 10), 6, event.Advisory, event.SeverityWarning},
		{"only its first", other(1, 11, 12, 20), 6, event.Advisory, event.SeverityWarning},
		{"its worst", other(1, 9, 12, 20), 26, event.Blocking, event.SeverityWarning},
		{"its worst and its latest turn", other(1, 8, 9, 20), 36, event.Blocking, event.SeverityFatal},
		{"its worst at the turn", other(1, 10, 10, 20), 6, event.Advisory, event.SeverityWarning},
		{"it begins with the turn", other(10, 11, 12, 20), 5, event.Ignore, event.SeverityWarning},
		{"all after", other(11, 11, 12, 20), 5, event.Ignore, event.SeverityWarning},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mine.after(c.other)
			require.Equal(t, c.count, got.Count)
			require.Equal(t, c.disposition, got.Disposition)
			require.Equal(t, c.severity, got.Severity)
			require.Equal(t, mine.At, got.At)
		})
	}
}

// TestCombine holds what is kept of two groups that become one: the worse turn, the later ones, and all counts.
func TestCombine(t *testing.T) {
	group := func(d event.Disposition, s event.Severity, worst, raised, last uint64) *counter {
		return &counter{
			First: place{Seq: last}, Last: logicalTime{seq: last}, LastPos: last * 10, Count: last, Disposition: d, Severity: s,
			Worst: turn{At: place{Seq: worst}}, Raised: turn{At: place{Seq: raised}},
		}
	}
	for _, c := range []struct {
		name                string
		a, b                *counter
		worst, raised, last uint64
	}{
		{"the worse", group(event.Advisory, 1, 2, 2, 50), group(event.Blocking, 1, 9, 9, 60), 9, 9, 60},
		{"the worse, which is older", group(event.Blocking, 1, 9, 9, 60), group(event.Advisory, 1, 2, 2, 50), 9, 9, 60},
		{"of two alike the earlier", group(event.Blocking, 1, 5, 5, 50), group(event.Blocking, 1, 4, 7, 60), 4, 7, 60},
		{
			"of two alike the earlier, the first", group(event.Blocking, 1, 4, 8, 60),
			group(event.Blocking, 1, 5, 5, 50), 4, 8, 60,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, n := max(c.a.Disposition, c.b.Disposition), c.a.Count+c.b.Count
			b := *c.b
			c.a.combine(&b)
			require.Equal(t, []uint64{c.worst, c.raised, c.last, c.last * 10, n},
				[]uint64{c.a.Worst.At.Seq, c.a.Raised.At.Seq, c.a.Last.seq, c.a.LastPos, c.a.Count})
			require.Equal(t, d, c.a.Disposition)
		})
	}
	for _, first := range []bool{true, false} {
		a, b := group(event.Advisory, 1, 1, 1, 1), group(event.Advisory, 2, 2, 2, 2)
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
	// What was before the worst turn of the one is counted for it of the other.
	a, b := group(event.Blocking, 1, 90, 90, 99), group(event.Advisory, 1, 2, 2, 50)
	a.combine(b)
	require.EqualValues(t, 50, a.Worst.Count)
	require.EqualValues(t, 50, a.Raised.Count)
}

// TestInvalidatesStays holds that what a group invalidated once, it has.
func TestInvalidatesStays(t *testing.T) {
	var c counter
	for i, in := range []Input{
		{Entry: &event.Entry{}, Decision: event.Decision{Disposition: event.Advisory, Invalidates: true}},
		{Entry: &event.Entry{}, Decision: event.Decision{Disposition: event.Blocking}},
	} {
		c.add(&in, nil, logicalTime{seq: uint64(i + 1)})
	}
	require.True(t, c.Invalidates)
	require.EqualValues(t, 2, c.Count)
	require.EqualValues(t, 2, c.Worst.At.Seq)
	require.EqualValues(t, 1, c.First.Seq)
}

// TestHolds holds which item an index finds for a group: the first and the last row of each.
func TestHolds(t *testing.T) {
	x := newIndex(3, 2)
	_, ok := x.holds(groupSignature("a"))
	require.False(t, ok)
	names := []string{"a", "b", "c", "d", "e", "f"}
	for i, name := range names {
		ref := uint32(1 + i)
		x.rows[ref].Sig = groupSignature(name)
		x.groups.add(uint64(groupSignature(name).ID), ref)
	}
	for i, name := range names {
		item, ok := x.holds(groupSignature(name))
		require.True(t, ok)
		require.Equal(t, i/2, item)
	}
}
