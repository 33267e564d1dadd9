package testkit

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Full skips a test that takes long unless HEED_TESTS is "full", as in CI, and -short is not given. why names the
// reason for the time.
func Full(tb testing.TB, why string) {
	tb.Helper()
	if !IsFull() {
		tb.Skip(why + "; set HEED_TESTS=full")
	}
}

// IsFull reports whether everything is to be tried, for tests that try a part else.
func IsFull() bool { return !testing.Short() && os.Getenv("HEED_TESTS") == "full" }

// Must returns the value of a call that must succeed. It panics with the error of the call.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Gone waits for the end of a process that is not a child of this one, and fails the test where it lives on. It is for
// Linux.
func Gone(tb testing.TB, process int, within time.Duration) {
	tb.Helper()
	require.Eventually(tb, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
		return err != nil || bytes.Contains(stat, []byte(") Z"))
	}, within, 5*time.Millisecond, "process %d lives", process)
}
