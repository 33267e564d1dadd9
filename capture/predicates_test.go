package capture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/frame"
)

// onText has a predicate of lines as texts look at bytes.
// areOf reports lines of some kinds.
func areOf(k kinds) func([]byte) bool { return func(b []byte) bool { return is(b, k) } }

func onText(is func(string) bool) func([]byte) bool {
	return func(b []byte) bool { return is(text(b)) }
}

func TestIsFooter(t *testing.T) {
	table(t, onText(unity.IsFooter), []string{
		`(Filename: C:\buildslave\unity\build\Runtime/Export/Debug/Debug.bindings.h Line: 39)`,
		`(Filename: ./Runtime/Export/Debug/Debug.bindings.h Line: 39) `,
		`(Filename:  Line: 580)`,
		`(Filename:  Line: -1)`,
	}, []string{
		`(Filename: C:\buildslave\unity\build\Runtime/Exp`,
		`(Filename:  Line: )`,
		`(Filename:  Line: 12`,
		`(Filename: x Line: 1a)`,
		` (Filename:  Line: 580)`,
		`Filename: x Line: 3`,
	})
	table(t, onText(unity.IsCutFooter), []string{`(Filename: C:\buildslave`, `(Filename:  Line: 12`}, []string{`(Filename:  Line: 12)`, `(File`})
}

func TestIsFrame(t *testing.T) {
	table(t, areOf(ofFrame), []string{
		"  at Gadget.Panel.Draw[T] (System.Int32 x) [0x00012] in <0123456789abcdef0123456789abcdef>:0 ",
		" at Gadget.Panel.Draw ()",
		"\tat gadget.Panel.draw(Panel.java:12)",
		"at Gadget.Panel.Draw () [0x00012] in <0123456789abcdef0123456789abcdef>:0 ",
		"  at (wrapper dynamic-method) Gadget.Panel.Gadget.Panel.Draw_Patch0(Gadget.Panel,int)",
		"(wrapper managed-to-native) System.Reflection.MonoMethod.InternalInvoke(object)",
		" [0x00006] in <fedcba9876543210fedcba9876543210>:0 ",
		"   --- End of inner exception stack trace ---",
		"--- End of stack trace from previous location where exception was thrown ---",
		"Rethrow as TypeInitializationException: The type initializer threw an exception.",
		"UnityEngine.StackTraceUtility:ExtractStackTrace ()",
		"Verse.Log:Error (string)",
		"Gadget.Panel_Constructor_Patch:Postfix():0",
		"Gadget.Panel+<>c__DisplayClass1_0:<Draw>b__0():0 ",
		"MonoMod.Utils.DynamicMethodDefinition:Gadget.Panel..ctor_Patch1():0",
		"Gadget.Panel:Draw(Int32) (at C:/src/Panel.cs:12)",
		"Gadget.Panel.Draw () (at <0123456789abcdef0123456789abcdef>:0)",
		"System.Collections.Generic.List`1<Gadget.Panel>:Add (Gadget.Panel)",
		"GetTypes at offset 0 in file:line:column <filename unknown>:0:0",
	}, []string{
		"Gadget: drawing (panel)",
		"Gadget :: drawing()",
		"Panel drawn (twice)",
		"Loaded Gadget.Panel:Draw (int)",
		"  attempt 1",
		"\tat the margin",
		"  at 10:30",
		"  at last.",
		"- PREFIX some.mod: Boolean A:Prefix(Thing t)",
		"Rethinking",
		"at the end", "at Gadget.Panel.Draw ()", "at last [0x1] in <the> end",
		"[0x00006] in the list",
		"Gadget.Panel.Draw(int)",
		"a:b(c) and more",
		"::()",
		"x:y(",
	})
}

func TestIsDottedCall(t *testing.T) {
	table(t, areOf(ofCall), []string{
		"System.Collections.Generic.List`1[[Gadget.Panel, Gadgets, Version=1.6.0.1, Culture=neutral, PublicKeyToken=null]]..ctor(IEnumerable`1 collection)",
		"Gadget.Panel.Draw(int)",
		"Gadget.Panel.Draw (int) [0x00012] in <0123>:0",
	}, []string{"Panel(int)", "Gadget, Panel.Draw(int)", "Gadget.Panel.Draw", "Gadget.Panel.Draw(int) failed"})
}

