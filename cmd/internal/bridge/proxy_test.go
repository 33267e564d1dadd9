package bridge

import (
	"bufio"
	"cmp"
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

// fakeMod answers the requests of a proxy.
type fakeMod struct {
	tools   string                                      // result of tools/list; "": the method is not known
	events  []string                                    // channels
	answers func(method string, params string) []string // messages, in which $ID is the id of the request
	conn    net.Conn                                    // of the mod

	refuse       string // error that answers tools/list instead
	capabilities string // more members of them

	mu  sync.Mutex
	got []string // requests but tools/list, with their parameters
}

// The messages of a mod.
func result(text string) []string {
	return []string{`{"v":"gabp/1","id":"$ID","type":"response","result":` + text + `}`}
}

func failure(text string) []string {
	return []string{`{"v":"gabp/1","id":"$ID","type":"response","error":` + text + `}`}
}

func sends(channel string, seq int, payload string) string {
	return fmt.Sprintf(`{"v":"gabp/1","id":"00000000-0000-4000-8000-000000000000","type":"event","channel":%q,"seq":%d,"payload":%s}`,
		channel, seq, payload)
}

func (m *fakeMod) serve() {
	r := bufio.NewReader(m.conn)
	for {
		var n int
		if _, err := fmt.Fscanf(r, "Content-Length: %d\r\nContent-Type: application/json\r\n\r\n", &n); err != nil {
			return
		}
		text := make([]byte, n)
		if _, err := io.ReadFull(r, text); err != nil {
			return
		}
		var q struct {
			ID, Method string
			Params     json.RawMessage
		}
		if json.Unmarshal(text, &q) != nil {
			return
		}
		m.send(m.answer(q.Method, string(q.Params)), q.ID)
	}
}

func (m *fakeMod) send(messages []string, id string) {
	for _, text := range messages {
		text = strings.ReplaceAll(text, "$ID", id)
		_, _ = fmt.Fprintf(m.conn, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
}

func (m *fakeMod) answer(method, params string) []string {
	switch method {
	case "session/hello":
		events, _ := json.Marshal(m.events)
		more := ""
		if m.capabilities != "" {
			more = "," + m.capabilities
		}
		return result(`{"agentId":"mod","app":{"name":"Colony","version":"1"},"capabilities":{"events":` + string(events) +
			more + `},"schemaVersion":"1.0"}`)
	case "session/goodbye":
		return result(`{}`)
	case "events/subscribe":
		return result(`{"subscribed":[]}`)
	case gabp.MethodToolsList:
		if m.refuse != "" {
			return failure(m.refuse)
		}
		if m.tools != "" {
			return result(m.tools)
		}
		return failure(`{"code":-32601,"message":"unknown"}`)
	}
	m.mu.Lock()
	m.got = append(m.got, strings.TrimSpace(method+" "+params))
	m.mu.Unlock()
	return m.answers(method, params)
}

// asked returns the requests that the mod got.
func (m *fakeMod) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got)
}

// modLog is a log that says nothing, cannot be read, or is slow.
type modLog struct {
	err  error
	slow bool
}

func (l *modLog) Run(ctx context.Context, _ follow.Handler) error {
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
func begin(t *testing.T, cfg Config, sc session.Config, mod *fakeMod, f func(t *testing.T, p *play)) {
	open(t, cfg, sc, mod, func(t *testing.T, p *play) {
		p.bridge = p.dial("agent")
		f(t, p)
	})
}

// open is begin without a bridge.
func open(t *testing.T, cfg Config, sc session.Config, mod *fakeMod, f func(t *testing.T, p *play)) {
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
			y.connect(mod, false)
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
		Limits: gabp.Limits{HelloTimeout: 2 * time.Hour, RequestTimeout: 2 * time.Hour},
	})
	require.NoError(p.t, err)
	p.clients = append(p.clients, c)
	return c
}

