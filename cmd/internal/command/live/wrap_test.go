//go:build unix

package live

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)

	// The welcome is the mod's, with ours, and reports what heed was handed.
	said := decoded[gabp.Welcome](t, welcome.Result)
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
	require.Equal(t, testkit.Must(filepath.EvalSymlinks(w.cmd.Dir)), observed.Cwd)
	_, port, _ := net.SplitHostPort(w.addr)
	require.Equal(t, map[string]string{
		gabp.EnvPort: port, gabp.EnvToken: w.token, gabp.EnvGame: "colony", gabp.EnvBridge: w.file,
		"CONTEXT": "of the launch",
	}, observed.EnvValues)
	require.Equal(t, []string{"NOT_THERE"}, observed.EnvAbsent)
	_, err := os.Stat(w.file)
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
	await(t, func() bool { return len(b.eventsOn("colony/ticks")) == 3 })
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
	for range 60 { // events after a call do not hide it
		b.ack("nothing")
	}
	out, _ := runCommand(t, "status", "--state", filepath.Join(w.dir, "state"))
	require.Contains(t, out, "1 BLOCKING item is open")
	require.Contains(t, out, "called colony/build: held back, not executed, ")
	await(t, func() bool { return len(b.eventsOn("attention/opened")) > 0 })

	// What only looks still works; a wrong acknowledgement does not help.
	require.Nil(t, b.tool("colony/look", "").Error)
	require.Nil(t, b.call("tools/call", `{"name":"heed/status"}`).Error)
	require.Contains(t, b.entries(), "FAULT after the reply")
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
	w.ends(syscall.SIGTERM, 0)
	w.requireNothingLeft(pid, true)
	require.Equal(t, "the game speaks\n", w.out.String())
	require.Equal(t, "the game complains\n", w.errs.String())
}

func TestWrapResults(t *testing.T) {
	t.Parallel()
	w, b := began(t, nil)
	// A tool that says that it failed is a failed operation.
	a := b.tool("colony/build", "in band")
	require.Contains(t, string(a.Result), `"success":false`)
	calls := decoded[bridge.Operations](t, b.call("tools/call", `{"name":"heed/operations"}`).Result)
	require.Equal(t, event.StatusFailed, calls.Operations[0].Status)
	require.Contains(t, b.entries(), "no room")
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
	await(t, func() bool {
		log, err := os.ReadFile(filepath.Join(w.dir, "Player.log"))
		var st bridge.Status
		return err == nil && bytes.Contains(log, []byte("by an event")) &&
			json.Unmarshal(b.call("tools/call", `{"name":"heed/status"}`).Result, &st) == nil &&
			st.Log.Offset == int64(len(log))
	})
	require.Equal(t, 1, b.current().Total)
	b.clear()

	// The mod is started again: tools go on, and the loss is told.
	b.tool("colony/look", "restart") // no operation: the end may come before its answer
	await(t, func() bool {
		entries := b.entries()
		return strings.Contains(entries, `"status":"disconnected"`) && strings.Contains(entries, `"status":"connected"`)
	})
	b.clear()
	require.Nil(t, b.tool("colony/build", "after").Error)

	// The bridge is started again, with the same token.
	require.NoError(t, b.conn.Close())
	b = come(t, w.addr, w.token)
	require.Nil(t, b.tool("colony/look", "").Error)
	_, welcome := dial(t, w.addr, strings.Repeat("0", 64))
	require.Equal(t, gabp.CodeAuthFailed, welcome.Error.Code)

	// The commands find it.
	state := filepath.Join(w.dir, "state")
	out := done(t, exitOK, "current", "--state", state)
	require.Contains(t, out, "nothing is open\n  acked     item 2: ")
	out = done(t, exitFinding, "ack", "nonsense", "--state", state)
	require.Contains(t, out, "no item nonsense is known")
	out = done(t, exitOK, "status", "--state", state)
	require.Contains(t, out, "nothing is open.\n")
	require.Contains(t, out, "last new line ")
	require.Contains(t, out, "colony, ")
	require.Contains(t, out, "called colony/build: completed")
	out = done(t, exitOK, "tail", "--last", "0", "--state", state)
	require.Contains(t, out, "FAULT by an event")
	require.Contains(t, out, "started    colony/build")
	require.NotContains(t, out, w.token)

	// The game fails: heed answers for a while, and ends with its status.
	b.send("tools/call", `{"name":"colony/look","parameters":{"what":"exit","code":42}}`)
	require.Equal(t, 42, w.exit())
	w.requireNothingLeft(w.gamePID(), true)
	done(t, exitNone, "current", "--state", state)
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
			w, b := began(t, []string{"--linger", "1m"}, "stubborn")
			require.Nil(t, b.tool("colony/look", "").Error)
			require.NoError(t, syscall.Kill(w.gamePID(), sig))
			b.blocked()
			var a answer
			await(t, func() bool {
				a = b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`)
				return strings.Contains(string(a.Result), `"status":"exited"`)
			})
			require.Regexp(t, `ended by a signal: SIG[A-Z]+ \(`+sig.String()+`\)`, string(a.Result))
			require.NotNil(t, b.tool("colony/build", "").Error)
			w.ends(syscall.SIGTERM, 128+int(sig)) // enough was asked
		})
	}
}

// TestWrapAsked: a game that ends by a signal that came through heed was told to.
func TestWrapAsked(t *testing.T) {
	t.Parallel()
	w := start(t, []string{"--linger", "1h"}, "stubborn")
	dial(t, w.addr, w.token)
	w.gamePID()
	w.ends(syscall.SIGTERM, 128+int(syscall.SIGTERM))
}

func TestWrapLingers(t *testing.T) {
	t.Parallel()
	w, b := began(t, []string{"--linger", "1m"})
	b.send("tools/call", `{"name":"colony/look","parameters":{"what":"exit","code":42}}`)
	var a answer
	await(t, func() bool {
		a = b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`)
		return strings.Contains(string(a.Result), `"status":"exited"`)
	})
	require.Contains(t, string(a.Result), "exited with 42")
	require.NotNil(t, b.current(), "the bridge can ask why")
	require.NotNil(t, b.tool("colony/build", "").Error)
	w.ends(syscall.SIGTERM, 42)
	w.requireNothingLeft(w.gamePID(), true)
}

