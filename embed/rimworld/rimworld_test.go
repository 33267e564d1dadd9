// Package rimworld tries the mod, its build and the pages about it with Mono.
package rimworld

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// mod is what the mod consists of, and stubs stands for the game and a bridge mod.
var (
	mod   = []string{"Source/HeedForRimWorld.cs", "../csharp/Heed.cs", "../csharp/HeedMore.cs", "../csharp/HeedAttentionAdapter.cs"}
	stubs = []string{
		"stubs/UnityEngine.CoreModule.cs", "stubs/Assembly-CSharp.cs", "stubs/Lib.GAB.cs", "stubs/RimBridgeServer.cs",
	}
)

// compile returns a program of the mod, the stubs and the sources given.
func compile(t *testing.T, arguments ...string) string {
	t.Helper()
	return testkit.CSharp(t, append(append(arguments, mod...), stubs...)...)
}

// folder returns the mod's folder, with the sidecar where the mod looks for it, without the right to execute it, as a
// download may leave it.
func folder(t *testing.T) string {
	t.Helper()
	program := testkit.Program(t, "heed-sidecar")
	data := testkit.Must(os.ReadFile(program))
	dir := filepath.Join(t.TempDir(), "Mods of Zoë", "heed")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "Native"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Native", filepath.Base(program)), data, 0o644))
	return dir
}

// TestGame plays a game with the mod from its start to its end: phases, long events, the log of all threads, past the
// game's own limit.
func TestGame(t *testing.T) {
	t.Parallel()
	program := compile(t, "testdata/ModTest.cs", "testdata/Game.cs")
	got := testkit.RunMono(t, time.Minute, program, folder(t))
	// The numbers are those of event.StatusPhase, StatusLongEvent and StatusLongEventEnd.
	want := []string{
		"state long_event the game starts", "log Log RimWorld 1.6.4566 rev607", "state phase menu", "state long_event_end ",
		"state long_event a long event of the game",
		"state phase load", "log Warning [Lantern Festival] The saved festival is of an older version", "state phase play", "state long_event_end ",
		"state phase save", "log Log [Lantern Festival] 14 lanterns written", "state phase play",
		"log Log [QuarryPlus] platform 7 is at work", "log Log by a tool of op-tool", "log Log the hook failed",
		"state long_event the game waits for its window", "state long_event_end ",
	}
	rest := got
	for _, line := range want {
		_, after, found := strings.Cut(rest, line+"\n")
		require.True(t, found, "no %q after the lines before it", line)
		rest = after
	}
	require.Contains(t, got, "log Log a hook that logs\n")
	require.NotContains(t, got, "Reached max messages limit")
	require.Regexp(t, `lines (\d+), of the quarry kept 3000, received (\d+), dropped 0, lost 0\n`, got)
	require.Equal(t, 1, strings.Count(got, "in the game's log: heed: OperationOfThread failed: no operation\n"), got)
	require.Contains(t, got, "reports of the slot: 1\n")
	require.Contains(t, got, "after quit: closed\n")

	// Without the sidecar the game goes on, and its log has why there is no heed, once.
	alone := t.TempDir()
	got = testkit.RunMono(t, time.Minute, program, alone)
	require.Equal(t, 1, strings.Count(got, "in the game's log: heed is off: no program heed-sidecar was found at "+alone), got)
	require.Contains(t, got, "of the quarry kept 0, received 0,")
	require.Contains(t, got, "after quit: closed\n")
}

// TestAdapter tries the adapter of a bridge mod where no sidecar is, and with an agent that calls as soon as it has
// acknowledged an item.
func TestAdapter(t *testing.T) {
	program := testkit.CSharp(t, "../csharp/Heed.cs", "../csharp/HeedAttentionAdapter.cs", "testdata/AdapterTest.cs")
	for name, sidecar := range map[string][]string{"alone": nil, "sidecar": {testkit.Program(t, "heed-sidecar")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, testkit.RunMono(t, time.Minute, program, append([]string{t.TempDir()}, sidecar...)...))
		})
	}
}

var libgab = flag.String("libgab", "", "a folder with Lib.GAB.dll and the assemblies that it needs, in the place of the stand-in")

