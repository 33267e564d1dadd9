package bridge

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/internal/testkit"
)

// grown is a log of which only the size is known.
type grown struct {
	modLog
	size atomic.Int64
}

func (g *grown) Status() follow.Status {
	return follow.Status{Present: true, Offset: g.size.Load(), Size: g.size.Load()}
}

// watched runs f with a proxy that watches a game with a mod and a log, and a bridge where there is to be one.
func watched(t *testing.T, mod *standin.Mod, bridge bool, f func(t *testing.T, p *play, log *grown)) {
	log := &grown{}
	cfg := Config{
		Handed:  Handed{Inner: gabp.Bridge{Address: "127.0.0.1:1"}},
		DialMod: dialing(mod),
	}
	open(t, cfg, session.Config{Log: log}, nil, func(t *testing.T, p *play) {
		p.served.Go(func() { p.proxy.mod.run(p.ctx, p.proxy) })
		p.proxy.watch.now = func() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }
		p.served.Go(func() { p.proxy.watch.run(p.ctx) })
		time.Sleep(lookEvery / 2) // looks and events never fall together
		if bridge {
			p.bridge = p.dial("agent")
		}
		f(t, p, log)
	})
}

func dialing(mod *standin.Mod) func(context.Context) (io.ReadWriteCloser, error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		go mod.ServeConn(theirs)
		return ours, nil
	}
}

// states returns what was reported of the game, each with the time since a start.
func (p *play) states(since time.Time) (all []string) {
	page := p.session.Engine().Read(heed.Cursor{}, 100, heed.Filter{Kinds: []event.Kind{event.KindState}})
	for _, r := range page.Records {
		all = append(all, fmt.Sprintf("%s after %d s", r.Status, int(r.Time.Sub(since).Seconds())))
	}
	return all
}

// grow makes the log grow every d, n times.
func (g *grown) grow(d time.Duration, n int) {
	for range n {
		time.Sleep(d)
		g.size.Add(1)
	}
}

