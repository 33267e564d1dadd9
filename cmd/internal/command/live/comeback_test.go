//go:build unix

package live

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/event"
)

// TestBridgeComesBack: a bridge that went, as one that was killed does, and comes again with its token, under its launch
// id or another, finds what was open, is held back by it, and acknowledges it by the id that it knew, once. Of calls that
// were under way it is recorded that nobody saw their end.
func TestBridgeComesBack(t *testing.T) {
	t.Parallel()
	for _, launch := range []string{"1", "2"} {
		t.Run("launch "+launch, func(t *testing.T) {
			w := start(t, []string{withDefaults})
			come := func(launch string) *fakeBridge {
				b := connect(t, w.addr)
				require.Nil(t, b.call("session/hello", helloOf(w.token, launch)).Error)
				return b
			}
			b := come("1")
			require.Nil(t, b.tool("colony/build", "fault after").Error)
			seen := b.blocked()
			b.leave()

			b = come(launch)
			require.NotNil(t, b.tool("colony/build", "not this").Error, "the first call is held back")
			require.NotContains(t, w.executed(), "colony/build not this")
			b.leave()
			b = come(launch)
			done, still := b.ack(seen.AttentionID) // as it was shown before
			require.True(t, done)
			require.Nil(t, still)
			require.Nil(t, b.current())
			require.Nil(t, b.tool("colony/build", "a wall").Error)

			// What came while nobody was there is not covered by what was seen.
			require.Nil(t, b.tool("colony/build", "stamped file").Error)
			seen = b.blocked()
			b.leave()
			write(t, filepath.Join(w.dir, "Player.log"), "Another FAULT that nobody has seen\n")
			state := filepath.Join(w.dir, "state")
			await(t, func() bool {
				out, _ := runCommand(t, "tail", "--last", "0", "--state", state)
				return strings.Contains(out, "Another FAULT")
			})
			b = come(launch)
			done, still = b.ack(seen.AttentionID)
			require.True(t, done)
			require.NotNil(t, still, "news after what was shown")
			require.True(t, still.Blocking)
			b.ack(still.AttentionID)
			b.clear()

			// A call under way when it goes.
			b.send("tools/call", `{"name":"colony/build","parameters":{"what":"no answer"}}`)
			await(t, func() bool {
				calls := w.executed()
				return calls[len(calls)-1] == "colony/build no answer"
			})
			b.leave()
			b = come(launch)
			open := b.blocked()
			require.Equal(t, "colony/build", open.CausalMethod)
			require.True(t, open.Blocking && open.StateInvalidated)
			require.Contains(t, open.Summary, "the caller left")
			require.NotContains(t, open.Summary, "did not answer in time")
			require.Contains(t, open.Summary, "its outcome is not known")
			require.NotNil(t, b.tool("colony/build", "not this").Error)
			calls := decoded[bridge.Operations](t, b.call("tools/call", `{"name":"heed/operations"}`).Result)
			require.Equal(t, event.StatusCancelled, calls.Operations[0].Status)
			done, still = b.ack(open.AttentionID)
			require.True(t, done)
			require.Nil(t, still)
			require.Nil(t, b.tool("colony/build", "a wall").Error)
			require.NoError(t, w.cmd.Process.Signal(os.Interrupt))
		})
	}
}

// leave ends the connection as the system does for a process that was killed with data unread.
func (b *fakeBridge) leave() {
	b.t.Helper()
	require.NoError(b.t, b.conn.(*net.TCPConn).SetLinger(0))
	require.NoError(b.t, b.conn.Close())
}

// TestStatusOfALateFault holds that the status has the present verdict of the latest call, in place of the one at its
// answer.
func TestStatusOfALateFault(t *testing.T) {
	t.Parallel()
	w := start(t, []string{withDefaults})
	b := connect(t, w.addr)
	require.Nil(t, b.call("session/hello", helloOf(w.token, "1")).Error)
	require.Nil(t, b.tool("colony/build", "a wall").Error)
	write(t, filepath.Join(w.dir, "Player.log"), "A late FAULT\n")
	await(t, func() bool {
		out, _ := runCommand(t, "status", "--state", filepath.Join(w.dir, "state"))
		return strings.Contains(out, "called colony/build: completed (blocking), ")
	})
	require.NoError(t, w.cmd.Process.Signal(os.Interrupt))
}
