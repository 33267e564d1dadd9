package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
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
)

// TestModsOwnAttention holds that the mod's attention, where it is left to the mod, is no operation: bridges ask for it
// before each call.
func TestModsOwnAttention(t *testing.T) {
	m := modOf(done)
	begin(t, Config{}, session.Config{Attention: session.LeftToMod}, m, func(t *testing.T, p *play) {
		for _, method := range attentionMethods {
			raw, err := p.bridge.CallRaw(p.ctx, method, json.RawMessage(`{"attentionId":"mod-1"}`))
			require.NoError(t, err)
			require.Equal(t, `{"done":true}`, string(raw))
		}
		require.Len(t, m.Asked(), 2)
		require.Empty(t, p.operations())
		raw, err := p.bridge.CallRaw(p.ctx, "state/get", nil)
		require.NoError(t, err)
		require.Equal(t, `{"done":true}`, string(raw))
		require.Equal(t, []string{"state/get completed"}, p.operations())
	})
}

// TestNoMod holds what is said while no mod is there.
func TestNoMod(t *testing.T) {
	begin(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
		require.False(t, p.proxy.Connected())
		_, e := p.call("colony/build")
		h := p.held(e)
		require.Equal(t, "no_mod", h.Status)
		require.Equal(t, "colony/build", h.Tool)
		require.Nil(t, h.Attention)
		require.Equal(t, "Not executed: no mod is connected to execute colony/build.\nNext: check the game's state, then call "+
			"colony/build again if it is still wanted.", e.Message)

		p.session.Observe(event.Log{Message: "Broken thing"}.Entry())
		_, e = p.call("colony/build")
		require.Equal(t, p.session.Open(nil)[0].ID, p.held(e).Attention.ID)
		require.Contains(t, e.Message, "Not executed: no mod is connected to execute colony/build; something broke")

		for method, code := range map[string]int{
			"colony/anything": gabp.CodeMethodNotFound, gabp.MethodResourcesRead: gabp.CodeResourceNotFound,
		} {
			_, err := p.bridge.CallRaw(p.ctx, method, json.RawMessage(`{"uri":"gabp://mod/x"}`))
			f, _ := errors.AsType[*gabp.Error](err)
			require.Equal(t, code, f.Code)
			require.Contains(t, f.Message, "Not executed: no mod is connected to execute "+method)
		}
		tools, err := ListTools(p.ctx, p.bridge)
		require.NoError(t, err)
		require.Len(t, tools, len(Tools()), "heed's own")
	})
}

// TestArrival holds what an agent's arrival does to items from before: they do not stop it,
// unless they are from before a restart of heed, which the agent was there for.
func TestArrival(t *testing.T) {
	file := filepath.Join(t.TempDir(), "snapshot")
	before := func(p *play) string {
		p.session.Observe(event.Log{Message: "Fault of before"}.Entry())
		open := p.session.Open(nil)
		require.Len(t, open, 1)
		return open[0].ID
	}
	var id string
	m := modOf(done)
	begin(t, Config{}, session.Config{Snapshot: file}, m, func(t *testing.T, p *play) {
		id = before(p)
		p.dial("agent") // again
		require.True(t, p.session.Open(nil)[0].Blocking, "who connects again does not arrive")
	})
	begin(t, Config{}, session.Config{Snapshot: file}, m, func(t *testing.T, p *play) {
		require.True(t, p.session.Status().Restored)
		open := p.session.Open(nil)
		require.Equal(t, id, open[0].ID)
		require.True(t, open[0].Blocking)
		_, e := p.call("colony/build")
		require.Equal(t, id, p.held(e).Attention.ID)
	})
	for _, c := range []struct {
		name    string
		cfg     Config
		session session.Config
		client  string
		stopped bool
	}{
		{"an agent", Config{}, session.Config{}, "agent", false},
		{"one that only looks", Config{Observer: "watcher"}, session.Config{}, "watcher", true},
		{"attention is the mod's", Config{}, session.Config{Attention: session.LeftToMod}, "agent", true},
		{"a log that cannot be read", Config{}, session.Config{Log: &modLog{err: io.EOF}}, "agent", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			open(t, c.cfg, c.session, nil, func(t *testing.T, p *play) {
				before(p)
				p.dial(c.client)
				require.Equal(t, c.stopped, p.session.Open(nil)[0].Blocking)
			})
		})
	}
}

