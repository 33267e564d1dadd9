package coalesce

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPhases(t *testing.T) {
	var p phases
	require.Empty(t, p.at(1))
	for seq, name := range []string{"", "", "menu", "menu", "play"} {
		p.see(uint64(seq+1), name)
	}
	for seq, name := range []string{"", "", "", "menu", "menu", "play", "play"} {
		require.Equal(t, name, p.at(uint64(seq)), seq)
	}
	for i := range uint64(2 * maxPhases) {
		p.see(10+i, fmt.Sprint("phase ", i))
	}
	require.Len(t, p, maxPhases)
	require.Empty(t, p.at(9), "too many have followed")
	require.Equal(t, fmt.Sprint("phase ", maxPhases), p.at(10+maxPhases))
	require.Equal(t, fmt.Sprint("phase ", 2*maxPhases-1), p.at(1000))
}
