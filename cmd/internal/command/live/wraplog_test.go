//go:build unix

package live

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// TestWrapNoLog: without a log the first call is held back, and calls are unknown. The owner may want none.
func TestWrapNoLog(t *testing.T) {
	t.Parallel()
	startLogged(t, "none").clean()
	for why, args := range map[string][]string{"no log was found": nil, "cannot be followed": {"-logFile", os.DevNull}} {
		l := startLogged(t, "", args...)
		l.blind(why)
		require.Regexp(t, `"reason":"blind","text":".*; see item [^"]+-1\.",`, l.verdict("a wall"), "the item that says why")
		out, _ := runCommand(t, "status", "--state", filepath.Join(l.dir, "state"))
		require.Contains(t, out, "called colony/build: completed (unknown: blind), ")
	}
}

// TestWrapOldLog: what a run before has left is no log of this one. The game's own log is found as soon as it is there.
func TestWrapOldLog(t *testing.T) {
	t.Parallel()
	w, b := began(t, []string{withDefaults}, "no-log")
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
	require.NotContains(t, b.entries(), "FAULT")

	require.NoError(t, os.Rename(filepath.Join(w.dir, "Player.log"), filepath.Join(w.dir, "Player-prev.log")))
	write(t, filepath.Join(w.dir, "new"), "The game starts\n") // and is not open when it is seen
	require.NoError(t, os.Rename(filepath.Join(w.dir, "new"), filepath.Join(w.dir, "Player.log")))
	await(t, func() bool { return strings.Contains(verdict(), `"outcome":"clean"`) })
	out, _ = runCommand(t, "status", "--state", state)
	require.Contains(t, out, "it was created since the start")
}

// TestWrapAnotherLog: another instance of the game that takes the path of our game's log takes neither the log nor what
// is in it. Where our game itself begins another file, that one is followed.
func TestWrapAnotherLog(t *testing.T) {
	t.Parallel()
	needs(t, "/proc/self/fdinfo", "the system does not say who has a file open")
	w, b := began(t, nil)
	require.Contains(t, string(b.tool("colony/build", "a wall").Result), `"outcome":"clean"`)
	path := filepath.Join(w.dir, "Player.log")
	require.NoError(t, os.Rename(path, filepath.Join(w.dir, "Player-prev.log")))
	other := testkit.Must(os.Create(path)) // by a process that heed has not started
	defer other.Close()                    //nolint:errcheck // what was written to it is not read
	testkit.Must(other.WriteString("FAULT of another game\n"))
	require.Contains(t, string(b.tool("colony/build", "a wall").Result), `"outcome":"clean"`)
	out, _ := runCommand(t, "status", "--state", filepath.Join(w.dir, "state"))
	require.Contains(t, out, "another file is at its path")
	require.Contains(t, string(b.tool("colony/build", "fault in between").Result), `"reason":"charged"`, "of its own file")
	require.NotContains(t, b.entries(), "FAULT of another game")
	b.ack(b.blocked().AttentionID)

	require.NoError(t, other.Close())
	require.Nil(t, b.tool("colony/build", "rotate").Error) // the other's becomes Player-prev.log
	await(t, func() bool { return strings.Contains(b.entries(), "The game goes on") })
	require.Contains(t, string(b.tool("colony/build", "stamped file").Result), `"reason":"charged"`)
	require.NotContains(t, b.entries(), "FAULT of another game")
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
			b := come(t, w.addr, w.token)
			if closes {
				require.NotNil(t, b.tool("colony/build", fault).Error, "there is no log yet")
				b.ack(b.blocked().AttentionID)
			}
			require.Contains(t, string(b.tool("colony/build", fault).Result), `"reason":"charged"`)
			open := b.blocked().AttentionID
			require.Nil(t, b.tool("colony/look", rotate).Error)
			require.Nil(t, b.tool("colony/look", fault).Error)
			await(t, func() bool { return strings.Count(b.entries(), "FAULT") == 2 })
			require.NotContains(t, b.entries(), "restarted")
			require.Equal(t, open, b.blocked().AttentionID)
			require.NotNil(t, b.tool("colony/build", "not this").Error)
		})
	}
}

// logged is what a wrapped game's log is to heed.
type logged struct {
	*wrapped
	*fakeBridge
}

func startLogged(t *testing.T, path string, args ...string) *logged {
	t.Helper()
	w, b := began(t, []string{"--log=" + path, withDefaults}, append([]string{"no-log"}, args...)...)
	return &logged{w, b}
}

// begin lets the game begin its log at a path.
func (l *logged) begin(path string) {
	l.wrapped.t.Helper()
	name := testkit.Must(json.Marshal(path))
	require.Nil(l.wrapped.t, l.fakeBridge.call("tools/call",
		`{"name":"colony/look","parameters":{"what":"begin","path":`+string(name)+`}}`).Error)
}

// verdict returns the verdict of a call that is not held back.
func (l *logged) verdict(what string) string {
	l.wrapped.t.Helper()
	a := l.tool("colony/build", what)
	if a.Error != nil {
		return a.Error.Message
	}
	return string(a.Result)
}

// clean waits until a call is clean, with nothing open.
func (l *logged) clean() {
	l.wrapped.t.Helper()
	await(l.wrapped.t, func() bool { return strings.Contains(l.verdict("a wall"), `"outcome":"clean"`) })
	require.Nil(l.wrapped.t, l.current())
}

