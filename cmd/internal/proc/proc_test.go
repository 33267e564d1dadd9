//go:build unix

package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit" // programs end with the tests
)

// helperEnv says which helper process this test binary is to be.
const helperEnv = "HEED_TEST_HELPER"

func TestMain(m *testing.M) {
	helper, args := os.Getenv(helperEnv), os.Args[1:]
	if helper == "" {
		os.Exit(m.Run())
	}
	os.Exit(helperMain(helper, args))
}

// helperMain is what a helper process does. Each tells its pid by a file that it
// holds a lock of no kind on: it stays when the process is gone.
func helperMain(helper string, args []string) int {
	note := func() {
		name := filepath.Join(args[0], strconv.Itoa(os.Getpid()))
		_ = os.WriteFile(name, nil, 0o600)
	}
	block := func() { // until killed; the minute is for a test that failed
		<-time.After(time.Minute)
	}
	switch helper {
	case "exit":
		code, _ := strconv.Atoi(args[0])
		return code
	case "block":
		note()
		block()
	case "stubborn": // does not end when asked to
		signal.Ignore(syscall.SIGTERM)
		note()
		block()
	case "family": // itself, a child of its group, and one that left it
		note()
		spawn("block", args, false)
		spawn("block", args, true)
		block()
	case "launcher": // starts another and ends
		spawn("linger", args, true)
		note()
	case "linger": // goes on until a file appears
		note()
		for {
			if _, err := os.Stat(filepath.Join(args[0], "go")); err == nil {
				return 0
			}
			<-time.After(5 * time.Millisecond)
		}
	case "saver": // ends when asked to, and saves first; ends with a status at another signal
		code, _ := strconv.Atoi(args[1])
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM, syscall.SIGUSR1)
		note()
		if <-asked == syscall.SIGUSR1 {
			return code
		}
		<-time.After(20 * time.Millisecond)
		_ = os.WriteFile(filepath.Join(args[0], "saved"), nil, 0o600)
	case "waiter": // starts another in a session of its own, and waits
		spawn("saver", args, true)
		note()
		block()
	case "starter": // starts another that starts another, in sessions of their own, and ends
		spawn("between", args, true)
		<-noted(args[0], 1)
	case "between":
		spawn("saver", args, true)
		<-noted(args[0], 1)
	case "failing": // fails beside another in a session of its own
		spawn("saver", args, true)
		<-noted(args[0], 1)
		return 3
	case "failer": // starts another and fails
		spawn("block", args, false)
		<-noted(args[0], 1)
		return 3
	case "holder": // holds a family until it is killed
		self, _ := os.Executable()
		p, err := Start(Config{
			Args: []string{self, args[0]}, Env: helperEnviron("family", "MARK="+args[1]), Mark: args[1],
		})
		if err != nil {
			fmt.Println(err)
			return 9
		}
		fmt.Println("started", p.PID())
		block()
	case "writers":
		info, _ := os.Stat(args[0])
		own, other := Writers(info)
		fmt.Print(!own.IsZero(), " ", !other.IsZero())
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, "to stderr")
	}
	return 0
}

// noted is closed when n processes have told their ids.
func noted(dir string, n int) <-chan struct{} {
	ch := make(chan struct{})
	go func() {
		for {
			if entries, _ := os.ReadDir(dir); len(entries) >= n {
				close(ch)
				return
			}
			<-time.After(5 * time.Millisecond)
		}
	}()
	return ch
}

func helperEnviron(helper string, more ...string) []string {
	return append(append(os.Environ(), helperEnv+"="+helper), more...)
}

func spawn(helper string, args []string, session bool) {
	self, _ := os.Executable()
	cmd := exec.Command(self, args...)
	cmd.Env = helperEnviron(helper)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		panic("BUG: " + err.Error())
	}
}

const patience = 2 * time.Minute

func start(t *testing.T, helper string, args ...string) *Process {
	t.Helper()
	return startGrace(t, DefaultGrace, helper, args...)
}

func startGrace(t *testing.T, grace time.Duration, helper string, args ...string) *Process {
	t.Helper()
	self := testkit.Must(os.Executable())
	mark := fmt.Sprintf("test-mark-%d-%s", os.Getpid(), t.Name())
	p := testkit.Must(Start(Config{
		Args: append([]string{self}, args...), Env: helperEnviron(helper, "MARK="+mark), Mark: mark, Grace: grace,
	}))
	t.Cleanup(p.Kill)
	return p
}

