//go:build unix

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
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
	self, err := os.Executable()
	require.NoError(t, err)
	addr := reserve(t)
	_, port, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	w := &wrapped{
		t: t, dir: dir, addr: addr, token: gabp.NewToken(), file: filepath.Join(t.TempDir(), "bridge.json"),
		out: &strings.Builder{}, errs: &strings.Builder{}, done: make(chan struct{}),
	}
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(rules, []byte(testRules), 0o600))
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

// requireNothingLeft checks that neither the game nor a guard or file of heed's
// outlives heed.
func (w *wrapped) requireNothingLeft(pid int, files bool) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		stat, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		return err != nil || strings.HasPrefix(strings.TrimSpace(string(stat)), "Z")
	}, patience, 5*time.Millisecond, "the game is left behind")
	if !files {
		return
	}
	entries, err := os.ReadDir(filepath.Join(w.dir, "state"))
	require.NoError(w.t, err)
	for _, e := range entries {
		require.NotRegexp(w.t, `^(run|bridge)-`, e.Name())
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)

	// The welcome is the mod's, with ours, and reports what heed was handed.
	var said gabp.Welcome
	require.NoError(t, json.Unmarshal(welcome.Result, &said))
	require.Equal(t, "colony-mod", said.AgentID)
	require.Equal(t, gabp.App{Name: "Colony", Version: "3.1"}, said.App)
	require.Subset(t, said.Capabilities.Methods, []string{
		"tools/list", "tools/call", "attention/current",
		"attention/ack", "colony/build",
	})
	require.Subset(t, said.Capabilities.Events, []string{
		"colony.log", "colony/ticks", "attention/opened",
		"attention/updated", "attention/cleared",
	})
	var observed struct {
		Argv      []string
		Cwd       string
		EnvValues map[string]string
		EnvAbsent []string
	}
	require.NoError(t, json.Unmarshal(said.Observed, &observed))
	require.Equal(t, w.cmd.Args[1:], observed.Argv[1:])
	cwd, err := filepath.EvalSymlinks(w.cmd.Dir)
	require.NoError(t, err)
	require.Equal(t, cwd, observed.Cwd)
	_, port, _ := net.SplitHostPort(w.addr)
	require.Equal(t, map[string]string{
		gabp.EnvPort: port, gabp.EnvToken: w.token, gabp.EnvGame: "colony", gabp.EnvBridge: w.file,
		"CONTEXT": "of the launch",
	}, observed.EnvValues)
	require.Equal(t, []string{"NOT_THERE"}, observed.EnvAbsent)
	_, err = os.Stat(w.file)
	require.ErrorIs(t, err, os.ErrNotExist, "the bridge's own file is the bridge's")

	// Tools are mirrored, each as the mod said it.
	list := b.call("tools/list", `{}`)
	require.Contains(t, string(list.Result), `"odd":1.50`)
	require.Contains(t, string(list.Result), bridge.ToolStatus)

	// What nobody knows goes through, as an operation.
	require.Regexp(t, `^\{"asked":\{"x":\[1,2\]\}, "n": 1.0,"verdict":\{"outcome":"clean",`,
		string(b.call("colony/anything", `{"x":[1,2]}`).Result))
	require.Equal(t, gabp.CodeMethodNotFound, b.call("colony/nothing", `{}`).Error.Code)
	require.Nil(t, b.call("events/subscribe", `{"channels":["colony/ticks","attention/opened","attention/cleared"]}`).Error)
	b.tool("colony/build", "ticks")
	require.Eventually(t, func() bool { return len(b.eventsOn("colony/ticks")) == 3 }, patience, time.Millisecond)
	require.Equal(t, `{"tick":2.50}`, string(b.eventsOn("colony/ticks")[2].Payload))

	// The fault of the run before is nobody's.
	require.Nil(t, b.current())
	ok := b.tool("colony/build", "a wall")
	require.Nil(t, ok.Error)
	require.Regexp(t, `^\{"done":2, "exact": 1\.50,"verdict":\{"outcome":"clean","cleanThrough":\d+\}\}$`, string(ok.Result),
		"byte for byte but for the verdict")

	// A fault after the reply stops the next call, which is not executed.
	require.Nil(t, b.tool("colony/build", "fault after").Error)
	open := b.blocked()
	require.True(t, open.StateInvalidated)
	refused := b.tool("colony/build", "not this")
	require.NotNil(t, refused.Error)
	require.Equal(t, gabp.CodeToolUnavailable, refused.Error.Code)
	require.Contains(t, refused.Error.Message, "Not executed: ")
	require.Contains(t, refused.Error.Message, "\nNext: call heed/ack with id ")
	var data struct {
		Executed  *bool
		Status    string
		Tool      string
		Attention item
	}
	require.NoError(t, json.Unmarshal(refused.Error.Data, &data))
	require.False(t, *data.Executed)
	require.Equal(t, "blocked_by_attention", data.Status)
	require.Equal(t, "colony/build", data.Tool)
	require.Equal(t, open.AttentionID, data.Attention.AttentionID)
	require.NotContains(t, w.executed(), "colony/build not this")
	out, _ := runCommand(t, "status", "--state", filepath.Join(w.dir, "state"))
	require.Contains(t, out, "1 BLOCKING item is open")
	require.Contains(t, out, "called colony/build: held back, not executed, ")
	require.Eventually(t, func() bool { return len(b.eventsOn("attention/opened")) > 0 }, patience, time.Millisecond)

	// What only looks still works; a wrong acknowledgement does not help.
	require.Nil(t, b.tool("colony/look", "").Error)
	require.Nil(t, b.call("tools/call", `{"name":"heed/status"}`).Error)
	require.Contains(t, string(b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`).Result), "FAULT after the reply")
	done, still := b.ack("nonsense")
	require.False(t, done)
	require.Equal(t, open.AttentionID, still.AttentionID)
	require.NotNil(t, b.tool("colony/build", "not this").Error)
	done, still = b.ack(open.AttentionID)
	require.True(t, done)
	require.Nil(t, still)
	require.Nil(t, b.tool("colony/build", "this again").Error)
	require.Contains(t, w.executed(), "colony/build this again")

	// A fault during a call goes with its result.
	during := b.tool("colony/build", "fault in between")
	require.Nil(t, during.Error)
	var amended struct {
		Done      int
		Executed  bool
		Attention item
		Verdict   struct {
			Outcome, Reason, Text string
			CleanThrough          int
		}
	}
	require.NoError(t, json.Unmarshal(during.Result, &amended))
	require.Equal(t, "blocking", amended.Verdict.Outcome)
	require.Equal(t, "charged", amended.Verdict.Reason)
	require.Contains(t, amended.Verdict.Text, amended.Attention.AttentionID)
	require.Positive(t, amended.Verdict.CleanThrough)
	require.True(t, amended.Executed)
	require.True(t, amended.Attention.Blocking)
	require.NotZero(t, amended.Done)
	b.ack(amended.Attention.AttentionID)

	// It ends as asked, and nothing is left.
	pid := w.gamePID()
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 0, w.exit())
	w.requireNothingLeft(pid, true)
	require.Equal(t, "the game speaks\n", w.out.String())
	require.Equal(t, "the game complains\n", w.errs.String())
}

// TestWrapFlood: a flood of the mod's own events costs a bridge that cannot read as fast
// neither its connection nor what heed tells.
func TestWrapFlood(t *testing.T) {
	t.Parallel()
	testkit.Full(t, "floods a bridge with events")
	w := start(t, nil)
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	require.Nil(t, b.call("events/subscribe", `{"channels":["colony/ticks","attention/opened"]}`).Error)
	require.Nil(t, b.tool("colony/build", "flood").Error)
	require.Nil(t, b.tool("colony/build", "fault after").Error)
	open := b.blocked()
	require.Eventually(t, func() bool { return len(b.eventsOn("attention/opened")) > 0 }, patience, time.Millisecond)
	require.Contains(t, string(b.eventsOn("attention/opened")[0].Payload), open.AttentionID)
	last := `{"tick":` + strconv.Itoa(floodEvents-1) + `}`
	require.Eventually(t, func() bool {
		ticks := b.eventsOn("colony/ticks")
		return len(ticks) > 0 && string(ticks[len(ticks)-1].Payload) == last
	}, patience, time.Millisecond, "the latest stay")
	var st bridge.Status
	require.NoError(t, json.Unmarshal(b.call("tools/call", `{"name":"heed/status"}`).Result, &st))
	t.Log(len(b.eventsOn("colony/ticks")), "events of the flood were read;", st.Limits)
}

func TestWrapResults(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	b, _ := dial(t, w.addr, w.token)
	clear := func() {
		for open := b.current(); open != nil; open = b.current() {
			b.ack(open.AttentionID)
		}
	}
	// A tool that says that it failed is a failed operation.
	a := b.tool("colony/build", "in band")
	require.Contains(t, string(a.Result), `"success":false`)
	var calls bridge.Operations
	require.NoError(t, json.Unmarshal(b.call("tools/call", `{"name":"heed/operations"}`).Result, &calls))
	require.Equal(t, event.StatusFailed, calls.Operations[0].Status)
	require.Contains(t, string(b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`).Result), "no room")
	a = b.tool("colony/build", "error")
	require.Equal(t, gabp.CodeToolFailed, a.Error.Code)
	require.Equal(t, "it broke", a.Error.Message)
	require.Nil(t, b.current(), "a failure is an answer")
	operations := string(b.call("tools/call", `{"name":"heed/operations"}`).Result)
	require.Equal(t, 2, strings.Count(operations, `"status":"failed"`), operations)
	require.Equal(t, 2, strings.Count(operations, `"outcome":"clean"`), operations)
	require.Equal(t, `12.5`, string(b.tool("colony/build", "a number").Result), "clean, and no object")
	require.Regexp(t, `^\{"executed":"mine","heed":\{"verdict":\{"outcome":"clean","cleanThrough":\d+\}\}\}$`,
		string(b.tool("colony/build", "executed").Result), "its name is taken")
	require.Equal(t, `{"done":5, "exact": 1.50}`, string(b.tool("colony/look", "").Result), "what only looks is no operation")

	// The mod's event and the line that follows it in the log are one entry.
	b.tool("colony/build", "event")
	b.blocked()
	require.Eventually(t, func() bool {
		log, err := os.ReadFile(filepath.Join(w.dir, "Player.log"))
		var st bridge.Status
		return err == nil && bytes.Contains(log, []byte("by an event")) &&
			json.Unmarshal(b.call("tools/call", `{"name":"heed/status"}`).Result, &st) == nil &&
			st.Log.Offset == int64(len(log))
	}, patience, time.Millisecond)
	require.Equal(t, 1, b.current().Total)
	clear()

	// The mod is started again: tools go on, and the loss is told.
	b.tool("colony/build", "restart")
	require.Eventually(t, func() bool {
		entries := string(b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`).Result)
		return strings.Contains(entries, `"status":"disconnected"`) && strings.Contains(entries, `"status":"connected"`)
	}, patience, 5*time.Millisecond)
	clear()
	require.Nil(t, b.tool("colony/build", "after").Error)

	// The bridge is started again, with the same token.
	require.NoError(t, b.conn.Close())
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	require.Nil(t, b.tool("colony/look", "").Error)
	_, welcome = dial(t, w.addr, strings.Repeat("0", 64))
	require.Equal(t, gabp.CodeAuthFailed, welcome.Error.Code)

	// The commands find it.
	state := filepath.Join(w.dir, "state")
	out, code := runCommand(t, "current", "--state", state)
	require.Equal(t, "nothing is open\n", out)
	require.Zero(t, code)
	out, code = runCommand(t, "ack", "nonsense", "--state", state)
	require.Contains(t, out, "no item nonsense is known")
	require.Equal(t, exitFinding, code)
	out, code = runCommand(t, "status", "--state", state)
	require.Contains(t, out, "nothing is open.\n")
	require.Contains(t, out, "last new line ")
	require.Contains(t, out, "colony, ")
	require.Contains(t, out, "called colony/build: completed")
	require.Zero(t, code)
	out, code = runCommand(t, "tail", "--last", "0", "--state", state)
	require.Contains(t, out, "FAULT by an event")
	require.Contains(t, out, "started    colony/build")
	require.Zero(t, code)
	require.NotContains(t, out, w.token)

	// The game fails: heed answers for a while, and ends with its status.
	b.send("tools/call", `{"name":"colony/look","parameters":{"what":"exit","code":42}}`)
	require.Equal(t, 42, w.exit())
	w.requireNothingLeft(w.gamePID(), true)
	_, code = runCommand(t, "current", "--state", state)
	require.Equal(t, exitNone, code)
}

func TestWrapKilled(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	dial(t, w.addr, w.token)
	pid := w.gamePID()
	require.NoError(t, w.cmd.Process.Kill())
	w.exit()
	w.requireNothingLeft(pid, false)
}

// TestWrapGameKilled: a game that a signal ended which did not come through heed has
// crashed, and the bridge can ask why.
func TestWrapGameKilled(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			w := start(t, []string{"--linger", "1m"}, "stubborn")
			b, _ := dial(t, w.addr, w.token)
			require.Nil(t, b.tool("colony/look", "").Error)
			require.NoError(t, syscall.Kill(w.gamePID(), sig))
			b.blocked()
			var a answer
			require.Eventually(t, func() bool {
				a = b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`)
				return strings.Contains(string(a.Result), `"status":"exited"`)
			}, patience, time.Millisecond)
			require.Regexp(t, `ended by a signal: SIG[A-Z]+ \(`+sig.String()+`\)`, string(a.Result))
			require.NotNil(t, b.tool("colony/build", "").Error)
			require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM)) // enough was asked
			require.Equal(t, 128+int(sig), w.exit())
		})
	}
}

