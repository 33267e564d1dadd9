package scrub

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLongLines: each of many homes in one line is found.
func TestLongLines(t *testing.T) {
	const homes = 500
	require.Equal(t, homes, strings.Count(Text(strings.Repeat(`C:\Users\ab `, homes)), string(User)))
}
