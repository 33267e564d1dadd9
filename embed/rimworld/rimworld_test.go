// Package rimworld tries the mod, its build and the pages about it with Mono.
package rimworld

import (
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

func TestMain(m *testing.M) { testkit.Main(m) }

// mod is what the mod consists of, and stubs stands for the game and a bridge mod.
var (
	mod   = []string{"Source/HeedForRimWorld.cs", "../csharp/Heed.cs", "../csharp/HeedAttentionAdapter.cs"}
	stubs = []string{
		"stubs/UnityEngine.CoreModule.cs", "stubs/Assembly-CSharp.cs", "stubs/Lib.GAB.cs", "stubs/RimBridgeServer.cs",
	}
)

// compile returns a program of the mod, the stubs and the sources given.
func compile(t *testing.T, arguments ...string) string {
	t.Helper()
	return testkit.CSharp(t, append(append(arguments, mod...), stubs...)...)
}

// folder returns the mod's folder, with the sidecar where the mod looks for it.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "Mods of Zoë", "heed")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "Native"), 0o755))
	program := testkit.Sidecar(t)
	require.NoError(t, os.Rename(copied(t, program), filepath.Join(dir, "Native", filepath.Base(program))))
	return dir
}

// copied returns a copy of a program without the right to execute it, as a download may leave it.
func copied(t *testing.T, program string) string {
	t.Helper()
	data, err := os.ReadFile(program)
	require.NoError(t, err)
	copied := filepath.Join(t.TempDir(), "copy")
	require.NoError(t, os.WriteFile(copied, data, 0o644))
	return copied
}

// TestGame plays a game with the mod from its start to its end: phases, long events, the log of all threads, past the
// game's own limit.
func TestGame(t *testing.T) {
	program := compile(t, "testdata/ModTest.cs", "testdata/Game.cs")
	got := testkit.RunMono(t, time.Minute, program, folder(t))
	t.Log("\n" + got)
	// The numbers are those of event.StatusPhase, StatusLongEvent and StatusLongEventEnd.
	want := []string{
		"state 12 the game starts", "log Log RimWorld 1.6.4566 rev607", "state 6 menu", "state 13 ",
		"state 12 a long event of the game",
		"state 6 load", "log Warning [Lantern Festival] The saved festival is of an older version", "state 6 play", "state 13 ",
		"state 6 save", "log Log [Lantern Festival] 14 lanterns written", "state 6 play",
		"log Log [QuarryPlus] platform 7 is at work", "log Log by a tool of op-tool", "log Log the hook failed",
		"state 12 the game waits for its window", "state 13 ",
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
	require.Contains(t, got, "after quit: closed\n")
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

// TestBuild holds that build.sh makes the folder of the mod, with programs of other systems.
func TestBuild(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("build.sh needs bash")
	}
	testkit.CSharp(t, "-target:library", "stubs/UnityEngine.CoreModule.cs") // skips where there is no mcs
	out := filepath.Join(t.TempDir(), "the mod")
	cmd := exec.CommandContext(t.Context(), "bash", "build.sh", out)
	cmd.Env = append(os.Environ(), "PLATFORMS=linux/amd64 windows/amd64")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	require.Equal(t, "./About/About.xml\n./Assemblies/HeedForRimWorld.dll\n./Native/heed-sidecar-linux-amd64\n"+
		"./Native/heed-sidecar-windows-amd64.exe\n", string(text))
}

var csharpBlock = regexp.MustCompile("(?ms)^```csharp\n(.*?)^```$")

// TestPagesCompile compiles each piece of C# in the pages. What declares a type stands alone; all else is the body of a
// method of a mod, whose names are those of testdata/Page.txt.
func TestPagesCompile(t *testing.T) {
	around, err := os.ReadFile("testdata/Page.txt")
	require.NoError(t, err)
	slot, err := os.ReadFile("testdata/HeedSlot.cs")
	require.NoError(t, err)
	var page strings.Builder
	blocks := 0
	for _, name := range []string{"../../README.md", "../../docs/embedding-unity.md"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		found := csharpBlock.FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, found, name)
		for _, b := range found {
			blocks++
			if strings.Contains(b[1], " class ") {
				require.Contains(t, string(slot), b[1], "%s: is not in testdata/HeedSlot.cs", name)
				continue
			}
			fmt.Fprintf(&page, strings.ReplaceAll(string(around), "BODY", "%s"), blocks, strings.ReplaceAll(b[1], "…\n", ""))
		}
	}
	source := filepath.Join(t.TempDir(), "Pages.cs")
	head := "using System;\nusing HeedLog;\nusing HeedRimWorld;\nusing Lib.GAB.Attention;\nusing RimBridgeServer.Contracts;\n" +
		"using RimBridgeServer.Core;\nusing UnityEngine;\nusing Verse;\n"
	require.NoError(t, os.WriteFile(source, []byte(head+page.String()), 0o600))
	compile(t, "-target:library", source, "testdata/HeedSlot.cs")
}
