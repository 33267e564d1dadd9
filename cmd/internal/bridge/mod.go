package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/gabp"
)

// The delays between attempts to dial the mod. A game takes from seconds to minutes until it listens, and a refusal on
// the loopback interface is cheap.
const (
	dialFirst = 50 * time.Millisecond
	dialLast  = 250 * time.Millisecond
	// askTimeout bounds the proxy's own requests to a mod. Mods answer from the game's threads, which may be busy loading.
	askTimeout = 30 * time.Second
)

// modLimits are for a mod that answers from a busy game, with results of up to size bytes, and for all sessions of
// bridges together, which the server limits one by one.
func modLimits(size int) gabp.Limits {
	return gabp.Limits{
		HelloTimeout: askTimeout, RequestTimeout: time.Hour, FrameTimeout: askTimeout, ConcurrentRequests: 1024,
		MessageSize: size + messageRest, StringBytes: size + messageRest, JSONDepth: 1000, EventQueue: 16 << 10,
	}
}

// messageRest is room for the envelope of a message, and for the members that heed adds to a result.
const messageRest = 64 << 10

// mod is the connection to the mod, which comes and goes.
type mod struct {
	cfg *Config // complete

	seqs map[string]uint64 // latest number of each channel of the current connection; used by [Proxy.event] only

	absent absence // used by dial only

	expected context.Context // done when no mod is expected any more
	end      func()          // ends it

	ending atomic.Pointer[Ending] // nil: the game is not known to have ended

	calls calls
	heard atomic.Uint64 // its answers to bridges, and events
	mute  atomic.Bool   // it accepted the latest connection, and did not answer in time
	lost  atomic.Uint64 // events that came faster than they were ingested
	odd   atomic.Uint64 // answers that do not follow the protocol

	client atomic.Pointer[gabp.Client]         // the connection in use, nil while there is none
	tags   atomic.Pointer[map[string][]string] // of its tools
	came   atomic.Bool                         // there was one, which has answered

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, when client or settled changes
	settled bool          // there is one, or the game has none: no call waits
	listBy  time.Time     // until then a list of tools waits for one
}

func newMod(cfg *Config) *mod {
	expected, end := context.WithCancel(context.Background())
	none := cfg.Handed.Inner.Address == ""
	return &mod{cfg: cfg, expected: expected, end: end, changed: make(chan struct{}), settled: none}
}

// connect opens a connection to the mod.
func (m *mod) connect(ctx context.Context) (*gabp.Client, error) {
	to := m.cfg.Handed.Inner
	cfg := gabp.ClientConfig{Token: to.Token, Logger: m.cfg.Logger, Limits: modLimits(m.cfg.MaxMessage)}
	if m.cfg.DialMod == nil {
		return gabp.Dial(ctx, to.Address, cfg)
	}
	stream, err := m.cfg.DialMod(ctx)
	if err != nil {
		return nil, err
	}
	return gabp.NewClient(ctx, stream, cfg)
}

// await returns when the mod is connected, none is expected any more, d has passed or ctx is done.
func (m *mod) await(ctx context.Context, d time.Duration) {
	m.until(ctx, d, func() bool { return m.settled })
}

// change changes the state of the connection, and wakes those who wait for it.
func (m *mod) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	close(m.changed)
	m.changed = make(chan struct{})
}

