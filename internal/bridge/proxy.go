package bridge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gate"
	"github.com/heedlog/heed/internal/session"
)

// DefaultModWait is how long a bridge's welcome waits for the mod: less than the half
// minute for which bridges wait for a welcome.
const DefaultModWait = 20 * time.Second

// Config sets up a [Proxy]. Session and Logger are required.
type Config struct {
	// Session has the engine that decides.
	Session *session.Session

	// Handed is how bridges connect (Outer), and where the mod listens (Inner): an
	// empty address where there is none.
	Handed Handed

	// Dedup is that of the Session's log, see [Feed]. nil: there is no log.
	Dedup *Dedup

	// NoAttention leaves attention to the mod, and holds no call back. Operations
	// and diagnostics remain.
	NoAttention bool

	// ObserveOnly shows attention, and holds no call back.
	ObserveOnly bool

	// Allow and FailOpen are the gate's.
	Allow    []string
	FailOpen bool

	// Tools are heed's own.
	Tools Tools

	// ModWait is how long a welcome waits for the mod at most. A bridge that was
	// welcomed without it is disconnected when the mod answers, so that it comes again
	// and asks for the mod's tools: bridges do that once for a connection. 0 waits for
	// nothing.
	ModWait time.Duration

	// AnswerWithin bounds each wait for what an answer must know: what the mod told,
	// and what the log holds. Past it nobody knows what is open, which holds calls back.
	// 0 is as long as bridges in the field wait.
	AnswerWithin time.Duration

	// Version is that of the program.
	Version string

	// Observer names clients that are no agents, by what they call themselves: one
	// that looks on is not the agent who arrives. Optional.
	Observer string

	Now    func() time.Time // default time.Now
	Logger *slog.Logger
}

// Proxy is a server for bridges and a client of the mod. Make one with [New].
type Proxy struct {
	cfg    Config
	log    *slog.Logger
	server *gabp.Server
	plane  *gabp.Plane // nil without attention
	source *source
	gate   *gate.Gate
	mod    *mod
	intake *intake

	calls    atomic.Uint64
	inFlight atomic.Int64 // calls that the mod executes
	lost     atomic.Uint64
	odd      atomic.Uint64 // answers of the mod that were passed on unread
	gone     chan struct{} // closed when no mod will come any more
	goneOnce sync.Once
	arrival  sync.Once   // of the first agent
	taken    chan string // attention ids to acknowledge to the mod

	earlyMu sync.Mutex
	early   map[*gabp.ServerSession]struct{} // welcomed without the mod
}

