package sim

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var mutants = flag.Bool("sim.mutants", false, "run TestMutants, which takes minutes")

// TestMutants applies each patch in mutants to a copy of the tree and expects
// the simulator to fail there. A patch begins with a line that says what is
// broken. One that no longer applies, or compiles, fails as well: it must follow
// the code.
//
//	go test ./internal/sim -run Mutants -v -timeout 1h -sim.mutants
func TestMutants(t *testing.T) {
	if !*mutants {
		t.Skip("give -sim.mutants")
	}
	patches, err := filepath.Glob("mutants/*.patch")
	require.NoError(t, err)
	require.NotEmpty(t, patches)
	dir := t.TempDir()
	require.NoError(t, copyTree(dir, "../.."))
	run := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GOWORK=off", "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run("go", "test", "-count=1", "-run", "Short", "./internal/sim")
	require.NoError(t, err, "the tree itself must pass: %s", out)
	for _, patch := range patches {
		t.Run(strings.TrimSuffix(filepath.Base(patch), ".patch"), func(t *testing.T) {
			patch, err := filepath.Abs(patch)
			require.NoError(t, err)
			out, err := run("git", "apply", patch)
			require.NoError(t, err, out)
			defer func() {
				out, err := run("git", "apply", "-R", patch)
				require.NoError(t, err, out)
			}()
			out, err = run("go", "vet", "./internal/sim")
			require.NoError(t, err, out)
			out, err = run("go", "test", "-count=1", "-run", "Short", "./internal/sim", "-args", "-sim.shrink=false")
			require.Error(t, err, "the mutant lives")
			_, failure, found := strings.Cut(out, "seed ")
			require.True(t, found, out)
			failure, _, _ = strings.Cut(failure, "\n")
			t.Logf("caught: seed %.200s", failure)
		})
	}
}

// copyTree copies the module at from, without its history, to an empty folder.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o644)
	})
}