// TestWrapAsked: a game that ends by a signal that came through heed was told to.
func TestWrapAsked(t *testing.T) {
	t.Parallel()
	w := start(t, []string{"--linger", "1h"}, "stubborn")
	dial(t, w.addr, w.token)
	w.gamePID()
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 128+int(syscall.SIGTERM), w.exit())
}

func TestWrapLingers(t *testing.T) {
	t.Parallel()
	w := start(t, []string{"--linger", "1m"})
	b, _ := dial(t, w.addr, w.token)
	b.send("tools/call", `{"name":"colony/look","parameters":{"what":"exit","code":42}}`)
	var a answer
	require.Eventually(t, func() bool {
		a = b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`)
		return strings.Contains(string(a.Result), `"status":"exited"`)
	}, patience, time.Millisecond)
	require.Contains(t, string(a.Result), "exited with 42")
	require.NotNil(t, b.current(), "the bridge can ask why")
	require.NotNil(t, b.tool("colony/build", "").Error)
	require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
	require.Equal(t, 42, w.exit())
	w.requireNothingLeft(w.gamePID(), true)
}

// TestWrapReconnects: bridges that come and go, some in the middle of a call, leave no
// open file behind, neither between heed and them nor between heed and the mod.
func TestWrapReconnects(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("the system does not say which files are open: ", err)
	}
	w := start(t, nil)
	first, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	w.gamePID()
	open := func() int {
		files, err := os.ReadDir("/proc/" + strconv.Itoa(w.cmd.Process.Pid) + "/fd")
		require.NoError(t, err)
		return len(files)
	}
	require.Nil(t, first.current())
	before := open()
	rounds := 1000
	if testing.Short() {
		rounds = 50
	}
	for i := range rounds {
		b := redial(t, w.addr, w.token)
		require.Nil(t, b.call("events/subscribe", `{"channels":["attention/opened","colony/ticks"]}`).Error)
		if i%2 == 0 {
			b.send("tools/call", `{"name":"colony/look","parameters":{}}`)
		}
		require.NoError(t, b.conn.Close())
	}
	require.Eventually(t, func() bool { return open() <= before }, patience, 5*time.Millisecond,
		"%d files were open before", before)
	// The mod may still be busy with the calls that nobody waits for.
	require.Eventually(t, func() bool { return first.tool("colony/look", "").Error == nil }, patience, time.Millisecond)
}

// TestWrapNoLog: without a log the first call is held back, and calls are unknown until there is one. The owner may
// want none.
func TestWrapNoLog(t *testing.T) {
	t.Parallel()
	unwritten := filepath.Join(t.TempDir(), "Player.log")
	for _, c := range []struct{ name, flag, says string }{
		{"none is found", "--log=", "no log was found"},
		{"not yet written", "--log=" + unwritten, "there is no file " + unwritten},
		{"cannot be followed", "--log=", "cannot be followed"},
		{"none is wanted", "--log=none", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{}
			if c.name == "cannot be followed" {
				args = []string{"", "-logFile", os.DevNull}
			}
			w := start(t, []string{c.flag, withDefaults}, args...)
			b, welcome := dial(t, w.addr, w.token)
			require.Nil(t, welcome.Error)
			verdict := func() string {
				return string(memberOf(t, b.tool("colony/build", "a wall").Result, "verdict"))
			}
			if c.says == "" {
				require.Contains(t, verdict(), `"outcome":"clean"`)
				return
			}
			require.NotNil(t, b.tool("colony/build", "a wall").Error, "from the first call on")
			require.Empty(t, w.executed())
			open := b.blocked()
			result := string(b.call("tools/call", `{"name":"heed/item","arguments":{"id":"`+open.AttentionID+`"}}`).Result)
			require.Contains(t, result, c.says)
			b.ack(open.AttentionID)
			require.Regexp(t, `"outcome":"unknown","reason":"blind","text":".*`+open.AttentionID, verdict())
			require.Nil(t, b.current(), "once")
			out, _ := runCommand(t, "status", "--state", filepath.Join(w.dir, "state"))
			require.Contains(t, out, "called colony/build: completed (unknown: blind), ")
			if c.name != "not yet written" {
				return
			}
			write(t, unwritten+".new", "The game speaks\n") // and is not open when it is seen
			require.NoError(t, os.Rename(unwritten+".new", unwritten))
			require.Eventually(t, func() bool { return strings.Contains(verdict(), `"outcome":"clean"`) }, patience, time.Second)
		})
	}
}