// TestWrapReconnects: bridges that come and go, some in the middle of a call, leave no
// open file behind, neither between heed and them nor between heed and the mod.
func TestWrapReconnects(t *testing.T) {
	t.Parallel()
	needs(t, "/proc/self/fd", "the system does not say which files are open")
	w, first := began(t, nil)
	w.gamePID()
	open := func() int {
		files := testkit.Must(os.ReadDir("/proc/" + strconv.Itoa(w.cmd.Process.Pid) + "/fd"))
		return len(files)
	}
	require.Nil(t, first.current())
	before := open()
	rounds := 100
	if testkit.IsFull() {
		rounds = 1000
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
	await(t, func() bool { return first.tool("colony/look", "").Error == nil })
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
	_, b := began(t, []string{"--linger", "1m"})
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

// TestWrapAckedByPerson: what a person acknowledges with a command opens the gate, and the agent is told with its next
// result.
func TestWrapAckedByPerson(t *testing.T) {
	t.Parallel()
	w, b := began(t, nil)
	require.Nil(t, b.tool("colony/build", "").Error)
	b.tool("colony/build", "fault in between")
	open := b.blocked()
	require.NotNil(t, b.tool("colony/build", "").Error, "it is held back")
	done(t, exitFinding, "current", "--state", filepath.Join(w.dir, "state"))
	done(t, exitOK, "ack", "--state", filepath.Join(w.dir, "state"))
	result := b.tool("colony/build", "").Result
	require.Contains(t, string(memberOf(t, result, "notice")), "Item "+open.AttentionID+" was acknowledged by a person")
	require.JSONEq(t, `"`+open.AttentionID+`"`, string(memberOf(t, memberOf(t, result, "attention"), "attentionId")))
	require.JSONEq(t, `"clean"`, string(memberOf(t, memberOf(t, result, "verdict"), "outcome")))
	require.Nil(t, memberOf(t, b.tool("colony/build", "").Result, "notice"), "once")
}

func TestWrapStandardOutput(t *testing.T) {
	dir := t.TempDir()
	out, code := runCommand(t, "wrap", "--state", dir, "--log", "-", "--linger", "1ms", "--", "sh", "-c",
		"echo spoken; exit 5")
	require.Equal(t, "spoken\n", out)
	require.Equal(t, 5, code)
	done(t, exitNotFound, "wrap", "--state", dir, "--log", "-", "--", filepath.Join(dir, "nothing"))
	require.Empty(t, testkit.Must(filepath.Glob(filepath.Join(dir, "*.stdout"))))
}

// TestWrapPhase: a game that starts is not in the phase of the one before, which a state kept.
func TestWrapPhase(t *testing.T) {
	dir, _, rules, _ := folder(t)
	recorded := filepath.Join(dir, "recorded")
	for _, says := range []string{"MENU is reached", "nothing"} {
		_, code := runCommand(t, "wrap", "--state", dir, "--log", "-", "--rules", rules, "--record", recorded, "--",
			"sh", "-c", "echo "+says)
		require.Zero(t, code)
	}
	require.Contains(t, string(testkit.Must(os.ReadFile(recorded))), `"phase":"start"`)
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
	dir := t.TempDir()
	t.Setenv("DIR", dir)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "end"), 0o600))
	done := make(chan int, 1)
	go func() {
		done <- run(t.Context(), []string{
			"wrap", "--state", dir, "--log", "none", "--mod-wait", "0", "--linger", "1ms", "--",
			"sh", "-c", `echo "[$` + gabp.EnvBridge + `]" > "$DIR/told"; read -r _ < "$DIR/end"; exit 0`,
		}, strings.NewReader(""), &testkit.Buffer{}, &testkit.Buffer{})
	}()
	come(t, addr, file.Token)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "end"), nil, 0o600))
	require.Zero(t, <-done)
	told := testkit.Must(os.ReadFile(filepath.Join(dir, "told")))
	require.Equal(t, "[]\n", string(told))
}
