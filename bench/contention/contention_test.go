package contention

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestRun runs each row for a moment: every entry arrives, and the accounts add up.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	small := fmt.Sprint("-small=", !testkit.IsFull())
	require.NoError(t, Run([]string{small, "-n", "2000", "-goroutines", "1,3"}, &out, io.Discard))
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

func TestWaits(t *testing.T) {
	w := waits{1, 2, 3, 4, 10 * time.Millisecond}
	require.EqualValues(t, []time.Duration{1, 3, 10 * time.Millisecond},
		[]time.Duration{w.percentile(0), w.percentile(0.5), w.percentile(1)})
	require.Equal(t, []int{5, 1, 0}, []int{w.over(0), w.over(4), w.over(time.Second)})
	require.Equal(t, 2*time.Millisecond+2, w.mean())
}

func TestShort(t *testing.T) {
	require.Equal(t, 999*time.Nanosecond, short(999))
	require.Equal(t, 1230*time.Nanosecond, short(1234))
	require.Equal(t, 4570*time.Microsecond, short(4567*time.Microsecond))
}
