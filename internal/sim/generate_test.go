package sim

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/heedlog/heed/event"
)

// Generate returns the script of a seed, of so many steps. The same seed gives
// the same script. Seeds differ in their clock, their capacities and in what
// happens often: some have storms, some no operations at all, some consumers
// that hardly ever drain.
func Generate(seed uint64, steps int) *Script {
	g := generator{rnd: rand.New(rand.NewPCG(seed, 0x6865_6564))}
	s := &Script{Setup: g.setup(), Steps: make([]Step, 0, steps)}
	total := 0
	weights := make([]int, len(makers))
	for i := range makers {
		weights[i] = makers[i].weight * pick(g.rnd, 0, 1, 1, 2, 4)
		if makers[i].always {
			weights[i] = max(weights[i], makers[i].weight)
		}
		total += weights[i]
	}
	for len(s.Steps) < steps {
		if len(g.scene) > 0 && (g.alone || g.rnd.IntN(6) > 0) {
			s.Steps = append(s.Steps, g.scene[0])
			g.scene = g.scene[1:]
			continue
		}
		n := g.rnd.IntN(total)
		i := 0
		for n >= weights[i] {
			n -= weights[i]
			i++
		}
		s.Steps = append(s.Steps, makers[i].make(&g))
	}
	return s
}

func pick[T any](rnd *rand.Rand, of ...T) T { return of[rnd.IntN(len(of))] }

type generator struct {
	rnd   *rand.Rand
	scene []Step // that goes on
	alone bool   // without other steps in between
	codes bool   // forms were codes last
}

func (g *generator) setup() Setup {
	r := g.rnd
	s := Setup{Clock: pick(r, Clockless, EntryClock, EntryClock, HostClock), Hasty: r.IntN(4) > 0}
	switch r.IntN(4) {
	case 0: // roomy
	case 1: // one of everything
		s = Setup{
			Clock: s.Clock, Hasty: s.Hasty, Open: 1, Remembered: 1, Groups: 1, Operations: 1, Samples: 1, Named: 1, Consumers: 1,
			Entries: 1, Bytes: 64, Firsts: 1, Quota: 1, Pinned: 1, Signatures: 1,
		}
	default: // some are tight
		for _, n := range s.numbers() {
			if r.IntN(4) == 0 {
				*n.v = pick(r, 1, 1, 2, 3, 5)
			}
		}
		s.Bytes *= 100
		s.Entries *= pick(r, 1, 1, 8)
		s.Consumers = pick(r, s.Consumers, 3) // of four
	}
	return s
}

