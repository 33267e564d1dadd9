package agent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// planName names a plan of faults.
type planName string

const (
	planDistinct   planName = "distinct"   // each fault has a site of its own
	planSame       planName = "same"       // one site has all faults
	planFew        planName = "few"        // three sites have all faults
	planBackground planName = "background" // as distinct, and an exception comes by itself
	planPeriodic   planName = "periodic"   // the same, every 31 s
	planNoise      planName = "noise"      // as distinct, and harmless messages are logged as errors all the time
	planLoad       planName = "load"       // as distinct, and the game is loaded, with some fifty faults
	planLoadLate   planName = "load-late"  // as distinct, and a load has no end in the log, and faults after later results
	planSlow       planName = "slow"       // as distinct, and many calls take from seconds to minutes
	planNoLog      planName = "nolog"      // as distinct, and heed looks for the log where it is not

	// As background, and the faults of calls are the same exception with other codes.
	planVariants planName = "variants"
)

var planNames = []planName{
	planDistinct, planSame, planFew, planBackground, planPeriodic, planNoise, planLoad, planLoadLate,
	planSlow, planNoLog, planVariants,
}

// kind is when a planted fault shows.
type kind string

const (
	during   kind = "during" // before the call's result
	after0   kind = "0 ms"   // after the result, which is a success
	after5   kind = "5 ms"
	after30  kind = "30 ms"
	after300 kind = "300 ms"
	flood    kind = "flood" // 2 ms after the result, 150 lines, each with other ids
	late     kind = "late"  // 3 to 15 s after the result
	alone    kind = "alone" // by itself
	loading  kind = "load"  // while the game is loaded
)

// afters are the faults right after a result.
var afters = []kind{after0, after5, after30, after300}

// delays of the faults that always come at the same time after a result.
var delays = map[kind]time.Duration{
	after0: time.Microsecond, // the result has gone out
	after5: 5 * time.Millisecond, after30: 30 * time.Millisecond, after300: 300 * time.Millisecond,
	flood: 2 * time.Millisecond,
}

// plan lists the events of a game, by its calls and by time.
type plan struct {
	steps  []step
	alone  *source // an exception that comes by itself
	chatty *source // errors that are none
	silent bool    // the log has no end of a load
}

// step lists the effects of one call of colony/build that it was not asked for.
type step struct {
	takes time.Duration
	says  bool     // it logs a line about nothing
	noise []string // that it logs as errors
	fault *fault
	load  *load // that begins during the call
}

// fault is what breaks the state of the game, with its first line.
type fault struct {
	kind  kind
	delay time.Duration // after the result, or during the call after its start
	lines []string
	pace  time.Duration
}

// source is something that comes by itself: at exact times, or at random ones.
type source struct {
	site  int           // of the exception
	code  int           // that it comes with; 0: none
	begin time.Duration // after the agent has come; 0: before it
	every time.Duration
	exact bool
}

// load is one of the game, with faults at different sites.
type load struct {
	lasts  time.Duration
	faults []fault
}

const (
	faultEvery = 20 // calls, on average
	noiseEvery = 6
	loadFaults = 50
	lateDelay  = 60 * time.Millisecond // after a result

	aloneSite = 90
	loadSite  = 100 // the first of loadSites
	loadSites = 70
)

// newPlan returns the events in n calls and around them. One call of twenty, at random, breaks the state of the game;
// one of six logs a harmless message as an error, as games do.
func newPlan(name planName, seed uint64, n int) *plan {
	r := rand.New(rand.NewPCG(seed, 0))
	p := &plan{steps: make([]step, n)}
	kinds := []kind{during, after0, after5, after30, after300, flood, late}
	faults := 0
	for i := range p.steps {
		s := &p.steps[i]
		s.takes, s.says = between(r, 20*time.Millisecond, 500*time.Millisecond), r.IntN(2) == 0
		if name == planSlow && r.IntN(5) < 2 {
			s.takes = spread(r, 5*time.Second, 2*time.Minute)
		}
		if r.IntN(faultEvery) == 0 {
			site := faults
			switch name {
			case planSame:
				site = 0
			case planFew:
				site = r.IntN(3)
			}
			line := func() string { return faultLine(r, site) }
			if name == planVariants {
				line = func() string { return codeLine(r, callCodes[faults%len(callCodes)]) }
			}
			s.fault = newFault(r, kinds[r.IntN(len(kinds))], s.takes, line)
			faults++
			continue
		}
		noises := 0
		if r.IntN(noiseEvery) == 0 {
			noises = 1
		}
		if name == planNoise {
			noises = r.IntN(5)
		}
		for range noises {
			s.noise = append(s.noise, noiseLine(r))
		}
	}
	switch name {
	case planBackground:
		p.alone = &source{site: aloneSite, every: spread(r, 3*time.Second, 2*time.Minute)}
	case planPeriodic:
		p.alone = &source{site: aloneSite, every: 31 * time.Second, exact: true}
	case planVariants:
		p.alone = &source{code: aloneCode, every: spread(r, 3*time.Second, 2*time.Minute)}
	case planNoise:
		p.chatty = &source{every: 3 * time.Second}
	case planLoad:
		for range 1 + r.IntN(2) {
			p.steps[r.IntN(n)].load = newLoad(r)
		}
	case planLoadLate:
		p.loadLate(r, r.IntN(1+n/4))
	}
	if p.alone != nil && r.IntN(2) == 0 {
		p.alone.begin = between(r, time.Minute, 10*time.Minute) // else it begins before the agent comes
	}
	return p
}

