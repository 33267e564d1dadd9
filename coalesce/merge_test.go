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
			for j := range a.counters.rows {
				x, y := a.counters.rows[j], b.counters.find(a.counters.rows[j].rule, a.counters.rows[j].sig,
					a.counters.rows[j].variant)
				require.NotNil(t, y)
				require.Equal(t, x.count, y.count)
				require.Equal(t, x.first, y.first)
				require.Equal(t, x.last, y.last)
				require.Equal(t, x.text, y.text)
				require.Equal(t, x.disposition, y.disposition)
				require.Equal(t, x.severity, y.severity)
				require.Equal(t, x.invalidates, y.invalidates)
				require.Equal(t, x.worst.seq, y.worst.seq)
			}
			require.True(t, slices.IsSortedFunc(b.counters.rows, func(x,
				y counter,
			) int {
				return int(x.first.seq) - int(y.first.seq)
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
					total := it.untracked
					variants := map[modelGroup]int{}
					for j := range it.counters.rows {
						r := &it.counters.rows[j]
						require.Same(t, r, it.counters.find(r.rule, r.sig, r.variant))
						require.Equal(t, root(r.sig), r.sig)
						total += r.count
						if r.variant != others {
							variants[modelGroup{r.rule, r.sig, ""}]++
							require.LessOrEqual(t, variants[modelGroup{r.rule, r.sig, ""}], maxVariants)
						}
					}
					require.Equal(t, it.total, total, "what the groups counted is what the item did")
				}
			},
		})
	})
}
