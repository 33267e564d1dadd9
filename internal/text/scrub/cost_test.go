//go:build !race

package scrub

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTextWithoutCost(t *testing.T) {
	for name, s := range texts {
		if name != "path" && name != "key" {
			require.Equal(t, s, Text(s), name)
			require.Zero(t, testing.AllocsPerRun(20, func() { Text(s) }), name)
		}
	}
}
