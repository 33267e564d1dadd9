package bridge

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/framing"
)

// DefaultModWait is how long a bridge's welcome waits for the mod: longer than any bridge waits for a welcome.
const DefaultModWait = time.Hour

// DefaultMaxMessage is the size of the largest result of the mod that is passed on, in bytes.
const DefaultMaxMessage = framing.MaxMessage

// Config sets up a [Proxy]. Session and Logger are required.
type Config struct {
	// Session has the engine, and decides the effect of items on calls. New adds the mod's events to its evidence.
	Session *session.Session

	// Handed has the address and token for bridges (Outer) and for the mod (Inner), whose address is empty without a
	// mod.
	Handed Handed

	// DialMod opens a stream to the mod, in place of a connection to the address in Handed. All goes over one such
	// stream. Optional.
	DialMod func(context.Context) (io.ReadWriteCloser, error)

	// Dedup is the Dedup of the Session's log, see [Feed]. nil: there is no log.
	Dedup *Dedup

	// Brief assembles briefs, for [ToolBrief] and for refusals. Optional.
	Brief Briefer

	// Allow and FailOpen are the gate's.
	Allow    []string
	FailOpen bool

	// ModWait bounds how long a welcome waits while the mod is not connected. Bridges list the tools once per
	// connection, and do not come again after one; without the mod the list would be heed's alone. No welcome waits
	// after [Proxy.Ended], and none if no mod listens although the game has started, by the phase of its log. 0 does
	// not wait.
	ModWait time.Duration

	// MaxMessage bounds a result of the mod, in bytes. A larger one is an error of its call. Default 64 MiB.
	MaxMessage int

	// AnswerWithin bounds the wait of an answer for the mod's events, and a look of the gate. 0 is as long as bridges in
	// the field wait; see [session.Config], too.
	AnswerWithin time.Duration

	// Version is the program's.
	Version string

	Now    func() time.Time // default time.Now
	Logger *slog.Logger
}

// within returns AnswerWithin, or the usual bound.
func (c *Config) within(usual time.Duration) time.Duration { return cmp.Or(c.AnswerWithin, usual) }

// Proxy is a server for bridges and a client of the mod. Make one with [New].
type Proxy struct {
	cfg     Config // complete
	session *session.Session
	log     *slog.Logger

	mod         *mod
	intake      *intake
	unacked     chan string // ids of the mod's items, to be acknowledged to it
	server      *gabp.Server
	attends     bool // attention is heed's, and not left to the mod
	way         way.Way
	diagnostics *Diagnostics
	source      gate.Recorder
	gate        *gate.Gate
	watch       *watch
	reported    reported

	arrival sync.Once    // of the first agent
	waiting atomic.Int64 // agents that wait for the mod
	agents  atomic.Int64 // that are connected

	calls atomic.Uint64
}

// gateTimeout bounds a look of the gate. Bridges wait at least half a minute for a call, which leaves time for two.
const gateTimeout = 4 * time.Second

const (
	// serverTimeout bounds a request of a bridge.
	serverTimeout = 30 * time.Minute
	// bridgeRequests bounds the requests of a bridge at a time. Mods have no such bound.
	bridgeRequests = 256
)

