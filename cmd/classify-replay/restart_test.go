package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
			r := runArgs(t, log)
			require.Equal(t, exitOK, r.status, r.stderr)
			require.Contains(t, r.stdout, "The log was blind from line")
			require.NotContains(t, r.stdout, "went blind")
			require.NotContains(t, r.stdout, "known to be over")

			again := runArgs(t, write(t, "Player.log", banner+rest+limit+banner+rest+limit))
			require.Contains(t, again.stdout, "went blind", "the second run may be blind too")
		})
	}

	// A host that follows the log gives no notice, and the banner says enough.
	live := write(t, "live.jsonl", `{"msg":"Reached max messages limit. Stopping logging to avoid spam."}
{"kind":"notice","status":"truncated"}
{"msg":"Initialize engine version: 2022.3.35f1 (x)"}
`)
	require.NotContains(t, runArgs(t, live).stdout, "went blind")
	told := write(t, "told.jsonl", `{"msg":"Reached max messages limit. Stopping logging to avoid spam."}
{"kind":"notice","status":"truncated"}
{"kind":"notice","status":"restarted"}
`)
	require.NotContains(t, runArgs(t, told).stdout, "went blind")
}
