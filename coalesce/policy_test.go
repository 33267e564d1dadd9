package coalesce

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTransitions: each state has its row, and each event that applies to an open item ends in another state.
func TestTransitions(t *testing.T) {
	require.Len(t, transitions, int(itemOver)+1)
	for from, row := range transitions {
		for by, to := range row {
			it := item{State: itemState(from)}
			it.on(itemEvent(by))
			if to == itemFree {
				to = itemState(from)
			}
			require.Equal(t, to, it.State)
			require.False(t, from >= int(itemAcked) && it.open() && from != int(itemLapsed),
				"what is cleared for good opens again")
		}
	}
}
