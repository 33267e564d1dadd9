package testkit

import (
	"os"
	"testing"
)

// Full skips a test that takes long unless everything is to be tried: where
// HEED_TESTS is "full", as in CI, and -short is not given. Why names what takes long.
func Full(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() || os.Getenv("HEED_TESTS") != "full" {
		tb.Skip(why + "; set HEED_TESTS=full")
	}
}
