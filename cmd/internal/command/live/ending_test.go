//go:build unix

package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// awaitLog waits until heed's own log has a line with text.
func (w *wrapped) awaitLog(text string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		log, _ := os.ReadFile(filepath.Join(w.dir, "state", "wrap-colony.log"))
		return strings.Contains(string(log), text)
	}, patience, time.Millisecond, "heed does not log %q", text)
}

// TestEndBeforeWelcome: a bridge that waits for the mod is told at once that the game ended, with its status and what it
// wrote last, in the message of the error, which is what an agent sees.
func TestEndBeforeWelcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"with an error", []string{"dies", "3"}, 3, "the game exited with 3"},
		{"without", []string{"dies", "0"}, 0, "the game exited with 0"},
		{"by a crash", []string{"crashes"}, 139, "the game crashed: SIGSEGV (segmentation fault), status 139"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.code == 3 {
				testkit.Full(t, "starts a game for each end")
			}
			w := start(t, []string{"--mod-wait", "1h", "--linger", "1h", withDefaults}, c.args...)
			w.gamePID()
			welcome := connect(t, w.addr).send("session/hello", hello(w.token))
			w.awaitLog("a bridge waits for the game's mod")
			require.NoError(t, os.WriteFile(filepath.Join(w.dir, "loaded"), nil, 0o600))
			refused := <-welcome
			require.NotNil(t, refused.Error)
			require.Equal(t, gabp.CodeEnded, refused.Error.Code)
			require.Equal(t, c.says+" before its mod answered; the last that it wrote, in its own words:\n"+
				"  log: The game starts\n"+
				"  log: Loading the last thing\\x1b[2J\n"+
				"  stdout: the game speaks\n"+
				"  stderr: the game complains\n"+
				"  stderr: libfoo.so: cannot open \\x1b[2J shared object", refused.Error.Message)
			var data struct {
				ExitCode int
				Output   []bridge.Output
			}
			require.NoError(t, json.Unmarshal(refused.Error.Data, &data))
			require.Equal(t, c.code, data.ExitCode)
			require.Len(t, data.Output, 5)

			// heed goes on to answer: the next bridge, and a person.
			_, again := dial(t, w.addr, w.token)
			require.NotNil(t, again.Error)
			require.Equal(t, refused.Error.Message, again.Error.Message)
			out, _ := runCommand(t, "current", "--state", filepath.Join(w.dir, "state"))
			if c.code == 0 {
				require.Equal(t, "nothing is open\n", out)
			} else {
				require.Regexp(t, "the (process ended|program crashed)", out)
			}
			w.ends(os.Interrupt, c.code)
			require.Equal(t, "the game speaks\n", w.out.String())
			require.Equal(t, "the game complains\nlibfoo.so: cannot open \x1b[2J shared object\n", w.errs.String())
		})
	}
}

