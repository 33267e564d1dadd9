package compare_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/report/compare"
)

// TestListsWithoutVersions compares the list of an upload with that of a log, which
// has package ids alone.
func TestListsWithoutVersions(t *testing.T) {
	full := []compare.Mod{mod("Core", "game.core", ""), mod("Mill", "acme.mill", "1"), mod("Ship", "acme.ship", "1")}
	ids := []compare.Mod{mod("game.core", "game.core", ""), mod("acme.mill", "acme.mill", ""), mod("acme.loom", "acme.loom", "")}
	for _, lists := range [][2][]compare.Mod{{full, ids}, {ids, full}} {
		for _, c := range compare.ModChanges(lists[0], lists[1]) {
			require.NotEqual(t, compare.Updated, c.Change)
		}
	}
	require.Equal(t, compare.ModsHash(full), compare.ModsHash(append(full[:3:3], full...)), "two logs of one list")
}
