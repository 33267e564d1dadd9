package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

const (
	ownCaptures = "../../../testdata/captures"
	goldenDir   = "../../../testdata/golden"
)

// goldenForms are the forms in which each capture is kept as a golden replay.
var goldenForms = []struct {
	suffix string
	args   []string
}{
	{".txt", []string{"--width", "120"}},
	{".jsonl", []string{"--format", "jsonl"}},
	{".ack.jsonl", []string{"--format", "jsonl", "--ack", "auto"}},
	{".records.txt", []string{"records"}},
}

// TestGolden replays the project's captures and compares what is printed with
// the golden files. Run it with -update to write them.
func TestGolden(t *testing.T) {
	want := map[string]bool{}
	for _, path := range captures(t, ownCaptures) {
		base := filepath.Base(path)
		for _, form := range goldenForms {
			name := base + form.suffix
			want[name] = true
			t.Run(name, func(t *testing.T) {
				out := ok(t, append(append([]string{}, form.args...), path)...)
				// The path depends on the system, and says nothing here.
				got := strings.ReplaceAll(out, jsonPath(path), base)
				got = strings.ReplaceAll(got, path, base)
				testkit.Golden(t, filepath.Join(goldenDir, name), got)
			})
		}
	}
	for _, e := range testkit.Must(os.ReadDir(goldenDir)) {
		if want[e.Name()] {
			continue
		}
		if testkit.Updating() {
			require.NoError(t, os.Remove(filepath.Join(goldenDir, e.Name())))
			continue
		}
		t.Errorf("golden file %s belongs to no capture", e.Name())
	}
}

// jsonPath is a path as it stands in a JSON string.
func jsonPath(path string) string { return strings.ReplaceAll(path, `\`, `\\`) }