// TestOutputInOne: where standard output and error are one file, what a game writes to them keeps its order.
func TestOutputInOne(t *testing.T) {
	both := testkit.Must(os.Create(filepath.Join(t.TempDir(), "both")))
	t.Cleanup(func() { _ = both.Close() })
	code := run(t.Context(), []string{
		"wrap", "--state", t.TempDir(), "--log", "none", "--linger", "1ms", "--", "sh", "-c",
		"for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; exit 4",
	}, strings.NewReader(""), both, both)
	require.Equal(t, 4, code)
	text := testkit.Must(os.ReadFile(both.Name()))
	require.Equal(t, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nout 4\nerr 4\nout 5\nerr 5\n", string(text))
}

// TestCrash: a crash is one item, with a headline that says so, whatever is seen of it: the end of the process, a report
// in the log, the loss of the connection, a call that was under way.
func TestCrash(t *testing.T) {
	t.Parallel()
	testkit.Full(t, "starts many games")
	for _, c := range []struct {
		what, tool string
		summary    string
		code       int
	}{
		{"crash", "colony/look", "crashed with SIGSEGV, a segmentation fault", 139},
		{"crash", "colony/build", "crashed with SIGSEGV, a segmentation fault", 139},
		{"crash in the log", "colony/look", "fatal signal and is crashing|native crash report", 139},
		{"crash in the log", "colony/build", "fatal signal and is crashing|native crash report", 139},
		{"abort", "colony/build", "crashed with SIGABRT", 134},
	} {
		t.Run(c.what+" "+c.tool, func(t *testing.T) {
			w, b := began(t, []string{"--linger", "1h", withDefaults})
			lost := b.tool(c.tool, c.what)
			require.NotNil(t, lost.Error)
			require.Contains(t, lost.Error.Message, "the game crashed: SIG")
			require.Contains(t, lost.Error.Message, "whether the request was executed is not known")

			items := decoded[bridge.Items](t, b.call("tools/call", `{"name":"heed/items"}`).Result)
			blocking := 0
			for _, it := range items.Items {
				t.Log(it.Summary, it.Blocking)
				if it.Blocking {
					blocking++
				}
			}
			open := b.current()
			require.Regexp(t, c.summary, open.Summary)
			require.Equal(t, 1, blocking, "one incident is one stop")
			require.True(t, open.StateInvalidated)
			entries := b.entries()
			require.NotContains(t, entries, `"disconnected"`)
			if c.what == "abort" {
				require.Contains(t, entries, "free(): invalid pointer")
			}
			w.ends(os.Interrupt, c.code)
		})
	}
}

// TestLaunched: a game in a session of its own gets the signal that heed got, and time to save, whether what started it
// goes on or not; how it ends is how heed ends.
func TestLaunched(t *testing.T) {
	t.Parallel()
	testkit.Full(t, "starts many games")
	if runtime.GOOS != "linux" {
		t.Skip("a descendant with a session of its own is found on Linux only")
	}
	for _, c := range []struct {
		mode, what string
		status     int
	}{
		{"launcher", "", 0},
		{"launcher", "crash", 139},
		{"parent", "", 143}, // of the parent, which ended by it
		{"parent", "crash", 9},
	} {
		t.Run(c.mode+" "+c.what, func(t *testing.T) {
			w, b := began(t, []string{"--linger", "1h", withDefaults}, c.mode)
			require.Nil(t, b.tool("colony/look", "").Error)
			pid := w.gamePID()
			if c.mode == "launcher" { // it has gone
				await(t, func() bool {
					status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
					return err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", w.cmd.Process.Pid))
				})
			}
			if c.what == "" {
				require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
			} else {
				require.NotNil(t, b.tool("colony/build", c.what).Error)
				require.Regexp(t, "the (program crashed with SIGSEGV|process ended)", b.blocked().Summary)
				require.NoError(t, w.cmd.Process.Signal(syscall.SIGTERM))
			}
			require.Equal(t, c.status, w.exit())
			w.requireNothingLeft(pid, true)
			var saved bool
			if c.what == "" {
				w.read("saved", &saved)
			}
			require.Equal(t, c.what == "", saved)
		})
	}
}

// TestNextGame: what a dead game left holds no call of the next one back, and nothing that happens in the next one is
// charged to it, with the state of before or without, at the same log. With it, the agent is told what was open.
func TestNextGame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		state bool
		die   func(w *wrapped, b *fakeBridge)
	}{
		{"crashed", true, func(w *wrapped, b *fakeBridge) { b.tool("colony/build", "crash in the log") }},
		{"crashed, without its state", false, func(w *wrapped, b *fakeBridge) {
			b.tool("colony/build", "crash in the log")
		}},
		{"seen by its agent", true, func(w *wrapped, b *fakeBridge) {
			b.tool("colony/build", "fault after")
			b.blocked()
			b.send("tools/call", `{"name":"colony/look","parameters":{"what":"exit","code":3}}`)
		}},
		{"killed with heed in a call", true, func(w *wrapped, b *fakeBridge) {
			b.send("tools/call", `{"name":"colony/build","parameters":{"what":"no answer"}}`)
			await(t, func() bool { return len(w.executed()) > 0 })
			write(t, filepath.Join(w.dir, "Player.log"), "FAULT during a call that does not end\n")
			b.blocked() // it is saved by now
			require.NoError(t, w.cmd.Process.Kill())
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "crashed" {
				testkit.Full(t, "starts two games for each end of the first")
			}
			dir := t.TempDir()
			first := startIn(t, dir, nil, []string{"--linger", "1s"}) // the call of a crash is answered
			b := come(t, first.addr, first.token)
			require.Nil(t, b.tool("colony/build", "a wall").Error)
			c.die(first, b)
			first.exit()
			first.requireNothingLeft(first.gamePID(), false)

			if !c.state {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, "state")))
			}
			next := startIn(t, dir, nil, nil)
			b = come(t, next.addr, next.token)
			a := b.tool("colony/build", "a wall")
			require.Nil(t, a.Error, "the first call is executed")
			open := b.current()
			if c.state {
				require.NotNil(t, open)
				require.False(t, open.Blocking)
				require.Contains(t, open.Summary, "before you connected: ")
			} else {
				require.Nil(t, open)
			}
			require.Contains(t, string(memberOf(t, a.Result, "verdict")), `"outcome":"clean"`)
			require.Contains(t, string(memberOf(t, b.tool("colony/build", "fault in between").Result, "verdict")), `"reason":"charged"`)
			require.Contains(t, b.blocked().Summary, "; after colony/build")
		})
	}
}
