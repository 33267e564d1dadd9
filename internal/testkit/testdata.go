// Package testkit has helpers for tests of several packages. Only tests import it.
package testkit

import (
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Dir returns the folder called name of the reference captures, which are third-party data and not part of the module,
// below $HEED_DATA. It skips the test if the folder is missing, and names it.
func Dir(tb testing.TB, name string) string {
	tb.Helper()
	root := os.Getenv("HEED_DATA")
	dir := filepath.Join(root, name)
	if _, err := os.ReadDir(dir); root == "" || err != nil {
		tb.Skipf("reference data: no folder %s; set HEED_DATA to the folder that holds it", name)
	}
	return dir
}

// Scripts yields the name and the text of each section of a file. A section begins with "== NAME".
func Scripts(tb testing.TB, file string) iter.Seq2[string, string] {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	return func(yield func(name, script string) bool) {
		for section := range strings.SplitSeq(strings.TrimPrefix(string(data), "== "), "\n== ") {
			if name, script, _ := strings.Cut(section, "\n"); !yield(name, script) {
				return
			}
		}
	}
}

// HeldOut reports whether logs of players are to be opened on which no rule is developed: where HEED_PLAYERS is "held".
// That is done once, when rules are final, since a log that was read is no measure any more.
func HeldOut() bool { return os.Getenv("HEED_PLAYERS") == "held" }