// TestFrozen is the table of games that give no sign of life from one second on, and of those that do.
func TestFrozen(t *testing.T) {
	quiet := standin.ModConfig{Channels: []string{"colony/ticks"}}
	slow := quiet
	slow.Delay = 3 * time.Minute
	pings := quiet
	pings.Capabilities = `"methods":["session/ping"]`
	hangs := quiet
	hangs.Answers = func(method, _ string) []string {
		if method == gabp.MethodToolsCall {
			return nil
		}
		return standin.Result(`{}`)
	}
	mute := quiet
	mute.Frozen = true
	for _, c := range []struct {
		name   string
		mod    standin.ModConfig
		alone  bool // no bridge
		call   bool
		freeze bool
		first  string // line of the log
		during func(p *play, m *standin.Mod, log *grown)
		want   []string
	}{
		{name: "nothing is wrong"},
		{name: "a mod that has a method for it", mod: pings},
		{name: "frozen", freeze: true, want: []string{"stall after 60 s"}},
		{name: "frozen in a call", freeze: true, call: true, want: []string{"stall after 15 s"}},
		{name: "frozen, and nobody asks", freeze: true, alone: true},
		{name: "it answers no hello", mod: mute, want: []string{"stall after 59 s"}},
		{name: "a long call, and the mod answers others", mod: slow, call: true, want: []string{
			"stall after 15 s", "recovered after 180 s",
		}},
		{name: "a call that is never answered", mod: hangs, call: true, want: []string{
			"stall after 15 s", "recovered after 180", // the call has ended
		}},
		{
			name: "a lost call, and others that are answered", mod: hangs, call: true,
			during: func(p *play, _ *standin.Mod, _ *grown) {
				for range 100 {
					time.Sleep(10 * time.Second)
					_, _ = p.bridge.CallRaw(p.ctx, "colony/other", nil)
				}
			},
		},
		{
			name: "frozen for 40 s in a call that is lost", call: true, freeze: true,
			during: func(_ *play, m *standin.Mod, _ *grown) {
				time.Sleep(40 * time.Second)
				m.Freeze(false)
			},
			want: []string{"stall after 15 s", "recovered after 6"},
		},
		{
			name: "frozen for good, acknowledged, and called again", call: true, freeze: true,
			during: func(p *play, _ *standin.Mod, _ *grown) {
				time.Sleep(100 * time.Second)
				p.session.Ack(p.ctx, "agent", p.session.Open(nil)[0].ID, 0)
				go func() { _, _ = p.bridge.CallTool(p.ctx, "colony/build", nil) }()
			},
			want: []string{"stall after 15 s", "stall after 115 s"},
		},
		{
			name: "the log grows for 3 minutes, and no longer", freeze: true, call: true,
			during: func(_ *play, _ *standin.Mod, log *grown) { log.grow(10*time.Second, 18) },
			want:   []string{"stall after 195 s"},
		},
		{
			name: "the log grows beside a mod that is silent", freeze: true,
			during: func(_ *play, _ *standin.Mod, log *grown) { log.grow(50*time.Second, 72) },
			want:   []string{"stall after 3660 s"},
		},
		{
			name: "the mod sends events", mod: slow, call: true, want: nil,
			during: func(_ *play, m *standin.Mod, _ *grown) {
				for range 12 {
					time.Sleep(14 * time.Second)
					m.Publish("colony/ticks", `{}`)
				}
			},
		},
		{
			name: "a load of 3 minutes without a line", first: "Loading", freeze: true, call: true,
			during: func(p *play, _ *standin.Mod, _ *grown) {
				time.Sleep(3 * time.Minute)
				p.session.Observe(event.Log{Message: "Playing"}.Entry())
			},
			want: []string{"stall after 194 s"},
		},
		{name: "a load without an end", first: "Loading", freeze: true, want: []string{"stall after 3"}},
		{name: "a save without an end", first: "Saving", freeze: true, call: true, want: []string{"stall after 300 s"}},
		{name: "no hello while it starts", first: "Starting", mod: mute, want: []string{"stall after 299 s"}},
		{name: "frozen, and its start was not over", first: "Starting", freeze: true, want: []string{"stall after 60 s"}},
		{
			name: "heed itself was stopped", freeze: true, call: true,
			during: func(p *play, _ *standin.Mod, _ *grown) {
				time.Sleep(10 * time.Second)
				p.ahead.Add(int64(time.Hour))
			},
			want: []string{"stall after 14 s"},
		},
	} {
		rest := serverTimeout + time.Minute // until a call is given up
		if testkit.IsFull() {
			rest = 2 * time.Hour
		}
		t.Run(c.name, func(t *testing.T) {
			if c.mod.Channels == nil {
				c.mod = quiet
			}
			m := standin.NewMod(c.mod)
			watched(t, m, !c.alone, func(t *testing.T, p *play, log *grown) {
				if c.first != "" {
					p.session.Observe(event.Log{Message: c.first}.Entry())
				}
				m.Freeze(c.freeze || c.mod.Frozen)
				start := time.Now()
				if c.call {
					go func() { _, _ = p.bridge.CallTool(p.ctx, "colony/build", nil) }()
				}
				if c.during != nil {
					c.during(p, m, log)
				}
				time.Sleep(rest)
				got := p.states(start)
				require.Len(t, got, len(c.want), "%v", got)
				for i, want := range c.want {
					require.True(t, strings.HasPrefix(got[i], want), "%v", got)
				}
			})
		})
	}
}

