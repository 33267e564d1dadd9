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

// TestEvidence: forms by which loaders, frameworks and runtimes name the mod, with a list of the mods.
func TestEvidence(t *testing.T) {
	f := listed(t)
	java := func(classes ...string) string {
		var b strings.Builder
		for _, c := range classes {
			fmt.Fprintf(&b, "\tat %s.run(A.java:12)\n", c)
		}
		return b.String()
	}
	requireFound(t, f, []found{
		{"the last cause outweighs the first frame", "x", java("com.acme.presslib.A") + "Caused by: java.lang.Error: y\n" + java("com.acme.widgets.B"), "widgets 60 frame:4; Printing Press 20 frame:2"},
		{"a suppressed exception", "x", java("com.acme.widgets.B") + "\tSuppressed: java.io.IOException: z\n\t\tat com.acme.presslib.A.run(A.java:12)\n" + java("com.acme.seamless_doors.C"), "widgets 60 frame:2; seamless_doors 25 frame:5"},
		{"a patched method", "x", "  at PatchedBy<widgets>.Game.Pawn.Kill (Game.Pawn p)", "widgets 20 patch:2"},
		{"the id behind a label", "Failed to build the mod, ModID: seamless_doors, state: CONSTRUCT", "", "seamless_doors 40 named:1"},
		{"who provides an entry point", "Could not execute stage 'main' due to errors, provided by 'seamless_doors'!", "", "seamless_doors 40 named:1"},
		{"from a mod in small letters", "Mixin apply failed doors.mixins.json:DoorMixin from mod seamless_doors -> game.Door", "", "seamless_doors 40 named:1"},
		{"an assembly behind a label", "Error in a mod, assembly name: PressLib, method: Roller:Turn", "", "Printing Press 35 type:1"},
		{"an assembly with its version", "GetTypes: assembly PressLib, Version=1.0.0.0, Culture=neutral => x", "", "Printing Press 35 type:1"},
		{"a stamp before a place in the source", "[no_time_yet][roller.cpp:22]: no paper", "", ""},
		{"a mod before a verb", "Printing Press produced an invalid plate", "", "Printing Press 40 named:1"},
		{"a mod before a verb of another language", "Printing Press hat eine Ausnahme ausgelöst", "", "Printing Press 40 named:1"},
		{"a mod whose name is a word, before a verb", "Looms cannot be built here", "", ""},
		{"a frame of the game is no prose", "x", "  at Game.Panel.Draw () [0x00012] in /s/Mods/Rivets/Panel.cs:12", ""},
		{"nor is one in a message", "x\n  at Game.Panel.Draw () [0x00012] in /s/Mods/Rivets/Panel.cs:12", "", ""},
		{"a patch is no prose", "x\n    - PREFIX Rivets.Core", "", ""},
		{"an id of five letters", "Mod with packageId: ab.cde failed", "", "ab.cde 40 named:1"},
		{"code with a number", "x", trace("Weaver2.A.B"), "Weaver2 60 frame:2"},
		{"a definition with the prefix of a mod", "no recipe makes PressLib_Plate any more", "", "Printing Press 25 type:1"},
		{"a resource of a mod", "Missing model for seamless_doors:oak_door", "", "seamless_doors 25 type:1"},
		{"a layer before the method", "x", "\tat LAYER/widgets@1.2/com.other.Thing.run(A.java:1)", "widgets 60 frame:2"},
		{"a name with signs", "mod 'Locks 2: Lock Them Out!' failed", "", "Locks 2: Lock Them Out! 40 named:1"},
		{"memory", "java.lang.OutOfMemoryError: Java heap space", java("com.acme.widgets.B"), "widgets 20 frame:2"},
		{"memory of the runtime", "System.OutOfMemoryException: x", trace("PressLib.A.B"), "Printing Press 20 frame:2"},
		{"the victim of a patch", "Caught: HarmonyException: Patching exception in method static System.Void PressLib.Roller::Turn() ---> x", trace("HarmonyLib.Patch.All", "Widgets.Panel.Draw"), "widgets 45 frame:3; Printing Press 20 type:1"},
		{"the path of a class is no folder", "Error loading class: me/acme/mods/widgets/Panel", "", ""},
		{"a tag whose name begins with the namespace", "[Locks_2:_Lock_Them_Out!] System.Exception: x", trace("Locks2.Core.Update"), "Locks 2: Lock Them Out! 63 tag:1,frame:2"},
		{"a script of a mod", "The game stopped\n__widgets__/control.lua:12: attempt to index a nil value", "", "widgets 50 path:2"},
	})
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