// makers make steps.
var makers = []struct {
	weight int
	always bool
	make   func(*generator) Step
}{
	{30, true, func(g *generator) Step {
		return Step{
			Verb: Log, Text: g.text(), Op: g.opOrNone(), Level: event.Level(g.rnd.IntN(6)),
			Source: pick(g.rnd, "", "", "core"),
		}
	}},
	{10, false, func(g *generator) Step {
		return Step{
			Verb: Op, Op: g.op(), Parent: pick(g.rnd, "", "", "", "a", "b"), Method: "m/" + g.op(), Yes: g.rnd.IntN(2) == 0,
			Status: pick(g.rnd, event.StatusStarted, event.StatusStarted, event.StatusStarted, event.StatusCompleted,
				event.StatusCompleted,
				event.StatusFailed, event.StatusCancelled, event.StatusTimedOut),
		}
	}},
	{3, false, func(g *generator) Step { return g.play(g.returns()) }},
	{1, false, func(g *generator) Step { return g.play(g.loads()) }},
	{1, true, func(g *generator) Step { return g.play(g.stands()) }},
	{1, false, func(g *generator) Step { return g.play(g.forms()) }},
	{1, false, func(g *generator) Step { return g.play(g.clocks()) }},
	{1, false, func(g *generator) Step { return g.play(g.lines()) }},
	{1, false, func(g *generator) Step { return g.play(g.parts()) }},
	{1, false, func(g *generator) Step { return g.play(g.pauses()) }},
	{1, false, func(*generator) Step { return Step{Verb: Reread} }},
	{2, false, func(g *generator) Step {
		s := Step{Verb: State, Status: event.StatusPhase +
			event.Status(g.rnd.IntN(int(event.StatusLongEventEnd-event.StatusPhase)+1))}
		if s.Status == event.StatusPhase {
			s.Text = pick(g.rnd, "menu", "load", "play", "play")
		}
		return s
	}},
	{1, false, func(g *generator) Step {
		return Step{Verb: Notice, Status: event.StatusHole + event.Status(g.rnd.IntN(4))}
	}},
	{1, false, func(g *generator) Step {
		n := 1 + g.rnd.IntN(12)
		if g.rnd.IntN(40) == 0 {
			n = 300
		}
		return Step{
			Verb: Storm, Text: pick(g.rnd, "same", "ids", "distinct", "abc"), N: n, Op: g.opOrNone(),
			Yes: g.rnd.IntN(4) == 0,
		}
	}},
	{2, false, func(g *generator) Step {
		return Step{
			Verb: Raise, Text: pick(g.rnd, "disk", "tool"), Disposition: event.Disposition(g.rnd.IntN(3)), Op: g.opOrNone(),
			Yes: g.rnd.IntN(3) == 0,
		}
	}},
	{1, false, func(g *generator) Step { return Step{Verb: Clear, Item: g.item()} }},
	{6, true, func(g *generator) Step {
		return Step{Verb: Ack, Item: g.item(), By: g.consumer(), Through: pick(g.rnd, 0, 0, 0, -1, -int64(g.rnd.IntN(20)),
			-int64(g.rnd.IntN(400)), 1, 1<<40)}
	}},
	{5, false, func(g *generator) Step { return Step{Verb: View, By: g.consumer()} }},
	{2, false, func(g *generator) Step {
		return Step{Verb: Delivered, Item: g.item(), By: g.consumer(), Through: -int64(g.rnd.IntN(10))}
	}},
	{1, false, func(g *generator) Step { return Step{Verb: Attach, By: g.consumer()} }},
	{1, false, func(g *generator) Step { return Step{Verb: Detach, By: g.consumer()} }},
	{6, false, func(*generator) Step { return Step{Verb: Drain} }},
	{1, false, func(g *generator) Step {
		return Step{Verb: Expect, For: time.Duration(g.rnd.IntN(4000)) * time.Millisecond}
	}},
	{2, false, func(g *generator) Step { return Step{Verb: Advance, For: g.jump()} }},
	{12, true, func(g *generator) Step {
		return Step{Verb: Pass, For: time.Duration(g.rnd.IntN(500)) * time.Millisecond}
	}},
	{1, false, func(g *generator) Step { return Step{Verb: Pass, For: g.jump()} }},
	{3, false, func(g *generator) Step { return Step{Verb: Verdict, Op: g.op()} }},
	{1, false, func(*generator) Step { return Step{Verb: Restart} }},
	{1, false, func(g *generator) Step {
		return Step{Verb: Read, Through: -int64(g.rnd.IntN(100)), N: g.rnd.IntN(10)}
	}},
}

// play begins a scene.
func (g *generator) play(scene []Step) Step {
	g.scene, g.alone = scene, g.rnd.IntN(2) == 0
	return Step{Verb: Drain}
}

// fault returns a text that urgent entries have.
func (g *generator) fault() string {
	return pick(g.rnd, "Stuck pump 1", "Stuck pump 2", "Lost lamp 3", "Broken alpha", "Worn coat 4", "Worn hat", "No path 5")
}

// soon returns a pause within or around the shorter windows.
func (g *generator) soon() Step {
	return Step{Verb: Pass, For: pick(g.rnd, 0, 100*time.Millisecond, 900*time.Millisecond, 1200*time.Millisecond,
		3*time.Second, 12*time.Second)}
}

