package agent

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/heedlog/heed/gabp"
)

// game is a game with a mod that speaks GABP. It knows facts that the agent does not: when its state was broken, and
// whether a call acted on state that was not read again.
type game struct {
	plan *plan
	seed uint64
	lead time.Duration // how long it runs before the agent comes
	log  io.Writer
	end  context.Context
	said func(format string, a ...any) // for a trace
	wg   sync.WaitGroup                // of faults that come by themselves

	mu     sync.Mutex
	random *rand.Rand
	breach *reading // nil while the state is as it was read last
	tally  tally
	load   loadState
	lines  []written
	calls  []executed
}

// loadState is the state of the load under way.
type loadState struct {
	ended  chan struct{} // is closed at its end; nil while none is under way
	broken bool          // a fault has shown
	known  bool          // and the state was read since
	more   bool          // and another fault has shown
}

// written is a record of the log, executed a call with the records that came before its start and its result.
type (
	written struct {
		at     time.Time
		urgent bool
	}
	executed struct {
		step        int
		began, done time.Time
		from, to    int
		stale       bool // it was made on a broken state
	}
)

// reading is a change of the state since it was read last, as colony/read returns it.
type reading struct {
	Broken  kind    `json:"broken"` // the fault, "" for none
	Step    int     `json:"step"`   // the call that caused it, or near which it came
	Calls   int     `json:"calls"`  // that acted on it
	SinceMs float64 `json:"sinceMs"`

	at time.Time
}

// newGame returns a game that runs until ctx is done.
func newGame(ctx context.Context, p *plan, seed uint64, lead time.Duration, log io.Writer) *game {
	return &game{
		plan: p, seed: seed, lead: lead, log: log, end: ctx, said: func(string, ...any) {},
		random: rand.New(rand.NewPCG(seed, 1)), tally: tally{},
	}
}

// serve runs the game, whose mod listens on l.
func (g *game) serve(l net.Listener, token string) error {
	g.write(logBegins, false)
	g.write(loadBegan, false)
	if !g.plan.silent {
		g.after(g.lead/4, func() { g.write(loadEnded, false) })
	}
	if s := g.plan.alone; s != nil {
		g.wg.Go(func() { g.repeat(s, 2, g.recur(s)) })
	}
	if s := g.plan.chatty; s != nil {
		g.wg.Go(func() { g.repeat(s, 3, func(r *rand.Rand) { g.write(noiseLine(r), true) }) })
	}
	mux := new(gabp.Mux)
	mux.Handle(gabp.MethodToolsList, func(context.Context, *gabp.Request) (any, error) {
		return json.RawMessage(tools), nil
	})
	mux.Handle(gabp.MethodToolsCall, g.call)
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: token, AgentID: "colony", App: gabp.App{Name: "Colony", Version: "1"}, Mux: mux,
	})
	if err != nil {
		return err
	}
	defer g.wg.Wait()
	return server.Serve(g.end, l)
}

const tools = `{"tools":[
{"name":"colony/build","title":"Build","description":"Builds a lamp.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}},
{"name":"colony/read","title":"Read","description":"Reads the state again.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"tags":["observation"]}]}`

func (g *game) call(_ context.Context, r *gabp.Request) (any, error) {
	call, err := gabp.ParseToolCall(r.Params)
	if err != nil {
		return nil, err
	}
	switch call.Name {
	case "colony/build":
		var a struct {
			Step int   `json:"step"`
			Made int64 `json:"made"` // when, in nanoseconds of Unix time
		}
		if err := json.Unmarshal(call.Arguments, &a); err != nil || a.Step < 0 || a.Step >= len(g.plan.steps) {
			return nil, gabp.Errorf(gabp.CodeInvalidParams, "step: 0 to %d", len(g.plan.steps)-1)
		}
		g.build(a.Step, time.Unix(0, a.Made))
		return map[string]any{"success": true, "built": a.Step}, nil
	case "colony/read":
		return g.read(), nil
	}
	return nil, gabp.Errorf(gabp.CodeToolNotFound, "no tool %q", call.Name)
}

// work takes a time, in which the game logs now and then, as one does that is alive.
func (g *game) work(d time.Duration) {
	for ; d > signOfLife; d -= signOfLife {
		time.Sleep(signOfLife)
		g.write("Autosaving...", false)
	}
	time.Sleep(d)
}

const signOfLife = 10 * time.Second

