package coalesce

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
)

// TestMergeIsAsIfMergedBefore feeds the same entries of a call to two coalescers: one knows from the start which
// signatures are one group, the other learns it at some time. Afterwards their items are equal, group by group.
func TestMergeIsAsIfMergedBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, err := New(Config{})
		require.NoError(t, err)
		after, err := New(Config{})
		require.NoError(t, err)
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
