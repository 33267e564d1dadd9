package testkit

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"
)

// Gone waits for the end of a process that is not a child of this one, and fails the test where it lives on. It is for
// Linux.
func Gone(tb testing.TB, process int, within time.Duration) {
	tb.Helper()
	began := time.Now()
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
		if err != nil || bytes.Contains(stat, []byte(") Z")) {
			tb.Logf("process %d was gone after %v", process, time.Since(began).Round(time.Millisecond))
			return
		}
		if time.Since(began) > within {
			tb.Fatalf("process %d lives after %v", process, within)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
