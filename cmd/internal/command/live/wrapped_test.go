//go:build unix

package live

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

const testRules = `
version: 1
rules:
  - id: test.fault
    when: 'template contains "FAULT"'
    disposition: blocking
    invalidates: true
    summary: "a planted fault"
  - id: test.menu
    when: 'template contains "MENU"'
    disposition: ignore
    sets_phase: menu
`

// wrapped is a heed process that wraps a game, as a bridge starts it.
type wrapped struct {
	t     testing.TB
	cmd   *exec.Cmd
	dir   string // of the game
	addr  string
	token string
	file  string // the bridge's own file
	out   *strings.Builder
	errs  *strings.Builder
	done  chan struct{}
	code  int
}

// withDefaults is a flag of a test about the default rules, which take longer to compile than heed to start.
const withDefaults = "--no-default-rules=false"

// start starts heed wrap with flags and without the default rules, and the game with gameArgs after its folder.
func start(t testing.TB, flags []string, gameArgs ...string) *wrapped {
	t.Helper()
	return startBy(t, nil, flags, gameArgs...)
}

// heedProcess returns a command that runs heed in a process of its own.
func heedProcess(args ...string) *exec.Cmd {
	cmd := exec.Command(testkit.Must(os.Executable()), args...)
	cmd.Env = append(os.Environ(), helperEnv+"=1", "HEED_NO_DEFAULT_RULES=true")
	return cmd
}

// spawn starts a heed process in a folder, which is killed when the test ends, and returns its standard error, too.
func spawn(t testing.TB, dir string, args ...string) (*exec.Cmd, *testkit.Buffer) {
	t.Helper()
	cmd, errs := heedProcess(args...), &testkit.Buffer{}
	cmd.Dir, cmd.Stderr = dir, errs
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(errs.String())
		}
	})
	return cmd, errs
}

// began is start, with a bridge that is connected.
func began(t testing.TB, flags []string, gameArgs ...string) (*wrapped, *fakeBridge) {
	t.Helper()
	w := start(t, flags, gameArgs...)
	return w, come(t, w.addr, w.token)
}

// folder returns a folder with rules, and the places of a log and a state in it.
func folder(t testing.TB) (dir, log, rules, state string) {
	t.Helper()
	dir = t.TempDir()
	rules = filepath.Join(dir, "rules.yaml")
	require.NoError(t, os.WriteFile(rules, []byte(testRules), 0o600))
	return dir, filepath.Join(dir, "Player.log"), rules, filepath.Join(dir, "state")
}

// startBy is start by another program, which gets the command line.
func startBy(t testing.TB, by, flags []string, gameArgs ...string) *wrapped {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "Player.log")
	require.NoError(t, os.WriteFile(log, []byte("FAULT of a run before\n"), 0o600))
	yesterday := time.Now().Add(-24 * time.Hour)
	require.NoError(t, os.Chtimes(log, yesterday, yesterday))
	return startIn(t, dir, by, flags, gameArgs...)
}

// startIn is startBy for a game in a folder, which may have what a game before it has left.
func startIn(t testing.TB, dir string, by, flags []string, gameArgs ...string) *wrapped {
	t.Helper()
	self := testkit.Must(os.Executable())
	addr := reserve(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	w := &wrapped{
		t: t, dir: dir, addr: addr, token: gabp.NewToken(), file: filepath.Join(t.TempDir(), "bridge.json"),
		out: &strings.Builder{}, errs: &strings.Builder{}, done: make(chan struct{}),
	}
	_, _, rules, _ := folder(t)
	args := append([]string{
		"wrap", "--log", filepath.Join(w.dir, "Player.log"), "--rules", rules, "--state", filepath.Join(w.dir, "state"),
		"--log-level", "debug", "--linger", "50ms", "--no-default-rules",
	}, flags...)
	args = append(args, "--", self, "fake-game", w.dir)
	command := slices.Concat(by, []string{self}, args, gameArgs)
	w.cmd = exec.Command(command[0], command[1:]...)
	w.cmd.Dir, w.cmd.WaitDelay = t.TempDir(), time.Minute // should what it started hold its output
	w.cmd.Env = append(os.Environ(), helperEnv+"=1", "CONTEXT=of the launch",
		gabp.EnvPort+"="+port, gabp.EnvToken+"="+w.token, gabp.EnvGame+"=colony", gabp.EnvBridge+"="+w.file)
	w.cmd.Stdout, w.cmd.Stderr = w.out, w.errs
	require.NoError(t, w.cmd.Start())
	t.Cleanup(func() {
		_ = w.cmd.Process.Kill()
		<-w.done
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(w.dir, "state", "wrap-colony.log"))
			t.Logf("heed's log:\n%s\nstdout: %s\nstderr: %s", log, w.out, w.errs)
		}
	})
	go func() {
		defer close(w.done)
		_ = w.cmd.Wait()
		w.code = w.cmd.ProcessState.ExitCode()
	}()
	return w
}

// read waits for what the game notes, and decodes it.
func (w *wrapped) read(name string, v any) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		data, err := os.ReadFile(filepath.Join(w.dir, name))
		return err == nil && json.Unmarshal(data, v) == nil
	}, patience, 5*time.Millisecond, "the game does not note %s", name)
}

func (w *wrapped) gamePID() int {
	w.t.Helper()
	var pid int
	w.read("pid", &pid)
	return pid
}

// executed returns the calls that the game has executed.
func (w *wrapped) executed() []string {
	data, err := os.ReadFile(filepath.Join(w.dir, "executed"))
	if err != nil {
		return nil
	}
	var calls []string
	require.NoError(w.t, json.Unmarshal(data, &calls))
	return calls
}

func (w *wrapped) exit() int {
	w.t.Helper()
	select {
	case <-w.done:
		return w.code
	case <-time.After(patience):
		require.Fail(w.t, "heed does not end")
		return -1
	}
}

// ends signals heed, which ends with a status.
func (w *wrapped) ends(sig os.Signal, status int) {
	w.t.Helper()
	require.NoError(w.t, w.cmd.Process.Signal(sig))
	require.Equal(w.t, status, w.exit())
}

// requireNothingLeft checks that neither the game nor a guard or file of heed's
// outlives heed.
func (w *wrapped) requireNothingLeft(pid int, files bool) {
	w.t.Helper()
	testkit.Gone(w.t, pid, patience)
	if !files {
		return
	}
	for _, e := range testkit.Must(os.ReadDir(filepath.Join(w.dir, "state"))) {
		require.NotRegexp(w.t, `^(run|bridge)-`, e.Name())
	}
}

// reserve returns a loopback address for a heed of the test to listen on, of a port below those that systems give to
// whoever asks for any. The port of UDP is held, so that no other test reserves it meanwhile.
func reserve(t testing.TB) string {
	t.Helper()
	for {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(10_000+rand.IntN(20_000)))
		hold, err := net.ListenPacket("udp", addr)
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			_ = hold.Close()
			continue
		}
		t.Cleanup(func() { _ = hold.Close() })
		require.NoError(t, l.Close())
		return addr
	}
}
