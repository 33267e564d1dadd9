package capture

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/internal/testkit"
)

// listed returns what the records of a capture list, one mod per line.
func listed(recs []Record) string {
	var b strings.Builder
	for i := range recs {
		if recs[i].Mods == nil {
			continue
		}
		for _, m := range recs[i].Mods.Mods {
			fmt.Fprintf(&b, "%d: %q %q %q %q\n", recs[i].StartLine, m.Name, m.PackageID, m.Assemblies, m.Versions)
		}
		if n := recs[i].Mods.Omitted; n > 0 {
			fmt.Fprintf(&b, "%d: %d omitted\n", recs[i].StartLine, n)
		}
	}
	return b.String()
}

func TestMods(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plugins of servers and of engines": {
			in: doc(
				"[10:00:00] [main/INFO]: Starting minecraft server version 1.20.4",
				"[10:00:00] [main/INFO]: [PluginInitializerManager] Bukkit plugins (3):",
				" - Mill (3.2), Loom Two (1.0-b+2), Kiln (2.20.1)",
				"[10:00:01] [Server thread/INFO]: [Press] Enabling Press v1.2.0",
				"[10:00:01] [Server thread/INFO]: [Other] Enabling Press2 v1.2.0",
			),
			want: `2: "Mill" "" [] "3.2"` + "\n" + `2: "Loom Two" "" [] "1.0-b+2"` + "\n" + `2: "Kiln" "" [] "2.20.1"` + "\n" +
				`4: "Press" "" [] "v1.2.0"` + "\n",
		},
		"plugins that an engine mounts": {
			in: doc(
				"Log file open, 02/03/31 12:00:00",
				"LogPluginManager: Mounting Engine plugin Paper2D",
				"LogPluginManager: Mounting Mod plugin Mill",
				"[2031.02.03-12.00.02:000][  0]LogPluginManager: Mounting Project plugin Loom",
			),
			want: `3: "Mill" "" [] ""` + "\n" + `4: "Loom" "" [] ""` + "\n",
		},
		"an upload": {
			in: doc(
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
				"Fringe(acme.fringe)[mv:1.0]: Lib(1.0 [a]: b)",
				"a tag that does not end(acme.open)[mv:1.0): Lib(1.0)",
				"(no assemblies)(x)",
				"Harmony(Author.Lib): 0Lib(2.2.1)",
				"a line that is none",
				"",
				"Active Harmony patches:",
				"Panel.Draw(x.y): TRANS: (c.d)",
				"",
				"Log file contents:",
				"Loading game from file a with mods:",
				"  - author.lib",
				"  - acme.late",
			),
			want: doc(
				`1: "Harmony" "author.lib" ["0Lib" "LibMod"] "[mv:1.3.0.0] 2.2.1 1.3.0"`,
				`1: "Core" "Publisher.Game" [] ""`,
				`1: "Presses (dev)" "acme.press" ["0Lib" "PressLib"] "[mv:1.0][ov:2.0] av:2.2.1,fv:2.1.0 1.8.0 [no FileVersionInfo]"`,
				`1: "Series: Part" "acme.series.part" ["Part-1.3"] "1.0.0"`,
				`1: "Outer (Space Mods 40k)" "acme.outer" ["Outer"] "1.0.0"`,
				`1: "Fringe" "acme.fringe" ["Lib"] "[mv:1.0] 1.0 [a]: b"`,
			),
		},
		"a game that is loaded, twice": {
			in: unity2022_3 + doc(
				"Loading game from file Mods with mods:",
				"  - Publisher.Game",
				"  - acme.press (incompatible version)",
				"  - 1stauthor.loom",
				"ready",
				"Loading game from file b with mods:",
				"  - acme.Press",
				"  - acme.mill",
				"Initializing new game with mods: ",
				"  - acme.mill",
			),
			want: doc(
				`5: "" "Publisher.Game" [] ""`,
				`5: "" "acme.press" [] ""`,
				`5: "" "1stauthor.loom" [] ""`,
				`10: "" "acme.mill" [] ""`,
			),
		},
		"with the prefix of a logger": {
			in: doc(
				"[12:34:56 INFO  SMAPI] Loaded 3 mods:",
				"[12:34:56 INFO  SMAPI]    Mill 2 1.3.0 by Somebody | Grinds 4 times as fast",
				"[12:34:56 INFO  SMAPI]    Мельница 2.0-beta.1 by Кто-то",
				"[12:34:57 INFO  SMAPI]    a remark of 3 words",
				"[12:34:57 INFO  SMAPI]    Loom 2.0 by Somebody",
				"",
				"[12:34:57 INFO  SMAPI] Loaded 1 content packs:",
				"[12:34:57 INFO  SMAPI]    Kiln 2.0 by Somebody | for Mill 2",
				"[12:34:57 TRACE SMAPI] Done",
				"[12:34:57 INFO  SMAPI]    Later 2.0 by Somebody",
			),
			want: doc(
				`2: "Mill 2" "" [] "1.3.0"`,
				`3: "Мельница" "" [] "2.0-beta.1"`,
				`8: "Kiln" "" [] "2.0"`,
			),
		},
		"one by one": {
			in: doc(
				"[Message:   BepInEx] BepInEx 5.4.21.0 - Game (1/2/2026 3:04:05 AM)",
				"[Info   :   BepInEx] 2 plugins to load",
				"[Info   :   BepInEx] Loading [Mill [dev] 1.2.0]",
				"[Info   :   BepInEx] Loading [Mill [dev] 1.2.0]",
				"[Info   :      Mill] Loading [sounds]",
				"Loading [Loom v2]",
				"Still Loading [Kiln 1.0]",
			),
			want: doc(
				`3: "Mill [dev]" "" [] "1.2.0"`,
				`6: "Loom" "" [] "v2"`,
			),
		},
		"one by one, with a noun": {
			in: doc(
				"[10:00:01] [Server thread/INFO]: [Mill] Loading server plugin Mill v1.2.0",
				"2031-04-05T10:00:01 1.234 INF [MODS]   Loaded Mod: Old Loom (1.1)",
				"[Loader] 10:00:02 [Info] Loaded plugin Kiln v4.0.0 by Somebody",
				"   1.500 Loading mod base 1.1.100 (data.lua)",
				"   1.600 Loading mod settings lamps 2.0.1 (settings.lua)",
				"[10:00:03] not loaded plugin Press 1.0",
				"[10:00:03] Loaded plugin sounds",
			),
			want: doc(
				`1: "Mill" "" [] "v1.2.0"`,
				`2: "Old Loom" "" [] "1.1"`,
				`3: "Kiln" "" [] "v4.0.0"`,
				`5: "lamps" "" [] "2.0.1"`,
			),
		},
		"in one line": {
			in:   doc("[10:00:01] [INFO] Loaded mods: Mill v1.2.0, Old Loom v1.1", "[10:00:02] [INFO] Loaded mods: kiln, lamps, press"),
			want: doc(`1: "Mill" "" [] "v1.2.0"`, `1: "Old Loom" "" [] "v1.1"`, `2: "kiln" "" [] ""`, `2: "lamps" "" [] ""`, `2: "press" "" [] ""`),
		},
		"table": {
			in: doc(
				"[10:00:01] [main/INFO] [acme.Finder/]: ",
				"     Mod List:",
				"\t\tName Version (Mod Id)",
				"",
				"\t\tOld Loom 1.1.j (oldloom)",
				"\t\tmill 2.0.1 (mill)",
				"[10:00:02] [main/INFO] [acme.Finder/]: done",
			),
			want: doc(`5: "Old Loom" "oldloom" [] "1.1.j"`, `5: "mill" "mill" [] "2.0.1"`),
		},
		"marked, below a prefix": {
			in: doc(
				"[12:00:00] [main/INFO]: Loading 3 mods:",
				"\t- mill-api 0.92.0+1.20.1",
				"\t   |-- mill-base 0.4",
				"\t- java 17",
				"\t* Some Loom (acme.loom)",
				"\t- and more of them",
				"[12:00:01] [main/INFO]: ready",
				"  - late 1.0",
			),
			want: doc(
				`1: "mill-api" "" [] "0.92.0+1.20.1"`,
				`1: "java" "" [] "17"`,
				`1: "Some Loom" "acme.loom" [] ""`,
			),
		},
		"marked and set in, each with a prefix": {
			in: doc(
				"12:03:40.100 [INFO] Loading 2 mods:",
				"12:03:40.101 [INFO]  - Some Loom 1.2.0",
				"12:03:40.101 [INFO]  - Mill 2.0.1",
				"12:03:40.102 [INFO] ready",
			),
			want: doc(`2: "Some Loom" "" [] "1.2.0"`, `3: "Mill" "" [] "2.0.1"`),
		},
		"not loaded": {
			in: unity2022_3 + doc(
				"Could not load these mods:",
				"  - acme.press",
				"Failed while Loading mods:",
				"  - acme.press",
				"Loaded mods of the past",
				"  - acme.press",
			),
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, end := range []string{"\n", "\r\n"} {
				in := strings.ReplaceAll(c.in, "\n", end)
				for _, opt := range []Options{{}, {maxRecordText: 256}} {
					recs, _ := read(t, strings.NewReader(in), opt)
					require.Equal(t, c.want, listed(recs))
				}
				require.Equal(t, c.want, listed(streamed(t, []byte(in), []int{17}, Options{}, nil)))
				// Whoever asks in between gets each mod once too, some with a later record.
				recs := streamed(t, []byte(in), []int{11}, Options{}, func(int) (bool, bool) { return true, true })
				require.Equal(t, strings.Count(c.want, "\n"), strings.Count(listed(recs), "\n"))
			}
		})
	}
}

