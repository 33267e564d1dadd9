package session_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

const loadRules = testRules + `  - {id: loads, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
  - {id: leaves, when: 'template startsWith "UnloadTime"', disposition: ignore, sets_phase: menu}
`

// distinct returns a fault whose group no other one shares.
func distinct(n int) string {
	var b strings.Builder
	r := rand.New(rand.NewPCG(uint64(n), 1))
	b.WriteString("Broken")
	for range 3 + r.IntN(6) {
		b.WriteByte(' ')
		for range 5 + r.IntN(6) {
			b.WriteByte(byte('a' + r.IntN(26)))
		}
	}
	return b.String()
}

// TestLoadDeferred holds that no result is clean while an item waits for the end of a load, for any consumer, and
// which calls end a load.
func TestLoadDeferred(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := following(t, session.Config{Engine: heed.Config{Rules: compile(t, loadRules)}})
		across := s.Begin(session.Call{Tool: "colony/load", Consumer: "ann"})
		f.write("Loading game from file Riverbend", distinct(1))
		require.NoError(t, s.Sync(t.Context()))
		a, _ := s.Current(t.Context(), "ann")
		s.Ack(t.Context(), "ann", a.ID, 0)
		time.Sleep(3 * time.Second)
		f.write(distinct(2))
		require.NoError(t, s.Sync(t.Context()))

		call := func(consumer string, status event.Status, r *session.Running) (heed.Verdict, *heed.Item) {
			t.Helper()
			if r == nil {
				r = s.Begin(session.Call{Tool: "colony/build", Consumer: consumer})
			}
			v, related := end(t, r, status)
			return v, related
		}
		waits := func(v heed.Verdict, related *heed.Item) {
			t.Helper()
			require.NotEqual(t, coalesce.Clean, v.Outcome)
			require.NotNil(t, related)
			require.False(t, related.Blocking)
			require.Equal(t, coalesce.Open, related.State)
		}
		v, _ := call("", event.StatusCompleted, across)
		require.NotEqual(t, coalesce.Clean, v.Outcome)
		for range 3 {
			waits(call("bob", event.StatusFailed, nil))
			look := s.Begin(session.Call{Tool: "colony/look", Tags: []string{"read-only"}})
			end(t, look, event.StatusCompleted)
		}
		waits(call("ann", event.StatusCompleted, nil))
		v, related := call("bob", event.StatusCompleted, nil)
		require.Equal(t, coalesce.Unknown, v.Outcome)
		require.True(t, related.Blocking, "the load is over")

		// Of another load, one call and five seconds.
		s.Ack(t.Context(), "bob", related.ID, 0)
		time.Sleep(3 * time.Second)
		f.write("UnloadTime: 1 ms", "Loading game from file Riverbend", distinct(3))
		require.NoError(t, s.Sync(t.Context()))
		a, _ = s.Current(t.Context(), "ann")
		s.Ack(t.Context(), "ann", a.ID, 0)
		time.Sleep(2 * time.Second)
		f.write(distinct(4))
		require.NoError(t, s.Sync(t.Context()))
		waits(call("ann", event.StatusCompleted, nil))
		time.Sleep(4900 * ms)
		holds := func() bool {
			a, open, err := s.Source(false).Current(t.Context(), "ann")
			require.NoError(t, err)
			return open && a.Blocking
		}
		require.False(t, holds())
		time.Sleep(session.DefaultTick)
		require.True(t, holds(), "no entry came since")
	})
}