// pids waits until n processes have told their ids in dir.
func pids(t *testing.T, dir string, n int) []int {
	t.Helper()
	var all []int
	require.Eventually(t, func() bool {
		entries := testkit.Must(os.ReadDir(dir))
		all = all[:0]
		for _, e := range entries {
			if pid, err := strconv.Atoi(e.Name()); err == nil {
				all = append(all, pid)
			}
		}
		return len(all) == n
	}, patience, 5*time.Millisecond, "%d processes should have started", n)
	return all
}

// begun starts a helper in a folder of its own, and returns the ids of n processes once they have told them.
func begun(t *testing.T, helper string, n int) (p *Process, dir string, all []int) {
	t.Helper()
	dir = t.TempDir()
	p = start(t, helper, dir)
	return p, dir, pids(t, dir, n)
}

func requireGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		testkit.Gone(t, pid, patience)
	}
}

func waitExit(t *testing.T, p *Process) Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(patience):
		require.Fail(t, "the tree does not end")
	}
	return p.Exit()
}

// needStrays skips a test where descendants with a session of their own are not found.
func needStrays(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a descendant with a session of its own is found on Linux only")
	}
}

func TestExitCodes(t *testing.T) {
	require.Equal(t, Exit{Code: 0}, waitExit(t, start(t, "exit", "0")))
	require.Equal(t, Exit{Code: 42}, waitExit(t, start(t, "exit", "42")))

	p, _, all := begun(t, "block", 1)
	require.NoError(t, syscall.Kill(all[0], syscall.SIGSEGV)) // Go programs end by it with 2 and a trace
	require.NotZero(t, waitExit(t, p).Code)

	p, _, _ = begun(t, "block", 1)
	p.Kill()
	require.Equal(t, Exit{Code: 137, Signal: syscall.SIGKILL}, waitExit(t, p))
	require.ErrorIs(t, p.Signal(syscall.SIGTERM), os.ErrProcessDone)
}

func TestStartFails(t *testing.T) {
	_, err := Start(Config{Args: []string{filepath.Join(t.TempDir(), "nothing")}})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestStop(t *testing.T) {
	p, _, _ := begun(t, "block", 1)
	require.Equal(t, Exit{Code: 143, Signal: syscall.SIGTERM}, p.Stop(t.Context(), syscall.SIGTERM))

	p, _, _ = begun(t, "stubborn", 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no grace
	require.Equal(t, Exit{Code: 137, Signal: syscall.SIGKILL}, p.Stop(ctx, syscall.SIGTERM))

	dir := t.TempDir()
	p = startGrace(t, 0, "stubborn", dir)
	pids(t, dir, 1)
	began := time.Now()
	require.Equal(t, Exit{Code: 137, Signal: syscall.SIGKILL}, p.Stop(t.Context(), syscall.SIGTERM))
	require.Less(t, time.Since(began), DefaultGrace, "0 is no grace")
}

func TestKillsAll(t *testing.T) {
	needStrays(t)
	p, _, all := begun(t, "family", 3)
	p.Kill()
	waitExit(t, p)
	requireGone(t, all)
}

func TestLauncher(t *testing.T) {
	needStrays(t)
	p, dir, all := begun(t, "launcher", 2)
	select {
	case <-p.Done():
		require.Fail(t, "the tree ended before what the launcher started")
	default:
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), nil, 0o600))
	require.Equal(t, Exit{Code: 0}, waitExit(t, p))
	requireGone(t, all)
}

// TestSessions: a signal reaches a process in a session of its own, which has time to save, and its status is that of
// the tree where what started it ended with 0.
func TestSessions(t *testing.T) {
	needStrays(t)
	stop := func(p *Process) { p.Stop(context.Background(), syscall.SIGTERM) }
	for _, c := range []struct {
		helper string
		count  int // of processes that note their id
		act    func(p *Process)
		exit   Exit
		saves  bool
	}{
		{"waiter", 2, stop, Exit{Code: 143, Signal: syscall.SIGTERM}, true},
		{"starter", 1, stop, Exit{}, true},
		{"starter", 1, func(p *Process) { _ = p.Pass(syscall.SIGUSR1) }, Exit{Code: 42}, false},
		{"starter", 1, func(p *Process) { p.Kill() }, Exit{Code: 137, Signal: syscall.SIGKILL}, false},
		{"starter", 1, func(p *Process) { _ = p.Pass(syscall.SIGSEGV) }, Exit{Code: 2}, false}, // as Go programs do
		{"failing", 1, func(*Process) {}, Exit{Code: 3}, true},
	} {
		dir := t.TempDir()
		p := start(t, c.helper, dir, "42")
		all := pids(t, dir, c.count)
		if c.helper == "starter" {
			require.Eventually(t, func() bool {
				p.mu.Lock()
				defer p.mu.Unlock()
				return p.tree.heir == all[0]
			}, patience, time.Millisecond, "what goes on for the launcher is known")
		}
		c.act(p)
		require.Equal(t, c.exit, waitExit(t, p), c.helper)
		requireGone(t, all)
		_, err := os.Stat(filepath.Join(dir, "saved"))
		require.Equal(t, c.saves, err == nil, c.helper)
	}
}