// TestModsOfRecordings requires that a message that comes whole says the same as one
// that comes in lines.
func TestModsOfRecordings(t *testing.T) {
	recs := records(t, doc(
		`{"kind":"log","message":"Loading game from file a with mods:\n  - acme.loom"}`,
		`{"kind":"context","message":"Log uploaded on Monday\nLoaded mods:\r\nMill(acme.mill): Mill(1.0)\n\nActive Harmony patches:\nA.B(c.d): (x)"}`,
		`{"kind":"continuation","message":"Loaded mods:\n  - acme.kiln"}`,
		`{"kind":"log","message":""}`,
	))
	require.Equal(t, doc(`1: "" "acme.loom" [] ""`, `2: "Mill" "acme.mill" ["Mill"] "1.0"`), listed(recs))
}

func TestModsAreBounded(t *testing.T) {
	list := func(n int, line string) string {
		var b strings.Builder
		b.WriteString(doc("Log uploaded on Monday", "Loaded mods:"))
		for i := range n {
			fmt.Fprintf(&b, line+"\n", i)
		}
		b.WriteString(doc("", "Log file contents:") + unity2022_3)
		return b.String()
	}
	for name, c := range map[string]struct {
		in      string
		mods    int
		omitted int
	}{
		"mods":      {list(maxMods+10, "A(a.m%d): (no assemblies)"), maxMods, 10},
		"one line":  {list(3, "A"+strings.Repeat(" a", maxModText/2)+"(a.m%d): (no assemblies)"), 0, 3},
		"all lines": {list(200, "A"+strings.Repeat("a", 10_000)+"(a.m%d): (no assemblies)"), 104, 96},
	} {
		t.Run(name, func(t *testing.T) {
			recs, _ := read(t, strings.NewReader(c.in), Options{maxRecordText: 256})
			require.True(t, recs[0].Context)
			require.NotZero(t, recs[0].Cut)
			require.Len(t, recs[0].Mods.Mods, c.mods)
			require.Equal(t, c.omitted, recs[0].Mods.Omitted)
			require.Len(t, recs, 1+strings.Count(unity2022_3, "\n"))
		})
	}
}

