//go:build unix

package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/clitest"
	"github.com/heedlog/heed/internal/testkit"
)

// onTerminal runs a command line on a terminal and returns what that got.
func onTerminal(t *testing.T, args ...string) string {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer func() { _ = master.Close() }()
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: clitest.TerminalColumns}))
	got := make(chan string)
	go func() {
		out, _ := io.ReadAll(master) // Linux returns EIO where the other end is gone
		got <- strings.ReplaceAll(string(out), "\r\n", "\n")
	}()
	status := run(t.Context(), args, strings.NewReader(""), tty, tty)
	require.NoError(t, tty.Close())
	out := <-got
	require.Equal(t, exitOK, status, out)
	return out
}

// TestFirstScreen: what hurts, which mod, and whether the log still speaks
// stand on the first screen of a terminal, in colors, and again where it ends.
func TestFirstScreen(t *testing.T) {
	log := filepath.Join(ownCaptures, "upload-1.4.txt")
	t.Setenv("TERM", "xterm")
	out := onTerminal(t, log)
	lines := strings.Split(out, "\n")
	first := strings.Join(lines[:24], "\n")
	last := strings.Join(lines[len(lines)-24:], "\n")
	for _, label := range []string{"first", "  mod", "log"} {
		require.Contains(t, first, "\x1b[2m"+label)
		require.Contains(t, last, "\x1b[2m"+label)
	}
	require.Contains(t, first, "Brick Kilns Continued")
	require.Contains(t, last, "AT A GLANCE: ")
	require.Contains(t, last, "Brick Kilns Continued")
	for _, line := range lines {
		require.LessOrEqual(t, len([]rune(testkit.WithoutColors(line))), 80, line)
	}

	require.NotContains(t, onTerminal(t, "--color", "never", log), "\x1b[")
	require.NotContains(t, onTerminal(t, "--format", "jsonl", log), "\x1b[")
	require.NotContains(t, onTerminal(t, "records", log), "\x1b[")
	t.Setenv("TERM", "dumb")
	require.NotContains(t, onTerminal(t, log), "\x1b[")
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "1")
	require.NotContains(t, onTerminal(t, log), "\x1b[")
}

// TestProgressAndInterrupt: a log that is long in coming shows how much of it was
// read, and an interrupt prints what is known.
func TestProgressAndInterrupt(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer func() { _ = master.Close() }()
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}))
	cmd := exec.CommandContext(t.Context(), os.Args[0], testArgs(t, "-")...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm")
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, tty
	in := testkit.Must(cmd.StdinPipe())
	require.NoError(t, cmd.Start())
	require.NoError(t, tty.Close())
	testkit.Must(io.WriteString(in, plainLog))

	var seen bytes.Buffer
	b := make([]byte, 4096)
	for !strings.Contains(seen.String(), fmt.Sprint(len(plainLog), " B read")) { // or the test's own time is up
		seen.Write(b[:testkit.Must(master.Read(b))])
	}
	require.Contains(t, seen.String(), "standard input")
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	rest, _ := io.ReadAll(master)
	for line := range strings.Lines(string(rest)) {
		require.Contains(t, line, " B read", "an interrupt has no message")
	}
	_ = cmd.Wait() // of the exit status
	require.Equal(t, exitInterrupted, cmd.ProcessState.ExitCode())
	require.Contains(t, stdout.String(), "interrupted after line")
	require.Contains(t, stdout.String(), "saving failed")
	require.NotContains(t, stdout.String(), "\x1b")
}

// TestTerminalWithoutASize: a terminal that does not say how wide it is, is one.
func TestTerminalWithoutASize(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer func() { _ = master.Close() }()
	defer func() { _ = tty.Close() }()
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{}))
	var stderr bytes.Buffer
	require.Equal(t, exitUsage, run(t.Context(), []string{"report", write(t, "a.log", plainLog)}, strings.NewReader(""),
		tty, &stderr))
	require.Contains(t, stderr.String(), "a terminal cannot show a page: name a file, such as -o report.html")
}

// TestHelpOnATerminal: what help says fits.
func TestHelpOnATerminal(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"baseline", "check", "--help"}} {
		text, rest, ok := strings.Cut(onTerminal(t, args...), "\nUsage:\n")
		require.True(t, ok)
		_, flags, ok := strings.Cut(rest, "\nFlags:\n")
		require.True(t, ok)
		for line := range strings.Lines(text + flags) {
			require.LessOrEqual(t, len(line)-1, clitest.TerminalColumns, line)
		}
	}
}

// A named pipe may stay silent for ever, before its writer comes and after.
func TestInterruptWhileAPipeIsSilent(t *testing.T) {
	for _, writer := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "pipe")
		require.NoError(t, syscall.Mkfifo(name, 0o600))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if writer {
			// For reading, too, so that it can be opened before the program has.
			w := testkit.Must(os.OpenFile(name, os.O_RDWR, 0))
			defer func() { _ = w.Close() }()
			testkit.Must(w.WriteString(plainLog))
		}
		done := make(chan int, 1)
		var stdout, stderr bytes.Buffer
		go func() { done <- run(ctx, testArgs(t, name), strings.NewReader(""), &stdout, &stderr) }()
		time.AfterFunc(50*time.Millisecond, cancel) // by then it waits; if not, the test proves less
		select {
		case status := <-done:
			require.Equal(t, exitInterrupted, status)
			require.Empty(t, stderr.String())
		case <-time.After(time.Minute):
			t.Fatal("still waiting for a pipe after the interrupt")
		}
	}
}
