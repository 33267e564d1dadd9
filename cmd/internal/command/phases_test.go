package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
