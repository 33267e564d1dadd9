package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/internal/text"
)

// given is a log with records.
type given struct {
	modLog
	records []follow.Record
}

func (g *given) Run(_ context.Context, h func(*follow.Record)) error {
	for i := range g.records {
		h(&g.records[i])
	}
	return nil
}

// TestFeed holds that a followed log leaves out what the mod has sent, and nothing else.
func TestFeed(t *testing.T) {
	now := time.Unix(1000, 0)
	record := func(message string, kind event.Kind, history bool) follow.Record {
		r := follow.Record{Arrived: now, History: history}
		r.Kind, r.Message = kind, message
		return r
	}
	d := NewDedup()
	for range 4 {
		require.True(t, d.FromMod("known", false, now))
	}
	var got []string
	log := &given{records: []follow.Record{
		record("new", event.KindLog, false), record("known", event.KindLog, false), record("known", event.KindLog, true),
		record("known", event.KindNotice, false), record("new", event.KindLog, false),
	}}
	require.NoError(t, Feed(log, d).Run(t.Context(), func(r *follow.Record) {
		got = append(got, fmt.Sprint(r.Kind, " ", r.Message, " ", r.History))
	}))
	require.Equal(t, []string{"log new false", "log known true", "notice known false", "log new false"}, got)
}

// TestFeedLate: a record that comes again as a whole, for lines that came late, is counted once.
func TestFeedLate(t *testing.T) {
	now := time.Unix(1000, 0)
	record := func(line int, message string, late bool) follow.Record {
		r := follow.Record{Arrived: now}
		r.Message, r.StartLine = message, line
		if late {
			r.Part = event.Again
		}
		return r
	}
	d := NewDedup()
	require.True(t, d.FromMod("known", false, now))
	var got []string
	log := &given{records: []follow.Record{
		record(1, "new", false), record(1, "new\nmore", true), record(3, "known", false), record(3, "known\nmore", true),
		record(5, "ha", false), record(5, "half", true),
	}}
	require.NoError(t, Feed(log, d).Run(t.Context(), func(r *follow.Record) { got = append(got, r.Message) }))
	require.Equal(t, []string{"new", "new\nmore", "ha", "half"}, got)
	for _, text := range []string{"new", "half"} {
		require.False(t, d.FromMod(text, false, now))
		require.True(t, d.FromMod(text, false, now), "another one")
	}
}

// TestWelcomes holds what a bridge is told of the mod's capabilities and limits, beside heed's.
func TestWelcomes(t *testing.T) {
	limits := func(a, b, c int) *gabp.WireLimits {
		return &gabp.WireLimits{MaxMessageSize: a, MaxConcurrentRequests: b, RequestTimeout: c}
	}
	require.Equal(t, limits(1, 2, 3), lesser(limits(1, 2, 3), nil))
	require.Equal(t, limits(1, 2, 3), lesser(nil, limits(1, 2, 3)))
	require.Nil(t, lesser(nil, nil))
	require.Equal(t, limits(1, 1, 3), lesser(limits(1, 2, 0), limits(2, 1, 3)))
	require.Equal(t, limits(1, 1, 3), lesser(limits(2, 1, 3), limits(1, 0, 4)))

	for _, left := range []bool{false, true} {
		m := standin.NewMod(standin.ModConfig{
			Channels: []string{"colony.log", gabp.ChannelOpened, "attention/mine"},
			Capabilities: `"methods":["colony/build","attention/current","attention/mine"],"resources":["gabp://mod/map"],` +
				`"limits":{"maxMessageSize":10000,"maxConcurrentRequests":5}`,
		})
		open(t, Config{}, leftIf(left), m, func(t *testing.T, p *play) {
			w := p.dial("agent").Welcome()
			require.Equal(t, "mod", w.AgentID)
			require.Equal(t, gabp.App{Name: "Colony", Version: "1"}, w.App)
			require.Equal(t, "1.0", w.SchemaVersion)
			c := w.Capabilities
			require.Equal(t, left, slices.Contains(c.Methods, "attention/mine"))
			require.Equal(t, left, slices.Contains(c.Events, "attention/mine"))
			require.Contains(t, c.Methods, "colony/build")
			require.Contains(t, c.Methods, gabp.MethodAttentionCurrent)
			require.Contains(t, c.Methods, gabp.MethodToolsList)
			require.Contains(t, c.Events, gabp.ChannelOpened)
			require.Contains(t, c.Events, "colony.log")
			require.Equal(t, "gabp://mod/map", c.Resources[0])
			require.Len(t, c.Resources, 1+len(Resources()))
			require.Equal(t, 10_000, c.Limits.MaxMessageSize)
			require.Equal(t, 5, c.Limits.MaxConcurrentRequests)
			require.Equal(t, int(serverTimeout/time.Second), c.Limits.RequestTimeout)
		})
	}
	handed := Handed{Outer: gabp.Bridge{GameID: "colony"}}
	open(t, Config{Handed: handed, Version: "1.2"}, session.Config{}, nil, func(t *testing.T, p *play) {
		w := p.dial("agent").Welcome()
		require.Equal(t, "colony", w.AgentID)
		require.Equal(t, gabp.App{Name: "colony", Version: "1.2"}, w.App)
		require.Equal(t, &gabp.Info{Name: "heed", Version: "1.2"}, w.ServerInfo)
		require.Greater(t, w.Capabilities.Limits.MaxMessageSize, DefaultMaxMessage)
		require.Len(t, w.Capabilities.Resources, len(Resources()))
	})
	open(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
		require.Equal(t, gabp.App{Name: "heed", Version: "0"}, p.dial("agent").Welcome().App)
	})
}

