package sim

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

var runMutants = flag.Bool("sim.mutants", false, "run TestMutants, which takes minutes")

// mutant is a change that breaks the engine in one way.
type mutant struct{ name, what, dir, old, new string }

// mutants reads mutants.txt.
func mutants(t *testing.T) (all []mutant) {
	raw := testkit.Must(os.ReadFile("mutants.txt"))
	for _, text := range strings.Split(strings.TrimSpace(string(raw)), "\n\n")[1:] {
		lines := strings.Split(text, "\n")
		m := mutant{dir: lines[1]}
		m.name, m.what, _ = strings.Cut(lines[0], ": ")
		for _, l := range lines[2:] {
			if rest, ok := strings.CutPrefix(l, "-"); ok {
				m.old += rest + "\n"
			} else {
				m.new += strings.TrimPrefix(l, "+") + "\n"
			}
		}
		all = append(all, m)
	}
	require.NotEmpty(t, all)
	return all
}

// find returns the one file of a tree that holds what m changes, with its text.
func (m *mutant) find(t *testing.T, root string) (file, text string) {
	files := testkit.Must(filepath.Glob(filepath.Join(root, m.dir, "*.go")))
	for _, f := range files {
		raw := testkit.Must(os.ReadFile(f))
		if n := strings.Count(string(raw), "\n"+m.old); n > 0 && !strings.HasSuffix(f, "_test.go") {
			require.True(t, n == 1 && file == "", "%s: what it changes is there twice", m.name)
			file, text = f, string(raw)
		}
	}
	require.NotEmpty(t, file, "%s: what it changes is not there: mutants.txt must follow the code", m.name)
	return file, text
}

// TestMutantsFit finds in the tree what each mutant changes.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants(t) {
		m.find(t, "../..")
	}
}

// TestMutants makes each change of mutants.txt in an overlay of the tree and expects the
// simulator to fail there.
//
//	go test ./internal/sim -run Mutants -v -timeout 1h -sim.mutants
func TestMutants(t *testing.T) {
	if !*runMutants {
		t.Skip("give -sim.mutants")
	}
	root := testkit.Must(filepath.Abs("../.."))
	changed, overlay := filepath.Join(t.TempDir(), "mutant.go"), filepath.Join(t.TempDir(), "overlay.json")
	run := func(command string, args ...string) (string, error) {
		cmd := exec.Command("go", append([]string{command, "-overlay", overlay}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	require.NoError(t, os.WriteFile(overlay, []byte("{}"), 0o600))
	out, err := run("test", "-count=1", "-run", "Short", "./internal/sim")
	require.NoError(t, err, "the tree itself must pass: %s", out)
	for _, m := range mutants(t) {
		t.Run(m.name, func(t *testing.T) {
			file, text := m.find(t, root)
			text = strings.Replace(text, "\n"+m.old, "\n"+m.new, 1)
			require.NoError(t, os.WriteFile(changed, []byte(text), 0o600))
			replaced := testkit.Must(json.Marshal(map[string]any{"Replace": map[string]string{file: changed}}))
			require.NoError(t, os.WriteFile(overlay, replaced, 0o600))
			out, err := run("vet", "./internal/sim")
			require.NoError(t, err, out)
			out, err = run("test", "-count=1", "-run", "Short", "./internal/sim", "-args", "-sim.shrink=false")
			if err == nil { // perhaps only long streams show it
				out, err = run("test", "-count=1", "-short", "-run", "UpdatesAreFew", "./internal/sim")
			}
			require.Error(t, err, "the mutant lives: %s", m.what)
			_, failure, found := strings.Cut(out, "_test.go:")
			require.True(t, found, out)
			failure, _, _ = strings.Cut(failure, "\n")
			t.Logf("caught: %.200s", failure)
		})
	}
}