// TestBridge has an agent call tools of a bridge mod over a library that writes answers and events without a lock, with
// faults in calls, in parts of them and after them. With -libgab the library is real.
func TestBridge(t *testing.T) {
	// A busy machine may hold an answer back for longer than the adapter holds events back.
	adapter := string(testkit.Must(os.ReadFile(mod[3])))
	require.Contains(t, adapter, "AnswerMilliseconds = 100;")
	adapter = strings.Replace(adapter, "AnswerMilliseconds = 100;", "AnswerMilliseconds = 1000;", 1)
	sources := append(mod[:3:3], source(t, adapter), "testdata/Bridge.cs", "testdata/Game.cs", "testdata/HeedSlot.cs")
	if *libgab == "" {
		t.Parallel()
		sources = append(sources, stubs...)
	} else {
		sources = append(sources, "stubs/UnityEngine.CoreModule.cs", "stubs/Assembly-CSharp.cs", "stubs/RimBridgeServer.cs",
			"-reference:"+filepath.Join(*libgab, "Lib.GAB.dll"))
		facades, err := filepath.Glob(filepath.Join(*libgab, "netstandard.dll")) // for a library built against it
		require.NoError(t, err)
		for _, facade := range facades {
			sources = append(sources, "-reference:"+facade)
		}
		t.Setenv("MONO_PATH", *libgab)
	}
	program := testkit.CSharp(t, sources...)
	for _, c := range []struct {
		name, calls, think, outages string
		more                        []string
	}{
		{name: "60 calls", calls: "60", think: "0", outages: "0"},
		{name: "without thought", calls: "300", think: "0", outages: "0"},
		{name: "with thought", calls: "300", think: "7", outages: "0"},
		{name: "killed twice", calls: "300", think: "0", outages: "2"},
		{name: "garbage", calls: "300", think: "0", outages: "0", more: []string{"GC"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.calls != "60" {
				testkit.Full(t, "300 calls")
			}
			if c.outages != "0" && runtime.GOOS != "linux" {
				t.Skip("finds the sidecar in /proc")
			}
			arguments := append([]string{folder(t), c.calls, c.think, c.outages}, c.more...)
			t.Log("\n" + testkit.RunMono(t, 2*time.Minute, program, arguments...))
		})
	}
	if *libgab == "" {
		return
	}
	t.Run("two games", func(t *testing.T) {
		testkit.Full(t, "300 calls")
		done := make(chan string)
		for range 2 {
			dir := folder(t)
			go func() {
				out, err := testkit.Mono(t, 2*time.Minute, program, dir, "300", "0", "0").CombinedOutput()
				done <- fmt.Sprintf("%s%v", out, err)
			}()
		}
		for range 2 {
			require.Contains(t, <-done, "all as planted\n<nil>")
		}
	})
}

var (
	calls = flag.Int("calls", 1000, "tool calls of TestAcceptance")
	flood = flag.Int("flood", 120_000, "lines of its flood")
)

// TestAcceptance plays a bridge mod and an agent in a game, with planted faults and a flood, and compares what heed
// reports with what was planted.
func TestAcceptance(t *testing.T) {
	testkit.Full(t, "an agent makes 1,000 tool calls, with pauses")
	program := compile(t, "testdata/Acceptance.cs", "testdata/Game.cs", "testdata/Faults.cs", "testdata/HeedSlot.cs")
	t.Log("\n" + testkit.RunMono(t, 5*time.Minute, program, folder(t), fmt.Sprint(*calls), fmt.Sprint(*flood)))
}

