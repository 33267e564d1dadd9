package bridge

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/rules"
)

// The patience of the bridge in the field.
const (
	patience      = time.Minute            // for a game that it has started
	firstPatience = 20 * time.Second       // of it, until the agent is answered
	askPatience   = 15 * time.Second       // when the agent asks it to connect
	callPatience  = 30 * time.Second       // for an answer
	firstRetry    = 100 * time.Millisecond // between dials that are refused, doubled each time
	lastRetry     = 5 * time.Second        // at most
)

// fieldBridge replaces the bridge between an agent and a game. An attempt to connect dials until it is accepted, says
// hello once, and waits for the welcome for as long as the attempt lasts. The tools are listed once for each connection,
// and again if the agent asks to connect. A connection that ends is not replaced until the agent asks.
type fieldBridge struct {
	ctx        context.Context // of background work
	dial       func(context.Context) (io.ReadWriteCloser, error)
	background sync.WaitGroup

	mu      sync.Mutex
	current *gabp.Client // nil, or ended: there is none
	tools   []string     // of the current connection
}

// conn returns the connection, nil if there is none.
func (b *fieldBridge) conn() *gabp.Client {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil && b.current.Err() != nil {
		b.current, b.tools = nil, nil
	}
	return b.current
}

func (b *fieldBridge) Disconnect() {
	if c := b.conn(); c != nil {
		_ = c.Close()
		<-c.Done()
	}
}

// Mirrored returns the names of the tools that the bridge knows.
func (b *fieldBridge) Mirrored() []string {
	b.conn()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.tools)
}

// Start connects to a game that the bridge has started. It returns after the first attempt; if that failed, a second
// attempt continues in the background.
func (b *fieldBridge) Start() error {
	err := b.attempt(firstPatience, false)
	if err != nil {
		b.background.Go(func() { _ = b.attempt(patience-firstPatience, false) })
	}
	return err
}

// Connect connects to a running game when the agent asks for it.
func (b *fieldBridge) Connect() error {
	if c := b.conn(); c != nil {
		return b.mirror(c, askPatience)
	}
	return b.attempt(askPatience, true)
}

// attempt dials and says hello. Only where the agent waits for the tools, a list that does not come ends the connection.
func (b *fieldBridge) attempt(patience time.Duration, wait bool) error {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	began := time.Now()
	stream, err := b.dial(ctx)
	for retry := firstRetry; err != nil; retry = min(2*retry, lastRetry) {
		select {
		case <-time.After(retry):
		case <-ctx.Done():
			return ctx.Err()
		}
		stream, err = b.dial(ctx)
	}
	cfg := gabp.ClientConfig{Token: bridgeToken, Limits: gabp.Limits{HelloTimeout: time.Minute}}
	c, err := gabp.NewClient(ctx, stream, cfg)
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.current, b.tools = c, nil
	b.mu.Unlock()
	if !wait {
		b.background.Go(func() { _ = b.mirror(c, callPatience) })
		return nil
	}
	if err = b.mirror(c, patience-time.Since(began)); err != nil {
		_ = c.Close()
	}
	return err
}

// mirror adds the tools of a connection to those that the bridge knows.
func (b *fieldBridge) mirror(c *gabp.Client, within time.Duration) error {
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	tools, err := ListTools(ctx, c)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, tool := range tools {
		if b.current == c {
			b.tools = append(b.tools, tool.Name)
		}
	}
	return err
}

// Call calls a tool, known or not.
func (b *fieldBridge) Call(tool string) error {
	ctx, cancel := context.WithTimeout(b.ctx, callPatience)
	defer cancel()
	_, err := b.conn().CallTool(ctx, tool, nil)
	return err
}

// field is a bridge of the field and a game, with or without a proxy between them, in the time of a test.
type field struct {
	t       *testing.T
	bridge  *fieldBridge
	mod     *standin.Mod
	proxy   *Proxy // nil: there is none
	session *session.Session
	start   time.Time

	mu     sync.Mutex
	listen bool // the mod does
	wg     sync.WaitGroup
}

