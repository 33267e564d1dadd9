package agent

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// What the table is made of, and -trace, which prints what happens.
var (
	seeds    = flag.Int("seeds", 0, "let each agent play `N` games; 0: the table one that is short, the bars three")
	first    = flag.Int("first", 1, "the table: begin with the seed `N`")
	calls    = flag.Int("calls", 200, "the table: let each agent make `N` calls in a game")
	onPlan   = flag.String("plan", "", "play no other `PLAN`")
	onPolicy = flag.String("policy", "", "the table: play under no other `POLICY`")
	thinks   = flag.Duration("think", 0, "the table: let agents think for `TIME` before what they do; 0: 2 to 20 s")
	traces   = flag.Bool("trace", false, "the table: print what happens in each game")
)

// TestTable prints the table. What is told to be clean is so in any game; rates are held by [TestBars].
func TestTable(t *testing.T) {
	testkit.Full(t, "plays games under each policy")
	games, length := *seeds, *calls
	if games == 0 {
		games, length = 1, 40
	}
	var rows []*outcome
	for _, name := range planNames {
		for _, policy := range slices.Concat(policies, ways) {
			if *onPlan != "" && string(name) != *onPlan || *onPolicy != "" && policy != *onPolicy ||
				name == planNoLog && !slices.Contains(ofHeed, policy) {
				continue
			}
			if *seeds == 0 && *onPlan == "" && slices.Contains(steered, policy) && name != planSlow {
				continue // the short table has them in one plan
			}
			row := &outcome{Plan: name, Policy: policy, Think: pace(*thinks), tally: tally{}}
			rows = append(rows, row)
			for seed := range games {
				var trace func(string, ...any)
				if *traces {
					trace = func(format string, a ...any) { fmt.Printf(format+"\n", a...) }
				}
				o := play(t, name, policy, row.Think, uint64(*first+seed), length, trace)
				require.Equal(t, length, o.tally[executedCalls]+o.tally[leftOut])
				row.take(&o)
			}
			assert.LessOrEqual(t, row.tally[wrong], 0, "%s %s: calls told clean and were not", name, policy)
		}
	}
	var out bytes.Buffer
	require.NoError(t, table(&out, rows))
	t.Log("\n" + out.String())
}

// TestBars holds heed to its bars, in every plan and at every pace. The policy brief stops an agent as steer does, with
// other words. Few games have few faults: rates are those of all paces then, and may be twice as high.
func TestBars(t *testing.T) {
	testkit.Full(t, "plays games of each plan")
	games, under := *seeds, slices.Concat([]string{policyHeed, policySteer}, ways)
	if games == 0 {
		games, under = 3, under[:1]
	}
	for _, name := range planNames {
		if *onPlan != "" && string(name) != *onPlan {
			continue
		}
		for _, policy := range under {
			t.Run(string(name)+" "+policy, func(t *testing.T) {
				t.Parallel()
				all := outcome{Plan: name, Policy: policy, Think: anyPace, tally: tally{}}
				for _, think := range paces {
					row := outcome{Plan: name, Policy: policy, Think: think, tally: tally{}}
					for seed := range games {
						o := play(t, name, policy, think, uint64(*first+seed), 200, nil)
						row.take(&o)
						all.take(&o)
					}
					if *seeds > 0 {
						assert.Empty(t, row.misses(1))
					}
				}
				assert.Empty(t, all.misses(2))
			})
		}
	}
}

// TestSteer holds that a fault while the agent thinks is found sooner where its turn is stopped, and that a game is the
// same each time.
func TestSteer(t *testing.T) {
	waits := play(t, planSame, policyHeed, 0, 1, 40, nil)
	stops := play(t, planSame, policySteer, 0, 1, 40, nil)
	require.Positive(t, stops.tally[steers])
	require.Positive(t, stops.tally[canceled])
	require.Less(t, stops.recovery(50), waits.recovery(50))
	require.Equal(t, stops, play(t, planSame, policySteer, 0, 1, 40, nil))
}

// TestUnknown holds that a call that is in flight for long is left, and that the game counts it.
func TestUnknown(t *testing.T) {
	testkit.Full(t, "plays a long game")
	out := play(t, planSlow, policySteer, 0, 8, 200, nil)
	require.Positive(t, out.tally[unknown])
	require.Equal(t, 200, out.tally[executedCalls])
	require.Zero(t, out.tally[wrong])
}

func TestPlan(t *testing.T) {
	for _, name := range planNames {
		require.Equal(t, newPlan(name, 3, 200), newPlan(name, 3, 200), "a seed is a plan")
		require.NotEqual(t, newPlan(name, 3, 200), newPlan(name, 4, 200))
	}
	kinds := map[kind]int{}
	for _, s := range newPlan(planDistinct, 1, 6000).steps {
		if s.fault != nil {
			kinds[s.fault.kind]++
			require.NotEmpty(t, s.fault.lines)
		}
	}
	require.Len(t, kinds, 7)
	sites := map[string]bool{}
	for i := range 224 {
		sites[site(i)] = true
	}
	require.Len(t, sites, 224)
}
