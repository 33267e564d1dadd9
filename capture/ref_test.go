package capture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefTable holds the bounds of the table: an evicted trace is the least recently used.
func TestRefTable(t *testing.T) {
	tab := newRefTable(3, 10)
	for ref, trace := range []string{"", "aaaa", "bbbb", "cc", "longer than all"} {
		tab.put(uint64(ref), []byte(trace))
	}
	get := func(ref uint64) string {
		trace, _ := tab.get(ref)
		return string(trace)
	}
	require.Equal(t, []string{"", "aaaa", "bbbb", "cc", ""}, []string{get(0), get(1), get(2), get(3), get(4)})
	tab.put(5, []byte("d"))
	require.Equal(t, []string{"", "bbbb", "cc", "d"}, []string{get(1), get(2), get(3), get(5)}, "by number")
	tab.put(2, []byte("bbbbbbbb"))
	require.Equal(t, []string{"bbbbbbbb", "", "d"}, []string{get(2), get(3), get(5)}, "by bytes")
	tab.put(5, []byte("dd"))
	require.Equal(t, []string{"bbbbbbbb", "dd"}, []string{get(2), get(5)}, "in place of itself")
}
