package testkit

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files; read the difference before a commit")

const toUpdate = "run this test with -update, or all tests with HEED_UPDATE=1"

// Updating reports whether tests write golden files: with -update, which one package takes, or if HEED_UPDATE is 1,
// which "go test ./..." passes to all.
func Updating() bool { return *update || os.Getenv("HEED_UPDATE") == "1" }

// Golden compares a text with the text of a file, or writes the file if [Updating].
func Golden(tb testing.TB, file, got string) {
	tb.Helper()
	want, err := os.ReadFile(file)
	if Updating() {
		if err == nil && string(want) == got {
			return // which leaves alone a page that another test writes at the same time
		}
		require.NoError(tb, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(tb, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	require.NoError(tb, err, toUpdate)
	SameText(tb, file, string(want), got)
}

// SameText fails if texts differ, and prints the lines that differ.
func SameText(tb testing.TB, name, want, got string) {
	tb.Helper()
	if lines := diff.Diff(name, []byte(want), "output", []byte(got)); lines != nil {
		tb.Fatalf("%sif the change is wanted, %s", lines, toUpdate)
	}
}

// Shows fails unless a page holds a text. It names the page and prints the text.
func Shows(tb testing.TB, file, page, text string) {
	tb.Helper()
	if !strings.Contains(page, text) {
		tb.Fatalf("%s does not show: %s", file, text)
	}
}
