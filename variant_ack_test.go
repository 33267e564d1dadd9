package heed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestAckedStaysKnown: what was acknowledged does not stop anyone again because more was learned of its group meanwhile.
func TestAckedStaysKnown(t *testing.T) {
	e := testkit.Must(heed.New(heed.Config{}))
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	say := func(who string) heed.Outcome {
		now = now.Add(time.Second)
		message := "the mill of the " + who + " hills runs dry"
		return e.Observe(event.Log{Level: event.LevelError, Time: now, Message: message}.Entry())
	}
	words := []string{"red", "blue", "green", "teal", "pink", "gray"}
	for _, w := range words {
		require.NotEmpty(t, say(w).AttentionID)
		for _, it := range e.Open(nil) {
			e.Ack("", it.ID, 0)
		}
	}
	for range 2 {
		for _, w := range words {
			now = now.Add(20 * time.Second)
			say(w)
			require.Empty(t, e.Open(nil), w)
		}
		e = testkit.Must(heed.Restore(heed.Config{}, e.Snapshot(nil)))
	}
	say("white")
	require.Len(t, e.Open(nil), 1, "a new variant of the group")
}
