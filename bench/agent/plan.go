package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// kind is when a planted fault shows.
type kind string

const (
	during kind = "during" // before the call's reply
	after  kind = "after"  // right after the reply, which is a success
	flood  kind = "flood"  // after the reply, and for several calls, each line with other ids
	late   kind = "late"   // somewhere in the middle of a later call's time
)

// step is what one call of colony/build does in the game beside what it was asked
// for.
type step struct {
	fault kind // "" for none
	delay time.Duration
	lines []string // of the fault; the first breaks the state
	pace  time.Duration

	// noise is what the game logs during the call though nothing is wrong, and
	// whether it calls it an error.
	noise      string
	noiseError bool
}

// plan returns what happens in each of n calls. One of twenty breaks the state of the
// game, one of six logs as an error what is none: games do.
func plan(seed uint64, n int) []step {
	r := rand.New(rand.NewPCG(seed, 0))
	steps := make([]step, n)
	kinds := []kind{after, during, flood, after, late}
	faults := 0
	for i := range steps {
		s := &steps[i]
		switch {
		case i%20 == 10:
			s.fault = kinds[faults%len(kinds)]
			s.lines = faultLines(r, faults, 1)
			switch s.fault {
			case after:
				s.delay = time.Duration(1+r.IntN(5)) * time.Millisecond
			case flood:
				s.delay, s.pace = 2*time.Millisecond, 2*time.Millisecond
				s.lines = faultLines(r, faults, 150)
			case late:
				s.delay = time.Duration(130+r.IntN(100)) * time.Millisecond
			}
			faults++
		case r.IntN(6) == 0:
			s.noise, s.noiseError = noiseLine(r), true
		default:
			s.noise = fmt.Sprintf("[Lamps] %d lights in %d rooms", r.IntN(400), r.IntN(60))
		}
	}
	return steps
}

// site returns where a fault comes from. Each incident is one of its own: what comes
// again soon after it was acknowledged is, to heed, the same one.
func site(fault int) string {
	parts := []string{"Glow", "Timer", "Grid", "Refuel", "Alert", "Wire", "Switch", "Bulb"}
	owners := []string{"Comp", "Window", "Map", "Job"}
	doings := []string{"Tick", "Rebuild", "Settle", "Recheck", "Notify", "Refresh"}
	return owners[fault/len(parts)%len(owners)] + parts[fault%len(parts)] + "." + doings[fault%len(doings)]
}

// faultLines returns count records of one fault, each with other ids.
func faultLines(r *rand.Rand, fault, count int) []string {
	lines := make([]string, count)
	for i := range lines {
		var b strings.Builder
		who := r.IntN(90_000)
		switch fault % 3 {
		case 0:
			fmt.Fprintf(&b, "Exception ticking Human%d (at (%d, 0, %d)): System.NullReferenceException: Object reference not set to an instance of an object\n", who, r.IntN(250), r.IntN(250))
		case 1:
			fmt.Fprintf(&b, "Root level exception in Update(): System.InvalidOperationException: Sequence contains no elements\n")
		default:
			fmt.Fprintf(&b, "JobDriver threw exception in initAction for pawn Human%d driver=JobDriver_Refuel (toilIndex=%d) driver.job=(Refuel (Job_%d) A=Thing_Lamp%d)\nSystem.ArgumentNullException: Value cannot be null.\n", who, r.IntN(6), r.IntN(90_000), r.IntN(90_000))
		}
		fmt.Fprintf(&b, "  at Lamps.%s () [0x%05x] in <5a0c7e11d2f34b6885a0c7e11d2f34b6>:0 \n  at Verse.TickList.Tick () [0x00024] in <24d2a0b1c3e4f5061728394a5b6c7d8e>:0 ", site(fault), 16+fault)
		lines[i] = b.String()
	}
	return lines
}

// noiseLine returns a line that games log as an error and that needs no stop.
func noiseLine(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf("Could not load Texture2D at 'Things/Building/Lamp/Lamp%d' in any active mod or in base resources.", r.IntN(900))
	case 1:
		return fmt.Sprintf("Config error in Lamp_%d: has CompProperties with null compClass.", r.IntN(900))
	case 2:
		return fmt.Sprintf("Human%d started 10 jobs in one tick. newJob=Goto (Job_%d) A=(%d, 0, %d) jobGiver=RimWorld.JobGiver_Wander", r.IntN(90_000), r.IntN(90_000), r.IntN(250), r.IntN(250))
	default:
		return fmt.Sprintf("Trying to get stat MoveSpeed for Lamp_%d, which has no stats", r.IntN(900))
	}
}