// TestDeadBridgeDoesNotArrive: a bridge that is gone before its welcome is no arrival, so that
// what was open before the next one does not stop its agent.
func TestDeadBridgeDoesNotArrive(t *testing.T) {
	cfg := Config{Handed: Handed{Inner: gabp.Bridge{Address: "127.0.0.1:1"}}}
	open(t, cfg, session.Config{}, nil, func(t *testing.T, p *play) {
		p.proxy.mod.end()
		p.session.Observe(event.Log{Message: "Fault before any bridge"}.Entry())
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, p.proxy.welcome(gone, &gabp.ServerSession{}, &gabp.Welcome{}), context.Canceled)
		require.True(t, p.session.Open(nil)[0].Blocking)
		p.dial("agent")
		require.False(t, p.session.Open(nil)[0].Blocking, "from before the agent came")
	})
}

// TestModWait holds how long a bridge waits while the mod is not connected, and that one that was answered without it
// stays, and gets its tools when it asks.
func TestModWait(t *testing.T) {
	inner := gabp.Bridge{Address: "127.0.0.1:1"} // of a mod that may come
	open(t, Config{Handed: Handed{Inner: inner}, ModWait: 20 * time.Second, Observer: "watcher"}, session.Config{}, nil,
		func(t *testing.T, p *play) {
			start := time.Now()
			p.dial("watcher")
			require.Zero(t, time.Since(start), "only an agent waits")
			early := p.dial("agent")
			require.Equal(t, 20*time.Second, time.Since(start))
			m := modOf(done)
			p.connect(m)
			synctest.Wait()
			require.NoError(t, early.Err())
			tools, err := ListTools(p.ctx, early)
			require.NoError(t, err)
			require.Equal(t, "colony/build", tools[0].Name)
			start = time.Now()
			late := p.dial("agent")
			require.Zero(t, time.Since(start))
			require.Equal(t, gabp.App{Name: "Colony", Version: "1"}, late.Welcome().App)

			p.proxy.mod.detach(p.proxy.mod.client.Load()) // for a moment
			time.AfterFunc(time.Second, func() { p.connect(m) })
			start = time.Now()
			require.Equal(t, gabp.App{Name: "Colony", Version: "1"}, p.dial("agent").Welcome().App)
			require.Equal(t, time.Second, time.Since(start))
		})
	open(t, Config{Handed: Handed{Inner: inner}, ModWait: time.Hour}, session.Config{}, nil, func(t *testing.T, p *play) {
		start := time.Now()
		p.proxy.mod.end()
		p.dial("agent")
		require.Zero(t, time.Since(start), "no mod comes any more")
	})
}

