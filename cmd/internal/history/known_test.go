package history_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestKnownSuspect: of eight mods that came together, the one that a fault goes with is named once it went and came
// again; before that, all of them are alike.
func TestKnownSuspect(t *testing.T) {
	h := open(t, history.Config{})
	old := mods("Core", "Hats")
	added := mods("A", "B", "C", "D", "E", "F", "G", "Crane")
	all := slices.Concat(old, added)
	known := func(language ...map[string]string) string {
		return testkit.Must(h.Known(t.Context(), session(99, "", nil), 2, language...))
	}
	n := 0
	play := func(times int, list []capture.ListedMod, groups ...signature.ID) {
		for range times {
			n++
			remember(t, h, session(uint64(n), "broken", list, groups...), day(n))
		}
	}
	play(5, old)
	play(2, all, 2)
	require.Equal(t, "new since 6 November, when A, B, C and 5 others were added; 2 of 2 sessions since, 0 of 5 before", known())
	play(2, all, 2)
	require.Equal(t, "suspect: A, or B, or C, or 5 more, in 4 of 4 sessions with it and in 0 of 5 without; it changed only once, "+
		"so anything else that changed then looks the same; new since 6 November, when A, B, C and 5 others were added", known())
	play(3, slices.Concat(old, added[:7]))
	play(2, all, 2)
	require.Equal(t, "suspect: Crane, in 6 of 6 sessions with it and in 0 of 8 without; new since 6 November, when A, B, C and "+
		"5 others were added; 6 of 9 sessions since, 0 of 5 before", known())
	require.Equal(t, "Verdacht: Crane, in 6 von 6 Sitzungen damit und in 0 von 8 ohne; neu seit 6.11.; damals: A, B, C und "+
		"5 weitere kamen hinzu; seitdem 6 von 9 Sitzungen, davor 0 von 5", known(rules.Texts("de")))
}

// TestKnownOfOne: one session with the group has nothing to compare; one without it is where the group was not.
func TestKnownOfOne(t *testing.T) {
	h := open(t, history.Config{})
	remember(t, h, session(1, "broken", nil, 2), day(1))
	known := func(group signature.ID) string {
		return testkit.Must(h.Known(t.Context(), session(9, "", nil), group))
	}
	require.Empty(t, known(2))
	require.NotEmpty(t, known(3))
	remember(t, h, session(2, "broken", nil, 3), day(2))
	require.NotEmpty(t, known(2))
	require.NotEmpty(t, known(3))
}

// TestKnownWithoutVersions: a group is new in a game of which no session shows a version or mods.
func TestKnownWithoutVersions(t *testing.T) {
	h := open(t, history.Config{})
	for n := 1; n <= 3; n++ {
		s := session(uint64(n), "broken", nil, []signature.ID{2}[:n/3]...)
		s.Facts.Game = "Colony"
		remember(t, h, s, day(n))
	}
	now := session(9, "broken", nil)
	now.Facts.Game = "Colony"
	text := testkit.Must(h.Known(t.Context(), now, 2))
	require.Equal(t, "new since 3 November; 1 of 1 session since, 0 of 2 before", text)
}