func TestIsNativeFrame(t *testing.T) {
	table(t, isNativeFrame, []string{
		"0x00007FF0DECADE00 (KERNEL32) BaseThreadInitThunk",
		"#3  0x007f3a12345678 in raise",
		"\t0x7f0a12345678 - /opt/game/libmono.so : ",
	}, []string{"0x12 (x)", "# heading", "x00007FF0DECADE00 (KERNEL32)"})
}

func TestIsWholeFrame(t *testing.T) {
	table(t, isWholeFrame, []string{
		"  at Gadget.Panel.Draw () [0x00012] in <01234567>:0 ",
		"  at Gadget.Panel.Draw ()",
		"Gadget.Panel:Draw():0",
		"   --- End of inner exception stack trace ---",
		"  at <unknown> <0xffffffff>",
	}, []string{
		"  at Gadget.Panel.Draw () [0x00",
		"  at Gadget.Panel.Draw () [0x00012] in <0123",
		"  at Gadget.Panel.Draw () [0x00012] in <01234567>:",
		"  at Gadget.Panel.Draw (System.Int",
		"\tat acme.Press.turn(Press.java:1",
	})
}

func TestConsoleLevel(t *testing.T) {
	for in, want := range map[string]event.Level{
		"Verse.Log:Error (string)":                                           event.LevelError,
		"Verse.Log:ErrorOnce (string,int)":                                   event.LevelError,
		"Verse.Log:Error(String, Boolean)":                                   event.LevelError,
		"Verse.Log:Warning (string)":                                         event.LevelWarning,
		"Verse.Log:WarningOnce (string,int)":                                 event.LevelWarning,
		"Verse.Log:Message (string)":                                         event.LevelInfo,
		"(wrapper dynamic-method) Verse.Log:Verse.Log.Error_Patch2 (string)": event.LevelError,
		"(wrapper dynamic-method) MonoMod:Verse.Log.Error_Patch2 (string)":   event.LevelUnknown,
		"(wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition:Verse.Log.Warning_Patch2 (string)": event.LevelWarning,
		"(wrapper dynamic-method) MonoMod.Utils.DynamicMethodDefinition:Verse.Logs.Error_Patch2 (string)":  event.LevelUnknown,
		"(wrapper dynamic-method) UnityEngine.Debug:UnityEngine.Debug.LogWarning_Patch1 (object)":          event.LevelWarning,
		"UnityEngine.Debug:LogError (object)":                       event.LevelError,
		"UnityEngine.Debug:LogException (System.Exception)":         event.LevelError,
		"UnityEngine.Debug:LogWarning(Object)":                      event.LevelWarning,
		"UnityEngine.Debug:LogFormat (string,object[])":             event.LevelInfo,
		"UnityEngine.Debug:Log (object)":                            event.LevelInfo,
		"Verse.Log:Notify_MessageReceivedThreadedInternal (string)": event.LevelUnknown,
		"UnityEngine.StackTraceUtility:ExtractStackTrace ()":        event.LevelUnknown,
		"Verse.LogMessage:Error (string)":                           event.LevelUnknown,
		"(wrapper":                                                  event.LevelUnknown,
	} {
		got, ok := consoleLevel([]byte(in))
		require.Equal(t, want, got, in)
		require.Equal(t, want != event.LevelUnknown, ok, in)
	}
}

func TestExceptionType(t *testing.T) {
	qualified := func(b []byte) bool { n, q := frame.Throwable(text(b)); return n > 0 && q }
	bare := func(b []byte) bool { n, q := frame.Throwable(text(b)); return n > 0 && !q }
	table(t, qualified, []string{
		"System.NullReferenceException: Object reference not set to an instance of an object",
		"System.Threading.ThreadAbortException",
		"Gadget.PanelException ---> System.Exception: no panel",
		"System.IO.FileLoadException (0x80131515): no",
	}, []string{"NullReferenceException: x", "System.Exceptional: x", "An exception: System.Exception: x"})
	table(t, bare, []string{"NullReferenceException: x", "Exception: x", "KeyNotFoundException "}, []string{
		"Exception ticking Мира: System.NullReferenceException: x", ".Exception: x", "Except", "",
	})
}

