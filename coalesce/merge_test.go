package coalesce

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// TestMergeIsAsIfMergedBefore feeds the same entries to two coalescers: one
// knows from the start which signatures are one group, the other learns it at
// some time. Afterwards their items are alike, group by group.
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
			e := event.Entry{Seq: seq, Pos: seq, Message: rapid.SampledFrom([]string{"one", "two"}).Draw(t, "text")}
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
			require.True(t, slices.IsSortedFunc(b.Counters.Rows, func(x,
				y counter,
			) int {
				return int(x.First.Seq) - int(y.First.Seq)
			}), "rows keep their order")
		}
		s := after.Stats()
		require.NoError(t, s.Check())
	})
}

// TestMergeConserves merges at any time, acknowledgements between, and counts.
func TestMergeConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := New(Config{MaxGroups: rapid.IntRange(1, 5).Draw(t, "groups"), MaxOpen: 2, MaxRemembered: 2})
		require.NoError(t, err)
		group := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
		name := map[signature.Signature]signature.Signature{}
		root := func(s signature.Signature) signature.Signature {
			for name[s] != (signature.Signature{}) {
				s = name[s]
			}
			return s
		}
		seq := uint64(0)
		t.Repeat(map[string]func(*rapid.T){
			"fold": func(t *rapid.T) {
				seq++
				c.Fold(&Input{
					Entry: &event.Entry{Seq: seq}, Signature: root(groupSignature(group.Draw(t, "group"))),
					Variant: fmt.Sprint(rapid.IntRange(0, 10).Draw(t, "variant")),
					Decision: event.Decision{
						Rule: "r", Severity: event.Severity(rapid.IntRange(0, 3).Draw(t, "severity")),
						Disposition: rapid.SampledFrom([]event.Disposition{event.Advisory, event.Blocking}).Draw(t, "disposition"),
					},
				})
			},
			"merge": func(t *rapid.T) {
				from, into := root(groupSignature(group.Draw(t, "from"))), root(groupSignature(group.Draw(t, "into")))
				if from != into {
					name[from] = into
					c.Merge(from, into)
				}
			},
			"ack": func(t *rapid.T) {
				for _, a := range openItems(c) {
					c.Ack("", a.ID, uint64(rapid.IntRange(0, int(seq)).Draw(t, "upto")))
				}
			},
			"": func(t *rapid.T) {
				s := c.Stats()
				require.NoError(t, s.Check())
				require.Equal(t, seq, s.Received)
				for i := range c.items {
					it := &c.items[i]
					total := it.Untracked
					for j := range it.Counters.Rows {
						r := &it.Counters.Rows[j]
						require.Same(t, r, it.Counters.find(r.Rule, r.Sig, r.Variant))
						require.Equal(t, root(r.Sig), r.Sig)
						total += r.Count
					}
					require.Equal(t, it.Total, total, "what the groups counted is what the item did")
				}
			},
		})
	})
}
