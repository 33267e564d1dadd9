package compare

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
)

func listed(name, id, version string) capture.ListedMod {
	return capture.ListedMod{Mod: capture.Mod{Name: name, PackageID: id}, Versions: version}
}

func TestModChanges(t *testing.T) {
	before := []capture.ListedMod{
		listed("Core", "game.core", ""), listed("Mill", "acme.mill", "1"), listed("Ship", "acme.ship", "1"),
		listed("Kiln", "acme.kiln", "1"), listed("Loom", "acme.loom", "1"),
	}
	after := []capture.ListedMod{
		listed("Core", "Game.Core", ""), listed("Loom", "acme.loom", "1"), listed("Mill", "acme.mill", "2"),
		listed("Mast", "acme.mast", "1"), listed("Ship", "acme.ship", "1"), listed("Ship", "acme.ship", "1"),
	}
	type change struct {
		name     string
		change   string
		from, to int
	}
	got := []change{}
	for _, c := range modChanges(before, after) {
		got = append(got, change{c.Name, c.Change, c.OldPlace, c.Place})
	}
	require.Equal(t, []change{
		{"Core", unchanged, 1, 1},
		{"Loom", moved, 5, 2},
		{"Mill", updated, 2, 3},
		{"Mast", added, 0, 4},
		{"Ship", unchanged, 3, 5},
		{"Kiln", removed, 4, 0},
	}, got)

	shuffled := []capture.ListedMod{before[3], before[0], before[2], before[4], before[1]}
	require.Equal(t, modsHash(before), modsHash(shuffled), "load order is no part of it")
	require.NotEqual(t, modsHash(before), modsHash(after))
	require.Equal(t, modsHash(before), modsHash(slices.Concat(before, shuffled)), "two logs name the same mods")
	require.Zero(t, modsHash(nil))

	for _, lists := range [][2][]capture.ListedMod{{before, {
		listed("game.core", "game.core", ""),
		listed("acme.mill", "acme.mill", ""),
	}}, {{listed("acme.mill", "acme.mill", "")}, after}} {
		for _, c := range modChanges(lists[0], lists[1]) {
			require.NotEqual(t, updated, c.Change, "a list of package ids alone says nothing of versions")
		}
	}
}
