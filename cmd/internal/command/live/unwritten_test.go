//go:build unix

package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// full is an output that takes nothing.
type full struct{ err error }

func (f full) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	return 0, &os.PathError{Op: "write", Path: "out", Err: f.err}
}

// TestUnwritten: a command whose output cannot be written ends with an error, and one that
// nobody reads any more without a word.
func TestUnwritten(t *testing.T) {
	dir, log, rules, state := folder(t)
	write(t, log, "FAULT one\n")
	background(t, "serve", log, "--rules", rules, "--no-default-rules", "--state", state)
	await(t, func() bool {
		_, code := runCommand(t, "current", "--state", state)
		return code == exitFinding
	})
	t.Chdir(dir)
	for _, args := range []string{
		"current", "current --format json", "status", "status --format json", "status --follow", "tail",
		"tail --format jsonl",
		"tail --follow", "ack nothing", "follow Player.log --rules rules.yaml",
		"follow --format jsonl Player.log --rules rules.yaml",
	} {
		t.Run(args, func(t *testing.T) {
			end := func(err error) (string, int) {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				var errs strings.Builder
				with := state
				if strings.HasPrefix(args, "follow") {
					with = t.TempDir() // else it goes on from where the one before was
				}
				code := run(ctx, append(strings.Fields(args), "-q", "--state", with), strings.NewReader(""), full{err}, &errs)
				require.NoError(t, ctx.Err())
				return errs.String(), code
			}
			errs, code := end(syscall.ENOSPC)
			require.Equal(t, exitUsage, code)
			require.Equal(t, fmt.Sprintf("heed: cannot write: write out: %s\n", syscall.ENOSPC), errs)
			errs, code = end(syscall.EPIPE)
			require.LessOrEqual(t, code, exitFinding)
			require.Empty(t, errs)
		})
	}
}

// TestUnkept: what heed cannot keep for the user is reported, and the exit status is that of a failure.
func TestUnkept(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	out, err := os.OpenFile(full, os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no full device: ", err)
	}
	defer out.Close() //nolint:errcheck // nothing is written to it
	wrap := []string{"wrap", "--log", "none", "--linger", "0"}
	for _, c := range []struct {
		name string
		args []string
		game string
		says string
		code int
	}{
		{"output", wrap, "echo hello", "heed: the game's stdout is not passed on: write .*: no space left on device\n", exitOwn},
		{"state", []string{"wrap", "--log", "Player.log", "--linger", "0"}, "echo a line > Player.log; rm -r state", "heed: the state is not saved: .*\n", exitOwn},
		{"history", append(wrap, "--remember", "--history", full+"/h.db"), "", "heed: nothing is remembered: .*\n", exitOwn},
		{"own log", append(wrap, "--log-file", full), "", "heed: heed's own messages cannot be written: .*\n", exitOK},
	} {
		t.Run(c.name, func(t *testing.T) {
			var errs strings.Builder
			cmd := heedProcess(append(c.args, "--no-config", "--no-default-rules", "--state", "state", "--", "sh", "-c", c.game)...)
			cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), out, &errs
			_ = cmd.Run() // of the exit status
			require.Equal(t, c.code, cmd.ProcessState.ExitCode(), errs.String())
			require.Regexp(t, "^"+c.says+"$", errs.String())
		})
	}
}

// TestUnrecorded: a recording on a full disk is reported at once and once, and shown by status. The game runs on; the
// exit status is the game's, unless that is 0.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	needs(t, full, "this system has no full device")
	for _, c := range []struct {
		name string
		args []string
		game string // its last words
		code int
	}{
		{name: "follow", args: []string{"follow", "Player.log"}, code: exitNone},
		{name: "serve", args: []string{"serve", "Player.log"}, code: exitNone},
		{name: "wrap", args: []string{"wrap", "--log", "Player.log"}, game: "exit 0", code: exitOwn},
		{name: "wrap of a game that fails", args: []string{"wrap", "--log", "none", "--linger", "0"}, game: "exit 7", code: 7},
		{name: "mcp", args: []string{"mcp"}, game: "exit 0", code: exitOwn},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "serve" || c.code == 7 {
				testkit.Full(t, "starts each command")
			}
			dir := t.TempDir()
			args := append(c.args, "--record", full, "--state", "state", "-q")
			if c.game != "" {
				require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "end"), 0o600))
				args = append(args, "--", "sh", "-c", "read -r _ < end; "+c.game)
			}
			cmd, errs := spawn(t, dir, args...)
			said := fmt.Sprintf("heed: the recording stops here, heed continues: write %s: %s\n", full, syscall.ENOSPC)
			await(t, func() bool { return strings.Contains(errs.String(), said) })

			if c.args[0] != "follow" { // which commands cannot ask
				var out string
				await(t, func() (ok bool) {
					ask, code := runCommand(t, "status", "--state", filepath.Join(dir, "state"))
					out = ask
					return code == exitOK
				})
				require.Contains(t, out, "the recording stops here, heed continues: write "+full)
			}
			if c.game == "" {
				require.NoError(t, cmd.Process.Signal(os.Interrupt))
			} else {
				write(t, filepath.Join(dir, "end"), "")
			}
			_ = cmd.Wait() // of the exit status
			require.Equal(t, c.code, cmd.ProcessState.ExitCode(), errs.String())
			require.Equal(t, said, errs.String())
		})
	}
}
