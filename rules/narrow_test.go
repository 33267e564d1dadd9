package rules

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestNarrowed: a set that is narrowed to a family is the set that is compiled for it.
func TestNarrowed(t *testing.T) {
	set := defaultSet()
	tests := set.Test()
	for _, family := range []string{"rimworld", "plain"} {
		want := testkit.Must(compile(family, set.files()))
		got := testkit.Must(set.For(family))
		require.Equal(t, want.GameCode(), got.GameCode())
		require.Equal(t, want.Hash(), got.Hash())
		for i, r := range want.rules {
			o := got.rules[i]
			require.Equal(t, []any{r.ID, r.Disabled, r.MatchesAll}, []any{o.ID, o.Disabled, o.MatchesAll})
			require.ElementsMatch(t, r.Resolves, o.Resolves)
		}
		a, b := want.NewEvaluator(), got.NewEvaluator()
		for i := range tests {
			for _, level := range []event.Level{event.LevelUnknown, event.LevelError, event.LevelFatal} {
				in := Input{Template: tests[i].Template, Level: level}
				require.Equal(t, a.Evaluate(&in).Decision, b.Evaluate(&in).Decision)
			}
		}
	}
}
