package replay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestEndInLoad replays a log that ends while a game is loaded: its fault blocks at the end.
func TestEndInLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte("RimWorld 1.5.4104 rev435\n"+
		"Loading game from file New Hope with mods:\n"+
		"System.NullReferenceException: Object reference not set to an instance of an object\n"+
		"  at Verse.Game.LoadGame () [0x00000] in <0>:0 \n"), 0o600))
	set := defaults()
	doc, r := play(t, set, path, nil)
	require.Equal(t, event.Blocking, doc.Summary.Worst)
	require.Equal(t, 1, doc.Summary.Items.OpenBlocking)
	open := r.Engine.Open(nil)
	require.Len(t, open, 1)
	require.True(t, open[0].Blocking)
	require.NotContains(t, open[0].Summary, "stops no call")
}