// TestModEvents holds what becomes of the mod's events: a call's own are its own, and what is lost is counted.
func TestModEvents(t *testing.T) {
	m := modOf(done, "colony/ticks")
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		var got []string
		_, err := p.bridge.Events(p.ctx, []string{"colony/ticks"}, func(e gabp.Event) {
			got = append(got, fmt.Sprintf("%d %s", e.Seq, e.Payload))
		})
		require.NoError(t, err)
		send := func(e gabp.Event) {
			p.proxy.event(e)
			synctest.Wait()
		}
		const failed = `{"eventType":"operation.failed","operationId":"o","capabilityId":"save/all","errorMessage":"full"}`
		send(gabp.Event{Channel: "colony/operation", Payload: json.RawMessage(failed)})
		require.Equal(t, []string{"save/all failed full"}, p.operations())
		n := p.proxy.mod.calls.begin()
		send(gabp.Event{Channel: "colony/operation", Payload: json.RawMessage(failed)})
		require.Len(t, p.operations(), 1, "a call ends with its answer")
		p.proxy.mod.calls.end(n, true)

		require.Empty(t, p.proxy.limits())
		send(gabp.Event{Channel: "colony/ticks", Seq: 7, Payload: json.RawMessage("1")})
		send(gabp.Event{Channel: "colony/ticks", Seq: 10, Lost: 2, Payload: json.RawMessage("2")})
		send(gabp.Event{Channel: "colony/ticks", Seq: 11, Payload: json.RawMessage(`"` + strings.Repeat("x", DefaultMaxMessage+3*messageRest) + `"`)})
		send(gabp.Event{Channel: "colony/ticks", Seq: 12, Payload: json.RawMessage("4")})
		require.Equal(t, []string{"1 1", "4 2", "5 4"}, got)
		require.EqualValues(t, 2, p.proxy.mod.lost.Load())
		p.proxy.mod.odd.Add(3)
		hit := p.proxy.limits()
		require.Len(t, hit, 2)
		require.Equal(t, []string{"mod.events 2", "mod.answers 3"},
			[]string{fmt.Sprint(hit[0].Name, " ", hit[0].Count), fmt.Sprint(hit[1].Name, " ", hit[1].Count)})
		require.NotEmpty(t, hit[0].Means)
		require.Zero(t, p.proxy.server.Stats().EventsDropped)
		require.EqualValues(t, 1, p.proxy.server.Stats().Sessions)
	})
}