// connect makes m the mod.
func (p *play) connect(m *fakeMod, again bool) {
	ours, theirs := net.Pipe()
	m.conn = theirs
	go m.serve()
	cfg := gabp.ClientConfig{Token: gabp.NewToken(), Limits: modLimits(DefaultMaxMessage)}
	client, err := gabp.NewClient(p.ctx, ours, cfg)
	require.NoError(p.t, err)
	p.clients = append(p.clients, client)
	require.NoError(p.t, p.proxy.mod.attach(p.ctx, client, client, p.proxy.events, again))
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

// TestCallEnds holds how each answer of the mod ends the operation, and what the bridge gets.
func TestCallEnds(t *testing.T) {
	const lost = "the connection to the game's mod was lost; whether the request was executed is not known"
	for _, c := range []struct {
		name   string
		answer []string
		result string
		code   int
		text   string // of the error
		data   string
		ended  string
	}{
		{"a result", result(`{"n": 1.50}`), `{"n": 1.50}`, 0, "", "", "colony/build completed"},
		{"failed in band", result(`{"success":false,"message":"no room"}`), `{"success":false,"message":"no room"}`, 0, "", "", "colony/build failed no room"},
		{"an error", failure(`{"code":-7,"message":"it broke","data":{"a":1}}`), "", -7, "it broke", `{"a":1}`, "colony/build failed it broke"},
		{"an error about time", failure(fmt.Sprintf(`{"code":%d,"message":"late"}`, gabp.CodeToolTimeout)), "", gabp.CodeToolTimeout, "late", "", "colony/build timed_out late"},
		{"another error about time", failure(fmt.Sprintf(`{"code":%d,"message":"late"}`, gabp.CodeTimeout)), "", gabp.CodeTimeout, "late", "", "colony/build timed_out late"},
		{"the mod is gone", []string{"close"}, "", gabp.CodeToolFailed, lost, `{"outcome":"unknown"}`, "colony/build timed_out " + lost},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &fakeMod{tools: buildTool}
			m.answers = func(string, string) []string {
				if slices.Equal(c.answer, []string{"close"}) {
					_ = m.conn.Close()
					return nil
				}
				return c.answer
			}
			begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
				got, e := p.call("colony/build")
				require.True(t, begins(got, c.result), got)
				require.Equal(t, []string{c.ended}, p.operations())
				require.Zero(t, p.session.Status().InFlight)
				require.False(t, p.proxy.mod.calls.any())
				require.Equal(t, []string{`tools/call {"name":"colony/build"}`}, m.asked())
				if c.code == 0 {
					require.Nil(t, e)
					return
				}
				require.Equal(t, c.code, e.Code)
				require.Equal(t, c.text, e.Message)
				require.True(t, begins(string(e.Data), c.data), string(e.Data))
			})
		})
	}
}

// TestCallOdd holds that an answer in a form of its own ends the operation as far as it can be understood.
func TestCallOdd(t *testing.T) {
	const odd = "the mod's answer does not follow the protocol and was passed on unchanged: "
	for answer, status := range map[string]string{
		`{"v":"gabp/1","id":"$ID","type":"response","error":{"code":-7}}`: "failed",
		`{"v":"gabp/1","id":"$ID","type":"response","result":NaN}`:        "completed",
	} {
		m := &fakeMod{tools: buildTool, answers: func(string, string) []string { return []string{answer} }}
		begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
			_, err := p.bridge.CallTool(p.ctx, "colony/build", nil)
			_, passed := errors.AsType[*gabp.Verbatim](err)
			require.True(t, passed, "%v", err)
			require.Len(t, p.operations(), 1)
			require.True(t, strings.HasPrefix(p.operations()[0], "colony/build "+status+" "+odd), p.operations()[0])
		})
	}
}

// TestCallUnanswered holds what is known of a call without an answer: nothing.
func TestCallUnanswered(t *testing.T) {
	m := &fakeMod{tools: buildTool, answers: func(string, string) []string { return nil }}
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		start := time.Now()
		_, e := p.call("colony/build")
		require.Equal(t, 30*time.Minute, time.Since(start))
		require.Equal(t, gabp.CodeToolTimeout, e.Code)
		synctest.Wait()
		require.Equal(t, []string{"colony/build timed_out the game's mod did not answer in time; whether the request was " +
			"executed is not known"}, p.operations())
	})
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		ctx, leave := context.WithCancel(t.Context())
		go func() { _, _ = p.bridge.CallTool(ctx, "colony/build", nil) }()
		synctest.Wait()
		leave()
		require.NoError(t, p.bridge.Close())
		synctest.Wait()
		require.Equal(t, []string{"colony/build cancelled the caller left before the call was answered"}, p.operations())
		require.Zero(t, p.session.Status().InFlight)
	})
}

