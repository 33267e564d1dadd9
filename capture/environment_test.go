package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/capture/internal/unity"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// observed returns the environment that the records of a capture tell.
func observed(t *testing.T, in string) *Environment {
	t.Helper()
	var e Environment
	for _, rec := range records(t, in) {
		e.Observe(&rec)
	}
	return &e
}

// environment returns what the beginning of a capture tells, a line per fact.
func environment(t *testing.T, in string) string {
	t.Helper()
	e := observed(t, in)
	var b strings.Builder
	for field, text := range reflect.ValueOf(e.Facts()).Fields() {
		if text.String() != "" {
			b.WriteString(field.Name + ": " + text.String() + "\n")
		}
	}
	return b.String()
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "a line\nanother\n", ""},
		{"Windows", `Mono path[0] = 'C:/Games/Some Game/SomeGameWin64_Data/Managed'
Mono config path = 'C:/Games/Some Game/MonoBleedingEdge/etc'
Initialize engine version: 2021.3.5f1 (0123456789ab)
GfxDevice: creating device client; threaded=1; jobified=0
Direct3D:
    Version:  Direct3D 11.0 [level 11.1]
    Renderer: Maker Card 4050 (ID=0x1c61)
    Vendor:   Maker
    VRAM:     6000 MB
    Driver:   1.2.3.4
Begin MonoManager ReloadAssembly
Renderer: something else
Command line arguments: -screen-width 800
Other Thing 9.9.9
Some Game 1.2.3 rev45
Some Game 1.2.4 rev46
Processor: AMD Something 5
Translation data for language Basque has 7 errors. Generate translation report for more info.
`, `Game: Some Game 1.2.3 rev45
Engine: Unity 2021.3.5f1
Platform: Windows
Runtime: Mono
CPU: AMD Something 5
Graphics: Maker Card 4050
GraphicsAPI: Direct3D 11.0 [level 11.1]
GraphicsMemory: 6000 MB
GraphicsDriver: 1.2.3.4
Arguments: -screen-width 800
`},
		{"Linux", `Mono path[0] = '/opt/game/Foo_Data/Managed'
Initialize engine version: 6000.0.17f1 (0123456789ab)
GfxDevice: creating device client; kGfxThreadingModeDirect
GLX Extensions: GLX_ARB_create_context
Renderer: Maker Card/PCIe/SSE2
Vendor:   Maker
Version:  4.5.0 Maker 515.1
Foo version: 2.10.0 build 88
`, "Game: Foo 2.10.0 build 88\nEngine: Unity 6000.0.17f1\nPlatform: Linux\nRuntime: Mono\nGraphics: Maker Card/PCIe/SSE2\nGraphicsAPI: OpenGL 4.5.0 Maker 515.1\n"},
		{"macOS", "Mono path[0] = '/Applications/Foo.app/Contents/Resources/Data/Managed'\nInitializing Metal device caps: Apple M9\n", "Platform: macOS\nRuntime: Mono\nGraphics: Apple M9\nGraphicsAPI: Metal\n"},
		{"a share", "Mono path[0] = '//server/games/Foo_Data/Managed'\n", "Runtime: Mono\n"},
		{"an upload", `Log uploaded on Monday, January 1, 2024, 1:02:03 AM
Loaded mods:
Core(some.core): (no assemblies)

Active Harmony patches:
Some.Method: post: Other.Method

Platform information:
CPU: Maker 12-Core
OS: Some System 10 (10.0.0) 64bit
Memory: 16384 MB

Log file contents:
Mono path[0] = '[Rimworld_dir]/RimWorldWin64_Data/Managed'
Initialize engine version: 2019.4.30f1 (0123456789ab)
GfxDevice: [Renderer information redacted]
RimWorld 1.3.1 rev2
`, "Game: RimWorld 1.3.1 rev2\nEngine: Unity 2019.4.30f1\nRuntime: Mono\nSystem: Some System 10 (10.0.0) 64bit\nCPU: Maker 12-Core\nMemory: 16384 MB\n"},
		{"an upload that hides the machine", "Log uploaded on Monday, January 1, 2024, 1:02:03 AM\nLoaded mods:\nCore(some.core): (no assemblies)\n\nPlatform information: (hidden, use publishing options to include)\n\nLog file contents:\nCPU: none\n", ""},
		{"SMAPI", "[12:00:01 INFO  SMAPI] SMAPI 4.1.2 with Some Game 1.6.3 build 24087 on Some System 11\n", "Game: Some Game 1.6.3 build 24087\nLoader: SMAPI 4.1.2\nSystem: Some System 11\n"},
		{"Paper", "[10:00:01 INFO]: Starting minecraft server version 1.20.4\n[10:00:01 INFO]: This server is running Paper version git-Paper-435 (MC: 1.20.4) (Implementing API version 1.20.4-R0.1-SNAPSHOT)\n", "Game: Minecraft 1.20.4\nLoader: Paper git-Paper-435\n"},
		{"Fabric", "[12:00:01] [main/INFO]: Loading Minecraft 1.20.1 with Fabric Loader 0.14.2\n", "Game: Minecraft 1.20.1\nLoader: Fabric Loader 0.14.2\n"},
		{"BepInEx", "[Message:   BepInEx] BepInEx 5.4.2.0 - Foo (1/2/2023 3:04:05 PM)\n[Info   :   BepInEx] Running under Unity v2020.3.1.5\n", "Game: Foo\nEngine: Unity 2020.3.1.5\nLoader: BepInEx 5.4.2.0\n"},

		{"names of mods, not of the game", "Mono path[0] = 'C:/Foo/Foo_Data/Managed'\nFooBar 1.2.3\nFoo 1.2\nFoo 1.2.3 is not supported\nMy Foo 1.2.3 rev4\n[Foo] 1.2.3 rev4 loaded\n", "Platform: Windows\nRuntime: Mono\n"},
		{"no folder, no game", "Foo 1.2.3 rev45\n", ""},
		{"talk about machines", "OS: none\nCPU: fast\nMemory: low\nProcessor: food\nRenderer: broken\nVersion: 3\nDriver: drunk\nDirect3D:\n    Renderer: of pawns\nTranslation data for language\nTranslation data for language Elvish has gone\n", ""},
		{"a version that is none", "Initialize engine version: unknown\nInitialize engine version: \n", ""},
		{"OpenGL or not is not said", "GfxDevice: creating device client; threaded=1\nVersion:  4.5.0\n", ""},
		{"SMAPI's words in a mod", "[12:00:01 INFO  Some Mod] SMAPI 4.1.2 with Some Game 1.6.3 on a horse\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, environment(t, c.in)) })
	}
}

