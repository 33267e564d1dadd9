package blame_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/testkit"
)

var gameCode = []string{"Game.", "Engine.", "Engine.UI.", "System.", "Mono.", "HarmonyLib.", "MonoMod.", "SharedLib", "GameAssembly", "Publisher.", "PhysX", "java."}

func finder(t require.TestingT, mods ...blame.Mod) *blame.Finder {
	f := blame.New(gameCode)
	for _, m := range mods {
		require.True(t, f.Learn(m), m)
	}
	return f
}

// show prints suspects as "Mod 60 frame:2,tag:1; Other 25 frame:3".
func show(suspects []blame.Suspect) string {
	parts := make([]string, 0, len(suspects))
	for _, s := range suspects {
		var ev []string
		for _, e := range s.Evidence {
			ev = append(ev, fmt.Sprintf("%s:%d", e.Kind, e.Line))
		}
		parts = append(parts, fmt.Sprintf("%s %d %s", strings.TrimPrefix(s.Mod, "code: "), s.Score, strings.Join(ev, ",")))
	}
	return strings.Join(parts, "; ")
}

// trace joins frames in the form of Mono, innermost first.
func trace(methods ...string) string {
	var b strings.Builder
	for _, m := range methods {
		fmt.Fprintf(&b, "  at %s () [0x00012] in <0123456789abcdef0123456789abcdef>:0 \n", m)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestEqualSuspects holds that of more suspects than can be told apart none is
// named, and that what is heavier stays.
func TestEqualSuspects(t *testing.T) {
	f := finder(t)
	var patches strings.Builder
	for i := range 300 {
		fmt.Fprintf(&patches, "\n    - PREFIX author%c%c.mod: Void a:b()", 'a'+i%26, 'a'+i/26)
	}
	require.Empty(t, f.Find(nil, "x", trace("Game.Pawn.Kill")+patches.String()))
	require.Equal(t, "Acme 60 frame:2", show(f.Find(nil, "x", trace("Acme.Press.Tick")+patches.String())))
	require.Len(t, f.Find(nil, "mod 'A Tool', mod 'B Tool', mod 'C Tool' or mod 'D Tool'", ""), blame.MaxSuspects)
	require.Empty(t, f.Find(nil, "mod 'A Tool', mod 'B Tool', mod 'C Tool', mod 'D Tool' or mod 'E Tool'", ""))
}

func TestRuntimeIsNoMod(t *testing.T) {
	f := finder(t)
	require.Empty(t, f.Find(nil, "x", "    at Module._compile (node:internal/modules/cjs/loader:1521:14)\n    at node:internal/main/run_main_module:28:49"))
	require.Empty(t, f.Find(nil, "x\nTraceback (most recent call last):\n  File \"/srv/lib/groups.py\", line 9, in __aexit__\n    raise x", ""))
	require.Empty(t, f.Find(nil, "  + Exception Group Traceback (most recent call last):\n  |   File \"/srv/lib/groups.py\", line 9, in __aexit__", ""))
}

func TestLearnIsBounded(t *testing.T) {
	f := finder(t)
	require.False(t, f.Learn(blame.Mod{}))
	require.False(t, f.Learn(blame.Mod{Name: "\x1b\u202e"}), "no name to show")
	require.True(t, f.Learn(blame.Mod{PackageID: "only.anid"}))
	for i := range 4096 {
		require.Equal(t, i < 4095, f.Learn(blame.Mod{Name: fmt.Sprint("Mod ", i)}), i)
	}
	require.True(t, f.Learn(blame.Mod{Name: "Mod 1", PackageID: "is.known"}))
	require.Equal(t, 4096, f.Mods())
}

func TestLikely(t *testing.T) {
	of := func(scores ...int) []blame.Suspect {
		var s []blame.Suspect
		for i, n := range scores {
			s = append(s, blame.Suspect{Mod: string(rune('A' + i)), Score: n})
		}
		return s
	}
	require.Nil(t, blame.Likely(nil))
	require.Nil(t, blame.Likely(of(24, 24)))
	for _, scores := range [][]int{{60}, {60, 44}, {25, 24}} {
		require.Equal(t, []string{"A"}, blame.Likely(of(scores...)))
	}
	for _, scores := range [][]int{{60, 45}, {60, 60, 60}} {
		require.Equal(t, []string{"A", "B"}, blame.Likely(of(scores...)))
	}
}

func TestDisplay(t *testing.T) {
	for in, want := range map[string]string{
		"Some Mod":                     "Some Mod",
		"  [XY]  Some\tMod (1.2) ":     "XY Some Mod 1.2",
		"Locks 2: Lock Them Out!":      "Locks 2: Lock Them Out!",
		`a"b;c,d:e=f<g>h|i`:            "a b c d:e f g h i",
		"Kay's R&D_v1.2-beta+#3":       "Kay's R&D_v1.2-beta+#3",
		"오류 모음":                        "오류 모음",
		"a\x1b[31mb\u202ec\u200bd":     "a 31mb c d",
		"bad\xffutf8":                  "bad utf8",
		strings.Repeat("ж", 40):        strings.Repeat("ж", 32),
		strings.Repeat("ab ", 30):      strings.Repeat("ab ", 21) + "a",
		"\u2028\u2029":                 "",
		strings.Repeat("a", 63) + " b": strings.Repeat("a", 63),
	} {
		require.Equal(t, want, blame.Display(in), "%q", in)
		require.Equal(t, want, blame.Display(want), "showing twice changes nothing")
	}
}

func TestKindNames(t *testing.T) {
	for i, name := range []string{"none", "frame", "title", "path", "named", "type", "tag", "patch"} {
		k := blame.Kind(99)
		require.NoError(t, k.UnmarshalText([]byte(name)))
		require.Equal(t, []any{blame.Kind(i), name}, []any{k, k.String()})
	}
	require.Error(t, new(blame.Kind).UnmarshalText([]byte("kind(8)")))
	require.Equal(t, "its code is in the stack trace", blame.Frame.Describe())
	suspect := blame.Suspect{Mod: "A", Score: 30, Evidence: []blame.Evidence{{Kind: blame.Tag, Line: 1}}}
	b := testkit.Must(json.Marshal(suspect))
	require.JSONEq(t, `{"mod":"A","score":30,"evidence":[{"kind":"tag","line":1}]}`, string(b))
}

// TestOrderOfPatches holds that the order in which patches of one method are
// listed does not matter: who patched first is no evidence.
func TestOrderOfPatches(t *testing.T) {
	f := finder(t)
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"author.somemod: Void SomeMod.P:Prefix()", "other.widgets: Boolean Widgets.A:B(Int32 i)", "net.third.mods.fixes: Void a:b()",
			"SomeMod: Void a:b()", "Publisher.x: Void a:b()",
		}), 1, 5, rapid.ID[string]).Draw(t, "patches")
		record := func(ids []string) string {
			lines := trace("Game.Pawn.Kill")
			for _, id := range ids {
				lines += "\n    - PREFIX " + id
			}
			return lines
		}
		names := func(suspects []blame.Suspect) (out []string) {
			for _, s := range suspects {
				out = append(out, fmt.Sprint(s.Mod, s.Score))
			}
			return out
		}
		shuffled := rapid.Permutation(ids).Draw(t, "shuffled")
		require.Equal(t, names(f.Find(nil, "x", record(ids))), names(f.Find(nil, "x", record(shuffled))))
	})
}