var errRefused = &net.OpError{Op: "dial", Err: errors.New("connection refused")}

// inField runs f with a mod that does not listen yet.
func inField(t *testing.T, through bool, cfg Config, f func(t *testing.T, p *field), attention ...session.Attention) {
	synctest.Test(t, func(t *testing.T) {
		p := &field{t: t, mod: standin.NewMod(standin.ModConfig{}), start: time.Now()}
		ctx, stop := context.WithCancel(t.Context())
		dial := func(context.Context) (io.ReadWriteCloser, error) {
			p.mu.Lock()
			mod := p.mod
			defer p.mu.Unlock()
			if !p.listen {
				return nil, errRefused
			}
			ours, theirs := net.Pipe()
			p.wg.Go(func() { mod.ServeConn(theirs) })
			return ours, nil
		}
		if through {
			set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(playRules)})
			require.NoError(t, err)
			sc := session.Config{Engine: heed.Config{Rules: set}}
			for _, a := range attention {
				sc.Attention = a
			}
			s, err := session.New(sc)
			require.NoError(t, err)
			cfg.Session, cfg.Logger, cfg.DialMod = s, slog.New(slog.DiscardHandler), dial
			cfg.Handed = Handed{Outer: gabp.Bridge{Token: bridgeToken}, Inner: gabp.Bridge{Address: "mod"}}
			p.session = s
			p.proxy, err = New(cfg)
			require.NoError(t, err)
			p.wg.Go(func() { require.NoError(t, s.Run(ctx)) })
			p.wg.Go(func() { p.proxy.mod.run(ctx, p.proxy) })
			p.wg.Go(func() { p.proxy.watch.run(ctx) })
			dial = func(context.Context) (io.ReadWriteCloser, error) {
				ours, theirs := net.Pipe()
				p.wg.Go(func() { _ = p.proxy.ServeConn(ctx, theirs) })
				return ours, nil
			}
		}
		p.bridge = &fieldBridge{ctx: ctx, dial: dial}
		t.Cleanup(func() {
			stop()
			p.bridge.Disconnect()
			p.bridge.background.Wait()
			p.mod.Disconnect()
			p.wg.Wait()
		})
		f(t, p)
	})
}

// listens makes the mod listen, or not.
func (p *field) listens(does bool) {
	p.mu.Lock()
	p.listen = does
	mod := p.mod
	p.mu.Unlock()
	if !does {
		mod.Disconnect()
		synctest.Wait() // heed has noticed
	}
}

// build reports whether the bridge has the mod's tool.
func (p *field) build() bool { return slices.Contains(p.bridge.Mirrored(), "colony/build") }

// untilBuild returns when the bridge has the mod's tool, or -1 when it has none at a time after the start.
func (p *field) untilBuild(end time.Duration) time.Duration {
	for since := time.Since(p.start); since < end; since = time.Since(p.start) {
		synctest.Wait()
		if p.build() {
			return since
		}
		time.Sleep(100 * time.Millisecond)
	}
	return -1
}

// TestLateMods: the tools of a mod that listens late get to the bridge by itself where they would without heed, and with
// the agent's help where they would not, and never later.
func TestLateMods(t *testing.T) {
	for _, seconds := range []time.Duration{0, 8, 25, 45, 65, 180} {
		after := seconds * time.Second
		got := map[bool][2]time.Duration{}
		for _, through := range []bool{false, true} {
			inField(t, through, Config{ModWait: DefaultModWait}, func(t *testing.T, p *field) {
				time.AfterFunc(after, func() { p.listens(true) })
				_ = p.bridge.Start()
				alone := p.untilBuild(time.Minute)
				helped := alone
				for helped < 0 && time.Since(p.start) < 4*time.Minute { // an agent asks now and then
					_ = p.bridge.Connect()
					helped = p.untilBuild(time.Since(p.start) + 5*time.Second)
				}
				got[through] = [2]time.Duration{alone, helped}
				if through {
					err := p.bridge.Call("colony/build")
					require.NoError(t, err)
				}
			})
		}
		direct, through := got[false], got[true]
		require.Equal(t, after < patience, direct[0] >= 0)
		require.Equal(t, direct[0] >= 0, through[0] >= 0, "without the agent")
		require.GreaterOrEqual(t, direct[1], time.Duration(0))
		require.GreaterOrEqual(t, through[1], time.Duration(0))
		require.LessOrEqual(t, through[1], max(direct[1], after+250*time.Millisecond+100*time.Millisecond))
	}
}