// TestModAttention holds that the mod's own items are ingested, acknowledged to it and not
// passed on, or, where attention is left to the mod, the other way round.
func TestModAttention(t *testing.T) {
	const item = `{"attentionId":"mod-1","state":"open","severity":"error","summary":"Broken in the mod"}`
	for _, left := range []bool{false, true} {
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			m := modOf(func(method, params string) []string {
				switch {
				case method != gabp.MethodAttentionAck:
					return slices.Concat([]string{
						sends(gabp.ChannelOpened, 1, item), sends("colony/ticks", 1, `{"n": 1.0}`),
						sends("colony/ticks", 4, `4`),
					}, standin.Result(`{}`))
				case strings.Contains(params, "mod-1"):
					return standin.Result(`{"acknowledged":true,"currentAttention":{"attentionId":"mod-2"}}`)
				}
				return standin.Result(`{"acknowledged":true,"currentAttention":{"attentionId":"mod-2"}}`)
			}, gabp.ChannelOpened, "colony/ticks")
			begin(t, Config{}, leftIf(left), m, func(t *testing.T, p *play) {
				go p.proxy.acknowledgeAll(p.ctx)
				var got []string
				_, err := p.bridge.Events(p.ctx, []string{gabp.ChannelOpened, "colony/ticks"}, func(e gabp.Event) {
					got = append(got, fmt.Sprintf("%s %d %s", e.Channel, e.Seq, e.Payload))
				})
				require.NoError(t, err)
				_, e := p.call("colony/build")
				require.Nil(t, e)
				synctest.Wait()
				ticks := []string{`colony/ticks 1 {"n": 1.0}`, `colony/ticks 4 4`}
				open := p.session.Open(nil)
				if left {
					require.Equal(t, append([]string{gabp.ChannelOpened + " 1 " + item}, ticks...), got)
					require.Empty(t, open)
					require.Len(t, m.Asked(), 1)
					return
				}
				require.Len(t, open, 1)
				require.Equal(t, ticks, slices.DeleteFunc(got, func(s string) bool { return strings.Contains(s, open[0].ID) }))
				require.Equal(t, []string{`attention/ack {"attentionId":"mod-1"}`, `attention/ack {"attentionId":"mod-2"}`}, m.Asked()[1:])
			})
		})
	}
}

// TestModComesAndGoes holds what is recorded of the connection to the mod.
func TestModComesAndGoes(t *testing.T) {
	states := func(p *play) (all []string) {
		for _, r := range p.session.Engine().Read(heed.Cursor{}, 100,
			heed.Filter{Kinds: []event.Kind{event.KindState}}).Records {
			all = append(all, r.Status.String()+" "+r.Message)
		}
		return all
	}
	m := modOf(done)
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		require.True(t, p.proxy.Connected())
		require.Empty(t, states(p), "the first connection is no news")
		p.proxy.down(io.EOF)
		p.connect(standin.NewMod(standin.ModConfig{Tools: `{"tools":[]}`, Answers: done}))
		require.Equal(t, []string{"disconnected the connection to the mod was lost", "connected the mod answers again"}, states(p))
		require.Empty(t, p.proxy.mod.tagsOf("colony/look"))
		p.proxy.mod.end()
		p.proxy.down(io.EOF)
		require.Len(t, states(p), 2, "that the game has ended is recorded elsewhere")
	})
}

const channel = "colony.log"

// TestFloodOfEvents holds that a call of a mod that sends more than heed ingests waits for its events once in all, before
// or after it, that its verdict is unknown then, and that the wait ends with the flood.
func TestFloodOfEvents(t *testing.T) {
	var flooded atomic.Bool
	release := make(chan struct{})
	mod := modOf(func(string, string) []string {
		return append([]string{sends(channel, 1, `{"message":"fine","level":"info"}`)}, standin.Result(`{}`)...)
	}, channel)
	cfg := Config{Now: func() time.Time {
		if flooded.Load() {
			<-release
		}
		return time.Now()
	}}
	begin(t, cfg, session.Config{}, mod, func(t *testing.T, p *play) {
		release = make(chan struct{}) // of this bubble
		took := func() (time.Duration, string) {
			began := time.Now()
			text, refused := p.call("colony/build")
			require.Nil(t, refused)
			return time.Since(began), text
		}
		d, text := took()
		require.Zero(t, d)
		require.Contains(t, text, `"outcome":"clean"`)
		flooded.Store(true)
		for range 3 {
			d, text = took()
			require.Equal(t, drainTimeout, d)
			require.Contains(t, text, `"verdict":{"outcome":"unknown","reason":"blind","text":"What the game reported could not`)
		}
		flooded.Store(false)
		close(release)
		d, text = took()
		require.Zero(t, d)
		require.Contains(t, text, `"outcome":"clean"`)
	})
}
