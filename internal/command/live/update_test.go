//go:build unix

package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
)

// TestUpdate serves on the state that version 1 of signatures left: what blocked is one item, for the agent and for a
// person, and what comes then has the next number.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	log, rules, state := filepath.Join(dir, "Player.log"), filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "state")
	write(t, rules, testRules)
	write(t, log, "all is well\n")
	old, err := os.ReadFile("../../session/testdata/v1-blocking.snapshot")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(state, 0o700))
	write(t, filepath.Join(state, "serve-log.snapshot"), string(old))
	addr, token := reserve(t), filepath.Join(dir, "token")
	write(t, token, strings.Repeat("ab", 32)+"\n")
	_, errs := background(t, "serve", log, "--rules", rules, "--state", state, "--addr", addr, "--token-file", token)
	b, welcome := dial(t, addr, strings.Repeat("ab", 32))
	require.Nil(t, welcome.Error)
	open := b.blocked()
	require.Contains(t, open.Summary, "from before an update: 3 blocking items were open: 2, 3, 4; see serve-log.snapshot.v1")
	refused := b.tool("colony/build", "1")
	require.NotNil(t, refused.Error)
	require.Equal(t, gabp.CodeToolUnavailable, refused.Error.Code)

	out, code := runCommand(t, "current", "--state", state)
	require.Equal(t, exitFinding, code)
	require.Contains(t, out, "item 5\n")
	require.Contains(t, out, "the game crashed in native code")
	out, code = runCommand(t, "ack", "5", "--state", state)
	require.Zero(t, code, out)
	require.Nil(t, b.current())
	write(t, log, "FAULT one\n")
	require.True(t, strings.HasSuffix(b.blocked().AttentionID, "-6"))
	kept, err := os.ReadFile(filepath.Join(state, "serve-log.snapshot.v1"))
	require.NoError(t, err)
	require.Equal(t, old, kept)
	require.Contains(t, errs.String(), "from before an update")
}

// TestWrapUpdate starts a game on the state that version 1 left, kills heed and starts the game again: the item from
// before the update holds the agent's first call until it is acknowledged, and is reported once.
func TestWrapUpdate(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	require.NoError(t, os.Mkdir(state, 0o700))
	old, err := os.ReadFile("../../session/testdata/v1-blocking.snapshot")
	require.NoError(t, err)
	snapshot := filepath.Join(state, "wrap-colony.snapshot")
	write(t, snapshot, string(old))
	for range 2 {
		w := startIn(t, dir, nil, nil)
		b, welcome := dial(t, w.addr, w.token)
		require.Nil(t, welcome.Error)
		require.NotNil(t, b.tool("colony/build", "").Error)
		require.Contains(t, b.blocked().Summary, "from before an update: 3 blocking items were open: 2, 3, 4")
		require.NoError(t, w.cmd.Process.Kill())
		<-w.done
	}
	w := startIn(t, dir, nil, nil)
	b, welcome := dial(t, w.addr, w.token)
	require.Nil(t, welcome.Error)
	open := b.blocked()
	require.True(t, strings.HasSuffix(open.AttentionID, "-5"), open.AttentionID)
	acknowledged, next := b.ack(open.AttentionID)
	require.True(t, acknowledged)
	require.Nil(t, next)
	require.Nil(t, b.tool("colony/build", "").Error)
	kept, err := filepath.Glob(snapshot + "*")
	require.NoError(t, err)
	require.Equal(t, []string{snapshot, snapshot + ".v1"}, kept)
}