// TestBuild holds that .ci/release makes the folder that a player copies, with programs of other systems, and that a game
// of stubs loads its assembly and starts its program.
func TestBuild(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("starts the program for linux/amd64")
	}
	testkit.Full(t, "programs for three systems are built")
	testkit.CSharp(t, "-target:library", "stubs/UnityEngine.CoreModule.cs") // skips where there is no mcs
	run := func(name string, arguments ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, arguments...)
		cmd.Env = append(os.Environ(), "PLATFORMS=linux/amd64 windows/amd64 darwin/arm64")
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", text)
		return string(text)
	}
	out := filepath.Join(t.TempDir(), "the mod")
	require.Equal(t, "./About/About.xml\n./About/Preview.png\n./Assemblies/HeedForRimWorld.dll\n./LICENSE\n"+
		"./Native/heed-sidecar-darwin-arm64\n./Native/heed-sidecar-linux-amd64\n./Native/heed-sidecar-windows-amd64.exe\n"+
		"./README.md\n./THIRD_PARTY_NOTICES.txt\n", run("bash", "../../.ci/release", "mod", out))

	var about struct {
		PackageID string   `xml:"packageId"`
		Name      string   `xml:"name"`
		Versions  []string `xml:"supportedVersions>li"`
	}
	text := testkit.Must(os.ReadFile(filepath.Join(out, "About", "About.xml")))
	require.NoError(t, xml.Unmarshal(text, &about))
	require.Equal(t, "heedlog.heed heed [1.4 1.5 1.6]", fmt.Sprint(about.PackageID, " ", about.Name, " ", about.Versions))
	text = testkit.Must(os.ReadFile(filepath.Join(out, "README.md")))
	require.LessOrEqual(t, strings.Count(string(text), "\n"), 24, "lines of README.md: one screen")
	text = testkit.Must(os.ReadFile(filepath.Join(out, "THIRD_PARTY_NOTICES.txt")))
	require.NotEmpty(t, text)

	// The stubs are assemblies of their own here, as the game's are.
	stubs := t.TempDir()
	engine, game := filepath.Join(stubs, "UnityEngine.CoreModule.dll"), filepath.Join(stubs, "Assembly-CSharp.dll")
	run("mcs", "-target:library", "-out:"+engine, "stubs/UnityEngine.CoreModule.cs")
	run("mcs", "-target:library", "-out:"+game, "-reference:"+engine, "stubs/Assembly-CSharp.cs")
	assemblies := filepath.Join(out, "Assemblies")
	program := testkit.CSharp(t, "-reference:"+engine, "-reference:"+game,
		"-reference:"+filepath.Join(assemblies, "HeedForRimWorld.dll"), "testdata/ModTest.cs", "testdata/Game.cs")
	t.Setenv("MONO_PATH", stubs+string(filepath.ListSeparator)+assemblies)
	require.Contains(t, testkit.RunMono(t, time.Minute, program, out), "of the quarry kept 3000,")
}

var csharpBlock = regexp.MustCompile("(?ms)^```csharp\n(.*?)^```$")

// TestPagesCompile compiles each piece of C# in the pages. A program is run, and writes what the page shows; the slot of a
// bridge is the one of TestAcceptance; all else is the body of a method, around which stands testdata/Page.txt.
func TestPagesCompile(t *testing.T) {
	t.Parallel()
	around := testkit.Must(os.ReadFile("testdata/Page.txt"))
	slot := testkit.Must(os.ReadFile("testdata/HeedSlot.cs"))
	var page strings.Builder
	for _, name := range []string{"../../README.md", "../../docs/embedding-unity.md"} {
		text := testkit.Must(os.ReadFile(name))
		blocks := csharpBlock.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, blocks, name)
		for i, block := range blocks {
			switch code := block[1]; {
			case strings.Contains(code, "static void Main()"):
				require.Contains(t, string(text), "$ mono try.exe\n"+try(t, code)+"```\n")
			case strings.Contains(code, ": IAttentionSlot"):
				require.Contains(t, string(slot), code)
			default:
				class := strings.NewReplacer("NUMBER", fmt.Sprint(page.Len(), "_", i), "BODY", strings.ReplaceAll(code, "…\n", ""))
				page.WriteString(class.Replace(string(around)))
			}
		}
	}
	using := "using System;\nusing HeedLog;\nusing HeedRimWorld;\nusing Lib.GAB.Attention;\nusing Lib.GAB.Events;\n" +
		"using RimBridgeServer.Contracts;\nusing RimBridgeServer.Core;\nusing UnityEngine;\nusing Verse;\n"
	compile(t, "-target:library", source(t, using+page.String()), "testdata/HeedSlot.cs")
}

// try runs a program of a page beside a sidecar, and returns what it writes.
func try(t *testing.T, code string) string {
	t.Helper()
	program := testkit.CSharp(t, source(t, code), "../csharp/Heed.cs")
	cmd := testkit.Mono(t, time.Minute, program)
	cmd.Dir = filepath.Join(folder(t), "Native")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func source(t *testing.T, code string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "Page.cs")
	require.NoError(t, os.WriteFile(name, []byte(code), 0o600))
	return name
}