// until returns when the connection is in a state, none is expected any more, d has passed or ctx is done.
func (m *mod) until(ctx context.Context, d time.Duration, reached func() bool) {
	late := time.After(d)
	for {
		m.mu.Lock()
		changed, there := m.changed, reached()
		m.mu.Unlock()
		if there {
			return
		}
		select {
		case <-changed:
		case <-m.expected.Done():
			return
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// run keeps the connection up until ctx is done.
func (m *mod) run(ctx context.Context, p *Proxy) {
	for {
		client, err := m.dial(ctx)
		if err != nil {
			return
		}
		if err := m.attach(ctx, client, p); err != nil {
			m.detach(client)
			m.mute.Store(errors.Is(err, context.DeadlineExceeded))
			m.cfg.Logger.Warn("the mod answers, but heed cannot use it", "error", err)
			pause(ctx, 4*dialLast) // it was reached, and is logged
			continue
		}
		select {
		case <-ctx.Done():
		case <-client.Done():
		}
		why := client.Err()
		m.detach(client)
		if ctx.Err() != nil {
			return
		}
		p.down(why)
	}
}

// dial connects, trying until ctx is done. It returns the error of ctx.
func (m *mod) dial(ctx context.Context) (*gabp.Client, error) {
	wait, said := dialFirst, ""
	for {
		client, err := m.connect(ctx)
		if err == nil {
			return client, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m.mute.Store(errors.Is(err, context.DeadlineExceeded))
		st := m.cfg.Session.Engine().Stats()
		if !m.came.Load() && m.absent.shown(err, st.Phase, st.Logs) { // a mod that answered before comes again
			m.giveUp()
		}
		// One line for each kind of refusal, not for each attempt.
		if text := err.Error(); text != said {
			level, what := slog.LevelDebug, "the mod does not answer yet"
			if isRefusal(err) { // it is permanent
				level, what = slog.LevelWarn, "the mod refused the connection of heed"
			}
			m.cfg.Logger.Log(ctx, level, what, "addr", m.cfg.Handed.Inner.Address, "error", err)
			said = text
		}
		pause(ctx, wait)
		wait = min(2*wait, dialLast)
	}
}

// attach makes a new connection the current one. It subscribes to all of the mod's channels, so that a bridge's
// subscription needs no round trip, and none is lost when the mod is started again.
func (m *mod) attach(ctx context.Context, client *gabp.Client, p *Proxy) error {
	asking, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	raw, err := client.CallRaw(asking, gabp.MethodToolsList, json.RawMessage(`{}`))
	if _, untaken := errors.AsType[*gabp.Verbatim](err); err != nil && !untaken && !isCode(err, gabp.CodeMethodNotFound) {
		return err
	}
	m.learnTags(raw) // before the first call can come
	m.change(func() { m.client.Store(client) })
	m.seqs = map[string]uint64{} // no event has come yet
	p.up(m.came.Load())
	if channels := client.Welcome().Capabilities.Events; len(channels) > 0 {
		if _, err := client.Events(asking, channels, p.event); err != nil {
			return err
		}
	}
	m.mute.Store(false)
	m.heard.Add(1)
	m.came.Store(true)
	m.change(func() { m.settled = true })
	m.cfg.Logger.Info("the mod answers", "app", client.Welcome().App.Name, "version", client.Welcome().App.Version)
	return nil
}

// drainTimeout bounds how long a call waits in all for what heed has to read: before it is passed on, and before its
// answer is.
const drainTimeout = 500 * time.Millisecond

// drain waits until the events have been handled that the mod sent before an answer that has come over client, or their
// time is over.
func drain(ctx context.Context, client *gabp.Client, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return client.CaughtUp(ctx)
}

// detach forgets the connection, closes it, and returns when its events have been handled: before the events of another
// connection.
func (m *mod) detach(client *gabp.Client) {
	m.client.Store(nil)
	m.change(func() { m.settled = false })
	_ = client.Close()
	<-client.Done()
}

// isAnswer reports whether a call with this error, which may be nil, was answered.
func isAnswer(err error) bool { return err == nil || isRefusal(err) }

// calls are the calls that are before the mod, by number.
type calls struct {
	mu       sync.Mutex
	began    uint64   // the latest
	answered uint64   // the latest that was answered
	open     []uint64 // ascending
}

// begin begins a call. The caller must end it.
func (c *calls) begin() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.began++
	c.open = append(c.open, c.began)
	return c.began
}

func (c *calls) end(n uint64, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = slices.DeleteFunc(c.open, func(open uint64) bool { return open == n })
	if answered {
		c.answered = max(c.answered, n)
	}
}

// any reports whether there are some.
func (c *calls) any() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0
}

// waiting returns the latest call, 0 if there is none. A call that is older than an answered call does not count:
// the game answers.
func (c *calls) waiting() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.open); n > 0 && c.open[n-1] > c.answered {
		return c.open[n-1]
	}
	return 0
}

// maxTools bounds the tools whose tags are kept.
const maxTools = 10_000

// learnTags keeps the tags of a list of tools, for the gate. A tool without known tags is held back.
func (m *mod) learnTags(list json.RawMessage) {
	var tools struct {
		Tools []struct {
			Name string   `json:"name"`
			Tags []string `json:"tags"`
		} `json:"tools"`
	}
	tags := map[string][]string{} // exemptions of an earlier list do not hold any more
	if json.Unmarshal(list, &tools) == nil {
		for _, t := range tools.Tools[:min(len(tools.Tools), maxTools)] {
			tags[t.Name] = t.Tags
		}
	}
	m.tags.Store(&tags)
}

// tagsOf returns the mod's tags of a tool, once the mod was connected.
func (m *mod) tagsOf(tool string) []string { return (*m.tags.Load())[tool] }

// missed returns how many events of a channel are missing between the previous one and e, by the mod's numbers: left
// out by the mod, or dropped because they came faster than they were ingested. Numbers that do not grow mean none.
func (m *mod) missed(e *gabp.Event) uint64 {
	before, known := m.seqs[e.Channel]
	m.seqs[e.Channel] = e.Seq
	if !known || e.Seq <= before {
		return 0
	}
	return e.Seq - before - 1
}

// verbatim returns err as an answer of the mod that does not follow the protocol, nil if it is none, and counts it. The
// bridge gets it unchanged, as it would without heed.
func (m *mod) verbatim(err error) *gabp.Verbatim {
	v, ok := errors.AsType[*gabp.Verbatim](err)
	if ok {
		m.odd.Add(1)
	}
	return v
}

// welcome returns the welcome of the connected mod, and false if none is.
func (m *mod) welcome() (gabp.Welcome, bool) {
	if c := m.client.Load(); c != nil {
		return c.Welcome(), true
	}
	return gabp.Welcome{}, false
}

// isRefusal reports whether a mod has answered with an error, or with an answer that does not follow the protocol.
func isRefusal(err error) bool {
	_, ok := errors.AsType[*gabp.Error](err)
	return ok
}

func isCode(err error, code int) bool {
	e, ok := errors.AsType[*gabp.Error](err)
	return ok && e.Code == code
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
