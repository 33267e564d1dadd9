package coalesce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestTurnAfter holds what is known to be before a turn of a group, of another that joins it: all of it, what was before
// one of its turns, or its first entry.
func TestTurnAfter(t *testing.T) {
	mine := turn{place: place{seq: 10}, count: 5, disposition: event.Ignore, severity: event.SeverityWarning}
	other := func(first, worst, raised, last uint64) *counter {
		return &counter{
			first: place{seq: first}, last: logicalTime{seq: last}, count: 100,
			disposition: event.Blocking, severity: event.SeverityFatal,
			worst: turn{place: place{seq: worst}, count: 20}, raised: turn{place: place{seq: raised}, count: 30},
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
			require.Equal(t, c.count, got.count)
			require.Equal(t, c.disposition, got.disposition)
			require.Equal(t, c.severity, got.severity)
			require.Equal(t, mine.place, got.place)
		})
	}
}

// TestCombine holds what is kept of two groups that become one: the worse turn, the later ones, and all counts.
func TestCombine(t *testing.T) {
	group := func(d event.Disposition, s event.Severity, worst, raised, last uint64) *counter {
		return &counter{
			first: place{seq: last}, last: logicalTime{seq: last}, lastPos: last * 10, count: last, disposition: d, severity: s,
			worst: turn{place: place{seq: worst}}, raised: turn{place: place{seq: raised}},
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
			d, n := max(c.a.disposition, c.b.disposition), c.a.count+c.b.count
			b := *c.b
			c.a.combine(&b)
			require.Equal(t, []uint64{c.worst, c.raised, c.last, c.last * 10, n},
				[]uint64{c.a.worst.seq, c.a.raised.seq, c.a.last.seq, c.a.lastPos, c.a.count})
			require.Equal(t, d, c.a.disposition)
		})
	}
	for _, first := range []bool{true, false} {
		a, b := group(event.Advisory, 1, 1, 1, 1), group(event.Advisory, 2, 2, 2, 2)
		a.invalidates, b.invalidates = first, !first
		b.accused = Accused{{"y", 2, 0}, {"x", 1, 0}}
		if first {
			a.accused = Accused{{"x", 3, 0}}
		}
		a.combine(b)
		require.True(t, a.invalidates)
		require.EqualValues(t, 2, a.severity)
		require.Equal(t, map[bool]Accused{true: {{"x", 4, 0}, {"y", 2, 0}}, false: {{"y", 2, 0}, {"x", 1, 0}}}[first], a.accused)
	}
	// What was before the worst turn of the one is counted for it of the other.
	a, b := group(event.Blocking, 1, 90, 90, 99), group(event.Advisory, 1, 2, 2, 50)
	a.combine(b)
	require.EqualValues(t, 50, a.worst.count)
	require.EqualValues(t, 50, a.raised.count)
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
	require.True(t, c.invalidates)
	require.EqualValues(t, 2, c.count)
	require.EqualValues(t, 2, c.worst.seq)
	require.EqualValues(t, 1, c.first.seq)
}

// TestHolds holds which item an index finds for a group: the first and the last row of each.
func TestHolds(t *testing.T) {
	x := newIndex(3, 2)
	_, ok := x.holds(groupSignature("a"))
	require.False(t, ok)
	names := []string{"a", "b", "c", "d", "e", "f"}
	for i, name := range names {
		ref := uint32(1 + i)
		x.rows[ref].sig = groupSignature(name)
		x.groups.add(uint64(groupSignature(name).ID), ref)
	}
	for i, name := range names {
		item, ok := x.holds(groupSignature(name))
		require.True(t, ok)
		require.Equal(t, i/2, item)
	}
}