// TestModsOutliveTheRecord requires that nobody has to copy a list.
func TestModsOutliveTheRecord(t *testing.T) {
	in := doc("Log uploaded on Monday", "Loaded mods:", "Mill(acme.mill)[mv:1.0]: MillLib(2.0)", "", "Log file contents:") +
		unity2022_3 + strings.Repeat("something else, and at length\n", 1000)
	r := testkit.Must(NewReader(bytes.NewReader([]byte(in)), Options{}))
	var rec Record
	require.NoError(t, r.Next(&rec))
	list := rec.Mods
	for r.Next(&rec) == nil {
		require.Nil(t, rec.Mods)
	}
	require.Equal(t, []ListedMod{{
		Mod: Mod{Name: "Mill", PackageID: "acme.mill", Assemblies: []string{"MillLib"}}, Versions: "[mv:1.0] 2.0",
	}}, list.Mods)
}

// TestHeaderHoldsPatches requires that no name of a method that is patched ends the
// header of an upload.
func TestHeaderHoldsPatches(t *testing.T) {
	lines := []string{
		"Log uploaded on Monday", "Loaded mods:", "Mill(acme.mill): Mill(1.0)", "", "Active Harmony patches:",
		"Panel.Draw: PRE: Mill.Draw_Patch.Prefix, [800]Loom.OnException",
		"Panel.Close: TRANS: Mill.Close_Patch.PanelException",
		"LoomException..ctor: post: Mill.New.Postfix FINAL: Mill.New.Finalizer",
		"Panel.<Draw>g__Exception|3_0: (no patches)",
		"Panel.ThrowException: PRE: Mill.Patch.Prefix",
		"Harmony versions present: 2.2.1.0: acme.Mill.OnException; 2.0.0.0: acme.LoomException",
		"", "Platform information: (hidden, use publishing options to include)", "", "Log file contents:",
	}
	recs := records(t, doc(lines...)+unity2022_3)
	require.True(t, recs[0].Context)
	require.Equal(t, len(lines), recs[0].EndLine)

	table(t, func(b []byte) bool { return rimworld.IsPatched(text(b)) },
		[]string{"A.B: PRE: C.D", "A.<B>b__0: post: C.D", "A.B: TRANS: C.D", "A.B: FINAL: C.D", "A..ctor: (no patches)"},
		[]string{"A.B", "A.B: C.D", "SomeException: PRE-release mods", "this is: PRE: x", ": "})
}

