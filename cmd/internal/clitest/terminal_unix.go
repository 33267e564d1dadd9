//go:build unix

package clitest

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// OnTerminal runs this test binary on a terminal, in the environment of the test and env, and returns its output. The
// program must end with status 0.
func OnTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "TERM=xterm"), env...)
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: TerminalColumns})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer func() { _ = master.Close() }()
	out, _ := io.ReadAll(master) // Linux returns EIO where the other end is gone
	require.NoError(t, cmd.Wait(), string(out))
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}
