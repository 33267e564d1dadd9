package bridge

import (
	"errors"
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
)

// withMod runs f with a bridge and a mod that does as mc says.
func withMod(t *testing.T, mc standin.ModConfig, cfg Config, f func(t *testing.T, p *play, m *standin.Mod)) {
	m := standin.NewMod(mc)
	cfg.Handed.Inner.Address, cfg.DialMod = "mod", dialing(m)
	open(t, cfg, session.Config{}, nil, func(t *testing.T, p *play) {
		p.served.Go(func() { p.proxy.mod.run(p.ctx, p.proxy) })
		p.proxy.mod.await(p.ctx, time.Minute)
		p.bridge = p.dial("agent")
		f(t, p, m)
	})
}

// TestManyCalls: a bridge may have as many calls under way as without heed, within reason.
func TestManyCalls(t *testing.T) {
	withMod(t, standin.ModConfig{Delay: 200 * time.Millisecond}, Config{}, func(t *testing.T, p *play, m *standin.Mod) {
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
	withMod(t, standin.ModConfig{Answers: func(string, string) []string {
		return standin.Result(`{"text":"` + strings.Repeat("x", int(size.Load())-len(`{"text":""}`)) + `"}`)
	}}, Config{MaxMessage: most}, func(t *testing.T, p *play, _ *standin.Mod) {
		before := p.proxy.mod.current()
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
		require.Same(t, before, p.proxy.mod.current())
		for _, r := range p.proxy.session.Engine().Read(heed.Cursor{}, 100, heed.Filter{}).Records {
			require.NotEqual(t, event.StatusFailed, r.Status, "a call whose result is too large was executed")
		}
	})
}
