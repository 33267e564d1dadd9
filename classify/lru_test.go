package classify

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestLRUEqualsAList compares the table with a slice from oldest to newest,
// with hashes bad enough that chains are long.
func TestLRUEqualsAList(t *testing.T) {
	type pair struct{ key, value int }
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 6).Draw(t, "limit")
		table := newLRU[int, int](limit)
		var model []pair
		hash := func(k int) uint32 { return uint32(k % 3) }
		index := map[int]int32{} // slots do not move
		for step := range rapid.IntRange(0, 60).Draw(t, "steps") {
			k := rapid.IntRange(0, 9).Draw(t, "key")
			at := slices.IndexFunc(model, func(p pair) bool { return p.key == k })
			i := table.find(hash(k), &k)
			require.Equal(t, at >= 0, i != none)
			switch {
			case i != none:
				require.Equal(t, model[at].value, table.slots[i].value)
				require.Equal(t, index[k], i)
				table.touch(i)
				model = append(append(model[:at:at], model[at+1:]...), model[at])
			default:
				if rapid.Bool().Draw(t, "remove early") && table.used > 0 || table.full() {
					require.NotEmpty(t, model)
					require.Equal(t, model[0].value, table.removeOldest())
					model = model[1:]
				}
				index[k] = table.add(hash(k), &k, step)
				model = append(model, pair{k, step})
			}
			require.Equal(t, len(model), table.used)
			require.LessOrEqual(t, len(table.slots), limit)
			require.Equal(t, len(model) == limit, table.full())
			// The list holds the model from either end.
			i = table.oldest
			for _, p := range model {
				require.Equal(t, p.key, table.slots[i].key)
				i = table.slots[i].newer
			}
			require.Equal(t, none, i)
			i = table.newest
			for _, p := range slices.Backward(model) {
				require.Equal(t, p.key, table.slots[i].key)
				i = table.slots[i].older
			}
			require.Equal(t, none, i)
		}
	})
}

func TestNames(t *testing.T) {
	n := newNames(2)
	number := func(s string, want uint32, ok bool) {
		t.Helper()
		got, known := n.number(s)
		require.Equal(t, ok, known, s)
		require.Equal(t, want, got, s)
	}
	number("", 0, true)
	number("a", 1, true)
	number("b", 2, true)
	number("c", 0, false)
	number("a", 1, true)
	number("", 0, true)
	number("c", 0, false)
	number(string(make([]byte, maxNameBytes+1)), 0, false)
	require.Equal(t, 2, n.held())

	// A kept name does not change with the memory that it came from.
	buf := []byte("borrowed")
	n = newNames(2)
	number(unsafe.String(&buf[0], len(buf)), 1, true)
	copy(buf, "########")
	require.Equal(t, "borrowed", n.texts[1])
	number("borrowed", 1, true)
}