// TestAcknowledgesTheMod holds that what is acknowledged to the mod is what was ingested, one at a time.
func TestAcknowledgesTheMod(t *testing.T) {
	item := func(id string) json.RawMessage {
		return json.RawMessage(`{"attentionId":"` + id + `","state":"open","summary":"s"}`)
	}
	m := modOf(func(_, params string) []string {
		switch {
		case strings.Contains(params, `"a"`):
			return standin.Result(`{"currentAttention":{"attentionId":"b"}}`)
		case strings.Contains(params, `"b"`):
			return standin.Result(`{"currentAttention":{"attentionId":"b"}}`) // which stays open
		case strings.Contains(params, `"d"`):
			return standin.Result(`{"currentAttention":null}`)
		}
		return standin.Failure(`{"code":-1,"message":"no"}`)
	})
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		e := p.proxy
		for _, id := range []string{"d", "x"} { // the second finds the first waiting
			e.event(gabp.Event{Channel: gabp.ChannelOpened, Payload: item(id)})
		}
		go e.acknowledgeAll(p.ctx)
		synctest.Wait()
		e.event(gabp.Event{Channel: gabp.ChannelOpened, Payload: item("c")})
		synctest.Wait()
		e.event(gabp.Event{Channel: gabp.ChannelOpened, Payload: item("a")})
		synctest.Wait()
		require.Equal(t, []string{
			`attention/ack {"attentionId":"d"}`, `attention/ack {"attentionId":"c"}`,
			`attention/ack {"attentionId":"a"}`, `attention/ack {"attentionId":"b"}`,
		}, m.Asked())
		p.proxy.mod.detach(p.proxy.mod.client.Load())
		e.event(gabp.Event{Channel: gabp.ChannelOpened, Payload: item("a")})
		synctest.Wait()
		require.Len(t, m.Asked(), 4, "there is no mod")
	})
}

// TestNew holds what a proxy needs.
func TestNew(t *testing.T) {
	s, err := session.New(session.Config{})
	require.NoError(t, err)
	log := slog.New(slog.DiscardHandler)
	token := Handed{Outer: gabp.Bridge{Token: gabp.NewToken()}}
	for want, cfg := range map[string]Config{
		"Token":    {Session: s, Logger: log},
		"Timeout":  {Session: s, Logger: log, Handed: token, AnswerWithin: -1},
		"Allow[0]": {Session: s, Logger: log, Handed: token, Allow: []string{"a*"}},
	} {
		_, err := New(cfg)
		require.ErrorContains(t, err, want)
	}
}

// TestCallFinds holds what a result has beside the mod's: a verdict for an operation and for no other call, and
// that the mod's own operation is a part of the call.
func TestCallFinds(t *testing.T) {
	type found struct {
		Executed  *bool
		Attention *heed.Item
		Verdict   *struct{ Outcome string }
	}
	var answer func() []string
	m := modOf(func(string, string) []string { return answer() })
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		call := func(tool string, answers []string) (f found) {
			t.Helper()
			answer = func() []string {
				if strings.Contains(answers[0], "broken") {
					p.session.Observe(event.Log{Message: "Broken thing"}.Entry())
				}
				if strings.Contains(answers[0], "gone") {
					m.Disconnect()
				}
				return answers
			}
			got, e := p.call(tool)
			if e != nil {
				got = string(e.Data)
			}
			require.NoError(t, json.Unmarshal([]byte(got), &f))
			for _, a := range p.session.Open(nil) {
				p.session.Ack(p.ctx, "", a.ID, 0)
			}
			return f
		}
		f := call("colony/build", standin.Result(`{"operationId":"theirs"}`))
		require.NotNil(t, f.Verdict)
		parts := p.session.Engine().Read(heed.Cursor{}, 100, heed.Filter{Operation: "theirs"})
		require.Equal(t, "call-"+p.session.Status().Run+"-1", parts.Records[0].Parent)
		f = call("colony/look", standin.Result(`{"operationId":"theirs"}`))
		require.Nil(t, f.Verdict, "it is no operation")
		require.Len(t, p.session.Engine().Read(heed.Cursor{}, 100, heed.Filter{Operation: "theirs"}).Records, 1)

		f = call("colony/build", standin.Result(`{"a":"broken"}`))
		require.NotNil(t, f.Attention)
		require.True(t, *f.Executed)
		f = call("colony/build", standin.Failure(`{"code":-7,"message":"broken otherwise"}`))
		require.NotNil(t, f.Attention)
		require.True(t, *f.Executed, "the mod has answered")
		f = call("colony/build", standin.Failure(`{"code":-7,"message":"gone and broken for good"}`))
		require.NotNil(t, f.Attention)
		require.Nil(t, f.Executed, "nobody has")
	})
}