func FuzzMods(f *testing.F) {
	f.Add("Loaded mods:\nSome Mod(author.mod)[mv:1.0]: Lib(1.0), Mod(av:1,fv:2)")
	f.Add("Loaded mods:\n(](): ](")
	f.Add("[a] Loaded 1 mods:\n[a]    b 1.0\n\t- c.d (e)\nLoading [a 1]")
	f.Fuzz(func(t *testing.T, message string) {
		for _, header := range []bool{false, true} {
			m := modLists{early: true}
			for line := range strings.Lines(message) {
				if line = strings.TrimSuffix(line, "\n"); line != "" {
					m.begin(line, header)
					m.line(line)
				}
			}
			m.message(message, header, 0)
			if m.list == nil {
				continue
			}
			for _, mod := range m.list.Mods {
				require.True(t, mod.Name != "" || mod.PackageID != "")
				require.False(t, strings.ContainsAny(mod.PackageID, " ()\n"))
				require.NotContains(t, mod.Name, "\n")
			}
		}
	})
}

func TestModsOfTheLatestRun(t *testing.T) {
	var in strings.Builder
	for run := range 2 {
		fmt.Fprintf(&in, "[10:00:00 INFO]: Starting minecraft server version 1.20.%d\n", run+1)
		fmt.Fprintf(&in, "[10:00:01 INFO]: [Press] Enabling Press v1.2.%d\n", run)
		for i := range maxBeginning {
			fmt.Fprintf(&in, "[10:00:02 INFO]: Player %d joined the game\n", i)
		}
		in.WriteString("[10:00:01 INFO]: [Mill] Enabling Mill v1.2.0\n")
	}
	require.Equal(t, `2: "Press" "" [] "v1.2.0"`+"\n"+`2005: "Press" "" [] "v1.2.1"`+"\n", listed(records(t, in.String())))
}

func TestModsListedAgainWithTheirVersions(t *testing.T) {
	var list modLists
	var mods []ListedMod
	for _, m := range []ListedMod{
		{Mod: Mod{Name: "!!"}},
		{Mod: Mod{PackageID: "acme.press"}},
		{Mod: Mod{Name: "??"}},
		{Mod: Mod{Name: "Press", PackageID: "acme.press"}, Versions: "1.2"},
		{Mod: Mod{Name: "??"}, Versions: "2.0"},
	} {
		list.add(&m)
		mods = list.list.AppendTo(mods)
		list.list = nil
	}
	require.Len(t, mods, 3)
	require.Equal(t, []string{"", "1.2", "2.0"}, []string{mods[0].Versions, mods[1].Versions, mods[2].Versions})
}

// TestHostileMods reads what makes careless loops quadratic: minutes of work, in place of a second.
func TestHostileMods(t *testing.T) {
	for _, s := range []string{"(", "(a)[", "(a)[]"} {
		require.False(t, new(ListedMod).parse(strings.Repeat(s, 1<<20)+"]"))
	}
	var list ModList
	for i := range 1 << 16 {
		list.Mods = append(list.Mods, ListedMod{Mod: Mod{Name: fmt.Sprint("Press ", i)}})
		list.again = append(list.again, true)
	}
	require.Len(t, list.AppendTo(list.AppendTo(nil)), len(list.Mods))
}
