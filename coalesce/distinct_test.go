package coalesce

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// TestDistinct compares the number of groups of each item with a map of the entries that
// were folded into it, through merges, acknowledgements, evictions and restores.
func TestDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			MaxOpen: rapid.IntRange(1, 3).Draw(t, "open"), MaxRemembered: rapid.IntRange(1, 3).Draw(t, "remembered"),
			MaxGroups: rapid.SampledFrom([]int{1, 2, 8}).Draw(t, "groups"), MaxOperations: 4,
		}
		c, err := New(cfg)
		require.NoError(t, err)
		type group struct {
			rule string
			sig  signature.Signature
		}
		held := map[uint64]map[group]uint64{} // entries by number of the item
		var seq uint64
		forms := rapid.IntRange(0, 40)
		sig := func(n int) signature.Signature { return groupSignature(fmt.Sprint("form", n)) }
		fold := func(t *rapid.T, in Input) {
			seq++
			in.Entry.Seq = seq
			f := c.Fold(&in)
			if held[f.Owner] == nil {
				held[f.Owner] = map[group]uint64{}
			}
			held[f.Owner][group{in.Decision.Rule, in.Signature}]++
		}
		t.Repeat(map[string]func(*rapid.T){
			"fold": func(t *rapid.T) {
				d := event.Decision{
					Rule:        rapid.SampledFrom([]string{"r", "s"}).Draw(t, "rule"),
					Disposition: rapid.SampledFrom([]event.Disposition{event.Advisory, event.Blocking}).Draw(t, "disposition"),
					Severity:    event.Severity(rapid.IntRange(0, 3).Draw(t, "severity")),
				}
				variant := rapid.SampledFrom([]string{"", "open", "shut"}).Draw(t, "variant")
				op := rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "operation")
				from := forms.Draw(t, "from")
				for n := range rapid.SampledFrom([]int{1, 1, 30}).Draw(t, "n") {
					fold(t, Input{
						Entry: &event.Entry{Message: "m", OperationID: op}, Decision: d, Signature: sig(from + n), Variant: variant,
					})
				}
			},
			"merge": func(t *rapid.T) {
				from, into := sig(forms.Draw(t, "from")), sig(forms.Draw(t, "into"))
				if from == into {
					return
				}
				c.Merge(from, into)
				for _, groups := range held {
					for _, rule := range []string{"r", "s"} {
						if n := groups[group{rule, from}]; n > 0 {
							groups[group{rule, into}] += n
							delete(groups, group{rule, from})
						}
					}
				}
			},
			"acknowledge": func(t *rapid.T) {
				open := c.OpenIDs(nil)
				if len(open) == 0 {
					return
				}
				number := c.lookup(rapid.SampledFrom(open).Draw(t, "id")).Number
				consumer := fmt.Sprint(seq) // a new one, which has seen no other item with this one
				next := c.lookup(c.Ack(consumer, c.id(number), rapid.Uint64Range(1, seq).Draw(t, "through")).Successor)
				if next == nil {
					return
				}
				held[next.Number] = map[group]uint64{}
				for i := range next.Counters.Rows {
					row := &next.Counters.Rows[i]
					g := group{row.Rule, row.Sig}
					held[next.Number][g] += row.Count
					if held[number][g] -= row.Count; held[number][g] == 0 {
						delete(held[number], g)
					}
				}
			},
			"restore": func(t *rapid.T) {
				restored, err := restored(cfg, snap(c, nil))
				require.NoError(t, err)
				c = restored
			},
			"": func(t *rapid.T) {
				keys := 0
				for i := range c.items {
					it := &c.items[i]
					keys += len(it.Counters.Uncounted.Keys)
					if it.State == itemFree {
						require.Empty(t, it.Counters.Uncounted.Keys)
						continue
					}
					n, exact := it.Counters.groups()
					require.True(t, exact)
					require.EqualValues(t, len(held[it.Number]), n, "item %d", it.Number)
				}
				require.Equal(t, keys, c.index.uncounted)
			},
		})
	})
}

