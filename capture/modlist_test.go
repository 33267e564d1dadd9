package capture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendModList(t *testing.T) {
	message := "Loaded mods:\n" +
		"Harmony(author.lib)[mv:1.3.0.0]: 0Lib(2.2.1), LibMod(1.3.0)\n" +
		"Core(Publisher.Game): (no assemblies)\n" +
		"Presses (dev)(acme.press)[mv:1.0][ov:2.0]: 0Lib(av:2.2.1,fv:2.1.0), PressLib(1.8.0 [no FileVersionInfo])\n" +
		"a line that is none\n"
	listed := AppendModList(nil, message)
	versions := []string{}
	mods := []Mod{}
	for _, m := range listed {
		versions = append(versions, m.Versions)
		mods = append(mods, m.Mod)
	}
	require.Equal(t, []string{"[mv:1.3.0.0] 2.2.1 1.3.0", "", "[mv:1.0][ov:2.0] av:2.2.1,fv:2.1.0 1.8.0 [no FileVersionInfo]"}, versions)
	require.Equal(t, AppendMods(nil, message), mods)
}
