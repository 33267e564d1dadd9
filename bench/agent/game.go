package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// game is a game with a mod that speaks GABP. It knows what the agent does not: when
// its state was broken, and whether a call acted on state that was not read again.
type game struct {
	steps []step
	log   *os.File
	mod   *policy // of the mod itself, or nil

	mu       sync.Mutex
	stale    kind // the fault that broke the state, "" while what was read last holds
	brokenAt time.Time
	score    score
	wg       sync.WaitGroup
}

// score is what happened in the game.
type score struct {
	Executed  int          `json:"executed"`
	Faults    int          `json:"faults"`     // that showed
	Incidents int          `json:"incidents"`  // faults that broke a state that still held
	Stale     map[kind]int `json:"staleCalls"` // calls on a broken state, by the fault that broke it
}

// reading is the result of colony/read.
type reading struct {
	Broken  kind    `json:"broken"` // the fault since the last reading, "" for none
	SinceMs float64 `json:"sinceMs"`
}

// runGame is the process of the game. It ends when its standard input does.
func runGame(seed uint64, calls int, logPath, policyName string) error {
	b, ok, err := gabp.BridgeFromEnv(os.Getenv)
	if err != nil || !ok {
		return fmt.Errorf("the game was not told where to listen: %w", err)
	}
	g := &game{steps: plan(seed, calls), score: score{Stale: map[kind]int{}}}
	if g.log, err = os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	defer func() { _ = g.log.Close() }()
	g.write("Mono path[0] = 'colony'\nRimWorld 1.6.4518 rev1\n"+
		"Loading game from file Riverbend with mods:\n  - Lamps", false)

	mux := new(gabp.Mux)
	mux.Handle(gabp.MethodToolsList, func(context.Context, *gabp.Request) (any, error) {
		return json.RawMessage(tools), nil
	})
	mux.Handle(gabp.MethodToolsCall, g.call)
	if policyName == policyErrors {
		g.mod = &policy{}
		g.mod.register(mux)
	}
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: b.Token, AgentID: "colony", App: gabp.App{Name: "Colony", Version: "1"},
		Mux: mux,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	l, err := gabp.Listen(ctx, b.Address)
	if err != nil {
		return err
	}
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		g.wg.Wait()
		stop()
	}()
	return server.Serve(ctx, l)
}

const tools = `{"tools":[
{"name":"colony/build","title":"Build","description":"Builds a lamp.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}},
{"name":"colony/read","title":"Read","description":"Reads the state again.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"tags":["observation"]},
{"name":"colony/score","title":"Score","description":"What happened, as the game knows it.","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"tags":["telemetry"]}]}`

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
		if err := json.Unmarshal(call.Arguments, &a); err != nil || a.Step < 0 || a.Step >= len(g.steps) {
			return nil, gabp.Errorf(gabp.CodeInvalidParams, "step: 0 to %d", len(g.steps)-1)
		}
		g.build(&g.steps[a.Step], time.Unix(0, a.Made))
		return map[string]any{"success": true, "built": a.Step}, nil
	case "colony/read":
		return g.read(), nil
	case "colony/score":
		g.wg.Wait() // for faults that are still to come
		g.mu.Lock()
		defer g.mu.Unlock()
		raw, err := json.Marshal(g.score)
		return json.RawMessage(raw), err
	}
	return nil, gabp.Errorf(gabp.CodeToolNotFound, "no tool %q", call.Name)
}

// build executes a call that was made at some time. A fault that showed only after that is late
// for it, whatever was planned: on a busy machine it may take its time.
func (g *game) build(s *step, made time.Time) {
	g.mu.Lock()
	g.score.Executed++
	switch {
	case g.stale == "":
	case made.After(g.brokenAt):
		g.score.Stale[g.stale]++
	default:
		g.score.Stale[late]++
	}
	g.mu.Unlock()
	if s.noise != "" {
		g.write(s.noise, s.noiseError)
	}
	switch s.fault {
	case "":
	case during:
		g.fail(s)
	default:
		g.wg.Add(1)
		time.AfterFunc(s.delay, func() {
			defer g.wg.Done()
			g.fail(s)
		})
	}
}

// fail logs a fault. The state is broken from its first line on.
func (g *game) fail(s *step) {
	g.show(s)
	for _, line := range s.lines[1:] {
		time.Sleep(s.pace)
		g.write(line, true)
	}
}

// show logs the first line of a fault. Who saw the line and reads the state waits until it is
// broken.
func (g *game) show(s *step) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.write(s.lines[0], true)
	g.score.Faults++
	if g.stale == "" {
		g.stale, g.brokenAt = s.fault, time.Now()
		g.score.Incidents++
	}
}

func (g *game) read() reading {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stale == "" {
		return reading{}
	}
	r := reading{Broken: g.stale, SinceMs: float64(time.Since(g.brokenAt).Microseconds()) / 1000}
	g.stale = ""
	return r
}

// write appends a record to the log, and passes it to the mod with its true level.
func (g *game) write(text string, isError bool) {
	_, _ = g.log.WriteString(text + "\n")
	if g.mod != nil && isError {
		g.mod.logged(text)
	}
}

// policy is what mods do that have one of their own: each error blocks, an open item
// counts, and what comes after an acknowledgement is a new item.
type policy struct {
	mu    sync.Mutex
	n     uint64
	seq   uint64
	total uint64
	first string
	open  bool
}

func (p *policy) logged(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	if !p.open {
		p.open, p.total, p.first = true, 0, text
		p.n++
	}
	p.total++
}

func (p *policy) item() *heed.Attention {
	if !p.open {
		return nil
	}
	text := p.first[:min(len(p.first), 220)]
	return &heed.Attention{
		ID: fmt.Sprintf("attn_%d", p.n), State: "open", Severity: event.SeverityError, Blocking: true, StateInvalidated: true,
		Summary: "An error was logged: " + text, OpenedAtSequence: p.seq, LatestSequence: p.seq, TotalUrgentEntries: p.total,
		Sample: []heed.Sample{{Level: event.SeverityError, Message: text, RepeatCount: p.total, LatestSequence: p.seq}},
	}
}

func (p *policy) register(mux *gabp.Mux) {
	mux.Handle(gabp.MethodAttentionCurrent, func(context.Context, *gabp.Request) (any, error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		return gabp.CurrentResult{Attention: p.item()}, nil
	})
	mux.Handle(gabp.MethodAttentionAck, func(_ context.Context, r *gabp.Request) (any, error) {
		var a gabp.AckParams
		if err := json.Unmarshal(r.Params, &a); err != nil {
			return nil, gabp.Errorf(gabp.CodeInvalidParams, "%v", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		res := gabp.AckResult{AttentionID: a.AttentionID}
		if it := p.item(); it != nil && it.ID == a.AttentionID {
			p.open, res.Acknowledged = false, true
		}
		res.CurrentAttention = p.item()
		return res, nil
	})
}
