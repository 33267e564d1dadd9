package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
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
	"github.com/heedlog/heed/internal/testkit"
)

// firstLine is a log that ends what it is of with its first line.
type firstLine struct {
	bytes.Buffer
	end context.CancelFunc
}

func (l *firstLine) Write(p []byte) (int, error) {
	defer l.end()
	return l.Buffer.Write(p)
}

// TestModRefuses: a mod that does not take the token is no mod that is still to come.
func TestModRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server, err := gabp.NewServer(gabp.ServerConfig{
		Token: gabp.NewToken(), AgentID: "mod", App: gabp.App{Name: "Colony", Version: "1"}, Mux: new(gabp.Mux),
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, l) }()
	log := &firstLine{end: cancel}
	ours := gabp.NewToken()
	m := newMod(&Config{
		Handed: Handed{Inner: gabp.Bridge{Address: l.Addr().String(), Token: ours}},
		Logger: slog.New(slog.NewTextHandler(log, nil)), Session: testkit.Must(session.New(session.Config{})),
	})
	_, err = m.dial(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, <-served)
	require.Contains(t, log.String(), "the mod refused the connection of heed")
	require.Equal(t, 1, strings.Count(log.String(), "\n"))
	require.NotContains(t, log.String(), ours)
}

// TestMissed: a hole in a mod's numbers is told, a mod that counts in its own way is left to it.
func TestMissed(t *testing.T) {
	m := newMod(&Config{})
	m.seqs = map[string]uint64{}
	for _, c := range []struct {
		channel     string
		seq, missed uint64
	}{{"a", 7, 0}, {"a", 8, 0}, {"b", 1, 0}, {"a", 12, 3}, {"a", 12, 0}, {"a", 0, 0}, {"a", 1, 0}, {"b", 2, 0}} {
		require.Equal(t, c.missed, m.missed(&gabp.Event{Channel: c.channel, Seq: c.seq}))
	}
}

// TestTagsAreOfTheLatestList: a list that cannot be read exempts no tool, whatever one before did.
func TestTagsAreOfTheLatestList(t *testing.T) {
	m := newMod(&Config{})
	const list = `{"tools":[{"name":"look","tags":["read-only"],"description":7}]}`
	for _, unreadable := range []string{``, `{"tools":7}`, `{"tools":[{"name":"look","tags":"none"}]}`} {
		m.learnTags(json.RawMessage(list))
		require.Equal(t, []string{"read-only"}, m.tagsOf("look"))
		m.learnTags(json.RawMessage(unreadable))
		require.Empty(t, m.tagsOf("look"), unreadable)
	}
}

// TestToolsBound: the tags of the first tools of a list are kept.
func TestToolsBound(t *testing.T) {
	m := newMod(&Config{})
	var list []string
	for i := range maxTools + 2 {
		list = append(list, fmt.Sprintf(`{"name":"tool%06d","tags":["t"]}`, i))
	}
	m.learnTags(json.RawMessage(`{"tools":[` + strings.Join(list, ",") + `]}`))
	require.Len(t, *m.tags.Load(), maxTools)
	require.Equal(t, []string{"t"}, m.tagsOf(fmt.Sprintf("tool%06d", maxTools-1)))
}