func newFault(r *rand.Rand, k kind, takes time.Duration, line func() string) *fault {
	f := &fault{kind: k, delay: delays[k]}
	count := 1
	switch k {
	case during:
		f.delay = between(r, 0, takes)
	case late:
		f.delay = between(r, 3*time.Second, 15*time.Second)
	case flood:
		count, f.pace = 150, 2*time.Millisecond
	}
	for range count {
		f.lines = append(f.lines, line())
	}
	return f
}

// newLoad returns a load. Two loads of a game have most of their faults in common.
func newLoad(r *rand.Rand) *load {
	l := &load{lasts: between(r, 20*time.Second, time.Minute)}
	for _, site := range r.Perm(loadSites)[:loadFaults] {
		l.faults = append(l.faults, fault{
			kind: loading, delay: between(r, time.Second, l.lasts), lines: []string{faultLine(r, loadSite+site)},
		})
	}
	return l
}

// loadLate lets a step load the game, which takes no longer than the call and has a fault. Another fault comes right
// after every second result, on average, but not where the agent reads the state by habit, and finds it.
func (p *plan) loadLate(r *rand.Rand, i int) {
	site := loadSite + r.IntN(loadSites)
	newFault := func(delay time.Duration) *fault {
		site++
		return &fault{kind: loading, delay: delay, lines: []string{faultLine(r, site)}}
	}
	s := &p.steps[i]
	s.fault, s.load, p.silent = nil, &load{lasts: s.takes, faults: []fault{*newFault(s.takes / 2)}}, true
	for range loadFaults {
		if i += 1 + r.IntN(3); i < len(p.steps) && i%habit != habit-1 {
			p.steps[i].fault, p.steps[i].noise = newFault(lateDelay), nil
		}
	}
}

// between returns a duration from low on and below high.
func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return low + time.Duration(r.Int64N(int64(high-low)))
}

// spread is between with as many short ones as long ones: from 1 to 10 as often as from 10 to 100.
func spread(r *rand.Rand, low, high time.Duration) time.Duration {
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), r.Float64()))
}

// next returns how long after an occurrence the next one comes.
func (s *source) next(r *rand.Rand) time.Duration {
	if s.exact {
		return s.every
	}
	return time.Duration(r.ExpFloat64() * float64(s.every))
}

// site returns where a fault comes from.
func site(fault int) string {
	parts := []string{"Glow", "Timer", "Grid", "Refuel", "Alert", "Wire", "Switch", "Bulb"}
	owners := []string{"Comp", "Window", "Map", "Job"}
	doings := []string{"Tick", "Rebuild", "Settle", "Recheck", "Notify", "Refresh", "Measure"}
	return owners[fault/len(parts)%len(owners)] + parts[fault%len(parts)] + "." + doings[fault%len(doings)]
}

// faultLine returns a record of a fault, with ids of its own.
func faultLine(r *rand.Rand, fault int) string {
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
	return b.String()
}

// aloneCode is the code of the exception of planVariants that comes by itself; callCodes are the codes of the faults of
// calls.
const aloneCode = 503

var callCodes = [...]int{500, 409, 404, 423, 507, 410, 428, 400, 412, 451, 403, 504}

// codeLine returns a record of the one exception of planVariants, with a code and ids of its own.
func codeLine(r *rand.Rand, code int) string {
	return fmt.Sprintf("Exception ticking Human%d (at (%d, 0, %d)): "+
		"System.InvalidOperationException: lamp service failed, status: %d\n"+
		"  at Lamps.%s () [0x00016] in <5a0c7e11d2f34b6885a0c7e11d2f34b6>:0 \n  at Verse.TickList.Tick () [0x00024] in <24d2a0b1c3e4f5061728394a5b6c7d8e>:0 ",
		r.IntN(90_000), r.IntN(250), r.IntN(250), code, site(aloneSite))
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

// infoLine returns a line about nothing.
func infoLine(r *rand.Rand) string {
	return fmt.Sprintf("[Lamps] %d lights in %d rooms", r.IntN(400), r.IntN(60))
}

// The beginning of the log of a game, and of a load, and the end of a load.
const (
	logBegins = "Mono path[0] = 'colony'\nRimWorld 1.6.4518 rev1"
	sceneLeft = "UnloadTime: 1.250000 ms"
	loadBegan = "Loading game from file Riverbend with mods:\n  - Lamps"
	loadEnded = "Unloading 512 unused Assets to reduce memory usage. Loaded Objects now: 300000."
)