// returns is a fault that comes again and again, inside and outside of calls, mostly
// acknowledged, with the game's state read in between.
func (g *generator) returns() (scene []Step) {
	fault, method := g.fault(), "m/"+g.op()
	inside, seen := g.rnd.IntN(5), g.rnd.IntN(4)
	for range 2 + g.rnd.IntN(7) {
		id := pick(g.rnd, "a", "b", "c", "d", "e", "f", "g", "h")
		call := g.rnd.IntN(4) < inside
		if call {
			scene = append(scene, Step{Verb: Op, Op: id, Status: event.StatusStarted, Method: method}, g.soon())
		}
		log := Step{Verb: Log, Text: fault}
		if g.rnd.IntN(3) == 0 {
			log.Op = id
		}
		scene = append(scene, log)
		if call {
			scene = append(scene, g.soon(), Step{Verb: Op, Op: id, Status: event.StatusCompleted, Method: method},
				Step{Verb: Verdict, Op: id})
		}
		if g.rnd.IntN(4) < seen {
			scene = append(scene, Step{Verb: View}, Step{Verb: Ack, Item: pick(g.rnd, "^0", "open", "open")})
		}
		if g.rnd.IntN(2) == 0 {
			scene = append(scene, Step{Verb: Reread})
		}
		scene = append(scene, g.soon())
	}
	return scene
}

// stands is a new fault in one call after another, each acknowledged at once.
func (g *generator) stands() (scene []Step) {
	fault, read := "Stuck "+word(g.rnd.IntN(1<<20)), g.rnd.IntN(3)
	if read == 0 {
		scene = append(scene, Step{Verb: Reread})
	}
	for range 5 + g.rnd.IntN(3) {
		scene = append(scene,
			Step{Verb: Op, Op: "s", Status: event.StatusStarted, Method: "m/s"}, Step{Verb: Pass, For: 300 * time.Millisecond},
			Step{Verb: Log, Text: fault}, Step{Verb: Op, Op: "s", Status: event.StatusCompleted},
			Step{Verb: Ack, Item: "open"}, Step{Verb: Pass, For: 2 * time.Second})
		if g.rnd.IntN(2) < read {
			scene = append(scene, Step{Verb: Reread})
		}
	}
	return scene
}

// forms are texts whose groups become one, and which may be variants of it.
func (g *generator) forms() (scene []Step) {
	if g.codes = !g.codes; g.codes {
		for i := range 6 {
			text := "Broken feed of the old mill in the north, code " + strconv.Itoa(1+i*i%5)
			scene = append(scene, Step{Verb: Log, Text: text, Op: []string{"", "", "a"}[i%3]}, Step{Verb: Ack, Item: "open"})
		}
		return scene
	}
	for i := range 12 {
		scene = append(scene, Step{Verb: Log, Text: "Broken plan of the pawn called " + words[i%6] + " in the north"})
	}
	return scene
}

// loads is a load of the game with faults in it, before and after an acknowledgement, and perhaps with calls.
func (g *generator) loads() []Step {
	scene := []Step{{Verb: Log, Text: "Loading save 1"}}
	calls := g.rnd.IntN(3)
	for range 1 + g.rnd.IntN(6) {
		if g.rnd.IntN(3) < calls {
			scene = append(scene, Step{Verb: Op, Op: "l", Status: event.StatusStarted, Method: "m/l"}, g.soon(),
				Step{Verb: Op, Op: "l", Status: pick(g.rnd, event.StatusCompleted, event.StatusCompleted, event.StatusFailed)},
				Step{Verb: Verdict, Op: "l"})
		}
		scene = append(scene, Step{Verb: Log, Text: g.fault(), Op: g.opOrNone()}, g.soon())
		if g.rnd.IntN(2) == 0 {
			scene = append(scene, Step{Verb: Ack, Item: "open"})
		}
	}
	return append(scene, pick(g.rnd, Step{Verb: Log, Text: "Loaded save 1"}, Step{
		Verb: State, Status: event.StatusPhase,
		Text: "play",
	}, Step{Verb: State, Status: event.StatusExited}))
}

// clocks are two clocks far apart, in turn.
func (g *generator) clocks() (scene []Step) {
	far := pick(g.rnd, 2*time.Hour, 5*time.Second)
	for range 2 + g.rnd.IntN(6) {
		scene = append(scene, Step{Verb: Log, Text: g.fault()}, Step{Verb: Pass, For: far}, Step{Verb: Log, Text: g.fault()},
			Step{Verb: Advance}, Step{Verb: Pass, For: -far})
	}
	return scene
}

