//go:build unix

package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// TestFrozen is a game that is stopped by SIGSTOP, and one whose mod accepts connections and says nothing: the seconds
// until that is attention, and what the bridge sees meanwhile.
func TestFrozen(t *testing.T) {
	testkit.Full(t, "waits for a minute")
	for _, c := range []struct {
		name     string
		game     []string
		stop     bool   // the game
		call     string // what the tool does, "" for no call
		min, max time.Duration
	}{
		{"in a call", nil, true, "a wall", 14 * time.Second, 18 * time.Second},
		{"a call that is never answered", nil, false, "no answer", 14 * time.Second, 18 * time.Second},
		{"idle", nil, true, "", 59 * time.Second, 64 * time.Second},
		{"mute", []string{"mute"}, false, "", 56 * time.Second, 64 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t, []string{"--mod-wait", "1s"}, c.game...)
			pid := w.gamePID()
			if c.game == nil {
				require.Eventually(t, func() bool {
					log, _ := os.ReadFile(filepath.Join(w.dir, "state", "wrap-colony.log"))
					return strings.Contains(string(log), "the mod answers")
				}, patience, 10*time.Millisecond)
			}
			b, _ := dial(t, w.addr, w.token)
			require.Nil(t, b.call("events/subscribe", `{"channels":["attention/opened","attention/cleared"]}`).Error)
			began := time.Now()
			var result <-chan answer
			if c.stop {
				require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
				require.Eventually(t, func() bool {
					stat, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
					return err == nil && strings.HasPrefix(strings.TrimSpace(string(stat)), "T")
				}, patience, time.Millisecond)
			}
			if c.call != "" {
				result = b.send("tools/call", `{"name":"colony/build","parameters":{"what":"`+c.call+`"}}`)
			}
			require.Eventually(t, func() bool { return len(b.eventsOn(gabp.ChannelOpened)) > 0 }, patience, 10*time.Millisecond)
			took := time.Since(began)
			t.Logf("an item after %.1f s", took.Seconds())
			require.GreaterOrEqual(t, took, c.min)
			require.LessOrEqual(t, took, c.max)
			asked := time.Now()
			it := b.current()
			t.Logf("attention/current after %v: %s", time.Since(asked), it.Summary)
			require.Less(t, time.Since(asked), 1500*time.Millisecond)
			require.True(t, it.Blocking)
			require.Contains(t, it.Summary, "the game does not answer")
			if !c.stop {
				return
			}
			require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
			require.Eventually(t, func() bool { return b.current() == nil }, patience, 10*time.Millisecond)
			if c.call != "" {
				require.Contains(t, string((<-result).Result), `"outcome":"unknown","reason":"background"`)
			}
		})
	}
}
