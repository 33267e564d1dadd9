package bridge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
)

// TestLoadWithoutEnd holds what a bridge hears while a game is loaded and the log has no end of the load: a fault after a
// result is in the next result, and the second call that the mod answered ends the load.
func TestLoadWithoutEnd(t *testing.T) {
	m := &fakeMod{tools: buildTool, answers: done}
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		p.session.Observe(event.Log{Message: "Loading game from file Riverbend"}.Entry())
		p.acks(p.bridge, p.fault("Broken thing"))
		time.Sleep(3 * time.Second)
		id := p.fault("Fault of another kind")

		other := p.dial("helper")
		h := p.hears(p.bridge, "colony/build")
		require.Equal(t, "unknown", h.Verdict.Outcome)
		require.Equal(t, id, h.Attention.ID)
		require.False(t, h.Attention.Blocking)

		h = p.hears(other, "colony/build")
		require.Equal(t, "unknown", h.Verdict.Outcome)
		require.Equal(t, id, h.Attention.ID)
		require.True(t, h.Attention.Blocking, "two calls were answered: the game is played")

		h = p.hears(p.bridge, "colony/build")
		require.False(t, *h.Executed)
		require.Equal(t, id, h.Attention.ID)
	})
}
