package coalesce

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestProperties makes calls at random and checks structure, snapshot and counts after each. The simulator of
// internal/sim compares each item with all entries.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &caller{intn: func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }}
		if rapid.Bool().Draw(t, "clock") {
			m.now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		}
		c := testkit.Must(New(smallConfig(1+m.intn(4), []int{1, 3, 30}[m.intn(3)], 1+m.intn(4))))
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

// TestMergeIsAsIfMergedBefore feeds the same entries of a call to two coalescers: one knows from the start which
// signatures are one group, the other learns it at some time. Afterwards their items are equal, group by group.
func TestMergeIsAsIfMergedBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := testkit.Must(New(Config{}))
		after := testkit.Must(New(Config{}))
		from, into := groupSignature("b"), groupSignature("a")
		merged := false
		seq := uint64(0)
		for range rapid.IntRange(1, 40).Draw(t, "n") {
			if !merged && rapid.IntRange(0, 9).Draw(t, "merge") == 0 {
				merged = true
				after.Merge(from, into)
			}
			seq++
			in := Input{
				Signature: groupSignature(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "group")),
				Decision: event.Decision{
					Rule: rapid.SampledFrom([]string{"r", "s"}).Draw(t, "rule"),
					Disposition: rapid.SampledFrom([]event.Disposition{event.Ignore, event.Advisory, event.Blocking}).Draw(t,
						"disposition"),
					Severity:    event.Severity(rapid.IntRange(0, 3).Draw(t, "severity")),
					Invalidates: rapid.Bool().Draw(t, "invalidates"),
				},
			}
			in.Variant = rapid.SampledFrom([]string{"", "open", "shut"}).Draw(t, "variant")
			e := event.Entry{
				Seq: seq, Pos: seq, Message: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "text"), OperationID: "call",
			}
			in.Entry = &e
			late := in
			if in.Signature == from {
				in.Signature = into
				if merged {
					late.Signature = into
				}
			}
			before.Fold(&in)
			after.Fold(&late)
		}
		if !merged {
			after.Merge(from, into)
		}
		want, got := openItems(before), openItems(after)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i].Cause, got[i].Cause)
			require.Equal(t, want[i].Groups, got[i].Groups)
			require.Equal(t, want[i].TotalUrgentEntries, got[i].TotalUrgentEntries)
			a, b := before.lookup(want[i].ID), after.lookup(got[i].ID)
			for j := range a.Counters.Rows {
				x, y := a.Counters.Rows[j], b.Counters.find(a.Counters.Rows[j].Rule, a.Counters.Rows[j].Sig,
					a.Counters.Rows[j].Variant)
				require.NotNil(t, y)
				require.Equal(t, x.Count, y.Count)
				require.Equal(t, x.First, y.First)
				require.Equal(t, x.Last, y.Last)
				require.Equal(t, x.Text, y.Text)
				require.Equal(t, x.Disposition, y.Disposition)
				require.Equal(t, x.Severity, y.Severity)
				require.Equal(t, x.Invalidates, y.Invalidates)
			}
			require.True(t, slices.IsSortedFunc(b.Counters.Rows, func(x, y *counter) int {
				return int(x.First.Seq) - int(y.First.Seq)
			}), "rows keep their order")
		}
		s := after.Stats()
		require.NoError(t, s.Check())
	})
}

// TestRepeatOfWhatWasResolved: a repeat of what was resolved is not resolved, however
// often it came before.
func TestRepeatOfWhatWasResolved(t *testing.T) {
	c := testkit.Must(New(Config{}))
	fold := func(d event.Decision, resolves ...string) {
		e := event.Entry{Seq: c.Now.seq + 1}
		c.Fold(&Input{Entry: &e, Signature: groupSignature(d.Rule), Decision: d, Resolves: resolves})
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