// New returns a proxy for cfg.
func New(cfg Config) (*Proxy, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Dedup, cfg.MaxMessage = cmp.Or(cfg.Dedup, NewDedup()), cmp.Or(cfg.MaxMessage, DefaultMaxMessage)
	p := &Proxy{
		cfg: cfg, session: cfg.Session, log: cfg.Logger, mod: newMod(&cfg),
		intake: newIntake(cfg.Dedup, cfg.Session.Observe, cfg.Now), unacked: make(chan string, 1),
		attends: cfg.Session.Attention() != session.LeftToMod, way: way.Tools(ToolBrief, ToolAck, ToolEntries),
	}
	if !p.attends {
		p.way.Ack = func(item *heed.Item) string { return fmt.Sprintf("call attention/ack with id %q", item.ID) }
	}
	cfg.Session.DrainFirst(func(ctx context.Context) {
		if client := p.mod.client.Load(); client != nil {
			_ = drain(ctx, client, cfg.within(drainTimeout)) // a mod that sends more than can be read holds nothing back
		}
	})
	mux := &gabp.Mux{Fallback: p.passMethod}
	name, version := cmp.Or(cfg.Handed.Outer.GameID, "heed"), cmp.Or(cfg.Version, "0")
	var err error
	p.server, err = gabp.NewServer(gabp.ServerConfig{
		Token: cfg.Handed.Outer.Token, AgentID: name, App: gabp.App{Name: name, Version: version},
		ServerInfo:   &gabp.Info{Name: "heed", Version: version},
		Capabilities: p.capabilities, Mux: mux, Welcome: p.welcome, Closed: p.left,
		Lax: true, Logger: cfg.Logger,
		// Mods may be slow, and bridges have time-outs of their own.
		Limits: gabp.Limits{
			RequestTimeout: serverTimeout, ConcurrentRequests: bridgeRequests,
			MessageSize: cfg.MaxMessage + 2*messageRest, StringBytes: cfg.MaxMessage + 2*messageRest,
		},
	})
	if err != nil {
		return nil, err
	}
	if p.attends {
		attention := &gabp.Attention{Source: cfg.Session.Peers(), Publish: p.server.Publish}
		attention.Register(mux)
		cfg.Session.OnUpdates(attention.Pump)
	}
	p.diagnostics = NewDiagnostics(cfg.Session, cfg.Brief, p.limits)
	failOpen := cfg.FailOpen || cfg.Session.Attention() == session.OnlyShown
	p.source = cfg.Session.Source(failOpen)
	p.gate, err = gate.New(gate.Config{
		Source: p.source, Allow: cfg.Allow, FailOpen: failOpen, Timeout: cfg.within(gateTimeout),
	})
	if err != nil {
		return nil, err
	}
	p.watch = &watch{Proxy: p, now: time.Now}
	mux.Handle(gabp.MethodToolsList, p.listTools)
	mux.Handle(gabp.MethodToolsCall, p.callTool)
	mux.Handle(gabp.MethodResourcesList, p.listResources)
	mux.Handle(gabp.MethodResourcesRead, p.readResource)
	return p, nil
}

// Serve serves bridges that come to l, and keeps the connection to the mod, until
// ctx is done or the listener fails. It may be called once.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if p.cfg.Handed.Inner.Address != "" {
		wg.Go(func() { p.mod.run(ctx, p) })
		wg.Go(func() { p.acknowledgeAll(ctx) })
		if p.attends {
			wg.Go(func() { p.watch.run(ctx) })
		}
	}
	return p.server.Serve(ctx, l)
}

// Connect returns a client of p in process, as if it had come over the listener; the token is filled in.
func (p *Proxy) Connect(ctx context.Context, cfg gabp.ClientConfig) (*gabp.Client, error) {
	near, far := net.Pipe()
	go p.server.ServeConn(context.WithoutCancel(ctx), far) //nolint:errcheck // it ends with the client
	cfg.Token = p.cfg.Handed.Outer.Token
	return gabp.NewClient(ctx, near, cfg)
}

// ServeConn serves one bridge on a stream while Serve runs, until the stream ends or ctx is done, and closes it. It
// returns nil if the bridge left.
func (p *Proxy) ServeConn(ctx context.Context, stream io.ReadWriteCloser) error {
	return p.server.ServeConn(ctx, stream)
}

// Gate returns the gate that holds calls back, for calls that do not come over the protocol. All calls pass it from now
// on: a report of one by the agent's host is ignored.
func (p *Proxy) Gate() *gate.Gate {
	p.reported.pass.Store(true)
	return p.gate
}

// Diagnostics returns heed's own tools and resources, with the attention of this proxy.
func (p *Proxy) Diagnostics() *Diagnostics { return p.diagnostics }

// Connected reports whether the mod is there.
func (p *Proxy) Connected() bool { return p.mod.client.Load() != nil }

// Server returns the counts of the bridges' side, for the metrics.
func (p *Proxy) Server() gabp.ServerStats { return p.server.Stats() }

// Lost returns how many events of the mod were lost because they came faster than they were ingested.
func (p *Proxy) Lost() uint64 { return p.mod.lost.Load() }

// Untaken returns how many answers of the mod did not follow the protocol and were passed on as they came.
func (p *Proxy) Untaken() uint64 { return p.mod.odd.Load() }

// limits returns the bounds that were hit between the mod and the bridges.
func (p *Proxy) limits() []session.Limit {
	return slices.DeleteFunc([]session.Limit{
		{Name: "mod.events", Count: p.Lost(), Means: "events of the mod came faster than heed could read them and " +
			"were dropped; only the log may have what they reported"},
		{Name: "mod.answers", Count: p.Untaken(), Means: "an answer of the mod did not follow the protocol; heed " +
			"passed it on unchanged and did not understand it"},
		{
			Name: "bridge.events", Count: p.server.Stats().EventsDropped,
			Means: "events of the mod were dropped because a bridge read too slowly; it sees a gap in the numbers",
		},
	}, func(l session.Limit) bool { return l.Count == 0 })
}
