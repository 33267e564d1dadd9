//go:build unix

package live

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// TestStateIsKeptApart: two heeds in one state folder do not overwrite each other's files, and
// what a killed one left keeps nobody out.
func TestStateIsKeptApart(t *testing.T) {
	t.Parallel()
	dir, log, rules, state := folder(t)
	write(t, log, "FAULT one\n")
	args := []string{"serve", log, "--rules", rules, "--state", state}
	first, said := spawn(t, dir, args...)
	pid := strconv.Itoa(first.Process.Pid)
	served := func(errs *testkit.Buffer) func() bool {
		return func() bool { return strings.Contains(errs.String(), "serving bridges") }
	}
	await(t, served(said))
	require.NotContains(t, said.String(), "another heed")

	var id string
	t.Run("beside it", func(t *testing.T) {
		_, errs := background(t, args...)
		await(t, served(errs))
		require.Contains(t, errs.String(), `name=serve-log-2 error="another heed uses the name serve-log: --pid `+pid+` (serve)"`)
		for _, name := range []string{"serve-log.snapshot", "serve-log-2.snapshot"} {
			await(t, func() bool { _, err := os.Stat(filepath.Join(state, name)); return err == nil })
		}
		out, _ := runCommand(t, "current", "--state", state, "--pid", pid)
		_, id, _ = strings.Cut(strings.SplitN(out, "\n", 2)[0], "item ")
		require.NotEmpty(t, id)
	})
	require.NoError(t, first.Process.Kill())
	_ = first.Wait()

	_, errs := background(t, args...)
	await(t, served(errs))
	require.NotContains(t, errs.String(), "another heed")
	out, _ := runCommand(t, "current", "--state", state)
	require.Contains(t, out, id, "it goes on where the killed one was")
}

// TestRunFilesOfTheDead: a heed that starts removes what those have left that run no more, and so does a command: also
// where the process id, or the port, is that of another program by now, which is not asked.
func TestRunFilesOfTheDead(t *testing.T) {
	t.Parallel()
	stranger := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { _ = stranger.Close() })
	asked := make(chan struct{}, 1)
	go func() {
		if _, err := stranger.Accept(); err == nil {
			asked <- struct{}{}
		}
	}()
	dir := t.TempDir()
	log, state := filepath.Join(dir, "Player.log"), stateDir(filepath.Join(dir, "state"))
	write(t, log, "all is well\n")
	require.NoError(t, state.open())
	leave := func() {
		require.NoError(t, state.write(runFile{PID: os.Getppid(), Address: stranger.Addr().String(), Token: gabp.NewToken()}))
		write(t, state.runPath(1<<30), "{")
	}
	leave()
	background(t, "serve", log, "--state", string(state), "--log-file", filepath.Join(dir, "own.log"))
	await(t, func() bool { _, err := os.Stat(state.runPath(os.Getpid())); return err == nil })
	left := func() []string {
		all := testkit.Must(filepath.Glob(state.path("run-*")))
		return slices.DeleteFunc(all, func(name string) bool { return filepath.Ext(name) != runSuffix })
	}
	require.Equal(t, []string{state.runPath(os.Getpid())}, left())
	leave()
	done(t, exitOK, "status", "--state", string(state))
	require.Equal(t, []string{state.runPath(os.Getpid())}, left())
	require.Empty(t, asked)
}