// TestOrderOfMods holds that it does not matter in which order a list gives
// mods.
func TestOrderOfMods(t *testing.T) {
	mods := []blame.Mod{
		{Name: "Printing Press", PackageID: "acme.press", Assemblies: []string{"PressLib", "Helper"}},
		{Name: "Tales", PackageID: "author.tales", Assemblies: []string{"Magic", "Helper"}},
		{Name: "Press Lib", PackageID: "other.lib", Assemblies: []string{"Other"}},
		{Name: "Core", PackageID: "Publisher.Game"},
	}
	ordered, all := finder(t, mods...), maps.Collect(records(t))
	rapid.Check(t, func(t *rapid.T) {
		f := finder(t, rapid.Permutation(mods).Draw(t, "mods")...)
		for message, stack := range all {
			require.Equal(t, ordered.Find(nil, message, stack), f.Find(nil, message, stack))
		}
		stack := trace("PressLib.A.B", "Magic.A.B", "Helper.A.B", "Other.A.B")
		require.Equal(t, ordered.Find(nil, "[Core] x", stack), f.Find(nil, "[Core] x", stack))
	})
}

// requireSound fails for suspects that break what Find promises for any text.
func requireSound(t *testing.T, suspects []blame.Suspect, message, stack string) {
	t.Helper()
	require.LessOrEqual(t, len(suspects), blame.MaxSuspects)
	lines := strings.Count(message, "\n") + strings.Count(stack, "\n") + 2
	for i, s := range suspects {
		require.NotEmpty(t, s.Mod)
		name := strings.TrimPrefix(s.Mod, "code: ")
		require.LessOrEqual(t, len(name), blame.MaxName)
		require.True(t, utf8.ValidString(s.Mod))
		require.Equal(t, blame.Display(name), name)
		require.False(t, strings.ContainsAny(s.Mod, "\"\\;,=<>()[]{}|\n\r\t\x1b"))
		for _, r := range s.Mod {
			require.True(t, r == ' ' || unicode.IsPrint(r), "%U", r)
		}
		require.Positive(t, s.Score)
		require.LessOrEqual(t, s.Score, 100)
		require.NotEmpty(t, s.Evidence)
		require.LessOrEqual(t, len(s.Evidence), 8)
		for _, e := range s.Evidence {
			require.Positive(t, e.Line)
			require.LessOrEqual(t, e.Line, lines)
		}
		if i > 0 {
			require.LessOrEqual(t, s.Score, suspects[i-1].Score)
		}
	}
}