// TestWrapOldLog: what a run before has left is no log of this one. The game's own log is found as soon as it is there.
func TestWrapOldLog(t *testing.T) {
	t.Parallel()
	w := start(t, []string{withDefaults}, "no-log")
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	require.NotNil(t, b.tool("colony/build", "a wall").Error, "from the first call on")
	require.Empty(t, w.executed())
	open := b.blocked()
	result := string(b.call("tools/call", `{"name":"heed/item","arguments":{"id":"`+open.AttentionID+`"}}`).Result)
	require.Contains(t, result, "Player.log is of an earlier run")
	require.Contains(t, result, "named by --log")
	state := filepath.Join(w.dir, "state")
	out, _ := runCommand(t, "status", "--state", state)
	require.Contains(t, out, "is of an earlier run")
	b.ack(open.AttentionID)
	verdict := func() string { return string(memberOf(t, b.tool("colony/build", "a wall").Result, "verdict")) }
	require.Contains(t, verdict(), `"outcome":"unknown","reason":"blind"`)
	require.NotContains(t, string(b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`).Result), "FAULT")

	require.NoError(t, os.Rename(filepath.Join(w.dir, "Player.log"), filepath.Join(w.dir, "Player-prev.log")))
	write(t, filepath.Join(w.dir, "new"), "The game starts\n") // and is not open when it is seen
	require.NoError(t, os.Rename(filepath.Join(w.dir, "new"), filepath.Join(w.dir, "Player.log")))
	require.Eventually(t, func() bool { return strings.Contains(verdict(), `"outcome":"clean"`) }, patience,
		10*time.Millisecond)
	out, _ = runCommand(t, "status", "--state", state)
	require.Contains(t, out, "it was created since the start")
}

// TestWrapAnotherLog: another instance of the game that takes the path of our game's log takes neither the log nor what
// is in it. Where our game itself begins another file, that one is followed.
func TestWrapAnotherLog(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fdinfo"); err != nil {
		t.Skip("the system does not say who has a file open")
	}
	w := start(t, nil)
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	require.Contains(t, string(b.tool("colony/build", "a wall").Result), `"outcome":"clean"`)
	path := filepath.Join(w.dir, "Player.log")
	require.NoError(t, os.Rename(path, filepath.Join(w.dir, "Player-prev.log")))
	other, err := os.Create(path) // by a process that heed has not started
	require.NoError(t, err)
	defer other.Close() //nolint:errcheck // what was written to it is not read
	_, err = other.WriteString("FAULT of another game\n")
	require.NoError(t, err)
	require.Contains(t, string(b.tool("colony/build", "a wall").Result), `"outcome":"clean"`)
	out, _ := runCommand(t, "status", "--state", filepath.Join(w.dir, "state"))
	require.Contains(t, out, "another file is at its path")
	require.Contains(t, string(b.tool("colony/build", "fault in between").Result), `"reason":"charged"`, "of its own file")
	entries := func() string {
		return string(b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`).Result)
	}
	require.NotContains(t, entries(), "FAULT of another game")
	b.ack(b.blocked().AttentionID)

	require.NoError(t, other.Close())
	require.Nil(t, b.tool("colony/build", "rotate").Error) // the other's becomes Player-prev.log
	require.Eventually(t, func() bool { return strings.Contains(entries(), "The game goes on") }, patience,
		10*time.Millisecond)
	require.Contains(t, string(b.tool("colony/build", "stamped file").Result), `"reason":"charged"`)
	require.NotContains(t, entries(), "FAULT of another game")
}

