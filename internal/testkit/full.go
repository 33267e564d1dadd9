package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Tests collect garbage more seldom than programs: they need a fifth less of the processor, and at most twice the
// memory. Benchmarks, and programs that tests start from their own binary, have the percentage of users.
func init() {
	args := strings.Join(os.Args[1:], " ")
	if strings.HasPrefix(args, "-test.") && !strings.Contains(args, "-test.bench") && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

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

// Gone waits for the end of a process, and fails the test where it lives on.
func Gone(tb testing.TB, process int, within time.Duration) {
	tb.Helper()
	require.Eventually(tb, func() bool {
		state := ProcessState(process)
		return state == "" || state == "Z"
	}, within, 5*time.Millisecond, "process %d lives", process)
}

// ProcessState returns the letter of the state of a process on Unix: "Z" if it has ended and its parent has not waited
// for it, "T" if it is stopped, "" if there is none.
func ProcessState(process int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil { // it is gone, or the system has no /proc
		state, _ := exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(process)).Output()
		stat = append([]byte(") "), state...)
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return state[:min(1, len(state))]
}
