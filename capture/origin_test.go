package capture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeadless(t *testing.T) {
	const banner = "Mono path[0] = '/g/Foo_Data/Managed'\nMono config path = '/g/etc'\nInitialize engine version: 2019.4.30f1 (0123456789ab)\n"
	const warning = "Lamp is dim\n \n(Filename: C:\\build\\Debug\\Debug.bindings.h Line: 39)\n\n"
	chat := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "step %d\n", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"nothing", "", false},
		{"a whole log", banner + warning + "UnloadTime: 0.5 ms\n", false},
		{"below a launcher's lines", chat(200) + banner + warning, false},
		{"a footer first", "(Filename: C:\\build\\Debug.bindings.h Line: 39)\n\nLamp is dim\n", true},
		{"a footer first, in plain text", "(Filename:  Line: 39)\n", true},
		{"a frame first", "  at Foo.Bar () [0x00000] in <0123456789abcdef0123456789abcdef>:0 \nLamp is dim\n", true},
		{"a frame of Java first", "\tat net.foo.Bar.run(Bar.java:12)\n[12:00:00] [main/INFO]: lamp\n", true},
		{"a reference first", "[Ref 1A2B3C4D] Duplicate stacktrace, see ref for original\nLamp is dim\nUnloadTime: 0.5 ms\n", true},
		{"warnings without a banner", "Lamp is lit\n" + warning + warning, true},
		{"housekeeping without a banner", "Lamp is lit\nUnloadTime: 0.5 ms\nUnloading 3 unused Assets to reduce memory usage. Loaded Objects now: 9.\n", true},
		{"the end of another run first", warning + chat(30) + warning + banner + warning, true},
		{"the game's banner first", "RimWorld 1.4.1 rev2\n" + warning, false},
		{"the game's banner, late", chat(30) + "RimWorld 1.4.1 rev2\n" + warning, true},
		{"a crash that was pasted", "Crash!!!\nSymInit: Symbol-SearchPath: '.'\n", false},
		{"prose", "one line\nanother\n", false},
		{"a method call first, in plain text", "Main:start()\nanother\n", false},
		{"a loader's log", "[Info   :   BepInEx] BepInEx 5.4.21.0 - Foo (1/2/2023 3:04:05 PM)\n[Error  : Unity Log] NullReferenceException: lamp\n  at Foo.Bar () [0x00000] in <0123456789abcdef0123456789abcdef>:0 \n", false},
		{"a console", "Lamp is dim\nUnityEngine.StackTraceUtility:ExtractStackTrace ()\nVerse.Log:Warning (string)\n\n", false},
		{"an upload", "Log uploaded on Friday, January 30, 2026, 1:02:03 PM\nLoaded mods:\nCore(a.b): (no assemblies)\n\nLog file contents:\n" + warning, false},
	} {
		require.Equal(t, c.want, observed(t, c.in).Headless(), c.name)
	}
}

// A log that is whole has its beginning, however early it ends; nearly every one that
// was cut in the middle of its text does not.
func TestHeadlessCaptures(t *testing.T) {
	for name, in := range captures(t) {
		lines := strings.SplitAfter(string(in), "\n")
		managed := strings.HasPrefix(name, "colony") || strings.HasPrefix(name, "burst") || strings.HasPrefix(name, "classic")
		for i := 1; i <= 8; i++ {
			e := observed(t, strings.Join(lines[:len(lines)*i/8], ""))
			require.False(t, e.Headless(), "%s, %d eighths of it", name, i)
			require.True(t, e.Recognized(), "%s, %d eighths of it", name, i)
			if managed && i < 8 {
				e = observed(t, strings.Join(lines[len(lines)*i/8:], ""))
				require.True(t, e.Headless(), "%s without %d eighths of it", name, i)
			}
		}
	}
	for name, in := range referenceCaptures(t) {
		require.False(t, observed(t, string(in)).Headless(), name)
	}
}

func TestRecognized(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"nothing", "", false},
		{"prose", "It rained.\n\nThe error was ours: nobody had closed the door.\n", false},
		{"a table", "name,count,share\nlamp,3,0.5\n", false},
		{"JSON of anything", "{\"lamp\":3}\n", false},
		{"JSON lines of a logger", "{\"level\":\"info\",\"message\":\"lamp\"}\n", true},
		{"an operation", "{\"kind\":\"operation\",\"operation\":\"1\",\"method\":\"a/b\",\"status\":\"started\"}\n", true},
		{"Unity's", "Mono path[0] = '/g/Foo_Data/Managed'\n", true},
		{"SMAPI", "[12:34:56 INFO  SMAPI] SMAPI 3.18.6 with Some Game 1.5.6 build 22018 on Some System 10\n", true},
		{"BepInEx", "[Message:   BepInEx] BepInEx 5.4.21.0 - SomeGame (1/2/2023 3:04:05 PM)\n", true},
		{"Minecraft", "[12:34:56] [main/INFO]: Setting user: lamp\n", true},
		{"Godot", "Godot Engine v4.2.1.stable.official - https://godotengine.org\nlamp\n", true},
		{"Unreal", "Log file open, 01/30/26 12:00:00\nLogInit: Build: lamp\n", true},
		{"Unreal, without times", "lamp\nLogInit: Build: lamp\n", true},
		{"Factorio", "   0.000 2026-01-30 12:00:00; Factorio 1.1.100 (build 61729, win64, steam)\n", true},
		{"times", "2026-01-30T12:00:00Z lamp is lit\n", true},
		{"levels", "INFO: lamp is lit\n", true},
	} {
		require.Equal(t, c.want, observed(t, c.in).Recognized(), c.name)
	}
}