// TestModRuns holds how the connection to the mod is kept up: when it is tried again, what is recorded of it, and that
// nothing is left of it at the end.
func TestModRuns(t *testing.T) {
	var tries []time.Duration
	var latest *standin.Mod
	var began time.Time
	refuses := standin.ModConfig{Tools: standin.Failure(`{"code":-7,"message":"later"}`)}
	// Of the connections, after six that were refused.
	mods := []*standin.Mod{modOf(nil), standin.NewMod(refuses), modOf(nil)}
	dial := func(context.Context) (io.ReadWriteCloser, error) {
		tries = append(tries, time.Since(began))
		if len(tries) <= 6 || len(tries)-7 >= len(mods) {
			return nil, errors.New("refused")
		}
		ours, theirs := net.Pipe()
		latest = mods[len(tries)-7]
		go latest.ServeConn(theirs)
		return ours, nil
	}
	cfg := Config{Handed: Handed{Inner: gabp.Bridge{Address: "mod", Token: gabp.NewToken()}}, DialMod: dial}
	open(t, cfg, session.Config{}, nil, func(t *testing.T, p *play) {
		m := p.proxy.mod
		run := func() (end func()) {
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				m.run(ctx, p.proxy)
			}()
			return func() { stop(); <-ended }
		}
		began = time.Now()
		end := run()
		m.await(t.Context(), time.Minute)
		require.Equal(t, 1100*time.Millisecond, time.Since(began))
		synctest.Wait()
		require.Equal(t, gabp.App{Name: "Colony", Version: "1"}, m.client.Load().Welcome().App)
		w, ok := m.welcome()
		require.True(t, ok)
		require.Equal(t, "mod", w.AgentID)
		time.Sleep(time.Second)
		latest.Disconnect()
		time.Sleep(3 * time.Second)
		synctest.Wait()
		const ms = time.Millisecond
		require.Equal(t, []time.Duration{
			0, 50 * ms, 150 * ms, 350 * ms, 600 * ms, 850 * ms, 1100 * ms,
			3100 * ms, 4100 * ms,
		}, tries)
		require.Equal(t, []string{"disconnected after 3 s", "connected after 4 s"}, p.states(began))
		m.await(t.Context(), time.Minute)
		require.Equal(t, 5100*ms, time.Since(began), "it has answered")
		end()
		require.Nil(t, m.client.Load())
		_, ok = m.welcome()
		require.False(t, ok)
		latest.Disconnect()

		end = run() // ends while there is no connection
		time.Sleep(time.Minute)
		synctest.Wait()
		end()
		require.Len(t, p.states(began), 2, "heed has left it, not the other way round")
	})
}

// TestAbsence: a game has no mod once nothing has listened for a while after its start, while the log was quiet; a log
// that grows for long is quiet, too.
func TestAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		phase, lines := "menu", uint64(1)
		var a absence
		refused := error(&net.OpError{Op: "dial", Err: errors.New("refused")})
		after := func(d time.Duration) bool {
			time.Sleep(d)
			return a.shown(refused, phase, lines)
		}
		require.False(t, after(time.Hour), "the first time")
		require.False(t, after(quietFor-1))
		require.True(t, after(1))
		require.True(t, after(time.Hour))
		for name, other := range map[string]func(){
			"it loads":       func() { phase = "load" },
			"another error":  func() { refused = &net.OpError{Op: "read", Err: errors.New("reset")} },
			"no such error":  func() { refused = errors.New("refused") },
			"it saves":       func() { phase = "save" },
			"nothing so far": func() { phase = "" },
		} {
			was := refused
			other()
			require.False(t, after(time.Hour), name)
			phase, refused = "play", was
			require.False(t, after(0), name)
			require.False(t, after(quietFor-1), name)
			require.True(t, after(1), name)
		}
		phase = ""
		require.False(t, after(0))
		phase = "play"
		began := time.Now()
		require.False(t, after(0))
		for time.Since(began)+quietFor/2 < quietWithin {
			lines++
			require.False(t, after(quietFor/2), "the log grows")
		}
		grown := time.Now()
		for {
			lines++
			if after(quietFor / 4) {
				break
			}
		}
		require.LessOrEqual(t, time.Since(began), quietWithin+quietFor+quietFor/4)
		require.GreaterOrEqual(t, time.Since(grown), quietFor)
	})
}

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
		require.Equal(t, "Not executed: no mod is connected to execute colony/build.\nNext: wait for the game, and list its tools, then call "+
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
		{"one that only looks", Config{}, session.Config{}, "heed-watcher", true},
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
	open(t, Config{Handed: Handed{Inner: inner}, ModWait: 20 * time.Second}, session.Config{}, nil,
		func(t *testing.T, p *play) {
			start := time.Now()
			p.dial("heed-watcher")
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
		p.connect(standin.NewMod(standin.ModConfig{Tools: standin.Result(`{"tools":[]}`), Answers: done}))
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
