package report

import (
	"slices"
	"testing"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/signature"
)

// TestRows holds the table to one that is known to be right.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 3*fewHeads).Draw(t, "limit")
		var gone *row
		model, err := simplelru.NewLRU(limit, func(_ rowKey, r *row) { gone = r })
		require.NoError(t, err)
		table := newRows(limit)
		for _, n := range rapid.SliceOfN(rapid.Uint16(), 1, 2000).Draw(t, "keys") {
			key := rowKey{
				sig:  signature.Signature{ID: signature.ID(n % 251), Check: uint32(n) >> 14},
				rule: []string{"a", "b"}[n>>13&1],
			}
			want, ok := model.Get(key)
			got := table.get(&key)
			require.Same(t, want, got)
			if !ok {
				gone = nil
				row := &row{Row: Row{Count: uint64(n)}}
				model.Add(key, row)
				require.Same(t, gone, table.add(key, row))
			}
			require.Equal(t, model.Len(), table.Len())
		}
		all := table.all()
		require.Len(t, all, model.Len())
		for _, r := range model.Values() {
			require.True(t, slices.Contains(all, r))
		}
	})
}

// TestRowsUnlink: a row that is evicted from within a chain leaves the others of it in place.
func TestRowsUnlink(t *testing.T) {
	table := newRows(3)
	var keys []rowKey // of one chain
	for id := signature.ID(1); len(keys) < 4; id++ {
		key := rowKey{sig: signature.Signature{ID: id}}
		if len(keys) == 0 || table.head(&key) == table.head(&keys[0]) {
			keys = append(keys, key)
		}
	}
	for i := range keys[:3] {
		table.add(keys[i], &row{Row: Row{Count: uint64(i)}})
	}
	table.get(&keys[0]) // so that the second is the oldest
	require.EqualValues(t, 1, table.add(keys[3], &row{}).Count)
	var chain []rowKey
	for i := *table.head(&keys[0]); i != 0 && len(chain) < len(keys); i = table.slot(i).next {
		chain = append(chain, table.slot(i).key)
	}
	require.Equal(t, []rowKey{keys[3], keys[2], keys[0]}, chain)
}

// BenchmarkRows looks up the rows of a log with 1,000 shapes, in this table and in a general one.
func BenchmarkRows(b *testing.B) {
	const shapes = 1000
	keys := make([]rowKey, shapes)
	table := newRows(defaultRows)
	general, err := simplelru.NewLRU[rowKey, *row](defaultRows, nil)
	require.NoError(b, err)
	for i := range keys {
		keys[i] = rowKey{sig: signature.Of([]byte{byte(i), byte(i >> 8)}), rule: "game.rule"}
		table.add(keys[i], &row{})
		general.Add(keys[i], &row{})
	}
	for name, get := range map[string]func(*rowKey) *row{
		"own":     table.get,
		"general": func(key *rowKey) *row { r, _ := general.Get(*key); return r },
	} {
		b.Run(name, func(b *testing.B) {
			i := 0
			for b.Loop() {
				if get(&keys[i%shapes]) == nil {
					b.Fatal("a row is lost")
				}
				i++
			}
		})
	}
}
