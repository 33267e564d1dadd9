package workload_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/bench/storm"
	"github.com/heedlog/heed/bench/workload"
)

func TestStormRun(t *testing.T) {
	// Every template of these storms differs from the others in more than one
	// word, so the Grouper must leave each a group of its own.
	for mode, signatures := range map[string]int{
		"same": 1, "ids": workload.Templates, "distinct": 5000,
		"mixed": 1 + workload.Templates + 500,
	} {
		t.Run(mode, func(t *testing.T) {
			var out bytes.Buffer
			n := 5000
			if mode == "ids" {
				n = 20_000 // where the law needs its term for stops
			}
			require.NoError(t, storm.Run([]string{"-n", strconv.Itoa(n), "-mode", mode}, &out, io.Discard))
			var res map[string]any
			require.NoError(t, json.Unmarshal(out.Bytes(), &res))
			require.EqualValues(t, n, res["entries"])
			for _, field := range []string{"nsPerEntry", "heapBytes", "updates"} {
				require.NotZero(t, res[field], field)
			}
			require.EqualValues(t, signatures, res["signatures"])
			require.EqualValues(t, signatures, res["groups"])
			require.LessOrEqual(t, res["updates"], res["updatesAllowed"])
			require.EqualValues(t, 17, res["causeHeld"], "the fault before the storm, and what was around it")
			for _, field := range []string{"allocsPerEntry", "peakRssBytes", "lost"} {
				require.Contains(t, res, field)
			}
		})
	}
}

func TestStormRefuses(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-n", "-3"}, {"-mode", "calm"}, {"-what"}} {
		require.Error(t, storm.Run(args, &bytes.Buffer{}, io.Discard), args)
	}
}
