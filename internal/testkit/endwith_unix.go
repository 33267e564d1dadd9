//go:build unix

package testkit

import (
	"os"
	"strconv"
	"syscall"
	"time"
)

// The environment of tests has their process id. A test binary that they have started, by any way, ends within a second
// of them: also of tests that were killed.
func init() {
	tests, err := strconv.Atoi(os.Getenv("TESTS_PID"))
	if err != nil {
		_ = os.Setenv("TESTS_PID", strconv.Itoa(os.Getpid()))
		return
	}
	go func() {
		for syscall.Kill(tests, 0) == nil {
			time.Sleep(time.Second)
		}
		os.Exit(1)
	}()
}
