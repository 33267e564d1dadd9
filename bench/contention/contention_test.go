package contention

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRun runs each row for a moment: every entry arrives, and the accounts add up.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Run([]string{"-small", "-n", "2000", "-goroutines", "1,3"}, &out, io.Discard))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3+2*2*len(disturbances))
	for i, kind := range disturbances {
		require.True(t, strings.HasPrefix(lines[3+4*i], kind+", 1 "), lines[3+4*i])
		require.True(t, strings.HasPrefix(lines[5+4*i], kind+", 3 "), lines[5+4*i])
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-goroutines", "0"}, {"-goroutines", "1,x"}, {"-with", "noise"}, {"-what"}} {
		require.Error(t, Run(args, &bytes.Buffer{}, io.Discard), args)
	}
}

// TestHistogram holds the buckets to what they say: they follow each other, and are
// no wider than a 32nd.
func TestHistogram(t *testing.T) {
	for i := range bucket(1<<63) - 1 {
		require.Equal(t, i, bucket(uint64(low(i))))
		require.Equal(t, i, bucket(uint64(low(i+1)-1)))
		require.LessOrEqual(t, low(i+1)-low(i), max(1, low(i)/32))
	}
	var h, other histogram
	for d := range time.Duration(1000) {
		h.add(d)
	}
	other.add(time.Hour)
	h.merge(&other)
	require.EqualValues(t, 1001, h.count())
	require.Equal(t, time.Hour, h.max)
	require.InDelta(t, 500, h.percentile(0.5), 500/32)
	require.InDelta(t, time.Hour, h.percentile(1), float64(time.Hour)/32)
	require.EqualValues(t, 1, h.over(time.Millisecond))
	require.InDelta(t, float64(time.Hour)/1001, float64(h.mean()), float64(time.Hour)/1001/16)
}

func TestShort(t *testing.T) {
	require.Equal(t, 999*time.Nanosecond, short(999))
	require.Equal(t, 1230*time.Nanosecond, short(1234))
	require.Equal(t, 4570*time.Microsecond, short(4567*time.Microsecond))
}
