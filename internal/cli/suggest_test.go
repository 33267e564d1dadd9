package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("logs", 0o700))
	for _, name := range []string{"Player.log", "Player-prev.log", filepath.Join("logs", "colony.log")} {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	for name, want := range map[string]string{
		"Playr.log":         "; did you mean Player.log?",
		"player.log":        "; did you mean Player.log?",
		"./Playr.log":       "; did you mean ./Player.log?",
		"log":               "; did you mean logs?",
		"Player.log":        "", // it went, or is a link that leads nowhere
		"something-else":    "",
		"logs/colnoy.log":   "; did you mean logs/colony.log?",
		"nowhere/Playr.log": "",
		"":                  "",
	} {
		require.Equal(t, want, Missing(name), name)
	}
}
