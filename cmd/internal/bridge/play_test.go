package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/rules"
)

// playRules know an entry that blocks and one that does not.
const playRules = `version: 1
rules:
  - {id: broken, when: 'template startsWith "Broken"', disposition: blocking, invalidates: true, summary: something broke}
  - {id: fault, when: 'template startsWith "Fault"', disposition: blocking}
  - {id: odd, when: 'template startsWith "Odd"', disposition: advisory}
  - {id: stalled, when: 'status == "stall"', disposition: blocking, invalidates: true, summary: the game does not answer}
  - {id: answers, when: 'status == "recovered"', disposition: ignore, resolves: [stalled]}
  - {id: loads, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
  - {id: boots, when: 'template startsWith "Starting"', disposition: ignore, sets_phase: boot}
  - {id: saves, when: 'template startsWith "Saving"', disposition: ignore, sets_phase: save}
  - {id: plays, when: 'template startsWith "Playing"', disposition: ignore, sets_phase: play}
`

// play is a bridge, the proxy and a mod, over pipes, in the time of a test.
type play struct {
	t       *testing.T
	proxy   *Proxy
	session *session.Session
	bridge  *gabp.Client
	ctx     context.Context

	served  sync.WaitGroup
	clients []*gabp.Client // to be closed
	ahead   atomic.Int64   // of the clock of the watch: what heed slept through
}

// modOf returns a mod that builds and looks, and answers all else as given.
func modOf(answers func(method, params string) []string, channels ...string) *standin.Mod {
	return standin.NewMod(standin.ModConfig{Tools: standin.Result(buildTool), Channels: channels, Answers: answers})
}

func sends(channel string, seq int, payload string) string {
	return fmt.Sprintf(`{"v":"gabp/1","id":"00000000-0000-4000-8000-000000000000","type":"event","channel":%q,"seq":%d,"payload":%s}`,
		channel, seq, payload)
}

// modLog is a log that says nothing, cannot be read, or is slow.
type modLog struct {
	err  error
	slow bool
}

func (l *modLog) Run(ctx context.Context, _ func(*follow.Record)) error {
	<-ctx.Done()
	return nil
}

func (l *modLog) Sync(ctx context.Context) error {
	if l.slow {
		<-ctx.Done()
		return ctx.Err()
	}
	return l.err
}
func (l *modLog) Status() follow.Status { return follow.Status{Present: true} }

const buildTool = `{"tools":[{"name":"colony/build","description":"d"},{"name":"colony/look","description":"d","tags":["read-only"]}]}`

// begin runs f with a proxy for cfg and sc, a mod where it is not nil, and a bridge.
func begin(t *testing.T, cfg Config, sc session.Config, mod *standin.Mod, f func(t *testing.T, p *play)) {
	open(t, cfg, sc, mod, func(t *testing.T, p *play) {
		p.bridge = p.dial("agent")
		f(t, p)
	})
}

// open is begin without a bridge.
func open(t *testing.T, cfg Config, sc session.Config, mod *standin.Mod, f func(t *testing.T, p *play)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(playRules)})
		require.NoError(t, err)
		sc.Engine.Rules, sc.Engine.Epoch = set, cmp.Or(sc.Engine.Epoch, "e1")
		s, err := session.New(sc)
		require.NoError(t, err)
		cfg.Session, cfg.Logger = s, slog.New(slog.DiscardHandler)
		cfg.Handed.Outer.Token = bridgeToken
		p, err := New(cfg)
		require.NoError(t, err)
		y := &play{t: t, proxy: p, session: s, ctx: ctx}
		y.served.Go(func() { require.NoError(t, s.Run(ctx)) })
		t.Cleanup(func() {
			stop()
			for _, client := range y.clients {
				_ = client.Close()
				<-client.Done()
			}
			y.served.Wait()
		})
		if mod != nil {
			y.connect(mod)
		}
		f(t, y)
	})
}

var bridgeToken = gabp.NewToken()

// dial returns another bridge.
func (p *play) dial(name string) *gabp.Client {
	ours, theirs := net.Pipe()
	p.served.Go(func() { _ = p.proxy.server.ServeConn(p.ctx, theirs) })
	c, err := gabp.NewClient(p.ctx, ours, gabp.ClientConfig{
		Token: bridgeToken, Name: name, LaunchID: "00000000-0000-4000-8000-000000000001",
		Limits: gabp.Limits{
			HelloTimeout: 2 * time.Hour, RequestTimeout: 2 * time.Hour, ConcurrentRequests: 256, MessageSize: 256 << 20,
		},
	})
	require.NoError(p.t, err)
	p.clients = append(p.clients, c)
	return c
}

// connect makes m the mod.
func (p *play) connect(m *standin.Mod) {
	ours, theirs := net.Pipe()
	go m.ServeConn(theirs)
	cfg := gabp.ClientConfig{Token: gabp.NewToken(), Limits: modLimits(p.proxy.cfg.MaxMessage)}
	client, err := gabp.NewClient(p.ctx, ours, cfg)
	require.NoError(p.t, err)
	p.clients = append(p.clients, client)
	require.NoError(p.t, p.proxy.mod.attach(p.ctx, client, p.proxy))
}

// call calls a tool of the mod.
func (p *play) call(tool string) (string, *gabp.Error) {
	p.t.Helper()
	raw, err := p.bridge.CallTool(p.ctx, tool, nil)
	if err == nil {
		return string(raw), nil
	}
	e, ok := errors.AsType[*gabp.Error](err)
	require.True(p.t, ok, "%v", err)
	return "", e
}

// operations returns what the journal has of calls, without their beginnings.
func (p *play) operations() (ended []string) {
	page := p.session.Engine().Read(heed.Cursor{}, 100, heed.Filter{Kinds: []event.Kind{event.KindOperation}})
	for _, r := range page.Records {
		if r.Status != event.StatusStarted {
			ended = append(ended, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Source, r.Status, r.Message)))
		}
	}
	return ended
}

// begins reports whether an object has the members of another, byte for byte, before what
// heed adds.
func begins(got, want string) bool { return strings.HasPrefix(got, strings.TrimSuffix(want, "}")) }

// done answers every call.
func done(string, string) []string { return standin.Result(`{"done":true}`) }

// held is what a refused call says.
type held struct {
	Executed  *bool
	Status    string
	Tool      string
	Attention *heed.Item
}

func (p *play) held(e *gabp.Error) (h held) {
	p.t.Helper()
	require.NotNil(p.t, e, "the call was executed")
	require.Equal(p.t, gabp.CodeToolUnavailable, e.Code)
	require.NoError(p.t, json.Unmarshal(e.Data, &h))
	require.False(p.t, *h.Executed)
	return h
}

// leftIf sets up a session whose attention may be left to the mod.
func leftIf(left bool) session.Config {
	if left {
		return session.Config{Attention: session.LeftToMod}
	}
	return session.Config{}
}

// ListTools returns the tools that a server lists for a client.
func ListTools(ctx context.Context, c *gabp.Client) ([]gabp.Tool, error) {
	var result struct {
		Tools []gabp.Tool `json:"tools"`
	}
	err := c.Call(ctx, gabp.MethodToolsList, nil, &result)
	return result.Tools, err
}

// NoLimits are the bounds that a host has hit which hits none.
func NoLimits() []session.Limit { return nil }
