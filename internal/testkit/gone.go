package testkit

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Gone waits for the end of a process that is not a child of this one, and fails the test where it lives on. It is for
// Linux.
func Gone(tb testing.TB, process int, within time.Duration) {
	tb.Helper()
	require.Eventually(tb, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
		return err != nil || bytes.Contains(stat, []byte(") Z"))
	}, within, 5*time.Millisecond, "process %d lives", process)
}
