package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	for _, mode := range []string{"same", "ids", "distinct", "mixed"} {
		t.Run(mode, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, run([]string{"-n", "5000", "-mode", mode}, &out))
			var res map[string]any
			require.NoError(t, json.Unmarshal(out.Bytes(), &res))
			require.EqualValues(t, 5000, res["entries"])
			for _, field := range []string{"ns_per_entry", "heap_bytes", "updates", "groups"} {
				require.NotZero(t, res[field], field)
			}
			require.LessOrEqual(t, res["updates"], res["updates_allowed"])
			require.EqualValues(t, planted, res["cause_held"], "the fault before the storm, and what was around it")
			for _, field := range []string{"allocs_per_entry", "peak_rss_bytes", "lost"} {
				require.Contains(t, res, field)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-n", "-3"}, {"-mode", "calm"}, {"-what"}} {
		require.Error(t, run(args, &bytes.Buffer{}), args)
	}
}
