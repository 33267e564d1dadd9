package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppendMods(t *testing.T) {
	message := strings.Join([]string{
		"Log uploaded on Sunday, May 8, 2022, 3:40:45 AM",
		"Loaded mods:",
		"Harmony(author.lib)[mv:1.3.0.0]: 0Lib(2.2.1), LibMod(1.3.0)",
		"Core(Publisher.Game): (no assemblies)",
		"Presses (dev)(acme.press)[mv:1.0][ov:2.0]: 0Lib(av:2.2.1,fv:2.1.0), PressLib(1.8.0 [no FileVersionInfo])",
		"Series: Part(acme.series.part): Part-1.3(1.0.0)\r",
		"Outer (Space Mods 40k) (acme.outer): Outer(1.0.0)",
		"no package: Lib(1.0)",
		"(only.id): Lib(1.0)",
		"(no assemblies)(x): (no assemblies)",
		"Two in one(a.b): (no assemblies)(x): Lib(1.0)",
		"(no assemblies)(x)",
		"a line that is none",
		"",
		"Active Harmony patches:",
		"Pawn(a.b): TRANS(c.d)",
	}, "\n")
	require.Equal(t, []Mod{
		{Name: "Harmony", PackageID: "author.lib", Assemblies: []string{"0Lib", "LibMod"}},
		{Name: "Core", PackageID: "Publisher.Game"},
		{Name: "Presses (dev)", PackageID: "acme.press", Assemblies: []string{"0Lib", "PressLib"}},
		{Name: "Series: Part", PackageID: "acme.series.part", Assemblies: []string{"Part-1.3"}},
		{Name: "Outer (Space Mods 40k)", PackageID: "acme.outer", Assemblies: []string{"Outer"}},
	}, AppendMods(nil, message))

	require.Empty(t, AppendMods(nil, "Log uploaded on Sunday"))
	kept := []Mod{{Name: "kept"}}
	require.Equal(t, kept, AppendMods(kept, ""))
	long := "Loaded mods:\n" + strings.Repeat("A(a.b): (no assemblies)\n", maxMods+10)
	require.Len(t, AppendMods(nil, long), maxMods)
}

func FuzzAppendMods(f *testing.F) {
	f.Add("Loaded mods:\nSome Mod(author.mod)[mv:1.0]: Lib(1.0), Mod(av:1,fv:2)")
	f.Add("Loaded mods:\n(](): ](")
	f.Fuzz(func(t *testing.T, message string) {
		for _, m := range AppendMods(nil, message) {
			require.NotEmpty(t, m.PackageID)
			require.False(t, strings.ContainsAny(m.PackageID, " ()\n"))
			require.NotContains(t, m.Name, "\n")
		}
	})
}
