//go:build unix

package live

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

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