// TestModError holds the errors of calls that the mod did not answer.
func TestModError(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	theirs := gabp.Errorf(-7, "no")
	for _, c := range []struct {
		ctx    context.Context
		err    error
		code   int
		text   string
		status event.Status
	}{
		{t.Context(), theirs, -7, "no", event.StatusFailed},
		{gone, theirs, -7, "no", event.StatusFailed},
		{gone, context.Canceled, gabp.CodeToolTimeout, "did not answer in time", event.StatusCancelled},
		{late, context.DeadlineExceeded, gabp.CodeToolTimeout, "did not answer in time", event.StatusTimedOut},
		{late, io.EOF, gabp.CodeToolTimeout, "did not answer in time", event.StatusTimedOut},
		{t.Context(), context.DeadlineExceeded, gabp.CodeToolTimeout, "did not answer in time", event.StatusTimedOut},
		{t.Context(), io.EOF, gabp.CodeToolFailed, "the connection to the game's mod was lost", event.StatusTimedOut},
	} {
		e := modError(c.ctx, c.err)
		require.Equal(t, c.code, e.Code)
		require.Contains(t, e.Message, c.text)
		require.Equal(t, c.status, failed(c.ctx, c.err))
		if errors.Is(c.err, theirs) {
			require.Same(t, theirs, e)
		} else {
			require.Equal(t, `{"outcome":"unknown"}`, string(e.Data))
		}
	}
}

// done answers every call.
func done(string, string) []string { return result(`{"done":true}`) }

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

// TestCallHeldBack holds that a call is not executed while an item blocks, that the refusal
// has the item and how to go on, and that it ends with the acknowledgement.
func TestCallHeldBack(t *testing.T) {
	m := &fakeMod{tools: buildTool, answers: done}
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		p.session.Observe(event.Log{Message: "Odd thing"}.Entry())
		_, e := p.call("colony/build")
		require.Nil(t, e, "an advisory item holds nothing back")
		p.session.Observe(event.Log{Message: "Broken thing"}.Entry())
		_, e = p.call("colony/build")
		h := p.held(e)
		require.Equal(t, "blocked_by_attention", h.Status)
		require.Equal(t, "colony/build", h.Tool)
		require.NotNil(t, h.Attention)
		require.True(t, h.Attention.Blocking)
		require.Equal(t, "Not executed: something broke (1 entry in 1 group).\nNext: call heed/ack with id \"2\", then read the "+
			"game's state again, then call colony/build again if it is still wanted.", e.Message)
		require.Len(t, m.asked(), 1)
		_, e = p.call("colony/look")
		require.Nil(t, e, "it only looks")
		_, e = p.call("colony/look-and-delete")
		p.held(e)
		require.Len(t, m.asked(), 2)
		require.Equal(t, []string{"colony/build completed"}, p.operations())
		events, _, _ := p.session.Timeline(0)
		refused := slices.IndexFunc(events, func(e session.Event) bool { return e.Kind == session.CallRefused })
		require.Equal(t, h.Attention.ID, events[refused].Attention)
		began := slices.IndexFunc(events, func(e session.Event) bool { return e.Kind == session.CallBegan })
		require.Equal(t, []string{"1", "2"}, []string{events[began].Request, events[refused].Request})
		var acked gabp.AckResult
		require.NoError(t, p.bridge.Call(p.ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: h.Attention.ID}, &acked))
		require.True(t, acked.Acknowledged)
		_, e = p.call("colony/build")
		require.Nil(t, e)
	})
}

