package heed_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// TestFamily: text of one game decides in its logs, and where no family is named.
func TestFamily(t *testing.T) {
	entry := event.Entry{Level: event.LevelFatal, Message: "Exception ticking Widget12 (at (1, 0, 5)): none left"}
	set := testkit.Must(rules.Compile(rules.Defaults()...))
	rule := func(e *heed.Engine) string { return e.Observe(entry).Decision.Rule }
	for family, want := range map[string]string{
		"": "ticking.exception", "rimworld": "ticking.exception", "unity": "default.log.fatal", "plain": "default.log.fatal",
	} {
		e := testkit.Must(heed.New(heed.Config{Family: family, Rules: set}))
		assert.Equal(t, want, rule(e), family)
		require.NoError(t, e.SetFamily("rimworld"))
		assert.Equal(t, "ticking.exception", rule(e))
		require.NoError(t, e.SetFamily("smapi"))
		assert.Equal(t, "default.log.fatal", rule(e))
		require.NoError(t, e.SetRules(set), "the family stays")
		assert.Equal(t, "default.log.fatal", rule(e))
		require.ErrorContains(t, e.SetFamily("smurf"), "heed: SetFamily: unknown family")
		assert.Equal(t, "default.log.fatal", rule(e))
	}
	_, err := heed.New(heed.Config{Family: "smurf", Rules: set})
	require.ErrorContains(t, err, "heed: Config.Family: unknown family")
}

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
