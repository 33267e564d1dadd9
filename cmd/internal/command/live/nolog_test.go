//go:build unix

package live

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

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