// FuzzUncounted compares the set with a map.
func FuzzUncounted(f *testing.F) {
	f.Add([]byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcABC!?"))
	f.Fuzz(func(t *testing.T, keys []byte) {
		var u uncounted
		want := map[uint64]bool{}
		for _, b := range keys {
			// Many share a place, also the last one, after which the first follows.
			key := uint64(b)>>3<<20 | -uint64(b&7)&0xfffff
			require.Equal(t, want[key], u.has(key))
			if want[key] {
				u.remove(key)
				delete(want, key)
			} else {
				u.add(key)
				want[key] = true
			}
			require.Len(t, u.Keys, len(want))
			for key := range want {
				require.True(t, u.has(key))
			}
		}
	})
}

// TestDistinctBounds: the number of groups is exact up to 65,536 of an item, and up to
// the bound of all items; beyond, it is what it was, and says so.
func TestDistinctBounds(t *testing.T) {
	c, err := New(Config{})
	require.NoError(t, err)
	var seq uint64
	fill := func(operation string, n int) Item {
		var f Folded
		for i := range n {
			seq++
			f = c.Fold(&Input{
				Entry: &event.Entry{Seq: seq, Message: "m", OperationID: operation}, Signature: groupSignature(fmt.Sprint(i)),
				Decision: event.Decision{Rule: operation, Disposition: event.Blocking},
			})
		}
		a, ok := c.Item(f.ID)
		require.True(t, ok)
		return a
	}
	rows := defaultMaxGroups
	a := fill("a", 1<<16)
	require.Equal(t, 1<<16, a.Groups)
	require.True(t, a.GroupsExact)
	require.Contains(t, a.Summary, "(65536 entries in 65536 groups)")
	a = fill("a", 70_000)
	require.Equal(t, maxUncounted+rows, a.Groups)
	require.False(t, a.GroupsExact)
	require.Contains(t, a.Summary, "in at least 65663 groups")

	for c.index.uncounted < maxAllUncounted {
		a = fill(fmt.Sprint("b", seq), min(1<<16, maxAllUncounted-c.index.uncounted+rows))
		require.True(t, a.GroupsExact)
	}
	a = fill("c", rows)
	require.True(t, a.GroupsExact)
	a = fill("c", rows+1)
	require.False(t, a.GroupsExact)
	require.Equal(t, rows, a.Groups)

	restored, err := restored(Config{}, snap(c, nil))
	require.NoError(t, err)
	require.Equal(t, openItems(c), openItems(restored))
	require.Equal(t, maxAllUncounted, restored.index.uncounted)
}

// TestDistinctRules: the groups of maxRules rules are told apart.
func TestDistinctRules(t *testing.T) {
	c, err := New(Config{MaxGroups: 1})
	require.NoError(t, err)
	fold := func(n int) Item {
		f := c.Fold(&Input{
			Entry: &event.Entry{Seq: c.now.seq + 1, Message: "m"}, Signature: groupSignature(fmt.Sprint(c.now.seq)),
			Decision: event.Decision{Rule: fmt.Sprint(n), Disposition: event.Blocking},
		})
		a, ok := c.Item(f.ID)
		require.True(t, ok)
		return a
	}
	for n := range maxRules {
		fold(n)
		a := fold(n)
		require.Equal(t, 2*n+2, a.Groups)
		require.True(t, a.GroupsExact)
	}
	a := fold(maxRules)
	require.Equal(t, 2*maxRules, a.Groups)
	require.False(t, a.GroupsExact)
	require.Equal(t, 2*maxRules+1, fold(0).Groups, "what is known of the others goes on")
}

// TestDistinctThresholds: the number of groups prompts an update at the thresholds, also
// where they have no counter.
func TestDistinctThresholds(t *testing.T) {
	c, err := New(Config{MaxGroups: 2})
	require.NoError(t, err)
	var at []int
	for i := range 1000 {
		c.Fold(&Input{
			Entry: &event.Entry{Seq: uint64(i + 1), Message: "m"}, Signature: groupSignature(fmt.Sprint(i)),
			Decision: event.Decision{Rule: "r", Disposition: event.Blocking},
		})
		for _, u := range updates(c) {
			at = append(at, u.Item.Groups)
		}
		// As many entries again as there are groups, so that their number has thresholds of its own.
		it := &c.items[0]
		it.NextCount = nextThreshold(1 << 20)
	}
	require.Equal(t, []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000}, at)
}

// TestDistinctAllocatesNothing: what comes again has its key already.
func TestDistinctAllocatesNothing(t *testing.T) {
	c, err := New(Config{MaxGroups: 2})
	require.NoError(t, err)
	e := event.Entry{Message: "m"}
	in := Input{Entry: &e, Decision: event.Decision{Rule: "r", Disposition: event.Blocking}}
	fold := func() {
		e.Seq++
		in.Signature.ID = signature.ID(e.Seq % 1000)
		c.Fold(&in)
	}
	for range 1000 {
		fold()
	}
	require.Zero(t, testing.AllocsPerRun(5000, fold))
	n, exact := c.items[0].Counters.groups()
	require.EqualValues(t, 1000, n)
	require.True(t, exact)
}