// New returns a proxy for cfg.
func New(cfg Config) (*Proxy, error) {
	if cfg.Session == nil || cfg.Logger == nil {
		return nil, errors.New("bridge: Config.Session and Config.Logger are required")
	}
	if cfg.Tools == nil {
		cfg.Tools = none{}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Dedup == nil {
		cfg.Dedup = NewDedup()
	}
	p := &Proxy{
		cfg: cfg, log: cfg.Logger, mod: newMod(cfg.Handed.Inner, cfg.Logger),
		gone: make(chan struct{}), taken: make(chan string, 1),
		early: map[*gabp.ServerSession]struct{}{},
	}
	p.mod.onEvent, p.mod.onUp, p.mod.onDown = p.onEvent, p.onUp, p.onDown
	s := cfg.Session
	p.intake = newIntake(cfg.Dedup,
		func(l event.Log) { s.Log(l) }, func(o event.Operation) { s.Operation(o) }, cfg.Now)
	if err := p.serving(); err != nil {
		return nil, err
	}
	p.source = &source{Recorder: s.Source(), proxy: p, begun: map[string]string{}}
	var err error
	p.gate, err = gate.New(gate.Config{Source: p.source, Allow: cfg.Allow, FailOpen: cfg.FailOpen, Timeout: p.within(gateTimeout)})
	return p, err
}

// within returns [Config.AnswerWithin], or what it is where it is not set.
func (p *Proxy) within(usual time.Duration) time.Duration { return cmp.Or(p.cfg.AnswerWithin, usual) }

// gateTimeout bounds a look of the gate. Bridges wait for a call for half a minute
// at least, so that there is time to look twice.
const gateTimeout = 4 * time.Second

// serving makes the server and what it serves.
func (p *Proxy) serving() (err error) {
	mux := gabp.NewMux()
	mux.HandleFunc(gabp.MethodToolsList, p.listTools)
	mux.HandleFunc(gabp.MethodToolsCall, p.callTool)
	mux.HandleFunc(gabp.MethodResourcesList, p.listResources)
	mux.HandleFunc(gabp.MethodResourcesRead, p.readResource)
	mux.Fallback(gabp.HandlerFunc(p.forward))
	if !p.cfg.NoAttention {
		p.plane, err = gabp.NewPlane(gabp.PlaneConfig{
			Source: p.cfg.Session, ObserveOnly: p.cfg.ObserveOnly, Before: p.sync, Budget: p.cfg.AnswerWithin,
			Publish: func(channel, key string, payload any, sent func(*gabp.ServerSession)) error {
				return p.server.PublishFunc(channel, key, payload, sent)
			},
		})
		if err != nil {
			return err
		}
		p.plane.Register(mux)
		p.cfg.Session.OnUpdates(p.plane.Pump)
	}
	version := cmp.Or(p.cfg.Version, "0")
	p.server, err = gabp.NewServer(gabp.ServerConfig{
		Token: p.cfg.Handed.Outer.Token, AgentID: cmp.Or(p.cfg.Handed.Outer.GameID, "heed"),
		App:          gabp.App{Name: cmp.Or(p.cfg.Handed.Outer.GameID, "heed"), Version: version},
		ServerInfo:   &gabp.Info{Name: "heed", Version: version},
		Capabilities: p.capabilities, Handler: mux, Welcome: p.welcome, Closed: p.ended, LaxNames: true, Logger: p.log,
		// Mods take their time; whoever waits less gives up by itself.
		Limits: gabp.Limits{RequestTimeout: serverTimeout, MessageSize: modLimits.MessageSize, StringBytes: modLimits.StringBytes},
	})
	return err
}

// serverTimeout bounds a request of a bridge.
const serverTimeout = 30 * time.Minute

// Serve serves bridges that come to l, and keeps the connection to the mod, until
// ctx is done or the listener fails. It may be called once.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if p.mod.addr != "" {
		wg.Go(func() { p.mod.run(ctx) })
		wg.Go(func() { p.takeOver(ctx) })
	}
	return p.server.Serve(ctx, l)
}

// NoMod says that no mod will come any more, such as when the game has ended: no
// welcome waits for it.
func (p *Proxy) NoMod() { p.goneOnce.Do(func() { close(p.gone) }) }

// Current answers attention/current, as bridges are answered.
func (p *Proxy) Current(ctx context.Context, viewer string) gabp.CurrentResult {
	if p.plane == nil {
		return gabp.CurrentResult{}
	}
	return p.plane.Current(ctx, viewer)
}

// Server returns the counts of the bridges' side.
func (p *Proxy) Server() gabp.ServerStats { return p.server.Stats() }

// Connected reports whether the mod is there.
func (p *Proxy) Connected() bool { return p.mod.current() != nil }

// Lost returns how many events of the mod were lost since they were not taken in
// in time.
func (p *Proxy) Lost() uint64 { return p.lost.Load() }

// Untaken returns how many answers of the mod were not as the protocol has them, and
// were passed on as they came.
func (p *Proxy) Untaken() uint64 { return p.odd.Load() }

// Limits returns the bounds that were hit between the mod and the bridges.
func (p *Proxy) Limits() []session.Limit {
	var hit []session.Limit
	for _, l := range []session.Limit{
		{Name: "mod.events", Count: p.lost.Load(), Means: "an event of the mod came faster than it could be taken in: what it told is known from the log at most"},
		{Name: "mod.answers", Count: p.odd.Load(), Means: "an answer of the mod was not as the protocol has it: it was passed on as it came, and heed does not know what it says"},
		{Name: "bridge.events", Count: p.server.Stats().GaveWay, Means: "an event of the mod was not passed on to a bridge that did not keep up, which sees a hole in the numbers"},
	} {
		if l.Count > 0 {
			hit = append(hit, l)
		}
	}
	return hit
}
