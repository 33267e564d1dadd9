package testkit

import (
	"os"
	"testing"
)

// Full skips a test that takes long unless everything is to be tried: where
// HEED_TESTS is "full", as in CI, and -short is not given. Why names what takes long.
func Full(tb testing.TB, why string) {
	tb.Helper()
	if !IsFull() {
		tb.Skip(why + "; set HEED_TESTS=full")
	}
}

// IsFull reports whether everything is to be tried, for tests that try a part else.
func IsFull() bool { return !testing.Short() && os.Getenv("HEED_TESTS") == "full" }