// TestCallBlind holds what a log that cannot be read does to calls.
func TestCallBlind(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  Config
		a    session.Attention
		goes bool
	}{
		{"usually", Config{}, session.HoldsCalls, false},
		{"fails open", Config{FailOpen: true}, session.HoldsCalls, true},
		{"fails open, in haste", Config{FailOpen: true, AnswerWithin: time.Millisecond}, session.HoldsCalls, true},
		{"only observes, in haste", Config{AnswerWithin: time.Millisecond}, session.OnlyShown, true},
		{"only observes", Config{}, session.OnlyShown, true},
		{"no attention", Config{}, session.LeftToMod, true},
		{"the owner's list", Config{Allow: []string{"colony/*"}}, session.HoldsCalls, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &fakeMod{tools: buildTool, answers: done}
			log := &modLog{err: errors.New("permission denied"), slow: c.cfg.AnswerWithin > 0}
			sc := session.Config{Log: log, Attention: c.a, AnswerWithin: c.cfg.AnswerWithin}
			begin(t, c.cfg, sc, m, func(t *testing.T, p *play) {
				_, e := p.call("colony/build")
				if c.goes {
					require.Nil(t, e)
					require.Len(t, m.asked(), 1)
					return
				}
				h := p.held(e)
				require.Empty(t, m.asked(), "a call that was refused is not executed")
				require.NotNil(t, h.Attention, "there is something to acknowledge")
				require.Contains(t, h.Attention.Summary, "blind: ")
				_, e = p.call("colony/build")
				require.Equal(t, h.Attention.ID, p.held(e).Attention.ID, "a retry is no acknowledgement")
				require.NoError(t, p.bridge.Call(p.ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: h.Attention.ID}, nil))
				_, open, err := p.proxy.source.Current(p.ctx, "agent")
				require.NoError(t, err)
				require.False(t, open)
				_, e = p.call("colony/build")
				require.Nil(t, e, "acknowledged")
				require.Len(t, m.asked(), 1)
			})
		})
	}
}

// TestCallObserveOnly holds that nothing blocks where heed only observes, and nobody is told
// that it does.
func TestCallObserveOnly(t *testing.T) {
	m := &fakeMod{tools: buildTool, answers: done}
	begin(t, Config{}, session.Config{Attention: session.OnlyShown}, m, func(t *testing.T, p *play) {
		p.session.Observe(event.Log{Message: "Broken thing"}.Entry())
		var current gabp.CurrentResult
		require.NoError(t, p.bridge.Call(p.ctx, gabp.MethodAttentionCurrent, nil, &current))
		require.NotNil(t, current.Attention)
		require.False(t, current.Attention.Blocking)
		_, e := p.call("colony/build")
		require.Nil(t, e)
		m.answers = func(string, string) []string {
			p.session.Observe(event.Log{Message: "Broken otherwise"}.Entry())
			return result(`{}`)
		}
		got, e := p.call("colony/build")
		require.Nil(t, e)
		require.Contains(t, got, `"attention":{`)
		require.NotContains(t, got, `"blocking":true`)
	})
}

// TestCallEvents holds that what the mod sends before its answer is known with the result,
// however long it takes to read, within the bound.
func TestCallEvents(t *testing.T) {
	for _, c := range []struct {
		name   string
		each   time.Duration // to read an event
		took   time.Duration
		within bool
	}{
		{"in time", 100 * time.Millisecond, 400 * time.Millisecond, true},
		{"too late", 200 * time.Millisecond, 500 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &fakeMod{tools: buildTool, events: []string{"colony.log", "colony/ticks"}}
			m.answers = func(string, string) []string {
				var messages []string
				for i := range 3 {
					messages = append(messages, sends("colony.log", i+1, fmt.Sprintf(`{"level":"info","message":"Fine %d"}`, i)))
				}
				return slices.Concat(messages,
					[]string{sends("colony.log", 4, `{"level":"error","message":"Broken by the call"}`)}, result(`{"done":true}`))
			}
			now := func() time.Time { // as an intake that takes its time
				time.Sleep(c.each)
				return time.Unix(1_700_000_000, 0)
			}
			begin(t, Config{Now: now}, session.Config{}, m, func(t *testing.T, p *play) {
				start := time.Now()
				got, e := p.call("colony/build")
				require.Nil(t, e)
				require.Equal(t, c.took, time.Since(start))
				require.Equal(t, c.within, strings.Contains(got, "something broke"), got)
			})
		})
	}
}