// longHeader is the header of an upload of which the machine is told below more than
// any record keeps.
func longHeader(mods int) string {
	var b strings.Builder
	b.WriteString("Log uploaded on Monday, January 1, 2024, 1:02:03 AM\nLoaded mods:\n")
	for i := range mods {
		fmt.Fprintf(&b, "Mod %d(some.mod%d)[mv:1.2.%d]: CPU(1.0), Memory(2.0)\n", i, i, i)
	}
	b.WriteString("\nActive Harmony patches:\nSome.Method: post: Other.Method\nOS: post: Other.Method\n\n")
	return b.String() + "Platform information:\r\nCPU: Maker 12-Core\r\nOS: Some System 10 \r\nMemory: 16384 MB\r\n\r\nLog file contents:\r\nCPU: none\nMemory: none\n"
}

const machineOfLongHeader = "System: Some System 10\nCPU: Maker 12-Core\nMemory: 16384 MB\n"

func TestMachineOfLongHeader(t *testing.T) {
	in := longHeader(3000)
	recs := records(t, in)
	require.Positive(t, recs[0].Cut)
	require.NotContains(t, recs[0].Message, "Platform information:")
	require.Equal(t, &Facts{CPU: "Maker 12-Core", System: "Some System 10", Memory: "16384 MB"}, recs[0].machine)
	require.Equal(t, machineOfLongHeader, environment(t, in))
	for _, rec := range recs[1:] {
		require.Nil(t, rec.machine)
	}
}

// TestMachineOfUploads: files that were joined tell of the first machine, and a
// header that is in a JSON line tells as well.
func TestMachineOfUploads(t *testing.T) {
	one := longHeader(1)
	other := strings.NewReplacer("Maker 12-Core", "Other 2-Core", "Memory: 16384 MB\r\n", "").Replace(one)
	require.Equal(t, machineOfLongHeader, environment(t, one+other))
	require.Equal(t, strings.Replace(machineOfLongHeader, "Maker 12", "Other 2", 1), environment(t, other+one))
	line := testkit.Must(json.Marshal(map[string]string{"kind": "context", "message": one}))
	require.Equal(t, machineOfLongHeader, environment(t, string(line)+"\n"))
}

// TestMachineOfGrowingUpload: lines without their end tell nothing, and what comes
// after the header was delivered is told all the same.
func TestMachineOfGrowingUpload(t *testing.T) {
	in := longHeader(2)
	for _, size := range []int{1, 7, 64} {
		s := testkit.Must(NewStream(Options{Layout: layoutHugsLib}))
		var e Environment
		var rec Record
		for part := range slices.Chunk([]byte(in), size) {
			s.Feed(part)
			s.Flush(true)
			for s.Next(&rec) {
				e.Observe(&rec)
			}
		}
		require.Equal(t, Facts{CPU: "Maker 12-Core", System: "Some System 10", Memory: "16384 MB"}, e.Facts(),
			"%d bytes", size)
	}
}

// What one run tells is not mixed with what another does.
func TestEnvironmentOfAnotherRun(t *testing.T) {
	var e Environment
	banner := func(version string) {
		e.Observe(&Record{Layout: layoutUnity2022_3, Entry: event.Entry{Message: "Mono path[0] = 'C:/g/Foo_Data/Managed'\nInitialize engine version: " + version + " (x)"}})
	}
	banner("2019.4.1f1")
	require.Equal(t, "Unity 2019.4.1f1", e.Facts().Engine)
	banner("2020.1.1f1")
	require.Equal(t, "Unity 2019.4.1f1", e.Facts().Engine)
	e.Observe(&Record{Entry: event.Notice{Status: event.StatusRestarted}.Entry()})
	require.Zero(t, e.Facts())
	require.True(t, e.Recognized())
	banner("2020.1.1f1")
	require.Equal(t, "Unity 2020.1.1f1", e.Facts().Engine)
	require.False(t, e.Headless())
}

