package classify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/event"
)

// variantRules ignore what is not named.
const variantRules = `
  - {id: pump, when: 'template contains "pump"', disposition: blocking}
  - {id: often, when: 'template contains "valve"', disposition: ignore,
     escalate: {after: 3, within: 1m, to: blocking, severity: error}}
`

func TestVariant(t *testing.T) {
	long := strings.Repeat(" started", 40)
	c := newClassifier(t, variantRules, classify.Config{})
	small := newClassifier(t, variantRules, classify.Config{TemplateBytes: 1}) // keeps no template
	of := func(message string) string {
		e := event.Log{Message: message, Level: event.LevelInfo}.Entry()
		first := c.Decide(&e)
		require.Equal(t, first.Variant, c.Decide(&e).Variant, "known")
		require.Equal(t, first.Variant, small.Decide(&e).Variant, "not kept")
		return first.Variant
	}
	require.Equal(t, of("pump 1 state: stopped"), of("pump 2 state: stopped"))
	require.NotEqual(t, of("pump 1 state: stopped"), of("pump 2 state: started"))
	require.NotEmpty(t, of("pump 1 state: stopped"))
	require.Empty(t, of("fan 1 state: stopped"), "nobody asks for that of what is ignored")
	require.NotEmpty(t, of("valve 1 state: stopped"), "repetition may make it urgent")

	a, b := of(`pump 1 err="`+long+` closed"`), of(`pump 1 err="`+long+` opened"`)
	require.NotEqual(t, a, b, "what is cut still tells apart")
	require.LessOrEqual(t, len(a), 120)
}

func TestVariantIsSafe(t *testing.T) {
	c := newClassifier(t, variantRules, classify.Config{})
	e := event.Log{Message: "pump 1 failed err=\"\x1b[31m stopped\u202e\""}.Entry()
	v := c.Decide(&e).Variant
	require.NotContains(t, v, "\x1b")
	require.NotContains(t, v, "\u202e")
}

// TestVariantAllocates: an urgent entry of a known signature allocates nothing for its variant.
func TestVariantAllocates(t *testing.T) {
	c := newClassifier(t, variantRules, classify.Config{})
	a, b := event.Log{Message: "pump 1 state: stopped"}.Entry(), event.Log{Message: "pump 2 state: started"}.Entry()
	var variants [2]string
	require.Zero(t, testing.AllocsPerRun(100, func() {
		variants = [2]string{c.Decide(&a).Variant, c.Decide(&b).Variant}
	}))
	require.NotEqual(t, variants[0], variants[1])
}
