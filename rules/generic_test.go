package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/rules/lint"
)

// TestGeneric: the rules for any program compile, pass their tests and lint, and speak of no game.
func TestGeneric(t *testing.T) {
	set, err := rules.Compile(rules.Generic()...)
	require.NoError(t, err)
	for _, r := range set.Test() {
		assert.False(t, r.Failed, "%s", r.String())
	}
	require.Empty(t, lint.Lint(rules.Generic()...))
	for _, r := range set.Rules() {
		require.Empty(t, r.ShadowedBy, r.ID)
		for _, text := range []string{r.Summary, r.Why, r.Advice} {
			require.NotContains(t, strings.ToLower(text), "game", r.ID)
		}
	}
	rules.Generic()[0].Data[0] = 'x'
	require.Equal(t, byte('v'), rules.Generic()[0].Data[0], "the data is the caller's")
}