// build executes a call that was made at some time; it waits for the end of the load under way. A fault that showed
// only after that time is late for the call, even if it was planned for an earlier time: on a busy machine it may take
// its time.
func (g *game) build(i int, made time.Time) {
	s := &g.plan.steps[i]
	g.mu.Lock()
	e := executed{step: i, began: time.Now(), from: len(g.lines)}
	if loaded := g.load.ended; loaded != nil {
		g.mu.Unlock()
		select {
		case <-loaded:
		case <-g.end.Done():
		}
		g.mu.Lock()
	}
	g.tally[executedCalls]++
	switch {
	case g.breach == nil:
	case made.After(g.breach.at):
		g.tally[stale]++
		g.breach.Calls++
		e.stale = true
	}
	if s.says {
		g.writeLocked(infoLine(g.random), false)
	}
	g.mu.Unlock()
	for _, text := range s.noise {
		g.write(text, true)
	}
	if s.load != nil {
		g.reload(i, s.load)
	}
	if f := s.fault; f != nil && f.kind == during {
		g.work(f.delay)
		g.show(i, f)
		g.work(s.takes - f.delay)
	} else {
		g.work(s.takes)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	e.done, e.to = time.Now(), len(g.lines)
	g.calls = append(g.calls, e)
	if f := s.fault; f != nil && f.kind != during {
		g.after(f.delay, func() { g.show(i, f) })
	}
}

// after calls f after some time, unless the game has ended.
func (g *game) after(d time.Duration, f func()) {
	g.wg.Go(func() {
		if g.pause(d) {
			f()
		}
	})
}

// pause returns after some time, or false when the game has ended.
func (g *game) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-g.end.Done():
		return false
	}
}

// repeat calls f as often as something comes by itself.
func (g *game) repeat(s *source, stream uint64, f func(*rand.Rand)) {
	r := rand.New(rand.NewPCG(g.seed, stream))
	wait := s.begin
	if wait > 0 {
		wait += g.lead
	}
	for d := wait + s.next(r); g.pause(d); d = s.next(r) {
		f(r)
	}
}

// recur returns the effect of an exception that comes by itself: the first one breaks the state, later ones change
// nothing.
func (g *game) recur(s *source) func(*rand.Rand) {
	first := true
	return func(r *rand.Rand) {
		text := faultLine(r, s.site)
		if s.code != 0 {
			text = codeLine(r, s.code)
		}
		if first {
			first = false
			g.show(0, &fault{kind: alone, lines: []string{text}})
			return
		}
		g.said("  again: %.60s", text)
		g.write(text, true)
	}
}

// show logs a fault.
func (g *game) show(i int, f *fault) {
	g.fail(i, f)
	for _, line := range f.lines[1:] {
		if !g.pause(f.pace) {
			return
		}
		g.write(line, true)
	}
}

// fail logs the first line of a fault. Who saw the line and reads the state waits until it is broken.
func (g *game) fail(i int, f *fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writeLocked(f.lines[0], true)
	g.said("  fault %q of step %d: %.60s", f.kind, i, f.lines[0])
	k := f.kind
	if l := &g.load; l.ended != nil {
		switch {
		case l.known:
			l.more = true
			return
		case l.broken:
			return
		}
		l.broken, k = true, loading
	}
	if g.breach == nil {
		g.breach = &reading{Broken: k, Step: i, at: time.Now()}
		g.tally[incidents]++
	}
}

// reload loads the game. All its faults are one incident: who has read the state knows that it is broken until the load
// has ended. Where faults came after that, the state at the end is another one.
func (g *game) reload(i int, l *load) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.load.ended != nil {
		return
	}
	g.load = loadState{ended: make(chan struct{})}
	if g.plan.silent {
		g.writeLocked(sceneLeft, false)
	}
	g.writeLocked(loadBegan, false)
	for k := range l.faults {
		g.after(l.faults[k].delay, func() { g.show(i, &l.faults[k]) })
	}
	g.after(l.lasts, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if !g.plan.silent {
			g.writeLocked(loadEnded, false)
		}
		g.said("  load ended, with more faults: %v", g.load.more)
		if g.load.more && g.breach == nil {
			g.breach = &reading{Broken: loading, Step: i, at: time.Now()}
		}
		close(g.load.ended)
		g.load = loadState{}
	})
}

func (g *game) read() reading {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.load.known = g.load.broken
	if g.breach == nil {
		return reading{}
	}
	r := *g.breach
	g.breach = nil
	r.SinceMs = float64(time.Since(r.at).Microseconds()) / 1000
	return r
}

// write appends a record to the log.
func (g *game) write(text string, isError bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writeLocked(text, isError)
}

func (g *game) writeLocked(text string, isError bool) {
	_, _ = io.WriteString(g.log, text+"\n")
	g.lines = append(g.lines, written{at: time.Now(), urgent: isError})
}
