package testkit_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestCSharp holds that a program is compiled, and gets its arguments.
func TestCSharp(t *testing.T) {
	source := filepath.Join(t.TempDir(), "hello.cs")
	code := `class P { static int Main(string[] a) { System.Console.Write("hello " + a[0]); return 0; } }`
	require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
	require.Equal(t, "hello you", testkit.RunMono(t, time.Minute, testkit.CSharp(t, source), "you"))
}