// TestCheckEvents holds that what the mod has sent before a call holds it back, however long it takes to read.
func TestCheckEvents(t *testing.T) {
	m := &fakeMod{tools: buildTool, events: []string{"colony.log"}, answers: done}
	now := func() time.Time {
		time.Sleep(100 * time.Millisecond)
		return time.Unix(1_700_000_000, 0)
	}
	begin(t, Config{Now: now}, session.Config{}, m, func(t *testing.T, p *play) {
		m.send([]string{
			sends("colony.log", 1, `{"level":"info","message":"Fine"}`),
			sends("colony.log", 2, `{"level":"error","message":"Broken by itself"}`),
		}, "")
		synctest.Wait() // the pipe hands bytes over before the message is read
		_, e := p.call("colony/build")
		p.held(e)
	})
	begin(t, Config{Now: now}, session.Config{}, m, func(t *testing.T, p *play) {
		m.send([]string{sends("colony.log", 1, `{"level":"error","message":"Broken by itself"}`)}, "")
		synctest.Wait()
		var current gabp.CurrentResult
		require.NoError(t, p.bridge.Call(p.ctx, gabp.MethodAttentionCurrent, nil, &current))
		require.NotNil(t, current.Attention)
	})
}

// TestCheckDelivers holds that a call beside an advisory item does not deliver it.
func TestCheckDelivers(t *testing.T) {
	begin(t, Config{}, session.Config{}, &fakeMod{tools: buildTool, answers: done}, func(t *testing.T, p *play) {
		p.session.Observe(event.Log{Message: "Odd thing"}.Entry())
		p.session.Observe(event.Log{Message: "Odd thing"}.Entry())
		_, e := p.call("colony/build")
		require.Nil(t, e)
		events, _, _ := p.session.Timeline(0)
		began := slices.IndexFunc(events, func(e session.Event) bool { return e.Kind == session.CallBegan })
		item := p.session.Open(nil)[0]
		require.Equal(t, item.OpenedAtSequence, p.session.Ack(p.ctx, events[began].Consumer, item.ID, 0).Watermark)
	})
}

// TestGameBound holds that every request to the mod is gated and an operation, whatever its method is called, that heed
// answers its own, and that the tags of a tool apply to the method of its name.
func TestGameBound(t *testing.T) {
	const lists = `{"tools":[{"name":"colony/build"},{"name":"colony/look","tags":["read-only"]},` +
		`{"name":"game/quit","tags":["lifecycle"]}]}`
	for _, c := range []struct {
		method, params string
		allow          string
		held, recorded bool
	}{
		{method: "state/get", held: true, recorded: true},
		{method: "state/set", params: `{"updates":{"gold":1}}`, held: true, recorded: true},
		{method: gabp.MethodResourcesRead, params: `{"uri":"gabp://mod/map"}`, held: true, recorded: true},
		{method: "colony/build", held: true, recorded: true},
		{method: "colony/unlisted", held: true, recorded: true},
		{method: "attention/clear", held: true, recorded: true},
		{method: "attention/Ack", held: true, recorded: true},
		{method: "session/save", held: true, recorded: true},
		{method: "events/emit", held: true, recorded: true},
		{method: "heed/status", held: true, recorded: true},
		{method: "tools/Call", params: `{"name":"colony/look"}`, held: true, recorded: true},
		{method: "state/get", allow: "state/*", recorded: true},
		{method: "game/quit", recorded: true},
		{method: "colony/look"},
		{method: gabp.MethodResourcesRead, params: `{"uri":"` + ResourceBase + `current"}`},
		{method: gabp.MethodAttentionCurrent},
		{method: "session/ping"},
		{method: "events/list"},
	} {
		t.Run(c.method+" "+c.allow, func(t *testing.T) {
			m := &fakeMod{tools: lists}
			cfg := Config{}
			if c.allow != "" {
				cfg.Allow = []string{c.allow}
			}
			begin(t, cfg, session.Config{}, m, func(t *testing.T, p *play) {
				m.answers = func(string, string) []string {
					p.session.Observe(event.Log{Message: "Broken by the request"}.Entry())
					return result(`{"done":true}`)
				}
				p.session.Observe(event.Log{Message: "Fault of before"}.Entry())
				before := p.session.Open(nil)[0].ID
				raw, err := p.bridge.CallRaw(p.ctx, c.method, json.RawMessage(c.params))
				if c.held {
					e, _ := errors.AsType[*gabp.Error](err)
					h := p.held(e)
					require.Equal(t, before, h.Attention.ID)
					require.Equal(t, c.method, h.Tool)
					require.Empty(t, m.asked())
					require.Empty(t, p.operations())
					require.NoError(t, p.bridge.Call(p.ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: before}, nil))
					raw, err = p.bridge.CallRaw(p.ctx, c.method, json.RawMessage(c.params))
				}
				require.NoError(t, err)
				if !c.recorded {
					require.Empty(t, p.operations())
					require.NotContains(t, string(raw), "verdict")
					return
				}
				require.Equal(t, []string{strings.TrimSpace(c.method + " " + c.params)}, m.asked())
				require.Equal(t, []string{c.method + " completed"}, p.operations())
				require.True(t, begins(string(raw), `{"done":true}`), string(raw))
				require.Contains(t, string(raw), `"executed":true`)
				require.Contains(t, string(raw), `"outcome":"blocking","reason":"charged"`)
			})
		})
	}
}

