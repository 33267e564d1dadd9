package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestMain makes this test binary the game that its tests start.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-game") {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestPlan(t *testing.T) {
	require.Equal(t, plan(3, 200), plan(3, 200), "a seed is a plan")
	require.NotEqual(t, plan(3, 200), plan(4, 200))
	kinds := map[kind]int{}
	sites := map[string]bool{}
	for i, s := range plan(1, 600) {
		if s.fault == "" {
			continue
		}
		kinds[s.fault]++
		require.NotEmpty(t, s.lines)
		require.Equal(t, 10, i%habit, "far from when an agent reads by habit")
	}
	require.Equal(t, map[kind]int{after: 12, during: 6, flood: 6, late: 6}, kinds)
	for i := range 24 {
		sites[site(i)] = true
	}
	require.Len(t, sites, 24)
}

// What the table says of heed is what it is for: no call on a state that is known to
// be broken, no stop without a reason, one acknowledgement for one incident.
func TestPolicies(t *testing.T) {
	testkit.Full(t, "builds heed, and runs games")
	t.Setenv("HEED_RULES", filepath.Join(t.TempDir(), "none")) // what the person at the keyboard has configured
	var none, errs, heed result
	t.Run("policies", func(t *testing.T) { // at once: agents think most of the time
		for policy, r := range map[string]*result{policyNone: &none, policyErrors: &errs, policyHeed: &heed} {
			t.Run(policy, func(t *testing.T) {
				t.Parallel()
				var out bytes.Buffer
				require.NoError(t, run([]string{"-calls", "80", "-json", "-policy", policy}, &out))
				require.NoError(t, json.Unmarshal(out.Bytes(), r))
				require.Equal(t, policy, r.Policy)
				require.Equal(t, 80, r.Executed)
				require.Equal(t, 4, r.Incidents)
			})
		}
	})
	require.Positive(t, none.StaleShown)
	require.Equal(t, 4, none.Unnoticed)
	require.Positive(t, errs.FalseStops)
	require.Zero(t, heed.StaleShown)
	require.Zero(t, heed.FalseStops)
	require.Zero(t, heed.Unnoticed)
	require.Equal(t, 4, heed.Acks)
}

// TestNotUp: a program that cannot start is not waited for.
func TestNotUp(t *testing.T) {
	trial := trial{dir: t.TempDir(), heed: "go", calls: 1} // which knows no "wrap"
	_, err := trial.run(policyHeed)
	require.ErrorIs(t, err, errNotUp)
}