func TestNamesException(t *testing.T) {
	table(t, namesException, []string{
		"Error in Panel.Init(): System.NullReferenceException: Object reference not set",
		"Exception ticking 은비 (at (1, 0, 2)). Exception: System.Exception ---> x: GadgetException: y",
		"Aborted by System.Threading.ThreadAbortException",
	}, []string{"Exception in panel", "Exceptional: all", "no exception: here", "SomeExceptions: 3"})
}

func TestAnnouncesException(t *testing.T) {
	announces := func(b []byte) bool { return (&assembly{message: b}).announcesException() }
	table(t, announces, []string{
		"Exception while ticking lord with job Gadget.LordJob: ",
		"JobDriver threw exception in toil Draw's initAction for pawn Мира driver=JobDriver_Draw",
		"Error in Panel",
	}, []string{
		"Panel drawn", "Error in Panel: System.NullReferenceException: x", "1.0.8526 ::",
		"Translation data for language Korean has 12 errors.", "Config error in Gadget: has no label",
	})
}

func TestSpeaksOfTrouble(t *testing.T) {
	table(t, speaksOfTrouble, []string{
		"Exception while ticking lord:", "[Gadgets] Could not open the panel:", "Caught:", "[ERR] Gadgets:", "Something went wrong:", "[Gadgets] UNEXPECTED ERROR:",
	}, []string{"[Gadgets] panels that may be opened:", "Patch loaded, panels affected: ", "Loaded mods:"})
}

func TestParseRef(t *testing.T) {
	type result struct {
		ref  uint64
		dup  bool
		good bool
	}
	for in, want := range map[string]result{
		"[Ref 5EED0003]": {0x5eed0003, false, true},
		"[Ref 5EED04] ":  {0x5eed04, false, true},
		"[Ref ab] Duplicate stacktrace, see ref for original ": {0xab, true, true},
		"[Ref ]":                   {},
		"[Ref 12":                  {},
		"[Ref 12G4]":               {},
		"[Ref 11223344556677889]":  {},
		"[Ref 5EED0003] something": {},
		"[Reference 1]":            {},
	} {
		ref, dup, ok := rimworld.Ref(in)
		require.Equal(t, want, result{ref, dup, ok}, in)
	}
}

func TestKinds(t *testing.T) {
	for k, lines := range map[kinds]struct{ yes, no []string }{
		ofBanner: {
			[]string{"Mono path[0] = '/opt/game/Managed'", "Initialize engine version: 2022.3.35f1 (011206c7a712)"},
			[]string{"Mono config path = '/opt/game/etc'", "Initialize engine"},
		},
		ofDetail: {
			[]string{"Parameter name: index", "Could not load file or assembly 'Gadget, Version=1.0.0.0'", "---> System.Exception: x"},
			[]string{"Parameter x", "- item", "Could not load reference to Gadget.Panel named X", "name: x"},
		},
		ownRecord: {
			[]string{"[Gadgets] ready", "<color=#fff>Gadgets</color> ready", "Unloading 3 Unused Serialized files", "Crash!!!", "Exception ticking Мира"},
			[]string{"Gadgets ready", "<panel>", "- item", "RimWorld is", "[]", "[open", "Unload", "Mono"},
		},
		ofEngine: {
			[]string{"<RI> Initializing input.", "UnloadTime: 0.3 ms", "RimWorld 1.4.3901 rev238"},
			[]string{"[Gadgets] ready", "Exception ticking Мира", "<color=#fff>Gadgets</color>"},
		},
		crashStarts: {
			[]string{"Got a SIGSEGV while executing native code. This usually", "Got a UNKNOWN while executing native code.", "\tNative Crash Reporting"},
			[]string{
				"Crash landed", "Got a SIG", "Got a SIGSEGV", "Got a letter while executing native code", "Got a  while executing native code",
				"Native Crash", "\tat x", "Stacktrace:", "* Assertions are on", strings.Repeat("=", 30),
			},
		},
		ofLife: {
			[]string{"UnloadTime: 0.4 ms", "Unloading 3 unused Assets", "Loading game from file A with mods:"},
			[]string{"Unloading x.dll", "Unloading ", "Loading C:/x.dll", "Initializing input", "[Gadgets] on"},
		},
		ofMemory: {
			[]string{"[ALLOC_TEMP_TLS] TLS Allocator", "  StackAllocators : "},
			[]string{"[Gadgets] ready", "Memory"},
		},
		ofBelow: {
			[]string{"file: /opt/game/Panels.xml", "Stack trace: ", "Total: 41.5 ms (FindLiveObjects: 0.6 ms CreateObjectMapping: 0.1 ms)"},
			[]string{"Stacktrace:", "with errors", "Total: 3", "file x", "The top", "XML error: x", "Memory Statistics:"},
		},
		ofParagraph: {
			[]string{"Field contents: false.", "Whole XML: <panel />", "Note: Creation of internal variant of shader 'A' failed."},
			[]string{"Field", "Root", "XML:", "Note: x"},
		},
		ofFaultWord | ofNaming: {
			[]string{"Could not allocate memory", "Failed", "ERROR: 0:3: '' : x", "[Gadgets] x: System.Exception: y"},
			[]string{"[Gadgets] could not", "Gadgets: Missing icons", "Couldnt", ""},
		},
	} {
		table(t, areOf(k), lines.yes, lines.no)
	}
}