// requireNamed holds that a suspect is called what stands in one of the texts.
func requireNamed(t require.TestingT, suspects []blame.Suspect, texts ...string) {
	if strings.Contains(texts[0], "<") {
		return // tags of rich text may stand in a name
	}
	keep := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, text)
	}
	for _, s := range suspects {
		name := strings.TrimPrefix(strings.TrimPrefix(s.Mod, "code: "), "workshop ")
		require.True(t, slices.ContainsFunc(texts, func(text string) bool {
			return strings.Contains(keep(text), keep(name))
		}), s.Mod)
	}
}

func FuzzFind(f *testing.F) {
	for message, stack := range records(f) {
		f.Add(message, stack, "Printing Press", "acme.press", "PressLib")
	}
	f.Add("at AAA.\x90.(", "", "0", "0", "0")
	f.Fuzz(func(t *testing.T, message, stack, name, id, assembly string) {
		plain := finder(t)
		suspects := plain.Find(nil, message, stack)
		requireSound(t, suspects, message, stack)
		requireNamed(t, suspects, message, stack)

		learned := finder(t)
		learned.Learn(blame.Mod{Name: name, PackageID: id, Assemblies: []string{assembly}})
		learned.LearnTrace(stack)
		first := learned.Find(nil, message, stack)
		requireSound(t, first, message, stack)
		requireNamed(t, first, message, stack, name, id)
		kept := []blame.Suspect{{Mod: "kept"}}
		require.Equal(t, append(slices.Clone(kept), first...), learned.Find(kept, message, stack),
			"appends, and changes nothing")
	})
}

// TestGameCodeIsNobody holds that a record in which only the game speaks has no
// suspects, whatever the methods are called.
func TestGameCodeIsNobody(t *testing.T) {
	f := finder(t)
	rapid.Check(t, func(t *rapid.T) {
		var methods []string
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			methods = append(methods, rapid.SampledFrom(gameCode[:7]).Draw(t, "root")+rapid.StringMatching(`[A-Z][a-zA-Z0-9_]{0,12}(\+<>c)?\.[a-zA-Z<>_0-9]{1,12}`).Draw(t, "method"))
		}
		require.Empty(t, f.Find(nil, "System.NullReferenceException: Object reference not set", trace(methods...)))
	})
}

// TestLearnGame holds that code named for the game's program is the game's, also after the
// rules were changed.
func TestLearnGame(t *testing.T) {
	const message = "System.NullReferenceException: x"
	stack := trace("SomeGame.Drone.Turn", "PressLib.Roller.Turn")
	f := finder(t)
	require.Equal(t, "SomeGame 60 frame:2; PressLib 25 frame:3", show(f.Find(nil, message, stack)))
	f.LearnGame("somegame")
	f.SetGameCode(gameCode)
	require.Equal(t, "PressLib 45 frame:3", show(f.Find(nil, message, stack)))
	require.Empty(t, f.Find(nil, "[Some Game] stuck", trace("SomeGame.Drone.Turn")))
	require.Equal(t, "SomeGamePlus 60 frame:1", show(f.Find(nil, "", trace("SomeGamePlus.Drone.Turn"))))
	f = finder(t)
	f.LearnGame("a")
	require.Equal(t, "A.B 30 tag:1", show(f.Find(nil, "[A.B] stuck", "")), "a name that is too short is not taken in")
}
