package compare

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
)

func listed(name, id, version string) capture.ListedMod {
	return capture.ListedMod{Mod: capture.Mod{Name: name, PackageID: id}, Versions: version}
}

// TestModChanges: a list without versions shows no update.
func TestModChanges(t *testing.T) {
	before := []capture.ListedMod{
		listed("Core", "game.core", ""), listed("Mill", "acme.mill", "1"), listed("Ship", "acme.ship", "1"),
		listed("Kiln", "acme.kiln", "1"), listed("Loom", "acme.loom", "1"),
	}
	after := []capture.ListedMod{
		listed("Core", "Game.Core", ""), listed("Loom", "acme.loom", "1"), listed("Mill", "acme.mill", "2"),
		listed("Mast", "acme.mast", "1"), listed("Ship", "acme.ship", "1"), listed("Ship", "acme.ship", "1"),
	}
	require.Len(t, modChanges(before, after), 6, "a mod that a list names twice is one")

	for _, lists := range [][2][]capture.ListedMod{{before, {
		listed("game.core", "game.core", ""),
		listed("acme.mill", "acme.mill", ""),
	}}, {{listed("acme.mill", "acme.mill", "")}, after}} {
		for _, c := range modChanges(lists[0], lists[1]) {
			require.NotEqual(t, updated, c.Change, "a list of package ids alone says nothing of versions")
		}
	}
}