func TestForms(t *testing.T) {
	table(t, isTraceHead, []string{"Stacktrace:", "Stacktrace: "}, []string{"Stacktrace: x", "StackTrace:"})
	table(t, isRule, []string{strings.Repeat("=", 65), strings.Repeat("-", 20) + " "},
		[]string{strings.Repeat("=", 19), strings.Repeat("=", 20) + ">", "", strings.Repeat("x", 30)})
	table(t, isIndented, []string{"  x", "\tx", " \tx"}, []string{" x", "x", " "})
	table(t, isInDocument, []string{"{", "}", "},", "]) ", "</ThingDef>", "</li> x"}, []string{"{ready}", "<ThingDef>", "</color> ready", "</", "}}}}}", "(", ","})
	table(t, isPath, []string{`D:\play\RimWorld\Mods\Gadgets`, `C:/games/Mods/1234567890 `, "/home/mira/.local/Mods/Gadgets"},
		[]string{`D:\play\Gadgets.xml is not found.`, "/", "/x", "/panel/(1)", "S: drive", `S:\a:b`, "games/Mods"})
	table(t, isContextStart, []string{"Log uploaded on Sunday, June 3, 2024, 1:02:03 AM", "Loaded mods:"}, []string{"Loaded mods", "Log file contents:"})
	table(t, onText(unity.IsManaged), []string{footer, "(Filename: ./Runtime/Export/Debug/Debug.bindings.h Line: 39)"},
		[]string{"(Filename:  Line: 580)", `(Filename: C:\buildslave\unity\build\Runtime/Mono/MonoManager.cpp Line: 42)`})
	table(t, onText(unity.IsSymbols), []string{"OS-Version: 10.0.0", `C:\x.dll:x.dll (00007FF8A0000000), size: 28 (result: 0), SymType: '-exported-'`},
		[]string{"OS-Versions", "x"})
	table(t, isLogging, []string{unity.ConsoleMark + " ()", "Verse.Log:Error (string)"}, []string{"Verse.Root:Update ()"})
}

