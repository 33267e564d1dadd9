package testkit

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Tests has the process id of the tests, in the environment of the programs that they start.
const Tests = "TESTS_PID"

// A test binary that tests have started, by any way, ends within a second of them: also of tests that were killed.
func init() {
	pid, _ := strconv.Atoi(os.Getenv(Tests))
	if pid == 0 {
		_ = os.Setenv(Tests, strconv.Itoa(os.Getpid()))
	} else if tests, err := os.FindProcess(pid); err == nil && runtime.GOOS != "windows" { // which has no signal 0
		go func() {
			for tests.Signal(syscall.Signal(0)) == nil {
				time.Sleep(time.Second)
			}
			os.Exit(1)
		}()
	}
}
