package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
)

const (
	unity2019_2 = "Mono path[0] = 'C:/games/RimWorld/RimWorldWin64_Data/Managed'\nMono config path = 'C:/games/RimWorld/MonoBleedingEdge/etc'\nInitialize engine version: 2019.2.17f1 (8e603399ca02)\n"
	unity2019_4 = "Mono path[0] = 'C:/games/RimWorld/RimWorldWin64_Data/Managed'\nMono config path = 'C:/games/RimWorld/MonoBleedingEdge/etc'\nInitialize engine version: 2019.4.30f1 (e8c891080a1f)\n"
	unity2022_3 = "Mono path[0] = 'C:/games/RimWorld/RimWorldWin64_Data/Managed'\nMono config path = 'C:/games/RimWorld/MonoBleedingEdge/etc'\n[PhysX] Initialized MultithreadedTaskDispatcher with 8 workers.\nInitialize engine version: 2022.3.35f1 (011206c7a712)\n"
	footer      = `(Filename: C:\buildslave\unity\build\Runtime/Export/Debug/Debug.bindings.h Line: 39)`
)

// TestRecords gives inputs below a banner and the records that follow it.
func TestRecords(t *testing.T) {
	for _, c := range []struct {
		name, banner, in, want string
	}{
		{
			"2019.2: plain messages, a footer below a line of one space, blank lines of the engine", unity2019_2,
			doc("RimWorld 1.2.2900 rev837", "[Gadgets] ready", "Key binding conflict: Panel and Map are both bound to F9.", " ", footer, "",
				"UnloadTime: 0.25 ms", "", "Unloading 31 unused Assets to reduce memory usage. Loaded Objects now: 20111.",
				"Total: 41.5 ms (FindLiveObjects: 0.5 ms CreateObjectMapping: 0.1 ms MarkObjects: 40.9 ms  DeleteObjects: 0.01 ms)", "", "done"),
			`
4-4 line info/no-footer "RimWorld 1.2.2900 rev837"
5-5 line info/no-footer "[Gadgets] ready"
6-8 footer warning/footer "Key binding conflict: Panel and Map are both bound to F9."
10-10 blank info/no-footer "UnloadTime: 0.25 ms"
12-13 blank info/no-footer "Unloading 31 unused Assets to reduce memory usage. Loaded Objects now: 20111.\nTotal: 41.5 ms (FindLiveObjects: 0.5 ms CreateObjectMapping: 0.1 ms MarkObjects: 40.9 ms  DeleteObjects: 0.01 ms)"
15-15 line info/no-footer "done"
`,
		},
		{
			"2019.4: the space before the footer goes, the head's stays", unity2019_4,
			doc("[Gadgets] ready", "GADGETS: Panels found ", footer, "", "Possibly relevant mods for above error:", "Anna's [tools] (anna.tools)", "[KR] 은비의 패널 (eunbi.panels)", " ", footer, "",
				"Tried loading mod with the same packageId multiple times: anna.tools. Ignoring the duplicates.", `D:\play\RimWorld\Mods\Tools`, `D:\play\RimWorld\Mods\1234567890 `, footer),
			`
4-4 line info/no-footer "[Gadgets] ready"
5-6 footer warning/footer "GADGETS: Panels found"
8-12 footer warning/footer "Possibly relevant mods for above error:\nAnna's [tools] (anna.tools)\n[KR] 은비의 패널 (eunbi.panels)"
14-17 footer warning/footer "Tried loading mod with the same packageId multiple times: anna.tools. Ignoring the duplicates.\nD:\\play\\RimWorld\\Mods\\Tools\nD:\\play\\RimWorld\\Mods\\1234567890"
`,
		},
		{
			"2019.4: exceptions, with blank lines inside and annotations", unity2019_4,
			doc("Exception getting types in assembly Gadgets: System.Reflection.ReflectionTypeLoadException: Exception of type 'x' was thrown.",
				"  at (wrapper managed-to-native) System.Reflection.Assembly.GetTypes(System.Reflection.Assembly,bool)", "", "Loader exceptions:",
				"   => System.TypeLoadException: Could not resolve type", " ", footer, "",
				"Critical error while injecting: System.ArgumentException: Invalid generic arguments", "Parameter name: typeArguments", "[Ref 5EED0002]",
				" at Gadget.Panel.Draw () [0x00028] in <89ab>:0 ", "     - PREFIX anna.tools: Void Gadget.Patch:Pre(Type t)", footer, "",
				"FileNotFoundException: No such assembly", "", " ", "(Filename:  Line: -1)"),
			`
4-10 footer error/exception "Exception getting types in assembly Gadgets: System.Reflection.ReflectionTypeLoadException: Exception of type 'x' was thrown.\n\nLoader exceptions:\n   => System.TypeLoadException: Could not resolve type" @ "  at (wrapper managed-to-native) System.Reflection.Assembly.GetTypes(System.Reflection.Assembly,bool)"
12-17 footer error/exception ref=5EED0002/original "Critical error while injecting: System.ArgumentException: Invalid generic arguments\nParameter name: typeArguments" @ " at Gadget.Panel.Draw () [0x00028] in <89ab>:0 \n     - PREFIX anna.tools: Void Gadget.Patch:Pre(Type t)"
19-22 footer error/exception "FileNotFoundException: No such assembly"
`,
		},
		{
			"2019.4: XML below its message, a patch trace, frames without places", unity2019_4,
			doc("XML Gadget.Def defines the same field twice: label.", "", "Field contents: false.", "", "Whole XML:", "", "<label>a</label>", footer, "",
				"[Gadgets - Start of stack trace]", `Verse.PatchOperationAdd(xpath="Defs/x"): Failed to find a node with the given xpath`, "[End of stack trace]",
				"The top operation is the one that failed, the ones below it are the parents", `Source file: S:\Mods\Gadgets\a.xml`, " ", footer, "",
				"GADGETS: panels closed from", "Gadget.Asset_Patch:Postfix():0", "Draw at offset 0 in file:line:column <filename unknown>:0:0 ", footer),
			`
4-11 footer warning/footer "XML Gadget.Def defines the same field twice: label.\n\nField contents: false.\n\nWhole XML:\n\n<label>a</label>"
13-19 footer warning/footer "[Gadgets - Start of stack trace]\nVerse.PatchOperationAdd(xpath=\"Defs/x\"): Failed to find a node with the given xpath\n[End of stack trace]\nThe top operation is the one that failed, the ones below it are the parents\nSource file: S:\\Mods\\Gadgets\\a.xml"
21-24 footer warning/footer "GADGETS: panels closed from" @ "Gadget.Asset_Patch:Postfix():0\nDraw at offset 0 in file:line:column <filename unknown>:0:0"
`,
		},
		{
			"2019.2: sections with titles", unity2019_2,
			doc("Grammar unresolvable. Root 'root'", "", "GRAMMAR RESOLUTION TRACE", "1    root → [a]", "2      a → 초원", "     root → UNRESOLVABLE", "",
				"CONSTANTS", "pawn_gender        Female", "count              3", "", "CUSTOM RULES", "■a → b", " ", footer, "", "FINISHED", "", "READY"),
			`
4-18 footer warning/footer "Grammar unresolvable. Root 'root'\n\nGRAMMAR RESOLUTION TRACE\n1    root → [a]\n2      a → 초원\n     root → UNRESOLVABLE\n\nCONSTANTS\npawn_gender        Female\ncount              3\n\nCUSTOM RULES\n■a → b"
20-20 blank info/no-footer "FINISHED"
22-22 line info/no-footer "READY"
`,
		},
		{
			"2022.3: heads of two lines, references, frames of every shape", unity2022_3,
			doc("Exception while ticking lord with job RimWorld.LordJob_Ritual: ", "System.NullReferenceException: Object reference not set to an instance of an object", "[Ref 5EED0001]",
				"  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 ", "    - POSTFIX anna.tools: Void Gadget.Patch:Post()",
				"System.Collections.Generic.List`1[[Gadget.Panel, Gadgets, Version=1.6.0.1]]..ctor(IEnumerable`1 c)",
				"Exception while ticking lord with job RimWorld.LordJob_Ritual: ", "System.NullReferenceException: Object reference not set to an instance of an object",
				"[Ref 5EED0001] Duplicate stacktrace, see ref for original",
				"JobDriver threw exception in toil Draw's initAction for pawn Мира driver=JobDriver_Wait (toilIndex=1)", "System.InvalidOperationException: no",
				"[Ref 5EED04] Duplicate stacktrace, see ref for original",
				"Мира doing ThinkNode_Duty with no duty.",
				"NullReferenceException: Object reference not set to an instance of an object", "  at Gadget.Panel.Tick () [0x00000] in <0123>:0 ", "", "[Gadgets] on"),
			`
5-10 frame error/exception ref=5EED0001/original "Exception while ticking lord with job RimWorld.LordJob_Ritual: \nSystem.NullReferenceException: Object reference not set to an instance of an object" @ "  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 \n    - POSTFIX anna.tools: Void Gadget.Patch:Post()\nSystem.Collections.Generic.List` + "`" + `1[[Gadget.Panel, Gadgets, Version=1.6.0.1]]..ctor(IEnumerable` + "`" + `1 c)"
11-13 frame error/exception ref=5EED0001/resolved "Exception while ticking lord with job RimWorld.LordJob_Ritual: \nSystem.NullReferenceException: Object reference not set to an instance of an object" @ "  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 \n    - POSTFIX anna.tools: Void Gadget.Patch:Post()\nSystem.Collections.Generic.List` + "`" + `1[[Gadget.Panel, Gadgets, Version=1.6.0.1]]..ctor(IEnumerable` + "`" + `1 c)"
14-16 frame error/exception ref=5EED04/unresolved "JobDriver threw exception in toil Draw's initAction for pawn Мира driver=JobDriver_Wait (toilIndex=1)\nSystem.InvalidOperationException: no\n[Ref 5EED04] Duplicate stacktrace, see ref for original"
17-17 line "Мира doing ThinkNode_Duty with no duty."
18-19 frame error/exception "NullReferenceException: Object reference not set to an instance of an object" @ "  at Gadget.Panel.Tick () [0x00000] in <0123>:0 "
21-21 line "[Gadgets] on"
`,
		},
		{
			"a reprinted trace replaces the one that its reference stood for", unity2022_3,
			doc("a: System.Exception: x", "[Ref 12AB]", "  at Gadget.A () [0x0] in <1>:0 ", "a: System.Exception: x", "[Ref 12AB]", "  at Gadget.B () [0x0] in <1>:0 ",
				"a: System.Exception: x", "[Ref 12AB] Duplicate stacktrace, see ref for original"),
			`
5-7 frame error/exception ref=12AB/original "a: System.Exception: x" @ "  at Gadget.A () [0x0] in <1>:0 "
8-10 frame error/exception ref=12AB/original "a: System.Exception: x" @ "  at Gadget.B () [0x0] in <1>:0 "
11-12 frame error/exception ref=12AB/resolved "a: System.Exception: x" @ "  at Gadget.B () [0x0] in <1>:0 "
`,
		},
		{
			"blocks: graphics, mod list, worker threads, memory statistics", unity2022_3,
			doc("Direct3D:", "    Version:  Direct3D 11.0 [level 11.1]", "    Vendor:   ", "Loading game from file 언덕 with mods:", "  - Ludeon.RimWorld", "  - anna.tools", "Tools: 3 found",
				"Setting up 2 worker threads for Enlighten.", "  Thread -> id: 1c2c -> priority: 1 ", "Memory Statistics:", "[ALLOC_TEMP_TLS] TLS Allocator", "  StackAllocators : ", "[ALLOC_DEFAULT] Dual Thread Allocator", "[Tools] bye"),
			`
5-7 indent "Direct3D:\n    Version:  Direct3D 11.0 [level 11.1]\n    Vendor:   "
8-10 indent "Loading game from file 언덕 with mods:\n  - Ludeon.RimWorld\n  - anna.tools"
11-11 line "Tools: 3 found"
12-13 indent "Setting up 2 worker threads for Enlighten.\n  Thread -> id: 1c2c -> priority: 1 "
14-17 block "Memory Statistics:\n[ALLOC_TEMP_TLS] TLS Allocator\n  StackAllocators : \n[ALLOC_DEFAULT] Dual Thread Allocator"
18-18 line "[Tools] bye"
`,
		},
		{
			"a crash lasts to the end", unity2019_4,
			doc("[Tools] on", "Crash!!!", "SymInit: Symbol-SearchPath: '.'", "", "========== OUTPUTTING STACK TRACE ==================", "",
				"0x00007FF0DECADE00 (UnityPlayer) UnityMain", "[Tools] is in a path", "", "========== END OF STACKTRACE ===========", "", "A crash has been intercepted by the crash handler."),
			`
4-4 line "[Tools] on"
5-15 block fatal/crash "Crash!!!\nSymInit: Symbol-SearchPath: '.'\n\n========== OUTPUTTING STACK TRACE ==================\n[Tools] is in a path\n\n========== END OF STACKTRACE ===========\n\nA crash has been intercepted by the crash handler." @ "0x00007FF0DECADE00 (UnityPlayer) UnityMain"
`,
		},
		{
			"Mono's crash report opens with a box; another run ends it", unity2022_3,
			doc("=================================================================", "\tNative Crash Reporting", "=================================================================",
				"Got a SIGSEGV while executing native code. This usually indicates", "a fatal error in the mono runtime", "", "\t0x7f0a12345678 - /opt/game/libmono.so : ") + unity2022_3,
			`
5-11 block fatal/crash "=================================================================\n\tNative Crash Reporting\n=================================================================\nGot a SIGSEGV while executing native code. This usually indicates\na fatal error in the mono runtime" @ "\t0x7f0a12345678 - /opt/game/libmono.so : "
notice restarted count=0 pos=12
12-12 line "Mono path[0] = 'C:/games/RimWorld/RimWorldWin64_Data/Managed'"
13-13 line "Mono config path = 'C:/games/RimWorld/MonoBleedingEdge/etc'"
14-14 line "[PhysX] Initialized MultithreadedTaskDispatcher with 8 workers."
15-15 line "Initialize engine version: 2022.3.35f1 (011206c7a712)"
`,
		},
		{
			"a message that reads like a crash ends where the process is seen to live", unity2022_3,
			doc("Got a SIGNAL while executing native code", "[Tools] on", "", "UnloadTime: 0.3 ms", "[Tools] on"),
			`
5-6 block fatal/crash "Got a SIGNAL while executing native code\n[Tools] on"
8-8 line "UnloadTime: 0.3 ms"
9-9 line "[Tools] on"
`,
		},
		{
			"a crash is one by the lines below its first, or at the end", unity2022_3,
			doc("Crash!!!", "[Tools] on", "", "Crash!!! said Мира", "", "[Tools] on", "Crash!!!"),
			`
5-5 line "Crash!!!"
6-6 blank "[Tools] on"
8-8 blank "Crash!!! said Мира"
10-10 line "[Tools] on"
11-11 block fatal/crash "Crash!!!"
`,
		},
		{
			"a known message of three lines", unity2022_3,
			doc("OnLevelWasLoaded was found on Gadget", "This message has been deprecated and will be removed in a later version of Unity.", "Add a delegate to SceneManager.sceneLoaded instead to get notifications", "next"),
			`
5-7 form "OnLevelWasLoaded was found on Gadget\nThis message has been deprecated and will be removed in a later version of Unity.\nAdd a delegate to SceneManager.sceneLoaded instead to get notifications"
8-8 line "next"
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := c.banner + c.in
			recs, r := read(t, strings.NewReader(in), Options{})
			requireCovers(t, in, recs)
			require.True(t, r.At().Layout.unity())
			require.Equal(t, strings.TrimPrefix(c.want, "\n"), render(recs[strings.Count(c.banner, "\n"):]))
		})
	}
}

func TestConsoleCopy(t *testing.T) {
	in := doc("Pawn Анна Ковалёва", "has no job", "UnityEngine.StackTraceUtility:ExtractStackTrace ()", "(wrapper dynamic-method) Verse.Log:Verse.Log.Warning_Patch1 (string)", "Verse.Root_Play:Update ()", "",
		"Exception in Gadget: System.NullReferenceException: no", "  at Gadget.Panel.Draw () [0x00001] in <abc>:0 ", "UnityEngine.StackTraceUtility:ExtractStackTrace ()", "Verse.Log:Error (string)", "Gadget.Panel:Draw ()", "",
		"NullReferenceException: no", "Gadget.Thing.Tick () (at <0123abcd>:0)", "",
		"Hello", "UnityEngine.StackTraceUtility:ExtractStackTrace ()", "Verse.Log:Message (string)", "Next without a blank line", "UnityEngine.Debug:LogError (object)")
	recs, r := read(t, strings.NewReader(in), Options{})
	requireCovers(t, in, recs)
	require.Equal(t, layoutConsole, r.At().Layout)
	require.Equal(t, strings.TrimPrefix(`
1-5 frame warning/console "Pawn Анна Ковалёва\nhas no job" @ "UnityEngine.StackTraceUtility:ExtractStackTrace ()\n(wrapper dynamic-method) Verse.Log:Verse.Log.Warning_Patch1 (string)\nVerse.Root_Play:Update ()"
7-11 frame error/console "Exception in Gadget: System.NullReferenceException: no" @ "  at Gadget.Panel.Draw () [0x00001] in <abc>:0 \nUnityEngine.StackTraceUtility:ExtractStackTrace ()\nVerse.Log:Error (string)\nGadget.Panel:Draw ()"
13-14 frame error/exception "NullReferenceException: no" @ "Gadget.Thing.Tick () (at <0123abcd>:0)"
16-18 frame info/console "Hello" @ "UnityEngine.StackTraceUtility:ExtractStackTrace ()\nVerse.Log:Message (string)"
19-20 frame error/console "Next without a blank line" @ "UnityEngine.Debug:LogError (object)"
`, "\n"), render(recs))
}

func TestHugsLibUpload(t *testing.T) {
	in := doc("Log uploaded on Monday, June 3, 2024, 1:02:03 AM", "Loaded mods:", "Tools(anna.tools)[mv:1.0]: Tools(1.0.0)", "", "Active Harmony patches:", "  Panel.Draw: PRE: Tools.Patch.Pre", "", "Log file contents:") +
		unity2019_4 + doc("Parsed 2.5 as int. ", footer)
	recs, r := read(t, strings.NewReader(in), Options{})
	requireCovers(t, in, recs)
	require.Equal(t, layoutHugsLib, r.At().Layout)
	require.True(t, recs[0].Context)
	require.Equal(t, contextSource, recs[0].Source)
	require.Equal(t, layoutHugsLib, recs[0].Layout)
	require.Equal(t, [2]int{1, 8}, [2]int{recs[0].StartLine, recs[0].EndLine})
	require.Equal(t, layoutUnity2019_4, recs[len(recs)-1].Layout)
	require.Equal(t, "12-13 footer warning/footer \"Parsed 2.5 as int.\"\n", render(recs[len(recs)-1:]))

	in = doc("Log uploaded on Monday", "Loaded mods:", "Log file contents:", "oh", unity.ConsoleMark+" ()", "Verse.Log:Error (string)", "", "ah", "oh")
	recs = records(t, in)
	require.Equal(t, "4-6 frame error/console \"oh\" @ \"UnityEngine.StackTraceUtility:ExtractStackTrace ()\\nVerse.Log:Error (string)\"\n8-9 console \"ah\\noh\"\n", render(recs[1:]))
}

func TestSeveralUploads(t *testing.T) {
	one := doc("Log uploaded on Monday", "Loaded mods:", "", "Log file contents:") + unity2019_4 + doc("Crash!!!", "", "0x00007FF0DECADE00 (UnityPlayer) UnityMain")
	recs := records(t, one+byteOrderMark+one)
	requireCovers(t, one+one, recs)
	require.Len(t, recs, 11)
	require.True(t, recs[5].Context)
	require.Equal(t, [2]int{11, 14}, [2]int{recs[5].StartLine, recs[5].EndLine})
	require.Equal(t, "notice restarted count=0 pos=15\n", render(recs[6:7]))
}

// TestUploadInName holds that a line which says that the log was uploaded hides
// nothing of it: the header of an upload is told by its list, and ends where the
// log begins.
func TestUploadInName(t *testing.T) {
	exception := doc("NullReferenceException: no", "  at Gadget.Thing.Tick () [0x00001] in <0123abcd>:0 ")
	for name, c := range map[string]struct {
		in      string
		records int // of the log, the header not counted
		context [2]int
	}{
		"within a log": {
			unity2022_3 + doc("Log uploaded on Friday") + strings.Repeat(exception, 30), 31,
			[2]int{},
		},
		"at its beginning": {doc("Log uploaded on Friday") + strings.Repeat(exception, 30), 31, [2]int{}},
		"twice": {
			unity2022_3 + doc("Log uploaded on Friday", "Log uploaded on Sunday") + exception,
			3,
			[2]int{},
		},
		"at the end":               {unity2022_3 + doc("[Tools] on", "Log uploaded on Friday"), 2, [2]int{}},
		"a blank line below":       {unity2022_3 + doc("Log uploaded on Friday", "", "[Tools] on", "[Tools] off"), 3, [2]int{}},
		"a header without its end": {doc("Log uploaded on Friday", "Loaded mods:", "Panel.Exception: More(a.b): Lib(1.0)", "Error Fix(c.d): (no assemblies)") + strings.Repeat(exception, 30), 30, [2]int{1, 4}},
		"a header with patches": {doc("Log uploaded on Friday", "Loaded mods:", "Core(a.b): (no assemblies)", "", "Active Harmony patches:", "Panel.Draw: TRANS: Tools.Patch.PanelException",
			"  Panel.Show: PRE: [800]Tools.Patch.Pre post: A.NullReferenceException.Postfix", "MillException.Tick: (no patches)", "Panel.Hide: FINAL: A.MillError", "Log file contents:") + exception, 1, [2]int{1, 10}},
		"a header, and a report below":       {doc("Log uploaded on Friday", "Loaded mods:", "[A] Tools(anna.tools): (no assemblies)", "Could not make Gadgets", "[Tools] on"), 2, [2]int{1, 3}},
		"a header, and tags below":           {doc("Log uploaded on Friday", "Loaded mods:", "[A] Tools: (no assemblies)", "[Tools] on", "[Tools] off"), 2, [2]int{1, 3}},
		"a header, and a footer below":       {doc("Log uploaded on Friday", "Loaded mods:", footer, "[Tools] on"), 2, [2]int{1, 2}},
		"a header, and a mention below":      {doc("Log uploaded on Friday", "Loaded mods:", "Error in Toil.Init(a.b): System.NullReferenceException: no (1)", "  at Gadget.Thing.Tick () [0x00001] in <0123abcd>:0 "), 1, [2]int{1, 2}},
		"a header within a log, with a list": {unity2022_3 + doc("[Tools] on", "Log uploaded on Friday", "", "Loaded mods:", "Core(a.b): (no assemblies)", "Log file contents:", "[Tools] off"), 2, [2]int{6, 10}},
	} {
		t.Run(name, func(t *testing.T) {
			recs, r := read(t, strings.NewReader(c.in), Options{})
			requireCovers(t, c.in, recs)
			require.True(t, r.At().Layout.unity() || r.At().Layout == layoutHugsLib)
			logs := 0
			for _, rec := range recs {
				if rec.Context {
					require.Equal(t, c.context, [2]int{rec.StartLine, rec.EndLine})
					c.context = [2]int{}
					continue
				}
				logs++
			}
			require.Zero(t, c.context, "a header that is one")
			if strings.HasPrefix(c.in, unity2022_3) {
				logs -= strings.Count(unity2022_3, "\n")
			}
			require.Equal(t, c.records, logs, outline(recs))
		})
	}
}

func TestPlainText(t *testing.T) {
	in := "\xef\xbb\xbfstarting\nlistening on :80\n  with 3 workers\n\n\tat the margin\npanic: x\n\tat gadget.draw(x.java:1)\n\xff\xfe bytes\n"
	recs, r := read(t, strings.NewReader(in), Options{})
	requireCovers(t, in, recs)
	require.Equal(t, LayoutPlain, r.At().Layout)
	require.Equal(t, strings.TrimPrefix(`
1-1 line "starting"
2-3 blank "listening on :80\n  with 3 workers"
5-5 line "\tat the margin"
6-7 frame "panic: x" @ "\tat gadget.draw(x.java:1)"
8-8 line "\xff\xfe bytes"
`, "\n"), render(recs))
}

func TestHoles(t *testing.T) {
	nul := strings.Repeat("\x00", 70_000)
	in := unity2022_3 + "[Tools] before\n" + nul + "\r\nafter\n" + nul + "Unloading 3 files\n" + "half a mess" + nul + "end of another\nnext\nx\x00y\n  \x00 \n" + nul
	recs := covered(t, in)
	require.Equal(t, strings.TrimPrefix(`
5-5 hole "[Tools] before"
notice hole count=70000 pos=6
7-7 hole "after"
notice hole count=70000 pos=8
8-8 line "Unloading 3 files"
9-9 hole "half a mess\nend of another"
notice hole count=70000 pos=9
10-10 line "next"
11-11 hole "x\x00y"
notice hole count=70000 pos=13
`, "\n"), render(recs[4:]))
}

func TestRunCut(t *testing.T) {
	run := func(n int, banner string) string {
		recs := records(t, banner+strings.Repeat("Мира has no duty.\n", n)+"next\n")
		var out []Record
		for _, r := range recs {
			if r.Kind == event.KindNotice || r.Message == "next" {
				out = append(out, r)
			}
		}
		return render(out)
	}
	require.Equal(t, "notice run_cut count=99 pos=103\n104-104 line \"next\"\n", run(99, unity2022_3), "the notice stands after the run")
	require.Equal(t, "103-103 line \"next\"\n", run(98, unity2022_3))
	require.Equal(t, "105-105 line \"next\"\n", run(100, unity2022_3))
	require.Equal(t, "103-103 line \"next\"\n", run(99, unity2019_4), "other layouts do not cut")

	recs := records(t, unity2022_3+strings.Repeat("a\n", 99))
	require.Equal(t, "notice run_cut count=99 pos=103\n", render(recs[len(recs)-1:]), "at the end of the input too")

	// The first of a run prints its trace, the others refer to it.
	in := unity2022_3 + "a: System.Exception: x\n[Ref 1A]\n  at Gadget.A () [0x0] in <1>:0 \n" +
		strings.Repeat("a: System.Exception: x\n[Ref 1A] Duplicate stacktrace, see ref for original\n", 98) + "next\n"
	recs = records(t, in)
	require.Equal(t, "notice run_cut count=99 pos=203\n204-204 line \"next\"\n", render(recs[len(recs)-2:]))
}

// TestRunCutVariants: what is alike is the message, of however many lines; what
// lies between or is missing ends a run.
func TestRunCutVariants(t *testing.T) {
	notices := func(in string) int { return len(counts(covered(t, in), event.StatusRunCut)) }
	const two = "Panels:\n  - one\n"
	lines := func(n int) string { return strings.Repeat(two, n) }
	require.Equal(t, 1, notices(unity2022_3+lines(99)+"next\n"))
	require.Equal(t, 1, notices(unity2022_3+strings.ReplaceAll(lines(99), "\n", "\r\n")))
	require.Equal(t, 0, notices(unity2022_3+lines(98)+"Panels:\n  - two\n"), "the last one differs in its second line")
	require.Equal(t, 2, notices(unity2022_3+lines(99)+"next\n"+lines(99)))
	require.Equal(t, 0, notices(unity2022_3+lines(50)+"next\n"+lines(49)))
	require.Equal(t, 0, notices(unity2022_3+lines(50)+strings.Repeat("\x00", 64)+"\n"+lines(49)),
		"a hole may hold anything")
	require.Equal(t, 1, notices(unity2022_3+lines(99)+strings.Repeat("\x00", 64)+"\n"+lines(1)))
	require.Equal(t, 1, notices(unity2022_3+strings.Repeat(two+"\n", 99)+"next\n"), "blank lines between")
	require.Equal(t, 1, notices(unity2022_3+strings.Repeat("a: System.Exception: x\n", 99)+"y\n"), "what follows is held back first")
}

func TestInputsOfNoUse(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"empty":                  {"", ""},
		"a mark":                 {byteOrderMark, ""},
		"two marks":              {byteOrderMark + byteOrderMark + "a\n", "1-1 line \"a\"\n"},
		"line ends":              {"\n\r\n\r\r\n\r", ""},
		"spaces":                 {" \t\n  ", ""},
		"63 NULs":                {strings.Repeat("\x00", 63), ""},
		"nothing but a hole":     {strings.Repeat("\x00", 64), "notice hole count=64 pos=1\n"},
		"a hole at both ends":    {strings.Repeat("\x00", 64) + "a\n" + strings.Repeat("\x00", 64), "notice hole count=64 pos=1\n1-1 hole \"a\"\nnotice hole count=64 pos=2\n"},
		"a mark before a hole":   {byteOrderMark + strings.Repeat("\x00", 64) + "\na\n", "notice hole count=64 pos=1\n2-2 line \"a\"\n"},
		"line ends of all sorts": {"a\r\nb\nc\r\r\n\td\n\re", "1-1 line \"a\"\n2-2 line \"b\"\n3-4 indent \"c\\n\\td\"\n5-5 line \"\\re\"\n"},
		"one byte":               {"\xff", "1-1 line \"\\xff\"\n"},
	} {
		recs := records(t, c.in)
		require.Equal(t, c.want, render(recs), name)
		for _, packed := range [][]byte{gz(t, c.in), zst(t, c.in)} {
			again := records(t, string(packed))
			require.Equal(t, recs, again, name)
		}
	}
}

func TestTruncated(t *testing.T) {
	for in, want := range map[string]bool{
		unity2019_4 + "Parsed 2.5 as int. \n(Filename: C:\\buildsl":              true,
		unity2019_4 + "Parsed 2.5 as int. \n" + footer:                           false,
		unity2022_3 + "a: System.Exception: x\n  at Gadget.A () [0x0":            true,
		unity2022_3 + "a: System.Exception: x\n  at Gadget.A (System.Int32 x":    true,
		unity2022_3 + "a: System.Exception: x\n  at Gadget.A () [0x0] in <1>:0 ": false,
		unity2022_3 + "a: System.Exception: x\n  at Gadget.A (":                  true,
		unity2022_3 + "a: System.Exception: x\n  at Gadget.A (\n":                false,
		unity2022_3 + "a: System.Exception: x\n  a":                              true,
		unity2022_3 + "a: x\n  at":                                               false,
		"a\n" + unity.ConsoleMark + " ()\nVerse.Log:Er":                          true,
		"a\n" + unity.ConsoleMark + " ()\nVerse.Log:Error (string)":              false,
		unity2022_3 + "the last message":                                         false,
		"{\"msg\":\"a\"}\n{\"msg\":\"b":                                          true,
		"{\"msg\":\"a\"}\n{\"msg\":\"b\"}":                                       false,
		"{\"msg\":\"a\"}\nbye":                                                   false,
		unity2019_4 + "Parsed 2.5 as int. \n" + footer + "\nno \n(Filena":        true,
		unity2019_4 + "Parsed 2.5 as int. \n(Filena":                             false,
		unity2022_3 + "a: System.Exception: x\n[Ref 12A":                         true,
		unity2022_3 + "the name is Мир\xd0":                                      true,
		unity2022_3 + "the name is 은\xeb\xb9":                                    true,
		unity2022_3 + "\xe4 legacy caf\xe9":                                      false,
		unity2022_3 + "the name is Мир\xd0\n":                                    false,
		"plain 은\xeb":                                                            true,
		unity2022_3 + "a\n(log trimmed to 10,000 lines. Use publishing options)": true,
	} {
		recs, r := read(t, strings.NewReader(in), Options{})
		last := recs[len(recs)-1]
		require.Equal(t, want, last.Kind == event.KindNotice, "%q", in)
		mayBeCut := !want && strings.Contains(in, "\n") && strings.Trim(in[len(in)-1:], "\n}") != ""
		require.Equal(t, mayBeCut, r.At().Unended, "%q", in)
		if want {
			require.Equal(t, "truncated", last.Status.String())
			require.NotEmpty(t, last.Message)
			require.Equal(t, uint64(strings.Count(in, "\n")+1), last.Pos)
		}
	}
}

func TestRestarted(t *testing.T) {
	count := func(in string) int { return len(counts(records(t, in), event.StatusRestarted)) }
	require.Equal(t, 0, count("Found path: /opt/game/RimWorldLinux\n"+unity2022_3+"a\n"), "a log may begin with other lines")
	require.Equal(t, 1, count(unity2022_3+"a\n"+unity2019_4))
	require.Equal(t, 2, count(unity2022_3+unity2022_3+unity2022_3))
	require.Equal(t, 1, count("Unloading 1 file\n"+strings.Repeat("a\n", 30)+unity2022_3), "a log without its beginning")
	require.Equal(t, 1, count(unity2022_3+"Initialize engine version: 2019.4.30f1 (x)\n"))
}

func TestOptions(t *testing.T) {
	_, err := NewReader(strings.NewReader(""), Options{Layout: 99})
	require.ErrorContains(t, err, "capture: Options.Layout")

	recs, r := read(t, strings.NewReader("a\n  b\n(Filename:  Line: 3)\n"), Options{Layout: LayoutPlain})
	require.Equal(t, LayoutPlain, r.At().Layout)
	require.Equal(t, 3, r.At().Lines)
	require.Equal(t, "1-2 indent \"a\\n  b\"\n3-3 line \"(Filename:  Line: 3)\"\n", render(recs))
}

func TestMaxRecordText(t *testing.T) {
	long := strings.Repeat("я", 1000)
	in := unity2022_3 + long + "\n  " + long + "\n" + "short: System.Exception: x\n" + strings.Repeat("  at Gadget.Panel.Draw () [0x0001f] in <0123>:0 \n", 100)
	recs, _ := read(t, strings.NewReader(in), Options{maxRecordText: 256})
	requireCovers(t, in, recs)
	recs = recs[4:]
	require.Len(t, recs, 2)
	require.Len(t, recs[0].Message, 256)
	require.Equal(t, uint64(2000-256+2002), recs[0].Cut, "the line feed had no room either")
	require.Len(t, recs[1].Stack, 256)
	require.Positive(t, recs[1].Cut)
}
