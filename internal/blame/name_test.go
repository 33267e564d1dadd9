package blame_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/blame"
)

// TestIdentity holds that what lists, files and records know about a mod is one mod's.
func TestIdentity(t *testing.T) {
	f := finder(t,
		blame.Mod{PackageID: "acme.printing.press"},
		blame.Mod{PackageID: "acme.widgets"},
		blame.Mod{Name: "Doors & Halls (Continued)", PackageID: "builder.doorshalls", WorkshopID: "1234567890"},
		blame.Mod{PackageID: "solo.oven.rw"},
		blame.Mod{PackageID: "core.game.one"}, blame.Mod{PackageID: "else.game.one"},
	)
	require.False(t, f.LearnAll(1))
	require.True(t, f.LearnAll(5))
	requireFound(t, f, []found{
		{"code by the end of an id", "x", trace("PrintingPress.Roller.Turn"), "PrintingPress 60 frame:2"},
		{"a tag by the end of an id", "[Widgets] x", "", "Widgets 30 tag:1"},
		{"code below its author, of several mods", "x", trace("Acme.Widgets.Panel.Draw"), "acme.widgets 60 frame:2"},
		{"code of another mod of that author", "x", trace("Acme.Looms.Panel.Draw"), "Looms 60 frame:2"},
		{"a class of that author, of which mod is not known", "x", trace("Acme.Panel.Draw"), ""},
		{"code below its author, of one mod", "x", trace("Solo.Baking.Bake"), "solo.oven.rw 60 frame:2"},
		{"an end that several have", "x", trace("GameOne.A.B"), "GameOne 60 frame:2"},
		{"a tag that is a part of a name", "[Doors & Halls] x", "", "Doors & Halls Continued 30 tag:1"},
		{"the number of a folder", "Could not read /s/workshop/content/123450/1234567890/a.xml", "", "Doors & Halls Continued 50 path:1"},
		{"a tag of nobody who is there", "[Weaver] x", "", "Weaver 10 tag:1"},
		{"a definition with the mod's prefix", "Ann threw exception in WorkGiver PrintingPress_Print: x", "", "PrintingPress 25 type:1"},
		{"a definition with another prefix", "Ann threw exception in WorkGiver Weaver_Weave: x", "", ""},
		{"a report about another mod", "[Widgets] Doors & Halls (Continued) contains 3 missing symbols", "", "Doors & Halls Continued 40 named:1; Widgets 20 tag:1"},
		{"a report about another mod by its id", "[Widgets] solo.oven.rw has 1 hole", "", "solo.oven.rw 40 named:1; Widgets 20 tag:1"},
		{"a report that begins with the mod's own id", "[Widgets] acme.widgets has 1 hole", "", "Widgets 30 tag:1"},
		{"an id below an author who is there", "[Acme.rim.Looms] x", "", "Acme.rim.Looms 30 tag:1"},
		{"code of nobody who is there", "x", trace("Weaver.A.B"), "Weaver 60 frame:2"},
		{"an abbreviation of several", "[game] x", "", ""},
	})
	f.LearnTrace("  at Weaver.A.B () [0x00012] in <00112233445566778899aabbccddee11>:0")
	require.Equal(t, "Weaver 30 tag:1", show(f.Find(nil, "[Weaver] x", "")), "whose code has run is there, whatever the list says")
	m, ok := f.Mod("Doors & Halls Continued")
	require.True(t, ok)
	require.Equal(t, blame.Mod{
		Name: "Doors & Halls Continued", PackageID: "builder.doorshalls", WorkshopID: "1234567890",
	}, m)
	require.Equal(t, "https://steamcommunity.com/sharedfiles/filedetails/?id=1234567890", m.Link())
	_, ok = f.Mod("Weaver")
	require.False(t, ok)

	// What is installed adds what the list did not have, and the other way round.
	require.True(t, f.Learn(blame.Mod{
		Name: "Printing Press", PackageID: "Acme.Printing.Press", WorkshopID: "2345678901", Assemblies: []string{"Rollers"},
	}))
	require.Equal(t, "Printing Press 60 frame:2", show(f.Find(nil, "x", trace("Rollers.A.B"))))
	require.Equal(t, "Printing Press 30 tag:1", show(f.Find(nil, "[acme.printing.press] x", "")))
	m, _ = f.Mod("Printing Press")
	require.Equal(t, "2345678901", m.WorkshopID)

	// The code of a mod of which only the id is known names it, everywhere from then on.
	f.LearnNames(f.Find(nil, "x", trace("Widgets.Panel.Draw")))
	require.Equal(t, "Widgets 30 tag:1", show(f.Find(nil, "[acme.widgets] x", "")))
	m, _ = f.Mod("Widgets")
	require.Equal(t, "acme.widgets", m.PackageID)
}

// TestNumbers holds that a folder's number that is found with a mod's name is the mod's from then on.
func TestNumbers(t *testing.T) {
	f := finder(t, blame.Mod{PackageID: "acme.widgets"})
	found := f.Find(nil, "[Printing Press - Start of stack trace]\nSource file: D:\\workshop\\content\\123450\\1234567890\\P.xml", "")
	require.Equal(t, "1234567890", found[0].WorkshopID)
	f.LearnNames(found)
	m, ok := f.Mod("Printing Press")
	require.True(t, ok)
	require.Equal(t, "1234567890", m.WorkshopID)
	require.Equal(t, "Printing Press 50 path:1", show(f.Find(nil, "Could not read /s/workshop/content/123450/1234567890/a.xml", "")))
	require.False(t, f.LearnAll(1), "what a record names is no list")

	f.LearnNames(f.Find(nil, "[Widgets] Patch failed\nfile: /s/workshop/content/123450/2345678901/P.xml", ""))
	m, _ = f.Mod("Widgets")
	require.Equal(t, blame.Mod{Name: "Widgets", PackageID: "acme.widgets", WorkshopID: "2345678901"}, m)

	m, ok = f.Mod("workshop 3456789012")
	require.True(t, ok)
	require.Equal(t, "https://steamcommunity.com/sharedfiles/filedetails/?id=3456789012", m.Link())
}

func TestLinkIsNoText(t *testing.T) {
	for _, id := range []string{"", "x", "12 34", "1&a=b", "-1", strings.Repeat("1", 30)} {
		require.Empty(t, (&blame.Mod{WorkshopID: id}).Link(), id)
	}
	require.NotEmpty(t, (&blame.Mod{WorkshopID: strings.Repeat("1", 20)}).Link(), "as long as a number can be")
}

// TestKey holds which signs a key keeps, and how many.
func TestKey(t *testing.T) {
	var all strings.Builder
	for c := range rune(128) {
		all.WriteRune(c)
	}
	require.Equal(t, "0123456789abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", blame.Key(all.String()))
	require.Equal(t, "жж9字é", blame.Key("Ж…ж9 字\u0080É"))
	require.Equal(t, strings.Repeat("a", 64), blame.Key(strings.Repeat("a", 70)))
	require.Equal(t, strings.Repeat("ж", 32), blame.Key(strings.Repeat("ж", 40)))
}