// TestWrapRotated: a game that goes on with its log in another file is of the same run, whether it keeps the log open or
// opens it for each line; a log that --log names is read although it was written shortly before the start.
func TestWrapRotated(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{false, true} {
		t.Run(strconv.FormatBool(closes), func(t *testing.T) {
			dir, game, fault, rotate := t.TempDir(), []string{}, "fault in between", "rotate"
			write(t, filepath.Join(dir, "Player.log"), "FAULT of a run before\n")
			if closes {
				game, fault, rotate = []string{"no-log"}, "append", "rotate closed"
			}
			w := startIn(t, dir, nil, []string{withDefaults}, game...)
			b, welcome := dial(t, w.addr, w.token)
			require.Nil(t, welcome.Error)
			if closes {
				require.NotNil(t, b.tool("colony/build", fault).Error, "there is no log yet")
				b.ack(b.blocked().AttentionID)
			}
			require.Contains(t, string(b.tool("colony/build", fault).Result), `"reason":"charged"`)
			open := b.blocked().AttentionID
			require.Nil(t, b.tool("colony/look", rotate).Error)
			require.Nil(t, b.tool("colony/look", fault).Error)
			entries := func() string {
				return string(b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`).Result)
			}
			require.Eventually(t, func() bool { return strings.Count(entries(), "FAULT") == 2 }, patience, 10*time.Millisecond)
			require.NotContains(t, entries(), "restarted")
			require.Equal(t, open, b.blocked().AttentionID)
			require.NotNil(t, b.tool("colony/build", "not this").Error)
		})
	}
}

// memberOf returns a member of an object.
func memberOf(t *testing.T, object json.RawMessage, name string) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(object, &members))
	return members[name]
}

// TestWrapCallLost: of a call that the game's end cut off nobody says that it was
// executed, nor that it was not.
func TestWrapCallLost(t *testing.T) {
	t.Parallel()
	w := start(t, []string{"--linger", "1m"})
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	a := b.call("tools/call", `{"name":"colony/build","parameters":{"what":"exit","code":3}}`)
	require.NotNil(t, a.Error)
	require.Contains(t, a.Error.Message, "is not known")
	var data map[string]any
	require.NoError(t, json.Unmarshal(a.Error.Data, &data))
	require.Equal(t, "unknown", data["outcome"])
	require.NotContains(t, data, "executed")
	require.Contains(t, data, "attention")
	require.Contains(t, data, "verdict")
}

// TestWrapBridgeGone: a call whose bridge is gone is told of as it was, to whoever
// comes next.
func TestWrapBridgeGone(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	first, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	first.send("tools/call", `{"name":"colony/build","parameters":{"what":"no answer"}}`)
	require.Eventually(t, func() bool { return len(w.executed()) > 0 }, patience, time.Millisecond)
	require.NoError(t, first.conn.Close())
	next, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	require.Equal(t, "colony/build", next.blocked().CausalMethod)
	entries := string(next.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`).Result)
	require.Contains(t, entries, "the caller left")
	require.NotContains(t, entries, "did not answer in time")
}

// TestWrapAckedByPerson: what a person acknowledges with a command opens the gate, and the agent is told with its next
// result.
func TestWrapAckedByPerson(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	b, _ := dial(t, w.addr, w.token)
	require.Nil(t, b.tool("colony/build", "").Error)
	b.tool("colony/build", "fault in between")
	open := b.blocked()
	require.NotNil(t, b.tool("colony/build", "").Error, "it is held back")
	out, code := runCommand(t, "ack", "--state", filepath.Join(w.dir, "state"))
	require.Equal(t, exitOK, code, out)
	result := b.tool("colony/build", "").Result
	require.Contains(t, string(memberOf(t, result, "notice")), "Item "+open.AttentionID+" was acknowledged by a person")
	require.JSONEq(t, `"`+open.AttentionID+`"`, string(memberOf(t, memberOf(t, result, "attention"), "attentionId")))
	require.JSONEq(t, `"clean"`, string(memberOf(t, memberOf(t, result, "verdict"), "outcome")))
	require.Nil(t, memberOf(t, b.tool("colony/build", "").Result, "notice"), "once")
}

func TestWrapStandardOutput(t *testing.T) {
	t.Setenv(helperEnv, "1") // for the guard
	dir := t.TempDir()
	out, code := runCommand(t, "wrap", "--state", dir, "--log", "-", "--linger", "1ms", "--", "sh", "-c",
		"echo spoken; exit 5")
	require.Equal(t, "spoken\n", out)
	require.Equal(t, 5, code)
	_, code = runCommand(t, "wrap", "--state", dir, "--log", "-", "--", filepath.Join(dir, "nothing"))
	require.Equal(t, exitNotFound, code)
	left, err := filepath.Glob(filepath.Join(dir, "*.stdout"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestWrapWithoutMod(t *testing.T) {
	t.Parallel()
	w := start(t, nil, "no-mod")
	w.gamePID()
	log, err := os.OpenFile(filepath.Join(w.dir, "Player.log"), os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	t.Cleanup(func() { _ = log.Close() })
	watcher, err := gabp.Dial(t.Context(), w.addr, gabp.ClientConfig{Token: w.token, Name: clientName})
	require.NoError(t, err, "one that only looks is not kept waiting")
	t.Cleanup(func() { _ = watcher.Close() })
	require.Eventually(t, func() bool {
		_, _ = log.WriteString("MENU is reached\n") // before heed follows the log, it is of no account
		status, err := watcher.CallTool(t.Context(), bridge.ToolStatus, nil)
		return err == nil && strings.Contains(string(status), `"phase":"menu"`)
	}, patience, 20*time.Millisecond)
	tools, err := listTools(t.Context(), watcher)
	require.NoError(t, err)
	require.Len(t, tools, len(bridge.Tools()))
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	a := b.tool("colony/build", "a wall")
	require.Contains(t, a.Error.Message, "no mod")
	_, err = log.WriteString("FAULT without a mod\n")
	require.NoError(t, err)
	require.Contains(t, b.blocked().Summary, "planted fault")
}

// A bridge that was answered before the mod is there stays, and gets the mod's tools when it asks.
func TestWrapSlowMod(t *testing.T) {
	t.Parallel()
	w := start(t, []string{"--mod-wait", "1ms"}, "slow")
	var c *gabp.Client
	require.Eventually(t, func() bool {
		var err error
		c, err = gabp.Dial(t.Context(), w.addr, gabp.ClientConfig{Token: w.token, Name: "bridge"})
		return err == nil
	}, patience, time.Millisecond)
	t.Cleanup(func() { _ = c.Close() })
	names := func() (list []string) {
		tools, err := listTools(t.Context(), c)
		require.NoError(t, err)
		for _, tool := range tools {
			list = append(list, tool.Name)
		}
		return list
	}
	require.NotContains(t, names(), "colony/build")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "loaded"), nil, 0o600))
	require.Eventually(t, func() bool { return slices.Contains(names(), "colony/build") }, patience, 10*time.Millisecond)
}

// TestWrapLateMod: the bridge of the field gets the tools of a mod that listens late, by itself.
func TestWrapLateMod(t *testing.T) {
	t.Parallel()
	w := start(t, nil, "slow")
	b := standin.NewBridge(standin.BridgeConfig{
		Token: w.token,
		Dial: func(ctx context.Context) (io.ReadWriteCloser, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", w.addr)
		},
	})
	defer b.Close()
	w.gamePID()
	load := time.AfterFunc(time.Second, func() { _ = os.WriteFile(filepath.Join(w.dir, "loaded"), nil, 0o600) })
	defer load.Stop()
	require.NoError(t, b.Start())
	require.Eventually(t, func() bool { return slices.Contains(b.Mirrored(), "colony/build") }, patience, time.Millisecond)
	_, err := b.Call("colony/build", `{"what":"a wall"}`)
	require.NoError(t, err)
}

// TestWrapPhase: a game that starts is not in the phase of the one before, which a state kept.
func TestWrapPhase(t *testing.T) {
	t.Setenv(helperEnv, "1") // for the guard
	dir := t.TempDir()
	rules, recorded := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "recorded")
	require.NoError(t, os.WriteFile(rules, []byte(testRules), 0o600))
	for _, says := range []string{"MENU is reached", "nothing"} {
		_, code := runCommand(t, "wrap", "--state", dir, "--log", "-", "--rules", rules, "--record", recorded, "--",
			"sh", "-c", "echo "+says)
		require.Zero(t, code)
	}
	played, err := os.ReadFile(recorded)
	require.NoError(t, err)
	require.Contains(t, string(played), `"phase":"start"`)
}

// TestWrapBridgeFile: a bridge that hands over nothing but a file is understood too,
// and the game does not learn where its port was.
func TestWrapBridgeFile(t *testing.T) {
	addr := reserve(t)
	file := gabp.Bridge{Address: addr, Token: gabp.NewToken(), GameID: "colony"}
	file.Path = filepath.Join(t.TempDir(), "bridge.json")
	require.NoError(t, os.WriteFile(file.Path, file.File(time.Time{}), 0o600))
	for _, name := range []string{gabp.EnvPort, gabp.EnvToken, gabp.EnvGame} {
		t.Setenv(name, "")
	}
	t.Setenv(gabp.EnvBridge, file.Path)
	t.Setenv(helperEnv, "1") // for the guard
	dir := t.TempDir()
	t.Setenv("DIR", dir)
	done := make(chan int, 1)
	go func() {
		done <- run(t.Context(), []string{
			"wrap", "--state", dir, "--log", "none", "--mod-wait", "0", "--linger", "1ms", "--",
			"sh", "-c", `echo "[$` + gabp.EnvBridge + `]" > "$DIR/told"; while [ ! -e "$DIR/end" ]; do sleep 0.01; done`,
		}, strings.NewReader(""), &buffer{}, &buffer{})
	}()
	_, welcome := dial(t, addr, file.Token)
	require.Nil(t, welcome.Error)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "end"), nil, 0o600))
	require.Zero(t, <-done)
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	require.NoError(t, err)
	require.Equal(t, "[]\n", string(told))
}