// TestExitText is the table of what is said of an end.
func TestExitText(t *testing.T) {
	for _, c := range []struct {
		exit    Exit
		text    string
		crashed bool
	}{
		{Exit{}, "exited with 0", false},
		{Exit{Code: 3}, "exited with 3", false},
		{Exit{Code: 139, Signal: syscall.SIGSEGV}, "crashed: SIGSEGV (segmentation fault), status 139", true},
		{Exit{Code: 134}, "crashed: SIGABRT (aborted), status 134", true}, // of a shell
		{Exit{Code: 137, Signal: syscall.SIGKILL}, "ended by a signal: SIGKILL (killed)", false},
		{Exit{Code: 143}, "exited with 143", false},
	} {
		text := c.exit.String()
		if c.crashed { // the names of signals differ between systems
			require.Regexp(t, `^crashed: SIG[A-Z]+ \([a-z ]+\), status 1\d\d$`, text)
		} else {
			require.Equal(t, c.text, text)
		}
		require.Equal(t, c.crashed, c.exit.Crashed())
	}
}

func TestFailureTakesTheRest(t *testing.T) {
	p, _, all := begun(t, "failer", 1)
	require.Equal(t, Exit{Code: 3}, waitExit(t, p))
	requireGone(t, all)
}

func TestHolderKilled(t *testing.T) {
	needStrays(t)
	self := testkit.Must(os.Executable())
	dir := t.TempDir()
	holder := exec.Command(self, dir, "mark-of-the-killed-holder-"+strconv.Itoa(os.Getpid()))
	holder.Env = helperEnviron("holder")
	out := testkit.Must(holder.StdoutPipe())
	require.NoError(t, holder.Start())
	require.Contains(t, testkit.Must(bufio.NewReader(out).ReadString('\n')), "started")
	all := pids(t, dir, 3)
	require.NoError(t, holder.Process.Kill())
	_ = holder.Wait()
	requireGone(t, all)
}

// TestProgramsEndWithTests holds that programs that tests have started end with them, also if the tests are killed.
func TestProgramsEndWithTests(t *testing.T) {
	dir := t.TempDir()
	tests := exec.Command(os.Args[0], dir)
	tests.Env = helperEnviron("family", "TESTS_PID=") // of their own
	require.NoError(t, tests.Start())
	all := pids(t, dir, 3)
	require.NoError(t, tests.Process.Kill())
	_ = tests.Wait()
	for _, pid := range all {
		testkit.Gone(t, pid, 30*time.Second)
	}
}

func TestStreams(t *testing.T) {
	self := testkit.Must(os.Executable())
	open := func(name, text string) *os.File {
		f := testkit.Must(os.Create(filepath.Join(t.TempDir(), name)))
		testkit.Must(f.WriteString(text))
		testkit.Must(f.Seek(0, io.SeekStart))
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	in, out, errs := open("in", "through\x00and through"), open("out", ""), open("err", "")
	p, err := Start(Config{Args: []string{self}, Env: helperEnviron("echo"), Stdin: in, Stdout: out, Stderr: errs})
	require.NoError(t, err)
	require.Equal(t, Exit{}, waitExit(t, p))
	got := testkit.Must(os.ReadFile(out.Name()))
	require.Equal(t, "through\x00and through", string(got))
	got = testkit.Must(os.ReadFile(errs.Name()))
	require.Equal(t, "to stderr", string(got))
}

func TestGuardIgnoresNonsense(t *testing.T) {
	t.Cleanup(func() { signal.Reset() })
	for _, text := range []string{
		"", "done\n", "watch 0 x\n", "watch 1 x\n", "watch -5\n", "watch x\n", "hello\n", "watch",
	} {
		keepWatch(strings.NewReader(text)) // must not kill this process
	}
}
