package agent

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/session"
	steps "github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// lead is how long a game runs before its agent comes.
const lead = 2 * time.Minute

// play lets an agent act on a game in virtual time, under a policy. All but the log and the connections is as it runs
// beside a game: session, proxy, engine, gate.
func play(
	t *testing.T, name planName, policy string, think pace, seed uint64, calls int, trace func(string, ...any),
) (out outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		start := time.Now()
		if trace == nil {
			trace = func(string, ...any) {}
		} else {
			inner := trace
			trace = func(format string, a ...any) {
				inner("%9.3f  "+format, append([]any{time.Since(start).Seconds()}, a...)...)
			}
		}
		log := newMemoryLog()
		log.absent = name == planNoLog
		g := newGame(ctx, newPlan(name, seed, calls), seed, lead, log)
		g.said = trace
		mod, token := newPipes(), gabp.NewToken()
		toHeed := newPipes()
		run := func(f func() error) { wg.Go(func() { assert.NoError(t, f()) }) }
		run(func() error { return g.serve(mod, token) })
		var s *session.Session
		var px *bridge.Proxy
		var err error
		if slices.Contains(ofHeed, policy) {
			s = newSession(t, name, log)
			run(func() error { return s.Run(ctx) })
			var briefer bridge.Briefer
			if policy == policyBrief {
				b, err := briefing.New(heedsource.Sources(heedsource.Config{
					Engine: s.Engine(), Rules: s.Rules, Next: steps.SessionNext, Now: time.Now,
				}))
				require.NoError(t, err)
				defer func() { require.NoError(t, b.Close()) }()
				briefer = b.Assemble
			}
			cfg := bridge.Config{
				Session: s, Handed: bridge.Handed{Outer: gabp.Bridge{Address: "bridge", Token: token, GameID: "colony"}},
				Brief: briefer, ModWait: bridge.DefaultModWait, Logger: slog.New(slog.DiscardHandler),
			}
			cfg.Allow = []string{"colony/read"} // the owner's list; a host of hooks or of ACP does not know the tool's tag
			if !slices.Contains(ways, policy) {
				cfg.Handed.Inner = gabp.Bridge{Address: "mod", Token: token, GameID: "colony"}
				cfg.DialMod = func(context.Context) (io.ReadWriteCloser, error) { return mod.dial() }
			}
			px = testkit.Must(bridge.New(cfg))
			run(func() error { return px.Serve(ctx, toHeed) })
		}
		time.Sleep(lead)
		connect := func(to *pipes, name string) *gabp.Client {
			conn := testkit.Must(to.dial())
			return testkit.Must(gabp.NewClient(ctx, conn, gabp.ClientConfig{Token: token, Name: name}))
		}
		left := func(client *gabp.Client) {
			_ = client.Close()
			<-client.Done()
		}
		a := &agent{random: rand.New(rand.NewPCG(seed, 4)), think: think, trace: trace}
		var events *gabp.Client // another connection to heed, that is no agent's
		if policy == policyHook || slices.Contains(steered, policy) {
			events = connect(toHeed, observer)
			defer left(events)
		}
		if policy == policyMCP {
			a.by = newMCP(ctx, s, px, g, run)
		} else {
			direct := toHeed
			if !slices.Contains(ofHeed, policy) || slices.Contains(ways, policy) {
				direct = mod
			}
			a.client = connect(direct, "bench-agent")
			defer left(a.client)
		}
		switch policy {
		case policyHook:
			a.by = newHook(a.client, events)
		case policyACP:
			a.by = &viaACP{reports: reports{events}, game: a.client}
		case policyNone, policyMCP:
		default:
			a.asks = true
		}
		if slices.Contains(steered, policy) {
			a.talk, err = converse(ctx, events, policy, synctest.Wait)
			require.NoError(t, err)
		}
		require.NoError(t, a.run(ctx, calls))
		time.Sleep(10 * time.Second) // verdicts are final
		g.mu.Lock()
		defer g.mu.Unlock()
		out = outcome{Plan: name, Policy: policy, Think: think, tally: a.tally, recover: a.recover}
		out.add(g.tally)
		if s != nil {
			out.tally[told], out.tally[wrong] = g.verdicts(t, s, a.clean)
			urgent := 0
			for _, l := range g.lines {
				if l.urgent {
					urgent++
				}
			}
			if name != planNoLog { // what is planted as urgent is so by the rules; a few more are the session's own
				require.InDelta(t, urgent, s.Engine().Stats().Folded, 3)
			}
		}
	})
	return out
}

var defaultRules = sync.OnceValues(func() (*rules.Set, error) { return rules.Compile(rules.Defaults()...) })

func newSession(t *testing.T, name planName, log *memoryLog) *session.Session {
	t.Helper()
	set := testkit.Must(defaultRules())
	dedup := bridge.NewDedup()
	cfg := session.Config{
		Log: bridge.Feed(log, dedup), Engine: heed.Config{Rules: set, Epoch: "bench"},
		Timeline: 100_000,
	}
	return testkit.Must(session.New(cfg))
}