func TestIsBanner(t *testing.T) {
	for in, want := range map[string]Layout{
		"Initialize engine version: 2019.":                      layoutUnity2019_2, // cut off
		"Initialize engine version: 2019.2.17f1 (8e603399ca02)": layoutUnity2019_2,
		"Initialize engine version: 2019.4.30f1 (e8c891080a1f)": layoutUnity2019_4,
		"Initialize engine version: 2022.3.35f1 (011206c7a712)": layoutUnity2022_3,
		"Initialize engine version: 6000.0.1f1 (011206c7a712)":  layoutUnity2022_3,
	} {
		got, ok := versionLayout([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, want, got, in)
	}
	_, ok := versionLayout([]byte("Initialize engine version: ?"))
	require.False(t, ok)
}

func TestLists(t *testing.T) {
	table(t, announcesList, []string{"Possibly relevant mods for above error:", "Settings: "}, []string{"1.2.3 ::", "a: b", ":", ""})
	plain := func(b []byte) bool { return isTitle(b, false, false) }
	table(t, plain, []string{"GRAMMAR RESOLUTION TRACE", "CUSTOM RULES "}, []string{"CONSTANTS", "FINISHED", "Loader exceptions:", "A B", "NO 1", "[TAG HERE]"})
	below := func(b []byte) bool { return isTitle(b, true, true) }
	table(t, below, []string{"CONSTANTS", "Loader exceptions:"}, []string{"Relevant mods:", "Loader"})

	like := func(a, b string) bool { return shapeOf([]byte(a)).like(shapeOf([]byte(b))) }
	for _, p := range [][2]string{
		{"IsPanel", "IsGadget"},
		{"Panel: Frame, Glass", "Lamp: Bulb"},
		{"Took 12ms to read.", "Took 13ms to write."},
		{"Gadgets, for all (mira.gadgets)", "More of 은비's panels (eunbi.panels)"},
		{"■root → a", "■panel → b"},
		{"count_min        1", "faction_flesh      Normal"},
		{"<panel><x>", "</panel> y"},
	} {
		require.True(t, like(p[0], p[1]), "%q %q", p[0], p[1])
	}
	for _, p := range [][2]string{
		{"IsPanel", "Gadgets are ready"},
		{"Panel: Frame", "Gadgets are ready"},
		{"Gadgets (mira.gadgets)", "Panels (3)"},
		{"■root", "Gadgets are ready"},
	} {
		require.False(t, like(p[0], p[1]), "%q %q", p[0], p[1])
	}
}

func TestDetect(t *testing.T) {
	version := func(v string) string { return "Mono path[0] = 'x'\nInitialize engine version: " + v + "\n" }
	for name, c := range map[string]struct {
		in   string
		want detection
	}{
		"empty":           {"", detection{layout: LayoutPlain}},
		"plain":           {"starting\nready\n", detection{layout: LayoutPlain}},
		"json":            {"{\"msg\":1}\n{\"msg\":2}\n", detection{layout: LayoutJSON}},
		"json, some text": {"starting\n{\"msg\":1}\n{\"msg\":2}\n", detection{layout: LayoutJSON}},
		"2019.2":          {version("2019.2.17f1 (x)"), detection{layout: layoutUnity2019_2}},
		"2019.4":          {version("2019.4.30f1 (x)"), detection{layout: layoutUnity2019_4}},
		"2022.3":          {version("2022.3.35f1 (x)"), detection{layout: layoutUnity2022_3}},
		"footers, gap":    {"a\n \n(Filename:  Line: 35)\n", detection{layout: layoutUnity2019_2}},
		"managed footers": {"a \n" + footer + "\n", detection{layout: layoutUnity2019_4, footers: 1}},
		"footers, no gap": {"a\r\n(Filename:  Line: 39)\r\n", detection{layout: layoutUnity2019_4}},
		"a quoted footer": {strings.Repeat("2031 INFO on\n", 30) + "2031 INFO it says:\n" + footer + "\n2031 INFO on\n", detection{layout: LayoutPlain}},
		"only frames":     {"oh: System.Exception: x\n  at A.B () [0x00] in <ab>:0 \n", detection{layout: layoutUnity2022_3}},
		"a game's end":    {"bye\n\nCaught fatal signal - signo:11 code:1\n", detection{layout: layoutUnity2022_3}},
		"a game's middle": {"Loading game from file A with mods:\n  - b\n", detection{layout: layoutUnity2022_3}},
		"only refs":       {"oh\n[Ref 12AB] Duplicate stacktrace, see ref for original\n", detection{layout: layoutUnity2022_3}},
		"console": {
			"oh\n" + unity.ConsoleMark + " ()\nVerse.Log:Error (string)\n",
			detection{layout: layoutConsole, pure: true},
		},
		"console in player": {version("2019.4.30f1 (x)") + "oh\nVerse.Log:Error (string)\n", detection{layout: layoutConsole}},
		"header":            {"Log uploaded on Monday\n", detection{layout: layoutUnity2022_3, header: true}},
	} {
		require.Equal(t, c.want, detect([]byte(c.in)), name)
	}
}

func TestEnumsAreNamed(t *testing.T) {
	for e := evidenceNone; e <= evidenceNoFooter; e++ {
		require.NotContains(t, e.String(), "(")
	}
	require.Equal(t, "evidence(200)", Evidence(200).String())
	for l := range layoutCount {
		require.NotContains(t, l.String(), "(")
	}
	require.Equal(t, "layout(99)", Layout(99).String())
	require.Equal(t, "context", (&Record{Context: true}).KindName())
	require.Equal(t, "continuation", (&Record{Entry: event.Entry{Part: event.Rest}}).KindName())
}
