package heed_test

import (
	"testing"

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