func TestEnvironmentIsBounded(t *testing.T) {
	var e Environment
	say := func(message string) {
		e.Observe(&Record{Entry: event.Entry{Message: message}})
	}
	long := strings.Repeat("ж", 5000)
	say("Command line arguments: " + long)
	say("Command line arguments: later")
	say("Initializing Metal device caps: \xff\xfe")
	for range 100 {
		say(`[Vulkan init] Physical Device 0x1 [0]: "` + long + `"`)
	}
	say(unity.BannerPath + "'C:/" + long + "_Data/Managed'")
	facts := e.Facts()
	require.Equal(t, Facts{Arguments: strings.Repeat("ж", 200-1) + "…", GraphicsAPI: "Metal", Runtime: "Mono"}, facts)
	require.Empty(t, e.start.Program())
	for range maxBeginning {
		say("something")
	}
	say(unity.BannerVersion + "2022.3.1f1")
	require.Equal(t, facts, e.Facts(), "the beginning is over")
	require.Zero(t, testing.AllocsPerRun(10, func() { e.Observe(&Record{}) }))
}

func FuzzEnvironment(f *testing.F) {
	f.Add("Mono path[0] = 'C:/Foo_Data/Managed'\nFoo 1.2.3 rev4")
	f.Add("GfxDevice: creating device client; threaded=1\n Renderer: X (ID=0x1)\nVersion: 4.5 (Core Profile)")
	f.Add("[12:00:01 INFO  SMAPI] SMAPI 4.1.2 with Some Game 1.6.3 build 24087 on Some System 11")
	f.Add("[Vulkan init] Physical Device 0x1 [0]: \"A\"\n[Vulkan init] Selected physical device 0x1")
	f.Add("Mono path[0] = 'C:/Foo_Data/Managed'\nFoo 1.2.3 rev4\nInitialize engine version: 2022.3.1f1\nCommand line arguments: -x\nProcessor: AMD Ryzen 5\n" +
		"Translation data for language Klingon has 7 errors.\nInitializing Metal device caps: A\n[Vulkan init] Physical Device 0x1 [0]: \"A\"\n[Vulkan init] Selected physical device 0x1")
	f.Add("Platform information:\nCPU: A\r\nOS:  B\nMemory: 1 MB\nCPU: C")
	f.Fuzz(func(t *testing.T, message string) {
		var e, each Environment
		e.Observe(&Record{Entry: event.Entry{Message: message}})
		for line := range strings.SplitSeq(message, "\n") {
			if line = strings.TrimRight(line, " \t\r"); line != "" {
				each.start.Line(line)
			}
		}
		require.Equal(t, each.Facts(), e.Facts(), "a line that is passed over tells nothing")
		header := Record{Context: true, machine: &Facts{}}
		for line := range strings.SplitSeq(message, "\n") {
			header.machine = rimworld.Machine(header.machine, line)
		}
		e.Observe(&header)
		for _, value := range reflect.ValueOf(e.Facts()).Fields() {
			text := value.String()
			require.LessOrEqual(t, utf8.RuneCountInString(text), 200)
			require.Equal(t, strings.TrimSpace(text), text)
			require.True(t, utf8.ValidString(text))
		}
	})
}

// TestEnvironmentOfReferenceCaptures holds each fact to stand in its log as it is told,
// and the facts that a person would look for first to be found.
func TestEnvironmentOfReferenceCaptures(t *testing.T) {
	for file, data := range referenceCaptures(t) {
		facts := environment(t, string(data))
		for _, kind := range []string{"Game", "Engine", "Runtime"} {
			require.Contains(t, facts, kind+": ", file)
		}
		for line := range strings.Lines(facts) {
			kind, told, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			if kind != "Platform" {
				require.True(t, bytes.Contains(data, []byte(strings.TrimPrefix(told, "Unity "))), "%s: %s", file, told)
			}
		}
	}
}

func TestEnvironmentProgram(t *testing.T) {
	for line, want := range map[string]string{
		"Mono path[0] = 'C:/Games/Some Game/SomeGameWin64_Data/Managed'":              "somegame",
		"Mono path[0] = '/opt/game/Some Game_Data/Managed'":                           "somegame",
		"Mono path[0] = '/Applications/Foo.app/Contents/Resources/Data/Managed'":      "foo",
		"Mono path[0] = 'C:/Games/x64_Data/Managed'":                                  "x64",
		"Mono config path = 'C:/Games/Some Game/SomeGameWin64_Data/MonoBleedingEdge'": "",
	} {
		var e Environment
		e.Observe(&Record{Entry: event.Entry{Message: line}})
		require.Equal(t, want, e.start.Program(), line)
	}
}