// TestKilledLeavesNoWord: what a killed heed left behind is no running heed.
func TestKilledLeavesNoWord(t *testing.T) {
	addr := reserve(t)
	dir := stateDir(t.TempDir())
	err := dir.write(runFile{PID: 1 << 30, Command: "wrap", Address: addr, Token: gabp.NewToken()})
	require.NoError(t, err)
	_, code := runCommand(t, "current", "--state", string(dir))
	require.Equal(t, exitNone, code)
	require.NoFileExists(t, dir.runPath(1<<30))
}

func TestWrapFailures(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv(helperEnv, "1") // for the guard
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close() //nolint:errcheck // nobody comes
	for _, tc := range []struct {
		name string
		args []string
		code int
	}{
		{"no game", []string{"wrap"}, exitUsage},
		{"no such program", []string{"wrap", "--log", "none", "--", filepath.Join(t.TempDir(), "nothing")}, exitNotFound},
		{"not a program", []string{"wrap", "--log", "none", "--", t.TempDir()}, exitCannotStart},
		{"no such rules", []string{"wrap", "--rules", "nowhere.yaml", "--", "true"}, exitUsage},
		{"a bad pattern", []string{"wrap", "--allow", "sa*", "--", "true"}, exitUsage},
		{"metrics for everybody", []string{"wrap", "--metrics", "0.0.0.0:1", "--", "true"}, exitUsage},
		{"metrics where another listens", []string{
			"wrap", "--log", "none", "--metrics", taken.Addr().String(), "--",
			filepath.Join(t.TempDir(), "nothing"),
		}, exitUsage},
		{"without --", []string{"wrap", "--log", "none", "--linger", "1ms", "sh", "-c", "exit 5", "--linger"}, 5},
		{"true", []string{"wrap", "--log", "none", "--", "true"}, 0},
		{"a negative time", []string{"wrap", "--grace", "-1s", "--", "true"}, exitUsage},
		{"a folder as log", []string{"wrap", "--log", t.TempDir(), "--", "true"}, exitUsage},
		{"a log that is thrown away", []string{
			"wrap", "--linger", "1ms", "--", "sh", "-c", "sleep 0.1; exit 5", "-logFile",
			os.DevNull,
		}, 5},
		{"a folder to follow", []string{"serve", t.TempDir()}, exitUsage},
		{"false", []string{"wrap", "--log", "none", "--linger", "1ms", "--", "false"}, 1},
		{"not running", []string{"current", "--state", t.TempDir()}, exitNone},
		{"no token", []string{"current", "--connect", "127.0.0.1:1"}, exitUsage},
		{"too many items", []string{"ack", "1", "2"}, exitUsage},
		{"a bad cursor", []string{"follow"}, exitUsage},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, code := runCommand(t, tc.args...)
			require.Equal(t, tc.code, code)
		})
	}
}
