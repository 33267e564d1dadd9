package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestRestartEndsCrash reads logs of two runs in one file, the first of which crashed.
// The mods and versions are those of one run, and each form tells how the first ended.
func TestRestartEndsCrash(t *testing.T) {
	run := func(version, mod string) string {
		return "Mono path[0] = '/opt/games/RimWorld_Data/Managed'\nInitialize engine version: " + version + " (x)\n" +
			"RimWorld 1.4." + version[:4] + " rev123\nLog uploaded on Friday, January 30, 2026, 1:02:03 PM\n" +
			"Loaded mods:\n" + mod + "(" + mod + ".id)[mv:1.0]: " + mod + "(1.0.0)\n\nLog file contents:\nUnloading 9 unused " +
			"Assets to reduce memory usage. Loaded Objects now: 9.\n"
	}
	first := run("2019.4.30f1",
		"Windmills") + "Crash!!!\nSymInit: Symbol-SearchPath: '.'\n\n========== OUTPUTTING STACK TRACE " +
		"==================\n0x00007FF (UnityPlayer) a\n\n"
	log := write(t, "Player.log", first+run("2019.3.30f1", "Riverboats"))
	same := runArgs(t, "--width", "0", write(t, "Player.log", first+run("2019.4.30f1", "Windmills"))).stdout
	require.Contains(t, same, ", 1 mod, ", "that both runs have")
	again := strings.Count(first, "\n") + 1
	end := again + strings.Count(run("2019.3.30f1", "Riverboats"), "\n") - 1
	sentences := []string{
		fmt.Sprintf("The log starts again at line %d: the run before ended with the crash at line ", again),
		"Versions and mods are those of the last run.",
		fmt.Sprintf("Logging continues to the end of the log at line %d.", end),
	}
	for _, format := range []string{formatText, formatJSON, formatMarkdown} {
		out := runArgs(t, "--width", "0", "--format", format, log).stdout
		for _, s := range sentences {
			require.Contains(t, out, s, format)
		}
		require.Contains(t, out, "Crashed in an earlier run at line", format)
		require.NotContains(t, out, "2019.4.30f1", format)
		require.Contains(t, out, "2019.3.30f1", format)
	}
	text := runArgs(t, "--width", "0", log).stdout
	require.Contains(t, text, " 1 problem.")
	require.Contains(t, text, "; over: the game was started again")
	require.Contains(t, text, ", 1 mod, ")
	require.Contains(t, runArgs(t, "--width", "0", write(t, "Player.log", first)).stdout, "  Crashed at line ")

	page := filepath.Join(t.TempDir(), "page.html")
	require.Equal(t, exitOK, runArgs(t, "report", "-o", page, log).status)
	html := testkit.Must(os.ReadFile(page))
	require.Contains(t, string(html), "over: the game was started again")
	require.Contains(t, string(html), "Crashed in an earlier run")
	require.Contains(t, string(html), sentences[0])
	require.Contains(t, runArgs(t, "--format", "junit", log).stdout, "Crashed in an earlier run at line")
}

// TestRestartEndsBlindness reads logs of two runs in one file. What kept the first
// from being complete ended with it.
func TestRestartEndsBlindness(t *testing.T) {
	const (
		limit = "Reached max messages limit. Stopping logging to avoid spam.\n"
		rest  = "RimWorld 1.4.3641 rev123\n[Gadgets] ready\n"
	)
	for name, banner := range map[string]string{
		"path and version": "Mono path[0] = '/opt/games/x'\nInitialize engine version: 2019.4.30f1 (x)\n",
		"version alone":    "Initialize engine version: 2022.3.35f1 (x)\n",
	} {
		t.Run(name, func(t *testing.T) {
			log := write(t, "Player.log", banner+rest+limit+banner+rest)
			out := ok(t, log)
			require.Contains(t, out, "The log stops from line")
			require.NotContains(t, out, "The log stops at")
			require.NotContains(t, out, "still open")

			again := runArgs(t, write(t, "Player.log", banner+rest+limit+banner+rest+limit))
			require.Contains(t, again.stdout, "The log stops twice", "the second run may be blind too")
		})
	}

	// A host that follows the log gives no notice, and the banner says enough.
	live := write(t, "live.jsonl", `{"msg":"Reached max messages limit. Stopping logging to avoid spam."}
{"kind":"notice","status":"truncated"}
{"msg":"Initialize engine version: 2022.3.35f1 (x)"}
`)
	require.NotContains(t, runArgs(t, live).stdout, "The log stops at")
	told := write(t, "told.jsonl", `{"msg":"Reached max messages limit. Stopping logging to avoid spam."}
{"kind":"notice","status":"truncated"}
{"kind":"notice","status":"restarted"}
`)
	require.NotContains(t, runArgs(t, told).stdout, "The log stops at")
}
