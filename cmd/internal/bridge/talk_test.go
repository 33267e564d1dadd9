package bridge

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/rules"
)

// sockets is a bridge, the proxy and a stand-in of a mod, over sockets.
type sockets struct {
	mod     *standin.Mod
	proxy   *Proxy
	session *session.Session
	bridge  *gabp.Client
}

// overSockets runs f with a mod that does as cfg says.
func overSockets(t testing.TB, cfg standin.ModConfig, f func(y *sockets)) {
	overSocketsWith(t, cfg, Config{}, f)
}

// overSocketsWith is overSockets with a proxy that is configured.
func overSocketsWith(t testing.TB, cfg standin.ModConfig, pc Config, f func(y *sockets)) {
	token := gabp.NewToken()
	cfg.Token = token
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	outer, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	set, err := rules.Compile(rules.File{Name: "test.yaml", Data: []byte(playRules)})
	require.NoError(t, err)
	sc := session.Config{}
	sc.Engine.Rules, sc.Engine.Epoch = set, "e1"
	s, err := session.New(sc)
	require.NoError(t, err)
	y := &sockets{mod: standin.NewMod(cfg), session: s}
	pc.Session, pc.ModWait, pc.Logger = s, time.Minute, slog.New(slog.DiscardHandler)
	pc.Handed = Handed{
		Outer: gabp.Bridge{Address: outer.Addr().String(), Token: bridgeToken},
		Inner: gabp.Bridge{Address: inner.Addr().String(), Token: token},
	}
	y.proxy, err = New(pc)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { _ = s.Run(ctx) })
	served.Go(func() { _ = y.mod.ServeListener(ctx, inner) })
	served.Go(func() { _ = y.proxy.Serve(ctx, outer) })
	defer served.Wait()
	defer stop()
	y.bridge, err = gabp.Dial(ctx, outer.Addr().String(), gabp.ClientConfig{
		Token: bridgeToken, Name: "agent", Limits: gabp.Limits{
			HelloTimeout: time.Minute, RequestTimeout: time.Minute, MessageSize: 256 << 20, StringBytes: 256 << 20,
			ConcurrentRequests: 256,
		},
	})
	require.NoError(t, err)
	defer func() {
		_ = y.bridge.Close()
		<-y.bridge.Done()
	}()
	f(y)
}

const channel = "colony.log"

// TestTalkingMod: every call is answered by a mod that talks while it answers.
func TestTalkingMod(t *testing.T) {
	overSockets(t, standin.ModConfig{
		Channels: []string{channel}, Unlocked: true, Storm: 3000,
		StormPer: 30, Characters: true, Nagle: true, // a reader that is slower than the storm never has all of it
	}, func(y *sockets) {
		for range 300 {
			_, err := y.bridge.CallTool(t.Context(), "colony/bäu😀", nil)
			require.NoError(t, err)
		}
		require.Len(t, y.mod.Asked(), 300, "each was executed once")
		require.Equal(t, 1, y.mod.Subscribers(channel))
		require.Zero(t, y.proxy.Lost())
	})
}

// TestManyCalls: a bridge may have as many calls under way as without heed, within reason.
func TestManyCalls(t *testing.T) {
	overSockets(t, standin.ModConfig{Delay: 200 * time.Millisecond}, func(y *sockets) {
		var calls sync.WaitGroup
		var refused atomic.Pointer[error]
		for range 200 {
			calls.Go(func() {
				if _, err := y.bridge.CallTool(t.Context(), "colony/build", nil); err != nil {
					refused.Store(&err)
				}
			})
		}
		calls.Wait()
		require.Nil(t, refused.Load())
		require.Len(t, y.mod.Asked(), 200)
	})
}

// TestLargeResults: results up to the configured size pass, a larger one is an error of its call, which was executed, and
// the connection stays.
func TestLargeResults(t *testing.T) {
	const most = 1 << 20
	var size atomic.Int64
	overSocketsWith(t, standin.ModConfig{Answers: func(string, string) []string {
		return standin.Result(`{"text":"` + strings.Repeat("x", int(size.Load())-len(`{"text":""}`)) + `"}`)
	}}, Config{MaxMessage: most}, func(y *sockets) {
		before := y.proxy.mod.current()
		for _, n := range []int{100, most, most + 2*messageRest, most, 10 * most, 100} {
			size.Store(int64(n))
			raw, err := y.bridge.CallTool(t.Context(), "colony/build", nil)
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
		require.Same(t, before, y.proxy.mod.current())
		for _, r := range y.proxy.session.Engine().Read(heed.Cursor{}, 100, heed.Filter{}).Records {
			require.NotEqual(t, event.StatusFailed, r.Status, "a call whose result is too large was executed")
		}
	})
}