// readerDelay bounds how much later than it was written a record is seen by a reader that is not asked to hurry.
const readerDelay = 50 * time.Millisecond

// verdicts returns how many calls were told to be clean, with their result or in the end, and how many of them were not:
// an urgent record came before the result, or before the verdict was final, or the call was made on a broken state.
func (g *game) verdicts(t *testing.T, s *session.Session, clean []int) (told, wrong int) {
	t.Helper()
	urgent := func(e *executed, until time.Time) bool {
		for k := e.from; k < len(g.lines); k++ {
			if l := g.lines[k]; l.urgent && (k < e.to || l.at.Before(until)) {
				return true
			}
		}
		return false
	}
	onResult := map[int]bool{}
	for _, i := range clean {
		onResult[i] = true
	}
	var ids []string
	events, lost, _ := s.Timeline(0)
	require.Zero(t, lost)
	for _, e := range events {
		if e.Kind == session.CallBegan && e.Tool == "colony/build" {
			ids = append(ids, e.Operation)
		}
	}
	if len(ids) == 0 { // it was told of no calls, and says nothing of any
		return 0, -1
	}
	require.Len(t, ids, len(g.calls))
	slices.SortFunc(g.calls, func(a, b executed) int { return a.began.Compare(b.began) })
	for k := range g.calls {
		e := &g.calls[k]
		v := s.Verdict(ids[k])
		require.True(t, v.Final)
		inEnd := v.Outcome == coalesce.Clean
		if inEnd || onResult[e.step] {
			told++
		}
		if inEnd && urgent(e, e.done.Add(linger-readerDelay)) || onResult[e.step] && (e.stale || urgent(e, e.began)) {
			wrong++
		}
	}
	return told, wrong
}

// linger is the engine's: how long after its end the window of a call ends.
const linger = 2 * time.Second

// pipes is a listener whose connections are in memory, so that a goroutine that waits for one waits durably.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) dial() (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr {
	a, b := net.Pipe()
	_, _ = a.Close(), b.Close()
	return a.LocalAddr()
}

// memoryLog is a log in memory that is read as a file is by a follow.Follower, with its delays: a change is noticed a
// few milliseconds after the write, and the last record is over when the file was quiet for a while.
type memoryLog struct {
	absent bool // the reader looks elsewhere
	wakes  chan struct{}
	random *rand.Rand

	mu      sync.Mutex
	h       func(*follow.Record)
	stream  *capture.Stream
	unread  []byte
	written time.Time
	stamp   time.Time // of the latest look that found something
	offset  int64     // bytes and records that were read
	read    uint64
}

// idle is after which time of quiet a follow.Follower delivers the last record.
const idle = 15 * time.Millisecond

func newMemoryLog() *memoryLog {
	stream, err := capture.NewStream(capture.Options{})
	if err != nil {
		panic(err)
	}
	return &memoryLog{wakes: make(chan struct{}, 1), stream: stream, random: rand.New(rand.NewPCG(1, 1))}
}

func (m *memoryLog) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unread = append(m.unread, p...)
	m.written = time.Now()
	select {
	case m.wakes <- struct{}{}:
	default:
	}
	return len(p), nil
}

// look reads what was written, and delivers what is complete: after a time of quiet, all. It reports whether that is all.
func (m *memoryLog) look(quiet time.Duration) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.h == nil || m.absent {
		return true
	}
	if len(m.unread) > 0 {
		m.stamp = time.Now()
		m.offset += int64(len(m.unread))
		m.stream.Feed(m.unread)
		m.drain()
		m.unread = nil
	}
	if time.Since(m.written) >= quiet {
		m.stream.Flush(true)
		m.drain()
	}
	open, _ := m.stream.Pending()
	return open == 0
}

func (m *memoryLog) drain() {
	var rec follow.Record
	for m.stream.Next(&rec.Record) {
		rec.Arrived = m.stamp.UTC().Round(0)
		if rec.Time.IsZero() {
			rec.Time = rec.Arrived
		}
		m.read++
		m.h(&rec)
	}
}

// Run implements [session.Feed].
func (m *memoryLog) Run(ctx context.Context, h func(*follow.Record)) error {
	m.mu.Lock()
	m.h = h
	m.mu.Unlock()
	timer := time.NewTimer(0)
	defer timer.Stop()
	var woken time.Time
	var delay time.Duration
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-m.wakes:
			// Writes at one time have one delay: they wake once or more, as goroutines happen to run.
			if now := time.Now(); !now.Equal(woken) {
				woken, delay = now, between(m.random, time.Millisecond, 5*time.Millisecond)
			}
			timer.Reset(delay)
		case <-timer.C:
			if !m.look(idle) {
				timer.Reset(idle)
			}
		}
	}
}

// Sync implements [session.Feed].
func (m *memoryLog) Sync(context.Context) error {
	m.look(0)
	return nil
}

// Status implements [session.Feed].
func (m *memoryLog) Status() follow.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return follow.Status{Present: !m.absent, Offset: m.offset, Size: m.offset, Records: m.read, LastGrowth: m.written}
}