// lines are of another operation, or another phase, each.
func (g *generator) lines() (scene []Step) {
	fault, phases := g.fault(), g.rnd.IntN(2) == 0
	for i := range 2 + g.rnd.IntN(8) {
		s := Step{Verb: Log, Text: fault}
		if phases {
			scene = append(scene, Step{Verb: State, Status: event.StatusPhase, Text: pick(g.rnd, "menu", "load", "play")})
		} else {
			s.Op = string(rune('a' + i))
		}
		if g.rnd.IntN(3) == 0 {
			s.Text = g.fault()
		}
		scene = append(scene, s, g.soon())
	}
	return scene
}

// parts are operations at once, one a part of another, and what names none.
func (g *generator) parts() []Step {
	return []Step{
		{Verb: Op, Op: "i", Status: event.StatusStarted},
		{Verb: Op, Op: "j", Status: event.StatusStarted},
		{Verb: Op, Op: "k", Status: event.StatusStarted, Parent: pick(g.rnd, "i", "j", "")},
		{Verb: Log, Text: g.fault()},
		{Verb: Op, Op: pick(g.rnd, "i", "j"), Status: event.StatusCompleted},
		{Verb: Log, Text: g.fault()},
		{Verb: Op, Op: pick(g.rnd, "i", "j", "k"), Status: event.StatusCompleted},
		{Verb: Log, Text: g.fault()},
	}
}

// pauses are storms of one text with silence between them.
func (g *generator) pauses() (scene []Step) {
	for range 2 + g.rnd.IntN(3) {
		scene = append(scene, Step{Verb: Storm, Text: "same", N: 1 + g.rnd.IntN(5)}, g.soon())
	}
	return scene
}

// jump returns how far the clock goes: some seconds, far ahead, or back.
func (g *generator) jump() time.Duration {
	return pick(g.rnd,
		time.Duration(g.rnd.IntN(10_000))*time.Millisecond,
		time.Duration(g.rnd.IntN(10_000))*time.Millisecond,
		time.Duration(g.rnd.IntN(3000))*-time.Millisecond,
		time.Duration(g.rnd.IntN(1000))*-time.Second,
		time.Duration(g.rnd.IntN(1000))*time.Hour,
	)
}

func (g *generator) op() string { return pick(g.rnd, "a", "b", "c", "d") }

func (g *generator) opOrNone() string { return pick(g.rnd, "", "", "", g.op()) }

func (g *generator) consumer() string { return pick(g.rnd, "", "", "", "ann", "bob", "eve") }

func (g *generator) item() string {
	if g.rnd.IntN(4) == 0 {
		return "open"
	}
	return "^" + strconv.Itoa(pick(g.rnd, 0, 0, 0, 1, 1, 2, g.rnd.IntN(8)))
}

// words make groups of one rule that no evidence merges: no other word stands
// around them.
var words = []string{
	"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
	"mu",
}

func (g *generator) text() string {
	n := strconv.Itoa(g.rnd.IntN(1000))
	switch g.rnd.IntN(24) {
	case 0:
		return pick(g.rnd, "Loading save "+n, "Loaded save "+n)
	case 1:
		return pick(g.rnd, "No more logging", "Logging again", "Logging again", "Console closed", "Console open")
	case 2:
		return "Mended the door"
	case 3, 4:
		return "Broken door " + n
	case 5, 6:
		return "Broken " + pick(g.rnd, words...)
	case 7, 8:
		return "Lost item " + n
	case 9:
		return "Stuck " + pick(g.rnd, words...)
	case 10:
		return pick(g.rnd, "Fatal fault", "Stuck pump "+n)
	case 11:
		return pick(g.rnd, "vault secret 7", "vault secret 8")
	case 12, 13:
		return "No path to lamp " + n
	case 14, 15:
		return "Worn coat " + n
	case 16:
		return "Worn " + pick(g.rnd, words...)
	case 17:
		return "Broken plan of the pawn called " + pick(g.rnd, "Anna", "Boris", "Chloe", "Dmitri", "Eun", "Farid") +
			" in the north"
	case 18:
		return ""
	}
	return pick(g.rnd, "Plain words", "Plain number "+n)
}
