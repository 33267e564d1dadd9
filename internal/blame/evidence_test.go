package blame_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
)

// listed returns a Finder that knows a complete list of mods.
func listed(t *testing.T) *blame.Finder {
	t.Helper()
	f := finder(t,
		blame.Mod{Name: "Printing Press", PackageID: "acme.press", Assemblies: []string{"PressLib"}},
		blame.Mod{PackageID: "seamless_doors"}, blame.Mod{PackageID: "widgets"},
		blame.Mod{Name: "Locks 2: Lock Them Out!", PackageID: "x.locks"}, blame.Mod{Name: "Looms", PackageID: "x.looms"},
	)
	require.True(t, f.LearnAll(5))
	return f
}

// TestCode: with or without a list of the mods, code that no listed mod has is "code: X"; a name that a text gives stays.
func TestCode(t *testing.T) {
	require.Equal(t, []string{"code: Weaver"}, blame.Likely(finder(t).Find(nil, "x", trace("Weaver.A.B"))))
	f := listed(t)
	require.Equal(t, []string{"code: Weaver"}, blame.Likely(f.Find(nil, "x", trace("Weaver.A.B"))))
	require.Equal(t, []string{"Printing Press"}, blame.Likely(f.Find(nil, "x", trace("PressLib.A.B"))))
	require.Equal(t, blame.Key("Weaver"), blame.Key("code: Weaver"), "both name one mod")
	f.Learn(blame.Mod{Name: "Weaver 2", Assemblies: []string{"Weaver"}})
	m, ok := f.Mod("code: Weaver")
	require.True(t, ok)
	require.Equal(t, "Weaver 2", m.Name)
}

// TestModuleOfMod: the module of a frame decides before a namespace of the game.
func TestModuleOfMod(t *testing.T) {
	in := func(method string, module byte) string {
		return fmt.Sprintf("  at %s () [0x00012] in <%s>:0\n", method, strings.Repeat(string(module), 32))
	}
	f := finder(t)
	f.LearnGame("game")
	for range 3 {
		f.LearnTrace(in("Game.Pawn.Tick", 'a') + in("Game.Loop.Tick", 'a'))
	}
	f.LearnTrace(in("Turrets.Gun.Fire", 'b') + in("Game.Loop.Tick", 'a'))
	require.Equal(t, "Turrets 60 frame:2; Threads 25 frame:3",
		show(f.Find(nil, "x", in("Game.Building_Turret.Tick", 'b')+in("Threads.Ticks.All", 'd'))))
	require.Equal(t, "Threads 20 frame:3",
		show(f.Find(nil, "x", in("Game.Building_Turret.Tick", 'c')+in("Threads.Ticks.All", 'd'))), "code of a module that nobody knows threw")
	require.Equal(t, "Threads 45 frame:3", show(f.Find(nil, "x", in("Game.Pawn.Tick", 'a')+in("Threads.Ticks.All", 'd'))))
	for range 8 {
		f.LearnTrace(in("Game.Pawn.Tick", 'e'))
	}
	require.Equal(t, "Threads 45 frame:3", show(f.Find(nil, "x", in("Game.Pawn.Tick", 'e')+in("Threads.Ticks.All", 'd'))), "most frames are in it now")
	f.LearnTrace(in("Rivets.Gun.Fire", 'x'))
	require.Equal(t, "Threads 60 frame:3", show(f.Find(nil, "x", in("a.b", 'x')+in("Threads.Ticks.All", 'd'))), "no hash")
}

// TestMethodsAreBounded: of more methods than there is room for, the first stay.
func TestMethodsAreBounded(t *testing.T) {
	f := finder(t)
	for i := range blame.MaxMethods + 10 {
		f.LearnTrace(trace(fmt.Sprintf("Farm.Cow.Eat%d", i)))
	}
	require.Equal(t, 8192, f.Methods())
	f = finder(t)
	for i := range 8200 {
		f.LearnTrace(fmt.Sprintf("  at Farm.Cow.Eat () [0x00012] in <%032x>:0", i))
	}
	require.Equal(t, 8192+blame.MinTraces, f.Knows())

	before := strings.Repeat("\n", 32<<10-len("mod 'A Tool'"))
	require.Len(t, f.Find(nil, before+"mod 'A Tool'", ""), 1)
	require.Empty(t, f.Find(nil, "\n"+before+"mod 'A Tool'", ""), "text beyond 32 KiB")
	f = finder(t)
	f.LearnTrace(before + "\n\n\n\n" + trace("Farm.Cow.Eat"))
	require.Zero(t, f.Knows())
}

// TestCommonCode: the namespace of most frames is the game's, and a method in most traces only passes on.
func TestCommonCode(t *testing.T) {
	f := finder(t)
	require.Equal(t, "Farm 60 frame:2", show(f.Find(nil, "x", trace("Farm.Barn.Feed"))))
	for i := range blame.MinTraces {
		f.LearnTrace(trace(fmt.Sprintf("Farm.Cow.Eat%d", i), "Farm.Barn.Feed", "Farm.Tick.All", "Loops.Main.Run"))
	}
	require.Empty(t, f.Find(nil, "x", trace("Farm.Barn.Feed")))
	require.Equal(t, "Acme 45 frame:3; Loops 20 frame:4", show(f.Find(nil, "x", trace("Farm.Barn.Feed", "Acme.Press.Turn", "Loops.Main.Run"))))
	require.True(t, f.Learn(blame.Mod{Name: "Farm Plus", Assemblies: []string{"Farm"}}))
	require.Equal(t, "Farm Plus 60 frame:2", show(f.Find(nil, "x", trace("Farm.Goat.Bleat"))), "a list knows better")
}

// TestCallerOfMods: with a list of mods, unlisted code outermost in a trace is the game's, unless the trace has code of
// the game that rules name.
func TestCallerOfMods(t *testing.T) {
	f := finder(t)
	for _, name := range []string{"Acme", "Widgets", "Rivets"} {
		require.True(t, f.Learn(blame.Mod{Name: name}))
	}
	require.True(t, f.LearnAll(3))
	f.LearnTrace(trace("Acme.Press.Turn", "Addon.Patch.Run", "Game.Loop.Tick"))
	require.Equal(t, "Addon 60 frame:2", show(f.Find(nil, "x", trace("Addon.Patch.Run"))), "rules name Game")
	f.LearnTrace(trace("Acme.Press.Turn", "Farm.Barn.Feed"))
	require.Empty(t, f.Find(nil, "x", trace("Farm.Barn.Feed")))
}
