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

// TestPhasesFollowThreeLoads reads logs in which three games are loaded or made.
// Each line of a log ends with the phase that it has to see; a line without one
// may see any.
func TestPhasesFollowThreeLoads(t *testing.T) {
	const (
		unload = "Unloading %d unused Assets to reduce memory usage. Loaded Objects now: 30000."
		left   = "UnloadTime: 0.%d ms"
	)
	boot := func(version, game string) []string {
		return []string{
			"Mono path[0] = '/opt/games/rimworld/RimWorldLinux_Data/Managed'",
			"Initialize engine version: " + version + "@start",
			fmt.Sprintf(left, 411) + "@start", "RimWorld " + game + "@start", "[Gadgets] ready@boot",
			fmt.Sprintf(unload, 90) + "@boot", "[Gadgets] waits@menu",
		}
	}
	game := func(n int, first string) []string {
		return []string{
			fmt.Sprintf(left, 500+n), fmt.Sprintf(unload, 2+n) + "@menu", first + "@menu", "  - ludeon.rimworld",
			"[Gadgets] panels read@load", fmt.Sprintf(unload, 100+n) + "@load",
			"[Gadgets] panel drawn@play", fmt.Sprintf(unload, 3+n) + "@play", "[Gadgets] panel drawn again@play",
		}
	}
	back := []string{fmt.Sprintf(left, 700) + "@play", fmt.Sprintf(unload, 5) + "@menu", "[Gadgets] waits@menu"}
	loads := func(version, of string) (all []string) {
		all = append(all, boot(version, of)...)
		all = append(all, game(1, "Loading game from file Kestrel Rock with mods:")...)
		all = append(all, back...)
		all = append(all, game(2, "Initializing new game with mods:")...)
		return append(all, game(3, "Loading game from file 언덕 2 with mods:")...)
	}
	without := func(lines []string, prefix string) (kept []string) {
		for _, l := range lines {
			if !strings.HasPrefix(l, prefix) {
				kept = append(kept, l)
			}
		}
		return kept
	}
	crash := []string{
		"Caught fatal signal - signo:11 code:1 errno:0 addr:0x18@play", "Obtained 1 stack frames.",
		"#0  0x007f3a5c442520 in __sigaction",
	}
	quit := []string{
		"Memory Statistics:@play", "[ALLOC_TEMP_TLS] TLS Allocator",
		"Input System module state changed to: Shutdown.@quit",
	}
	v14, v16 := loads("2019.4.30f1 (x)", "1.4.3901 rev238"), loads("2022.3.35f1 (x)", "1.6.4633 rev1240")
	for name, lines := range map[string][]string{
		"1.4, crash":                append(append([]string{}, v14...), crash...),
		"1.6, exit":                 append(append([]string{}, v16...), quit...),
		"a crash, then another run": append(append(append([]string{}, v16...), crash...), append(v14, quit...)...),
		// Uploads by HugsLib leave out the times of unloading, so that the way
		// back to the menu does not show until the next game.
		"upload": append([]string{"Log uploaded on Monday, June 3, 2024, 1:02:03 AM", "Loaded mods:", "Log file contents:"},
			without(without(without(v14[:len(v14)-18], "UnloadTime"), "[Gadgets] waits"), fmt.Sprintf(unload, 5))...),
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			want := map[int]string{}
			for i, l := range lines {
				text, phase, _ := strings.Cut(l, "@")
				log.WriteString(text + "\n")
				if phase != "" {
					want[i+1] = phase
				}
			}
			for _, r := range records(t, write(t, "Player.log", log.String())) {
				if phase, ok := want[r.StartLine]; ok {
					require.Equal(t, phase, r.Phase, "line %d: %s", r.StartLine, r.Template)
					delete(want, r.StartLine)
				}
			}
			require.Empty(t, want, "lines that open no record")
		})
	}
}

// TestCases compares the small logs of public bug reports with the values that were expected of them. A case that is
// known to miss states why; it fails here as soon as it passes.
func TestCases(t *testing.T) {
	dir := testkit.Dir(t, "cases")
	for name, test := range map[string]struct {
		levels, dispositions, severities map[int]string // by line
		signatures, records, groups      int
		begins                           string // the first sentence of the first screen
		misses                           string
	}{
		"bom-utf8": {levels: map[int]string{1: "error", 2: "error"}},
		"comma-separated": {
			levels: map[int]string{1: "error", 2: "error", 3: "error"}, signatures: 3, begins: "Broken since",
		},
		"compact-json": {signatures: 2},
		"cr-only":      {records: 3},
		"fatal-of-another-program": {
			severities:   map[int]string{1: "error", 2: "error", 3: "fatal", 4: "fatal", 5: "fatal", 6: "fatal", 7: "fatal"},
			dispositions: map[int]string{3: "blocking", 4: "blocking", 5: "blocking", 6: "blocking", 7: "blocking"},
		},
		"goods-and-places":       {groups: 1},
		"names-of-several-words": {groups: 1},
		"fraction-or-none":       {levels: map[int]string{2: "error", 3: "error", 5: "error"}},
		"pipe-separated":         {levels: map[int]string{1: "error", 6: "error"}, signatures: 1},
		"smapi-alert": {
			levels: map[int]string{18: "info"}, dispositions: map[int]string{13: "blocking", 18: "ignore"},
		},
		"smapi-updates": {
			levels: map[int]string{7: "info", 8: "info", 9: "info", 10: "info"}, begins: "Healthy.",
		},
		"unpadded-time":     {levels: map[int]string{1: "error", 2: "error", 3: "error", 4: "warning"}},
		"utf16":             {records: 3, levels: map[int]string{1: "error", 2: "error"}},
		"docker-json-trace": {records: 2},
		"json-among-plain":  {levels: map[int]string{6: "error"}},
		"json-in-unity":     {levels: map[int]string{6: "error"}},
		"mixed-ends":        {records: 4, levels: map[int]string{1: "error", 2: "error", 3: "error", 5: "error"}},
		"upload-of-the-log-fails": {
			dispositions: map[int]string{18: "advisory"}, misses: "an exception while a log is uploaded blocks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name+".log")
			var differs []string
			signatures, byLine := map[string]bool{}, map[int]record{}
			all := records(t, path)
			for _, rec := range all {
				signatures[rec.Signature], byLine[rec.StartLine] = true, rec
			}
			compare := func(want map[int]string, field func(record) string) {
				for line, w := range want {
					if got := field(byLine[line]); got != w {
						differs = append(differs, got+", not "+w)
					}
				}
			}
			compare(test.levels, func(r record) string { return r.Level })
			compare(test.dispositions, func(r record) string { return r.Disposition })
			compare(test.severities, func(r record) string { return r.Severity })
			if test.records > 0 && test.records != len(all) || test.signatures > 0 && test.signatures != len(signatures) {
				differs = append(differs, "other records or signatures")
			}
			if test.groups > 0 {
				groups := map[string]bool{}
				for line := range strings.Lines(ok(t, "signatures", "--group", path)) {
					id, _, _ := strings.Cut(line, "\t")
					groups[id] = true
				}
				if len(groups) != test.groups {
					differs = append(differs, "other groups")
				}
			}
			if test.begins != "" && !strings.Contains(runArgs(t, path).stdout, "\n  "+test.begins) {
				differs = append(differs, "another first sentence")
			}
			if test.misses == "" {
				require.Empty(t, differs)
			} else {
				require.NotEmpty(t, differs, "passes now: %s", test.misses)
				t.Skipf("known to miss: %s", test.misses)
			}
		})
	}
}
