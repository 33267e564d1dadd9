package rules

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func TestGameCode(t *testing.T) {
	set := testkit.Must(Compile(
		File{Name: "a.yaml", Data: []byte("version: 1\ngame_code: [Verse., Engine.]\n")},
		File{Name: "b.yaml", Data: []byte("version: 1\ngame_code: ['Input System', Engine.]\n")},
	))
	names := set.GameCode()
	require.Equal(t, []string{"Engine.", "Input System", "Verse."}, names, "of all files, sorted, once each")
	names[0] = "changed"
	require.Equal(t, "Engine.", set.GameCode()[0], "the slice is the caller's")

	set = testkit.Must(Compile(File{Data: []byte("version: 1\n")}))
	require.Empty(t, set.GameCode())

	set = defaultSet()
	require.True(t, slices.Contains(set.GameCode(), "Verse."))
}
