//go:build unix

package live

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// TestWrapUpdate wraps a game whose agent is held back, kills heed, and starts the game again on a state that
// cannot be restored, as one of another version cannot: the item is the same, holds the agent's first call until it is
// acknowledged, and is reported once.
func TestWrapUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	snapshot := filepath.Join(dir, "state", "wrap-colony.snapshot")
	w := startIn(t, dir, nil, nil)
	b := come(t, w.addr, w.token)
	require.Nil(t, b.tool("colony/build", "").Error) // the game runs
	log := testkit.Must(os.OpenFile(filepath.Join(dir, "Player.log"), os.O_APPEND|os.O_WRONLY, 0))
	testkit.Must(log.WriteString("FAULT one\n"))
	require.NoError(t, log.Close())
	id := b.blocked().AttentionID
	require.NoError(t, w.cmd.Process.Kill())
	<-w.done
	for range 2 {
		old := testkit.Must(os.ReadFile(snapshot))
		old = bytes.Replace(old, []byte(`"Format":`), []byte(`"Format":9`), 1)
		require.NoError(t, os.WriteFile(snapshot, old, 0o600))
		w := startIn(t, dir, nil, nil)
		b := come(t, w.addr, w.token)
		refused := b.tool("colony/build", "1")
		require.NotNil(t, refused.Error)
		require.Equal(t, gabp.CodeToolUnavailable, refused.Error.Code)
		require.Equal(t, id, b.blocked().AttentionID)
		out := done(t, exitOK, "status", "--state", filepath.Join(dir, "state"))
		require.Contains(t, out, "not restored as a whole: ")
		said := testkit.Must(os.ReadFile(filepath.Join(dir, "state", "wrap-colony.log")))
		require.Contains(t, string(said), "numbers, phase, blindness and blocking items were kept")
		require.NoError(t, w.cmd.Process.Kill())
		<-w.done
	}
	w = startIn(t, dir, nil, nil)
	b = come(t, w.addr, w.token)
	acknowledged, next := b.ack(id)
	require.True(t, acknowledged)
	require.Nil(t, next)
	require.Nil(t, b.tool("colony/build", "").Error)
	require.Subset(t, []string{snapshot, snapshot + ".calls"}, testkit.Must(filepath.Glob(snapshot+"*")))
}
