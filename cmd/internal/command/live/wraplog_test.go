//go:build unix

package live

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