// A footer says of the text above it that it was a warning or an error. By itself it
// says nothing.
func TestOrphanFooter(t *testing.T) {
	recs := records(t, "(Filename: C:\\build\\Debug.bindings.h Line: 39)\n\nLamp is dim\n \n(Filename: C:\\build\\Debug.bindings.h Line: 39)\n")
	require.Len(t, recs, 2)
	require.Equal(t, "unknown none", recs[0].Level.String()+" "+recs[0].LevelBy.String())
	require.Equal(t, "warning footer", recs[1].Level.String()+" "+recs[1].LevelBy.String())
}

// TestHeadings: a line that only heads a trace belongs to the record above it, if that names an exception or ends in a
// colon and frames come next.
func TestHeadings(t *testing.T) {
	const frames = "  at Acme.Press.Turn () [0x00012] in <0123abcd>:0\n  at Acme.Loop.Run () [0x00012] in <0123abcd>:0\n"
	for name, c := range map[string]struct {
		text    string
		records int
	}{
		"only a type":         {"Could not turn the press:\nNullReferenceException\n" + frames, 1},
		"below a blank line":  {"Could not turn the press:\n\nNullReferenceException\n" + frames, 1},
		"a heading":           {"Press failed: System.Exception: stuck\nStack trace:\n" + frames, 1},
		"in another language": {"Press failed: System.Exception: stuck\n\nAufrufliste:\n" + frames, 1},
		"two headings":        {"Could not turn the press:\n\nException:\nSystem.NullReferenceException: x\n" + frames, 1},
		"details":             {"Press failed: System.Exception: stuck\n\nTechnical details\n" + frames, 1},
		"patches":             {"Press failed: System.Exception: stuck\n" + frames + "Prefix:\n" + frames, 1},
		"no frames":           {"Press failed: System.Exception: stuck\n\nResults:\nall is well\n", 3},
		"no exception":        {"The press turns\n\nStack trace:\n" + frames, 2},
		"another exception":   {"Press failed: System.Exception: stuck\n" + frames + "NullReferenceException\n" + frames, 2},
	} {
		for _, head := range []string{"[Error  :   Press] ", ""} {
			text := head + c.text
			layout := LayoutPlain
			if head == "" {
				layout = LayoutAuto
				text = "Initialize engine version: 2022.3.35f1 (011206c7a712)\n" + text
			}
			recs, _ := read(t, strings.NewReader(text), Options{Layout: layout})
			if head == "" {
				recs = recs[1:]
			}
			require.Len(t, recs, c.records, "%s, %q:\n%s", name, head, render(recs))
		}
	}
}

// TestLocalFrames: frames with a word of any language before the method, or without one, are a stack from two in
// sequence on.
func TestLocalFrames(t *testing.T) {
	for name, c := range map[string]struct {
		trace  string
		frames int
	}{
		"German":       {"   bei Acme.Press.Turn(String text) in C:\\src\\press.cs:Zeile 12.\n   bei Acme.Loop.Run()", 2},
		"Russian":      {"   в Acme.Press.Turn(String text) в C:\\src\\press.cs:строка 12\n   в Acme.Loop.Run()\n   в Acme.Main.Main()", 3},
		"Chinese":      {"   在 Acme.Press.Turn(String text) 位置 C:\\src\\press.cs:行号 12\n   在 Acme.Loop.Run()", 2},
		"Korean":       {"   위치: Acme.Press.Turn(String text) 파일 C:\\src\\press.cs:줄 12\n   위치: Acme.Loop.Run()", 2},
		"without":      {"\tAcme.Recipes.Loader+<Load>d__4.MoveNext ()\n\tEngine.Coroutine.Invoke (IEnumerator enumerator, IntPtr address)", 2},
		"English":      {"   at Acme.Press.Turn(String text) in C:\\src\\press.cs:line 12\n   at Acme.Loop.Run()", 2},
		"one":          {"   bei Acme.Press.Turn(String text)\n   und nichts mehr", 0},
		"two words":    {"   bei Acme.Press.Turn(String text)\n   von Acme.Loop.Run()", 0},
		"prose":        {"   see Acme.Press.Turn for more (or ask)\n   see Acme.Loop.Run for more (or ask)", 0},
		"after a line": {"   values\n   bei Acme.Press.Turn()\n   bei Acme.Loop.Run()", 2},
	} {
		for _, head := range []string{
			"2026-03-01 10:00:00 ERROR could not turn: System.Exception: x\n", "Initialize engine version: 2022.3.35f1 (011206c7a712)\nException: x\n",
		} {
			recs := records(t, head+c.trace+"\n")
			rec := recs[len(recs)-1]
			got := 0
			if rec.Stack != "" {
				got = strings.Count(rec.Stack, "\n") + 1
			}
			require.Equal(t, c.frames, got, "%s: %q", name, rec.Stack)
			for line := range strings.SplitSeq(c.trace, "\n") {
				require.Contains(t, rec.Message+"\n"+rec.Stack, strings.TrimSpace(line), name)
			}
		}
	}
}
