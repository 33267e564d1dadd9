//go:build unix

package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStateIsKeptApart: two heeds in one state folder do not overwrite each other's files, and
// what a killed one left keeps nobody out.
func TestStateIsKeptApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, rules, state := filepath.Join(dir, "Player.log"), filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "state")
	write(t, rules, testRules)
	write(t, log, "FAULT one\n")
	self, err := os.Executable()
	require.NoError(t, err)
	args := []string{"serve", log, "--rules", rules, "--state", state}
	first := exec.Command(self, args...)
	first.Env = append(os.Environ(), helperEnv+"=1")
	var said buffer
	first.Stderr = &said
	require.NoError(t, first.Start())
	pid := strconv.Itoa(first.Process.Pid)
	t.Cleanup(func() {
		_ = first.Process.Kill()
		_ = first.Wait()
	})
	served := func(errs *buffer) func() bool {
		return func() bool { return strings.Contains(errs.String(), "serving bridges") }
	}
	require.Eventually(t, served(&said), patience, time.Millisecond)
	require.NotContains(t, said.String(), "another heed")

	var id string
	t.Run("beside it", func(t *testing.T) {
		_, errs := background(t, args...)
		require.Eventually(t, served(errs), patience, time.Millisecond)
		require.Contains(t, errs.String(), `name=serve-log-2 error="another heed uses the name serve-log: --pid `+pid+` (serve)"`)
		for _, name := range []string{"serve-log.snapshot", "serve-log-2.snapshot"} {
			require.Eventually(t, func() bool { _, err := os.Stat(filepath.Join(state, name)); return err == nil }, patience,
				time.Millisecond)
		}
		out, _ := runCommand(t, "current", "--state", state, "--pid", pid)
		_, id, _ = strings.Cut(strings.SplitN(out, "\n", 2)[0], "item ")
		require.NotEmpty(t, id)
	})
	require.NoError(t, first.Process.Kill())
	_ = first.Wait()

	_, errs := background(t, args...)
	require.Eventually(t, served(errs), patience, time.Millisecond)
	require.NotContains(t, errs.String(), "another heed")
	out, _ := runCommand(t, "current", "--state", state)
	require.Contains(t, out, id, "it goes on where the killed one was")
}