// TestModsOwnAttention holds that the mod's attention, where it is left to the mod, is no operation: bridges ask for it
// before each call.
func TestModsOwnAttention(t *testing.T) {
	m := &fakeMod{tools: buildTool, answers: done}
	begin(t, Config{}, session.Config{Attention: session.LeftToMod}, m, func(t *testing.T, p *play) {
		for _, method := range attentionMethods {
			raw, err := p.bridge.CallRaw(p.ctx, method, json.RawMessage(`{"attentionId":"mod-1"}`))
			require.NoError(t, err)
			require.Equal(t, `{"done":true}`, string(raw))
		}
		require.Len(t, m.asked(), 2)
		require.Empty(t, p.operations())
		raw, err := p.bridge.CallRaw(p.ctx, "state/get", nil)
		require.NoError(t, err)
		require.Equal(t, `{"done":true}`, string(raw))
		require.Equal(t, []string{"state/get completed"}, p.operations())
	})
}

// TestPassMethod holds how each answer to what is no call of a tool is passed on.
func TestPassMethod(t *testing.T) {
	m := &fakeMod{tools: buildTool}
	m.answers = func(method, _ string) []string {
		switch method {
		case "colony/anything":
			return result(`{"n": 1.50}`)
		case "colony/number":
			return result(`1.50`)
		case "colony/odd":
			return []string{`{"v":"gabp/1","id":"$ID","type":"response","result":NaN}`}
		}
		return failure(`{"code":-9,"message":"no","data":[1]}`)
	}
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		raw, err := p.bridge.CallRaw(p.ctx, "colony/anything", json.RawMessage(`{"x": 1.0}`))
		require.NoError(t, err)
		require.Equal(t, `{"n": 1.50,"verdict":{"outcome":"clean","cleanThrough":3}}`, string(raw))
		require.Equal(t, []string{`colony/anything {"x": 1.0}`}, m.asked())
		raw, err = p.bridge.CallRaw(p.ctx, "colony/number", nil)
		require.NoError(t, err)
		require.Equal(t, `1.50`, string(raw))
		_, err = p.bridge.CallRaw(p.ctx, "colony/nothing", nil)
		e, _ := errors.AsType[*gabp.Error](err)
		require.Equal(t, &gabp.Error{Code: -9, Message: "no", Data: json.RawMessage(`[1]`)}, e)
		_, err = p.bridge.CallRaw(p.ctx, "colony/odd", nil)
		_, odd := errors.AsType[*gabp.Verbatim](err)
		require.True(t, odd, "%v", err)
		require.EqualValues(t, 1, p.proxy.Untaken())
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
		tools, err := listTools(p.ctx, p.bridge)
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
	m := &fakeMod{tools: buildTool, answers: done}
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
			m := &fakeMod{tools: buildTool, answers: done}
			p.connect(m, false)
			synctest.Wait()
			require.NoError(t, early.Err())
			tools, err := listTools(p.ctx, early)
			require.NoError(t, err)
			require.Equal(t, "colony/build", tools[0].Name)
			start = time.Now()
			late := p.dial("agent")
			require.Zero(t, time.Since(start))
			require.Equal(t, gabp.App{Name: "Colony", Version: "1"}, late.Welcome().App)

			p.proxy.mod.detach() // for a moment
			time.AfterFunc(time.Second, func() { p.connect(m, true) })
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

// leftIf sets up a session whose attention may be left to the mod.
func leftIf(left bool) session.Config {
	if left {
		return session.Config{Attention: session.LeftToMod}
	}
	return session.Config{}
}

// TestModAttention holds that the mod's own items are ingested, acknowledged to it and not
// passed on, or, where attention is left to the mod, the other way round.
func TestModAttention(t *testing.T) {
	const item = `{"attentionId":"mod-1","state":"open","severity":"error","summary":"Broken in the mod"}`
	for _, left := range []bool{false, true} {
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			m := &fakeMod{tools: buildTool, events: []string{gabp.ChannelOpened, "colony/ticks"}}
			m.answers = func(method, params string) []string {
				switch {
				case method != gabp.MethodAttentionAck:
					return slices.Concat([]string{
						sends(gabp.ChannelOpened, 1, item), sends("colony/ticks", 1, `{"n": 1.0}`),
						sends("colony/ticks", 4, `4`),
					}, result(`{}`))
				case strings.Contains(params, "mod-1"):
					return result(`{"acknowledged":true,"currentAttention":{"attentionId":"mod-2"}}`)
				}
				return result(`{"acknowledged":true,"currentAttention":{"attentionId":"mod-2"}}`)
			}
			begin(t, Config{}, leftIf(left), m, func(t *testing.T, p *play) {
				go p.proxy.events.acknowledgeAll(p.ctx)
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
					require.Len(t, m.asked(), 1)
					return
				}
				require.Len(t, open, 1)
				require.Equal(t, ticks, slices.DeleteFunc(got, func(s string) bool { return strings.Contains(s, open[0].ID) }))
				require.Equal(t, []string{`attention/ack {"attentionId":"mod-1"}`, `attention/ack {"attentionId":"mod-2"}`}, m.asked()[1:])
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
	m := &fakeMod{tools: buildTool, answers: done}
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		require.True(t, p.proxy.Connected())
		require.Empty(t, states(p), "the first connection is no news")
		p.proxy.events.down(io.EOF)
		p.connect(&fakeMod{tools: `{"tools":[]}`, answers: done}, true)
		require.Equal(t, []string{"disconnected the connection to the mod was lost", "connected the mod answers again"}, states(p))
		require.Empty(t, p.proxy.mod.tagsOf("colony/look"))
		p.proxy.mod.end()
		p.proxy.events.down(io.EOF)
		require.Len(t, states(p), 2, "that the game has ended is recorded elsewhere")
	})
}

// TestLists holds how the mod's lists and heed's become one.
func TestLists(t *testing.T) {
	names := func(t *testing.T, p *play, method, params, member, key string) (all []string) {
		raw, err := p.bridge.CallRaw(p.ctx, method, json.RawMessage(params))
		require.NoError(t, err)
		var answer map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(raw, &answer))
		var list []map[string]any
		require.NoError(t, json.Unmarshal(answer[member], &list))
		for _, e := range list {
			all = append(all, fmt.Sprint(e[key]))
		}
		return all
	}
	var ours, resources []string
	for _, tool := range Tools() {
		ours = append(ours, tool.Name)
	}
	for _, r := range Resources() {
		resources = append(resources, r.URI)
	}
	m := &fakeMod{tools: `{"more":1.50,"tools":[{"name":"colony/look","tags":["read-only"],"odd":1.50},{"name":"` + ToolStatus + `"}]}`}
	m.answers = func(method, _ string) []string {
		if method == gabp.MethodResourcesList {
			return result(`{"resources":[{"uri":"gabp://mod/map"},{"uri":"` + ResourceBase + `items"}]}`)
		}
		return result(`{}`)
	}
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		raw, err := p.bridge.CallRaw(p.ctx, gabp.MethodToolsList, json.RawMessage(`{}`))
		require.NoError(t, err)
		require.Contains(t, string(raw), `"more":1.50`)
		require.Contains(t, string(raw), `{"name":"colony/look","tags":["read-only"],"odd":1.50}`)
		require.Equal(t, append([]string{"colony/look"}, ours...), names(t, p, gabp.MethodToolsList, `{}`, "tools", "name"))
		require.Equal(t, append([]string{"gabp://mod/map"}, resources...), names(t, p, gabp.MethodResourcesList, `{}`, "resources", "uri"))
		require.Equal(t, []string{"gabp://mod/map", ResourceBase + "items"},
			names(t, p, gabp.MethodResourcesList, `{"pattern":"gabp://mod/heed/it*"}`, "resources", "uri"))
		require.Equal(t, []string{"read-only"}, p.proxy.mod.tagsOf("colony/look"))

		m.tools = `{"tools":[{"name":"colony/look"}]}` // a part, by the filter
		require.Equal(t, []string{"colony/look", ToolStatus},
			names(t, p, gabp.MethodToolsList, `{"filter":{"namePattern":"heed/status"}}`, "tools", "name"))
		require.Equal(t, []string{"read-only"}, p.proxy.mod.tagsOf("colony/look"), "a filtered list is not the list")
		for _, all := range []string{`{}`, `{"filter":null}`} {
			m.tools = `{"tools":[{"name":"colony/look","tags":["read-only"]}]}`
			names(t, p, gabp.MethodToolsList, `{}`, "tools", "name")
			require.NotEmpty(t, p.proxy.mod.tagsOf("colony/look"))
			m.tools = `{"tools":[{"name":"colony/look"}]}`
			names(t, p, gabp.MethodToolsList, all, "tools", "name")
			require.Empty(t, p.proxy.mod.tagsOf("colony/look"), "the latest list is")
		}

		m.tools = `{"tools":{"odd":1.50}}`
		raw, err = p.bridge.CallRaw(p.ctx, gabp.MethodToolsList, json.RawMessage(`{}`))
		require.NoError(t, err)
		require.Equal(t, m.tools, string(raw), "another form")
		m.tools = "" // it has no tools at all
		require.Equal(t, ours, names(t, p, gabp.MethodToolsList, `{}`, "tools", "name"))
		m.answers = func(string, string) []string { return failure(`{"code":-3,"message":"busy"}`) }
		_, err = p.bridge.CallRaw(p.ctx, gabp.MethodResourcesList, json.RawMessage(`{}`))
		require.ErrorContains(t, err, "busy")
	})
}