// phase reports a phase of the game, as its log would.
func (p *field) phase(name string) {
	p.session.Observe(event.State{Status: event.StatusPhase, Phase: name}.Entry())
}

// TestNoModComes: a bridge gets an answer, with heed's tools, once the log shows that the game has started and nothing
// listens; a mod that listens after all is there when the agent asks.
func TestNoModComes(t *testing.T) {
	inField(t, true, Config{ModWait: DefaultModWait}, func(t *testing.T, p *field) {
		time.AfterFunc(7*time.Second, func() { p.phase("start") })
		time.AfterFunc(9*time.Second, func() { p.phase("boot") })
		time.AfterFunc(11*time.Second, func() { p.phase("menu") })
		require.NoError(t, p.bridge.Start())
		require.Greater(t, time.Since(p.start), 12*time.Second)
		require.LessOrEqual(t, time.Since(p.start), 13*time.Second)
		time.Sleep(listWithin + time.Second)
		require.Contains(t, p.bridge.Mirrored(), ToolStatus)
		require.False(t, p.build())

		p.listens(true)
		time.Sleep(time.Second)
		require.NotNil(t, p.bridge.conn())
		err := p.bridge.Call("colony/build")
		require.NoError(t, err)
		require.NoError(t, p.bridge.Connect())
		require.True(t, p.build())

		p.listens(false) // one that was there is waited for
		p.bridge.Disconnect()
		time.AfterFunc(10*time.Second, func() { p.listens(true) })
		require.NoError(t, p.bridge.Connect())
		require.True(t, p.build())
	})
	// One that waits for the main menu, and then needs a while, is in the first list.
	inField(t, true, Config{ModWait: DefaultModWait}, func(t *testing.T, p *field) {
		p.phase("boot")
		time.AfterFunc(2*time.Second, func() { p.phase("menu") })
		time.AfterFunc(7*time.Second, func() { p.listens(true) })
		require.NoError(t, p.bridge.Start())
		require.LessOrEqual(t, time.Since(p.start), 4*time.Second)
		require.Equal(t, 7*time.Second, p.untilBuild(time.Minute).Truncate(time.Second))
	})
	// A log that grows, and a game that loads, show nothing yet; a log cannot grow for ever.
	inField(t, true, Config{ModWait: DefaultModWait}, func(t *testing.T, p *field) {
		p.phase("menu")
		time.AfterFunc(time.Second, func() { p.phase("load") })
		time.AfterFunc(8*time.Second, func() { p.phase("play") })
		time.AfterFunc(8*time.Second, func() {
			for range 60 {
				p.session.Observe(event.Log{Message: "All is well"}.Entry())
				time.Sleep(time.Second)
			}
		})
		require.NoError(t, p.bridge.Start())
		require.Equal(t, 18*time.Second, time.Since(p.start).Truncate(time.Second))
		time.Sleep(time.Minute)
	})
	inField(t, true, Config{ModWait: DefaultModWait}, func(t *testing.T, p *field) {
		p.phase("play")
		p.mod.Freeze(true)
		p.listens(true) // and says nothing: it loads
		require.Error(t, p.bridge.Start())
	})
	inField(t, true, Config{ModWait: DefaultModWait}, func(t *testing.T, p *field) {
		time.AfterFunc(5*time.Second, p.proxy.mod.end)
		require.NoError(t, p.bridge.Start())
		require.Equal(t, 5*time.Second, time.Since(p.start), "the game has ended")
	})
}