// TestEnded: the hello of a bridge to a game that ended before its mod answered is refused, with how the game ended and
// what it wrote last. A mod that has answered before ends nothing but the calls that it has, whose answer says so.
func TestEnded(t *testing.T) {
	hello := func(p *play) error {
		ours, theirs := net.Pipe()
		p.served.Go(func() { _ = p.proxy.server.ServeConn(p.ctx, theirs) })
		c, err := gabp.NewClient(p.ctx, ours, gabp.ClientConfig{Token: bridgeToken, Name: "agent"})
		if err == nil {
			p.clients = append(p.clients, c)
		}
		return err
	}
	const how = "the game exited with status 7"
	for said, output := range map[string][]Output{
		how + " before its mod answered; it wrote nothing that heed can see":                                   nil,
		how + " before its mod answered; the last that it wrote, in its own words:\n  log: a\\nb\n  output: c": {{"log", "a\nb"}, {"output", "c"}},
	} {
		open(t, Config{}, session.Config{}, nil, func(t *testing.T, p *play) {
			require.False(t, p.proxy.Ended(Ending{Text: how, Code: 7, Output: output}))
			e, refused := errors.AsType[*gabp.Error](hello(p))
			require.True(t, refused)
			require.Equal(t, []any{gabp.CodeEnded, said}, []any{e.Code, e.Message})
			var data endedData
			require.NoError(t, json.Unmarshal(e.Data, &data))
			require.Equal(t, 7, data.ExitCode)
			require.Len(t, data.Output, len(output))
			p.proxy.mod.await(p.ctx, time.Minute)
			own := &gabp.Error{Message: "no such wall"}
			p.proxy.explain(p.ctx, own, own)
			require.Equal(t, "no such wall", own.Message, "the mod's own error")
		})
	}
	waits := Config{Handed: Handed{Inner: gabp.Bridge{Address: "mod"}}, ModWait: time.Minute}
	open(t, waits, session.Config{}, nil, func(t *testing.T, p *play) {
		answer := make(chan error, 1)
		go func() { answer <- hello(p) }()
		synctest.Wait()
		time.Sleep(time.Second)
		require.True(t, p.proxy.Ended(Ending{Text: how}), "a bridge waits")
		require.ErrorContains(t, <-answer, how)
	})
	for _, ends := range []bool{false, true} {
		var m *standin.Mod
		m = modOf(func(string, string) []string {
			m.Disconnect()
			return nil
		})
		begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
			began := time.Now()
			if ends {
				time.AfterFunc(endGrace/2, func() { require.False(t, p.proxy.Ended(Ending{Text: how})) })
			}
			_, e := p.call("colony/build")
			require.NotNil(t, e)
			require.Equal(t, ends, e.Message == how+"; whether the request was executed is not known", e.Message)
			require.Equal(t, map[bool]time.Duration{false: endGrace, true: endGrace / 2}[ends], time.Since(began))
			require.NoError(t, hello(p), "its tools and its log are there")
		})
	}
}

// TestLastOutput compares the lines that are shown of a game's output with a naive account: of each stream the last
// ones that fit its share of lines and characters, in their order.
func TestLastOutput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Output {
			n := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(300, 500)).Draw(t, "characters")
			return Output{From: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "stream"), Text: strings.Repeat("x", n)}
		}), 0, 80).Draw(t, "output")
		streams := map[string][]Output{}
		for _, o := range all {
			o.Text = text.Safe(o.Text, maxOutputLine)
			streams[o.From] = append(streams[o.From], o)
		}
		for from, lines := range streams {
			chars, n := 0, 0
			for n < len(lines) && n < maxOutputLines/len(streams) {
				if chars += len(lines[len(lines)-1-n].Text); chars > maxOutputChars/len(streams) {
					break
				}
				n++
			}
			streams[from] = lines[len(lines)-n:]
		}
		last := lastOutput(all)
		require.NotNil(t, last, "a list in JSON")
		for _, o := range last {
			require.NotEmpty(t, streams[o.From])
			require.Equal(t, streams[o.From][0], o)
			streams[o.From] = streams[o.From][1:]
		}
		for from, left := range streams {
			require.Empty(t, left, from)
		}
	})
}
