package heedsource

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/testkit"
)

func TestEnvironment(t *testing.T) {
	facts := capture.Facts{}
	e := source{Config{Environment: func() capture.Facts { return facts }}}
	rows := func() []briefing.Fragment {
		found := testkit.Must(e.Rows(t.Context(), &briefing.Input{}, &briefing.RegistryQuery{}))
		return found.Fragments
	}
	require.Empty(t, rows())
	facts.Game = "Colony 1.2"
	require.Len(t, rows(), 1)
	list := []capture.ListedMod(nil)
	e.Mods = func() []capture.ListedMod { return list }
	require.Len(t, rows(), 1)
	list = []capture.ListedMod{
		{Mod: heed.Mod{Name: "Printing Press", PackageID: "acme.press"}, Versions: "[mv:1.2.0]"},
		{Mod: heed.Mod{PackageID: "acme.loom"}},
	}
	got := rows()
	require.Equal(t, []briefing.Line{{Text: "Colony 1.2", Data: true}}, got[0].Lines)
	require.Equal(t, "2 mods, in load order", got[1].Title)
	require.Equal(t, []briefing.Line{
		{Text: "1. Printing Press (acme.press) [mv:1.2.0]", Data: true, Kind: briefing.Hex},
		{Text: "2. acme.loom", Data: true, Kind: briefing.Hex},
	}, got[1].Lines)
	_, err := e.Rows(t.Context(), &briefing.Input{}, &briefing.RegistryQuery{Filters: map[string]string{"mod": "x"}})
	require.ErrorContains(t, err, "has no filters")
}
