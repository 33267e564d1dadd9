package journal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/bounds"
)

// TestBounds holds the fields of a Config to their least and their most.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		n, want int
		err     string
	}{
		{n: 0, want: 7},
		{n: 2, want: 2},
		{n: 9, want: 9},
		{n: 1, err: "a: Config.N is 1, want at least 2 (0 means 7)"},
		{n: -1, err: "a: Config.N is -1, want at least 2 (0 means 7)"},
		{n: 10, err: "a: Config.N is 10, want at most 9 (0 means 7)"},
	} {
		err := bounds.Complete("a: Config", bounds.Of("N", &c.n, 7, 2, 9))
		if c.err != "" {
			require.EqualError(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, c.n)
	}
	var d time.Duration
	require.NoError(t, bounds.Complete("a", bounds.Of("D", &d, time.Hour, 1, 0)))
	require.Equal(t, time.Hour, d)
}
