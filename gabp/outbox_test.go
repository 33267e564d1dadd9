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
	b.reply(Message{ID: "1", Type: TypeResponse}, func() {
		placed++
		require.Len(t, b.replies, 1)
		require.False(t, b.mu.TryLock(), "nobody takes it yet")
	})
	require.Equal(t, 1, placed)
	b.end()
	b.reply(Message{ID: "2", Type: TypeResponse}, func() { placed++ })
	require.Equal(t, 1, placed)
}