// TestReadResource holds which resources are heed's, and which the mod's.
func TestReadResource(t *testing.T) {
	m := &fakeMod{tools: buildTool, answers: func(string, string) []string { return result(`{"content":"a map"}`) }}
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		raw, err := p.bridge.CallRaw(p.ctx, gabp.MethodResourcesRead, json.RawMessage(`{"uri":"`+ResourceBase+`current"}`))
		require.NoError(t, err)
		require.Equal(t, `{"content":{"attention":null},"mimeType":"application/json","encoding":"utf-8"}`, string(raw))
		require.Empty(t, m.asked())
		raw, err = p.bridge.CallRaw(p.ctx, gabp.MethodResourcesRead, json.RawMessage(`{"uri":"gabp://mod/map"}`))
		require.NoError(t, err)
		require.True(t, begins(string(raw), `{"content":"a map"}`), string(raw))
	})
}

// TestFloodOfEvents holds that a call of a mod that sends more than heed ingests waits for its events once in all, before
// or after it, that its verdict is unknown then, and that the wait ends with the flood.
func TestFloodOfEvents(t *testing.T) {
	var flooded atomic.Bool
	release := make(chan struct{})
	mod := &fakeMod{tools: buildTool, events: []string{channel}, answers: func(string, string) []string {
		return append([]string{sends(channel, 1, `{"message":"fine","level":"info"}`)}, result(`{}`)...)
	}}
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

// listTools returns the tools that a server lists for a client.
func listTools(ctx context.Context, c *gabp.Client) ([]gabp.Tool, error) {
	var result struct {
		Tools []gabp.Tool `json:"tools"`
	}
	err := c.Call(ctx, gabp.MethodToolsList, nil, &result)
	return result.Tools, err
}
