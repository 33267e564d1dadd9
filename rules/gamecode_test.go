package rules

import (
	"fmt"
	"slices"
	"strings"
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

	set = testkit.Must(Compile(Defaults()...))
	require.True(t, slices.Contains(set.GameCode(), "Verse."))
}

func TestGameCodeErrors(t *testing.T) {
	many := make([]string, maxGameCode+1)
	for i := range many {
		many[i] = fmt.Sprintf("N%d.", i)
	}
	for name, c := range map[string]struct{ file, want string }{
		"empty":    {"version: 1\ngame_code: [Verse., '.']\n", `f.yaml:2:21: game_code[2]: "." is not a name of code`},
		"no list":  {"version: 1\ngame_code: Verse.\n", "f.yaml:2:12: game_code"},
		"no text":  {"version: 1\ngame_code: [7]\n", "game_code[1]"},
		"too long": {"version: 1\ngame_code: [" + strings.Repeat("x", maxGameCodeName+1) + "]\n", "the name has 129 bytes, more than the 128 allowed"},
		"too many": {"version: 1\ngame_code: [" + strings.Join(many, ", ") + "]\n", "more than 1000 names"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(File{Name: "f.yaml", Data: []byte(c.file)})
			require.ErrorContains(t, err, c.want)
		})
	}
}