// TestModReloads: a mod that goes and comes with other tools does not end the bridge's connection, and a bridge that
// comes meanwhile gets them as soon as they are there.
func TestModReloads(t *testing.T) {
	inField(t, true, Config{ModWait: DefaultModWait}, func(t *testing.T, p *field) {
		reload := func(tools string) {
			p.listens(false)
			p.mu.Lock()
			p.mod = standin.NewMod(standin.ModConfig{Tools: standin.Result(tools)})
			p.mu.Unlock()
			time.AfterFunc(6*time.Second, func() { p.listens(true) })
		}
		p.listens(true)
		require.NoError(t, p.bridge.Start())
		synctest.Wait()
		require.True(t, p.build())

		reload(`{"tools":[{"name":"colony/dig"}]}`)
		time.Sleep(time.Second)
		err := p.bridge.Call("colony/build")
		require.ErrorContains(t, err, "no mod is connected")
		time.Sleep(6 * time.Second)
		require.NotNil(t, p.bridge.conn())
		err = p.bridge.Call("colony/dig")
		require.NoError(t, err)
		require.NoError(t, p.bridge.Connect())
		require.Contains(t, p.bridge.Mirrored(), "colony/dig")

		reload(`{"tools":[{"name":"colony/fish"}]}`)
		p.bridge.Disconnect()
		began := time.Now()
		require.NoError(t, p.bridge.Connect())
		require.LessOrEqual(t, time.Since(began), 6*time.Second+dialLast)
		require.Contains(t, p.bridge.Mirrored(), "colony/fish")
		require.NotContains(t, p.bridge.Mirrored(), "colony/dig")
	}, session.OnlyShown)
}

// TestManyCalls: a bridge may have as many calls under way as without heed, within reason.
func TestManyCalls(t *testing.T) {
	m := standin.NewMod(standin.ModConfig{Delay: 200 * time.Millisecond})
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		var calls sync.WaitGroup
		var refused atomic.Pointer[error]
		for range 200 {
			calls.Go(func() {
				if _, err := p.bridge.CallTool(t.Context(), "colony/build", nil); err != nil {
					refused.Store(&err)
				}
			})
		}
		calls.Wait()
		require.Nil(t, refused.Load())
		require.Len(t, m.Asked(), 200)
	})
}

// TestLargeResults: results up to the configured size pass, a larger one is an error of its call, which was executed, and
// the connection stays.
func TestLargeResults(t *testing.T) {
	const most = 1 << 20
	var size atomic.Int64
	m := modOf(func(string, string) []string {
		return standin.Result(`{"text":"` + strings.Repeat("x", int(size.Load())-len(`{"text":""}`)) + `"}`)
	})
	begin(t, Config{MaxMessage: most}, session.Config{}, m, func(t *testing.T, p *play) {
		before := p.proxy.mod.client.Load()
		for _, n := range []int{100, most, most + 2*messageRest, most, 10 * most, 100} {
			size.Store(int64(n))
			raw, err := p.bridge.CallTool(t.Context(), "colony/build", nil)
			if n <= most {
				require.NoError(t, err)
				require.Greater(t, len(raw), n, "the verdict is added")
				continue
			}
			e, ok := errors.AsType[*gabp.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, gabp.CodeTooLarge, e.Code)
			require.Regexp(t, `^an answer of \d+ bytes, want at most \d+; the call was executed; its result was dropped, `+
				`the setting max-message lets larger ones pass$`, e.Message)
		}
		require.Same(t, before, p.proxy.mod.client.Load())
		for _, r := range p.proxy.session.Engine().Read(heed.Cursor{}, 100, heed.Filter{}).Records {
			require.NotEqual(t, event.StatusFailed, r.Status, "a call whose result is too large was executed")
		}
	})
}
