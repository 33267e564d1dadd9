package testkit_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestCSharp holds that a program is compiled also where the user's cache lacks it, is a file, or is unknown.
func TestCSharp(t *testing.T) {
	source := filepath.Join(t.TempDir(), "hello.cs")
	code := `class P { static int Main(string[] a) { System.Console.Write("hello " + a[0]); return 0; } }`
	require.NoError(t, os.WriteFile(source, []byte(code), 0o600))
	for i, cache := range []string{t.TempDir(), source, ""} {
		t.Setenv("XDG_CACHE_HOME", cache)
		t.Setenv("HOME", cache)
		for range max(1, 2-i) { // again where the cache has the folder, but no program
			require.Equal(t, "hello you", testkit.RunMono(t, time.Minute, testkit.CSharp(t, source), "you"))
			kept := testkit.Must(filepath.Glob(filepath.Join(cache, "heed-csharp", "*", "test.exe")))
			for _, program := range kept {
				require.NoError(t, os.Remove(program))
			}
		}
	}
}
