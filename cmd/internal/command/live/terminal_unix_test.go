//go:build unix

package live

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/clitest"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/testkit"
)

// faulty serves a log with a fault in it, and returns the state folder.
func faulty(t *testing.T) string {
	t.Helper()
	_, log, rules, state := folder(t)
	write(t, log, "FAULT in "+strings.Repeat("오류 ", 60)+"\n")
	background(t, "serve", log, "--rules", rules, "--no-default-rules", "--state", state)
	await(t, func() bool {
		_, code := runCommand(t, "current", "--state", state)
		return code == exitFinding
	})
	return state
}

// TestOnTerminal: what a person sees fills the terminal, and not more, in colors unless
// they are not wanted.
func TestOnTerminal(t *testing.T) {
	state := faulty(t)
	for _, name := range []string{"status", "tail"} {
		seen := func(env []string, flags ...string) string {
			cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{name, "--state", state}, flags...)...)
			cmd.Env = append(append(os.Environ(), "TERM=xterm", helperEnv+"=1"), env...)
			master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: clitest.TerminalColumns})
			if err != nil {
				t.Skipf("no pseudo-terminal: %v", err)
			}
			defer func() { _ = master.Close() }()
			out, _ := io.ReadAll(master) // Linux returns EIO where the other end is gone
			require.NoError(t, cmd.Wait(), string(out))
			return strings.ReplaceAll(string(out), "\r\n", "\n")
		}
		out := seen(nil)
		require.Contains(t, out, "\x1b["+string(report.Alarm)+"m", name)
		for line := range strings.Lines(out) {
			require.LessOrEqual(t, cells.StringWidth(testkit.WithoutColors(strings.TrimSuffix(line, "\n"))),
				clitest.TerminalColumns, line)
		}
		require.NotContains(t, seen([]string{"NO_COLOR=1"}), "\x1b[")
		require.NotContains(t, seen([]string{"TERM=dumb"}), "\x1b[")
		require.NotContains(t, seen(nil, "--color", "never"), "\x1b[")
	}
}

// TestStatusStays: a status that is followed stands in one place, and an interrupt ends it.
func TestStatusStays(t *testing.T) {
	t.Parallel()
	state := faulty(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "status", "--follow", "--state", state)
	cmd.Env = append(os.Environ(), helperEnv+"=1", "TERM=xterm")
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 5, Cols: 40})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer func() { _ = master.Close() }()
	var seen bytes.Buffer
	b := make([]byte, 4096)
	for strings.Count(seen.String(), "\x1b[J") < 2 { // or the test's own time is up
		n := testkit.Must(master.Read(b))
		seen.Write(b[:n])
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	rest, _ := io.ReadAll(master)
	require.NotContains(t, string(rest), "heed:")
	_ = cmd.Wait() // of the exit status
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
	first, _, _ := strings.Cut(seen.String(), "\x1b[J")
	require.True(t, strings.HasPrefix(first, "\x1b[H"), first)
	require.Equal(t, 4, strings.Count(first, "\n"), "the cursor's line is the last: %q", first)
}

// TestAskedOnce: who reads a game's own log on a terminal is asked once whether sessions are remembered.
func TestAskedOnce(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"yes", "n"} {
		home := t.TempDir()
		log := filepath.Join(home, "unity3d", "Studio", "Game", "Player.log")
		require.NoError(t, os.MkdirAll(filepath.Dir(log), 0o700))
		play := func(version string) {
			require.NoError(t, os.WriteFile(log, []byte("Mono path[0] = '/games/RimWorldLinux_Data/Managed'\n"+
				"Initialize engine version: 2022.3.35f1 (011206c7a712)\nRimWorld "+version+"\nException ticking Crane7: System.NullReferenceException: Object reference not set\n  at Colony.Crane.Tick () [0x00010] in <x>:0 \n"), 0o600))
		}
		play("1.5.4104 rev435")
		replay := func(flags ...string) string {
			master, tty, err := pty.Open()
			if err != nil {
				t.Skipf("no pseudo-terminal: %v", err)
			}
			defer func() { _ = master.Close() }()
			cmd := exec.CommandContext(t.Context(), os.Args[0], append(flags, log, "--no-config", "--no-default-rules")...)
			cmd.Env = append(os.Environ(), helperEnv+"=1", "TERM=xterm", "HOME="+home, "XDG_DATA_HOME="+home,
				"LocalAppData="+home)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			testkit.Must(io.WriteString(master, answer+"\n"))
			require.NoError(t, cmd.Start())
			require.NoError(t, tty.Close())
			out, _ := io.ReadAll(master)
			require.NoError(t, cmd.Wait())
			return testkit.WithoutColors(string(out))
		}
		require.Contains(t, replay(), "Remember sessions")
		play("1.5.4104 rev436")
		again := replay()
		require.NotContains(t, again, "Remember sessions")
		if answer == "n" {
			require.NotContains(t, again, "history")
			require.NotContains(t, replay("--remember"), "history", "one session has nothing to compare with")
			play("1.5.4104 rev437")
			require.NotContains(t, replay(), "history", "one log that was to be remembered changes no answer")
			play("1.5.4104 rev438")
			require.Contains(t, replay("--remember"), "in 2 of 2 sessions", "the first, and this one")
		} else {
			require.Contains(t, again, "in 2 of 2 sessions")
		}
	}
}