// blind requires that the first call is held back, with one item that says why, and returns its text.
func (l *logged) blind(why string) string {
	l.wrapped.t.Helper()
	require.NotNil(l.wrapped.t, l.tool("colony/build", "a wall").Error)
	open := l.blocked()
	text := open.Summary + " " +
		string(l.fakeBridge.call("tools/call", `{"name":"heed/item","arguments":{"id":"`+open.AttentionID+`"}}`).Result)
	require.Contains(l.wrapped.t, text, why)
	require.NotContains(l.wrapped.t, l.executed(), "colony/build a wall")
	l.ack(open.AttentionID)
	require.Contains(l.wrapped.t, l.verdict("a wall"), `"outcome":"unknown","reason":"blind"`)
	require.Nil(l.wrapped.t, l.current(), "one item")
	return text
}

// TestWrapLogTrouble is the table of paths at which there is no log, and of what mends that.
func TestWrapLogTrouble(t *testing.T) {
	for _, c := range []struct {
		name, path, why string
		before, spoil   func(t *testing.T, path string)
	}{
		{"a folder that comes later", "Logs/deep/Player.log", "there is no file", nil, nil},
		{"a link to nothing", "link.log", "there is no file", func(t *testing.T, path string) {
			require.NoError(t, os.Symlink(path+".target", path))
		}, nil},
		{"a link to itself", "loop.log", "cannot see", func(t *testing.T, path string) {
			require.NoError(t, os.Symlink(path, path))
		}, nil},
		{"a folder in its place", "Player2.log", "is a folder", nil, func(t *testing.T, path string) {
			require.NoError(t, os.Mkdir(path, 0o700))
		}},
		{"a pipe in its place", "Player2.log", "is a pipe", nil, func(t *testing.T, path string) {
			require.NoError(t, syscall.Mkfifo(path, 0o600))
		}},
		{"a file in place of its folder", "Logs/Player.log", "cannot see", nil, func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(filepath.Dir(path), nil, 0o600))
		}},
		{"a name that spoils a terminal", "Pl\x1b[2J\nayer.log", "there is no file", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.spoil != nil && c.why != "is a pipe" || c.name == "a link to itself" {
				testkit.Full(t, "starts a game for each kind of trouble")
			}
			path := filepath.Join(t.TempDir(), c.path)
			if c.before != nil {
				c.before(t, path)
			}
			l := startLogged(t, path)
			if c.spoil != nil {
				c.spoil(t, path)
			}
			text := l.blind(c.why)
			require.NotContains(t, text, "\x1b")
			require.NotContains(t, text, `\u001b`)
			out, _ := runCommand(t, "status", "--state", filepath.Join(l.dir, "state"))
			require.NotContains(t, out, "\x1b[2J")

			if c.spoil != nil {
				require.NoError(t, os.RemoveAll(filepath.Dir(path)))
			}
			if c.why == "cannot see" {
				_ = os.Remove(path)
			}
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			if c.name == "a link to nothing" {
				path += ".target"
			}
			l.begin(path)
			l.clean()
			require.Contains(t, l.verdict("stamped file"), "attention")
			require.Contains(t, l.blocked().Summary, "planted fault")
		})
	}
}

// TestWrapLogRemoved: a log that was removed while the game writes it is still read.
func TestWrapLogRemoved(t *testing.T) {
	needs(t, "/proc/self/fdinfo", "the system does not say who has a file open")
	path := filepath.Join(t.TempDir(), "Player.log")
	l := startLogged(t, path)
	l.begin(path)
	l.clean()
	require.NoError(t, os.Remove(path))
	l.clean()
	require.Contains(t, l.verdict("stamped file"), "attention")
}

func TestWrapWithoutMod(t *testing.T) {
	t.Parallel()
	w := start(t, nil, "no-mod")
	w.gamePID()
	log := testkit.Must(os.OpenFile(filepath.Join(w.dir, "Player.log"), os.O_APPEND|os.O_WRONLY, 0o600))
	t.Cleanup(func() { _ = log.Close() })
	watcher, err := gabp.Dial(t.Context(), w.addr, gabp.ClientConfig{Token: w.token, Name: clientName})
	require.NoError(t, err, "one that only looks is not kept waiting")
	t.Cleanup(func() { _ = watcher.Close() })
	require.Eventually(t, func() bool {
		_, _ = log.WriteString("MENU is reached\n") // before heed follows the log, it is of no account
		status, err := watcher.CallTool(t.Context(), bridge.ToolStatus, nil)
		return err == nil && strings.Contains(string(status), `"phase":"menu"`)
	}, patience, 20*time.Millisecond)
	require.Len(t, testkit.Must(listTools(t.Context(), watcher)), len(bridge.Tools()))
	b := come(t, w.addr, w.token)
	a := b.tool("colony/build", "a wall")
	require.Contains(t, a.Error.Message, "no mod")
	testkit.Must(log.WriteString("FAULT without a mod\n"))
	require.Contains(t, b.blocked().Summary, "planted fault")
}

// A bridge that was answered before the mod is there stays, and gets the mod's tools when it asks.
func TestWrapSlowMod(t *testing.T) {
	t.Parallel()
	w := start(t, []string{"--mod-wait", "1ms"}, "slow")
	var c *gabp.Client
	await(t, func() bool {
		var err error
		c, err = gabp.Dial(t.Context(), w.addr, gabp.ClientConfig{Token: w.token, Name: "bridge"})
		return err == nil
	})
	t.Cleanup(func() { _ = c.Close() })
	names := func() (list []string) {
		for _, tool := range testkit.Must(listTools(t.Context(), c)) {
			list = append(list, tool.Name)
		}
		return list
	}
	require.NotContains(t, names(), "colony/build")
	require.NoError(t, os.WriteFile(filepath.Join(w.dir, "loaded"), nil, 0o600))
	await(t, func() bool { return slices.Contains(names(), "colony/build") })
}
