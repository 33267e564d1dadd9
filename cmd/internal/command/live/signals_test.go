//go:build unix

package live

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// TestSignals: what is no request to end is passed on, and neither ends heed nor makes the next request the second.
func TestSignals(t *testing.T) {
	t.Parallel()
	w, b := began(t, []string{"--grace", "1h"}, "signals")
	var got []string
	came := func(sig syscall.Signal) {
		require.Eventually(t, func() bool {
			w.read("signals", &got)
			return len(got) > 0 && got[len(got)-1] == unix.SignalName(sig)
		}, patience, time.Millisecond, "%v does not come", sig)
	}
	w.gamePID()
	for _, sig := range []syscall.Signal{
		syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCONT,
	} {
		require.NoError(t, w.cmd.Process.Signal(sig))
		came(sig)
		require.Nil(t, b.current(), "heed goes on")
	}
	// Stopped as a job, heed stops too, and goes on with the game.
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTSTP))
	came(syscall.SIGTSTP)
	require.Eventually(t, func() bool { return testkit.ProcessState(w.cmd.Process.Pid) == "T" }, patience,
		5*time.Millisecond, "heed is not stopped")
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGCONT))
	came(syscall.SIGCONT)
	require.Nil(t, b.tool("colony/build", "a wall").Error)

	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, w.exit(), "the first request to end")
}

// TestSignalsEnd: a game that ends by a signal that was passed on was told to, and heed has its status.
func TestSignalsEnd(t *testing.T) {
	t.Parallel()
	testkit.Full(t, "starts many games")
	for _, sig := range []syscall.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
	} {
		w := start(t, []string{"--linger", "1h"}, "plain")
		pid := w.gamePID()
		await(t, func() bool {
			comm, err := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
			return err == nil && filepath.Base(strings.TrimSpace(string(comm))) == "sleep"
		})
		w.ends(sig, 128+int(sig))
		w.requireNothingLeft(pid, true)
	}
}

// TestSignalIgnored: a signal that heed was started to ignore, as nohup does, is not passed on.
func TestSignalIgnored(t *testing.T) {
	t.Parallel()
	w := startBy(t, []string{"sh", "-c", `trap "" HUP; exec "$0" "$@"`}, nil, "signals")
	w.gamePID()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1} {
		require.NoError(t, w.cmd.Process.Signal(sig))
	}
	var got []string
	w.read("signals", &got)
	require.Equal(t, []string{"SIGUSR1"}, got)
}

// TestStatus goes through the exit statuses of wrap that the documentation names, and those of errors in a command line.
func TestStatus(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	wrap := func(args ...string) []string {
		return append([]string{"wrap", "--log", "none", "--linger", "1ms", "--no-default-rules"}, args...)
	}
	game := func(script string, flags ...string) []string { return append(wrap(flags...), "--", "sh", "-c", script) }
	dir := t.TempDir()
	nothing, noProgram := filepath.Join(dir, "nothing"), filepath.Join(dir, "text")
	write(t, noProgram, "no program")
	taken := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))
	defer taken.Close() //nolint:errcheck // nobody comes
	tested := map[string]bool{}
	for _, c := range []struct {
		row    string // of the table in the documentation
		args   []string
		status int
	}{
		{"0", game("exit 0"), 0},
		{"0", wrap("--", "true"), 0},
		{"1 to 124", game("exit 3"), 3},
		{"1 to 124", game("exit 124"), 124},
		{"1 to 124", game("sh -c 'sleep 0.2; exit 7' & exit 0"), 7},
		{"1 to 124", game("sleep 60 & exit 5"), 5},
		{"1 to 124", wrap("sh", "-c", "exit 5", "--linger"), 5}, // without --
		{"1 to 124", []string{"wrap", "--linger", "1ms", "--", "sh", "-c", "sleep 0.1; exit 5", "-logFile", os.DevNull}, 5},
		{"128 + n", game("kill -TERM $$"), 143},
		{"128 + n", game("kill -KILL $$"), 137},
		{"128 + n", game("ulimit -c 0; kill -SEGV $$"), 139},
		{"128 + n", game("ulimit -c 0; kill -QUIT $$"), 131},
		{"128 + n", game("ulimit -c 0; sh -c 'kill -ABRT $$'; exit $?"), 134},
		{"2", []string{"wrap"}, 2},
		{"2", game("exit 0", "--rules", "nowhere.yaml"), 2},
		{"2", game("exit 0", "--log-file", dir), 2},
		{"2", game("exit 0", "--log", dir), 2},
		{"2", game("exit 0", "--allow", "sa*"), 2},
		{"2", game("exit 0", "--grace", "-1s"), 2},
		{"2", game("exit 0", "--metrics", "0.0.0.0:1"), 2},
		{"2", game("exit 0", "--metrics", taken.Addr().String()), 2},
		{"2", []string{"serve", dir}, 2},
		{"2", []string{"current", "--connect", "127.0.0.1:1"}, 2}, // without a token
		{"2", []string{"ack", "1", "2"}, 2},
		{"2", []string{"follow"}, 2},
		{"125", game("exit 0"), 125},
		{"126", wrap("--", noProgram), 126},
		{"126", wrap("--", dir), 126},
		{"127", wrap("--", nothing), 127},
		{"127", wrap("--", "no-such-program-anywhere"), 127},
	} {
		tested[c.row] = true
		if c.status == 7 && runtime.GOOS != "linux" {
			continue // elsewhere what a launcher left is not this process's child
		}
		port, token := "", ""
		if c.row == "125" { // another listens where the bridge expects the game
			port, token = strconv.Itoa(taken.Addr().(*net.TCPAddr).Port), gabp.NewToken()
		}
		t.Setenv(gabp.EnvPort, port)
		t.Setenv(gabp.EnvToken, token)
		_, status := runCommand(t, c.args...)
		require.Equal(t, c.status, status, "%q", c.args)
	}
	done(t, exitNone, "current", "--state", dir)
	doc := testkit.Must(os.ReadFile("../../../../docs/bridges.md"))
	_, table, found := strings.Cut(string(doc), "| exit status | meaning |\n")
	require.True(t, found)
	documented := map[string]bool{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) < 3 {
			break
		} else if row := strings.TrimSpace(cells[1]); !strings.HasPrefix(row, "-") {
			documented[row] = true
		}
	}
	require.Equal(t, documented, tested)
}
