package gabp

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplyPlaced: what is called when a reply has its place is called before anybody can take
// the reply, and not at all for one that is lost.
func TestReplyPlaced(t *testing.T) {
	lim := defaultLimits(t)
	b := newOutbox(&lim)
	placed := 0
	b.reply(message{ID: "1", Type: typeResponse}, func() {
		placed++
		require.Len(t, b.replies, 1)
		require.False(t, b.mu.TryLock(), "nobody takes it yet")
	})
	require.Equal(t, 1, placed)
	b.end()
	b.reply(message{ID: "2", Type: typeResponse}, func() { placed++ })
	require.Equal(t, 1, placed)
}