// TestFrozenGame holds what agents see of a game that is frozen, and that the item ends when the game answers again.
func TestFrozenGame(t *testing.T) {
	m := standin.NewMod(standin.ModConfig{})
	watched(t, m, true, func(t *testing.T, p *play, _ *grown) {
		var opened atomic.Int64
		_, err := p.bridge.Events(p.ctx, []string{gabp.ChannelOpened}, func(gabp.Event) { opened.Add(1) })
		require.NoError(t, err)
		_, err = ListTools(p.ctx, p.bridge) // before it freezes, the mod answers both
		require.NoError(t, err)
		_, e := p.call("colony/build")
		require.Nil(t, e)
		m.Freeze(true)
		ctx, leave := context.WithCancel(p.ctx)
		go func() { _, _ = p.bridge.CallTool(ctx, "colony/build", nil) }()
		time.Sleep(16 * time.Second)
		require.EqualValues(t, 1, opened.Load(), "while the call waits")

		asked := time.Now()
		var current gabp.CurrentResult
		require.NoError(t, p.bridge.Call(p.ctx, gabp.MethodAttentionCurrent, nil, &current))
		require.Less(t, time.Since(asked), 1500*time.Millisecond)
		a := current.Attention
		require.True(t, a.Blocking)
		require.True(t, strings.HasPrefix(a.Summary, "the game does not answer"), a.Summary)
		require.Contains(t, a.Summary, "colony/build")
		require.Equal(t, "stall a call waits, and for 15 s the mod has sent no answer and no event, and the log has not "+
			"grown; nor has it answered heed, which asked 10 s ago", a.Sample[0].Message)
		_, e = p.call("colony/build")
		require.Equal(t, a.ID, p.held(e).Attention.ID)

		leave()
		m.Freeze(false)
		time.Sleep(askTimeout + 2*lookEvery)
		require.Empty(t, p.session.Open(nil), "it answers again")
		_, e = p.call("colony/build")
		require.Nil(t, e)
	})
}

// TestFrozenAsks holds how often a silent mod is asked.
func TestFrozenAsks(t *testing.T) {
	for _, c := range []struct {
		name     string
		bridge   bool
		pings    string
		frozen   bool
		min, max int
	}{
		{"no bridge", false, `"methods":["session/ping"]`, false, 0, 0},
		{"it answers", true, `"methods":["session/ping"]`, false, 100, 120},
		{"it has no such method", true, "", false, 0, 0},
	} {
		m := standin.NewMod(standin.ModConfig{Capabilities: c.pings})
		watched(t, m, c.bridge, func(t *testing.T, p *play, _ *grown) {
			time.Sleep(time.Hour)
			n := len(m.Asked())
			require.True(t, c.min <= n && n <= c.max, "%s: %d", c.name, n)
		})
	}
}

// TestFrozenAsksInCall holds how often a mod is asked that answers while a call waits: once soon, and then like a mod
// that is silent.
func TestFrozenAsksInCall(t *testing.T) {
	m := standin.NewMod(standin.ModConfig{Capabilities: `"methods":["session/ping"]`, Answers: func(m, _ string) []string {
		if m == gabp.MethodToolsCall {
			return nil
		}
		return standin.Result(`{}`)
	}})
	watched(t, m, true, func(t *testing.T, p *play, _ *grown) {
		go func() { _, _ = p.bridge.CallTool(p.ctx, "colony/build", nil) }()
		time.Sleep(2 * askInCall)
		require.Len(t, m.Asked(), 2, "the call and one question")
		time.Sleep(2*time.Minute + askIdle/2)
		require.LessOrEqual(t, len(m.Asked()), 2+5)
		require.GreaterOrEqual(t, len(m.Asked()), 2+3)
	})
}

// TestFrozenSlow holds that a call that takes long without a sign of life stops nobody once it is answered, and is not
// clean.
func TestFrozenSlow(t *testing.T) {
	watched(t, standin.NewMod(standin.ModConfig{Delay: 20 * time.Second}), true, func(t *testing.T, p *play, _ *grown) {
		for range 5 {
			got, e := p.call("colony/build")
			require.Nil(t, e)
			require.Contains(t, got, `"state":"cleared"`)
			require.Contains(t, got, "the game hangs, or works on the call")
			require.Contains(t, got, `"verdict":{"outcome":"unknown","reason":"background"`)
			require.Empty(t, p.session.Open(nil))
			time.Sleep(20 * time.Second)
		}
		require.Len(t, p.states(time.Now()), 10)
	})
}
