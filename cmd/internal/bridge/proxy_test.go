package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
)

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
		{"a result", standin.Result(`{"n": 1.50}`), `{"n": 1.50}`, 0, "", "", "colony/build completed"},
		{"a number", standin.Result(`7`), `7`, 0, "", "", "colony/build completed"},
		{"failed in band", standin.Result(`{"success":false,"message":"no room"}`), `{"success":false,"message":"no room"}`, 0, "", "", "colony/build failed no room"},
		{"an error", standin.Failure(`{"code":-7,"message":"it broke","data":{"a":1}}`), "", -7, "it broke", `{"a":1}`, "colony/build failed it broke"},
		{"an error about time", standin.Failure(fmt.Sprintf(`{"code":%d,"message":"late"}`, gabp.CodeToolTimeout)), "", gabp.CodeToolTimeout, "late", "", "colony/build timed_out late"},
		{"another error about time", standin.Failure(fmt.Sprintf(`{"code":%d,"message":"late"}`, gabp.CodeTimeout)), "", gabp.CodeTimeout, "late", "", "colony/build timed_out late"},
		{"the mod is gone", []string{"close"}, "", gabp.CodeToolFailed, lost, `{"outcome":"unknown"}`, "colony/build timed_out " + lost},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m *standin.Mod
			m = modOf(func(string, string) []string {
				if slices.Equal(c.answer, []string{"close"}) {
					m.Disconnect()
					return nil
				}
				return c.answer
			})
			begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
				got, e := p.call("colony/build")
				require.True(t, begins(got, c.result), got)
				require.Equal(t, []string{c.ended}, p.operations())
				require.Zero(t, p.session.Status().InFlight)
				require.False(t, p.proxy.mod.calls.any())
				require.Equal(t, []string{`tools/call {"name":"colony/build"}`}, m.Asked())
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

// TestCallOdd holds that an answer in a form of its own ends the operation as far as it can be understood, comes to the
// bridge unchanged, and is counted.
func TestCallOdd(t *testing.T) {
	const odd = "the mod's answer does not follow the protocol and was passed on unchanged: "
	for answer, status := range map[string]string{
		`{"v":"gabp/1","id":"$ID","type":"response","error":{"code":-7}}`: "failed",
		`{"v":"gabp/1","id":"$ID","type":"response","result":NaN}`:        "completed",
	} {
		m := modOf(func(string, string) []string { return []string{answer} })
		begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
			_, err := p.bridge.CallTool(p.ctx, "colony/build", nil)
			v, passed := errors.AsType[*gabp.Verbatim](err)
			require.True(t, passed, "%v", err)
			require.Equal(t, status == "failed", v.Failed)
			require.Len(t, p.operations(), 1)
			require.True(t, strings.HasPrefix(p.operations()[0], "colony/build "+status+" "+odd), p.operations()[0])
			require.Zero(t, p.session.Status().InFlight)
			require.Equal(t, "mod.answers", p.proxy.limits()[0].Name)
			require.EqualValues(t, 1, p.proxy.mod.odd.Load())
		})
	}
}

// reads is a recorder that counts reads of the game's state.
type reads struct {
	session.Recorder
	n atomic.Int64
}

func (r *reads) Record(rec *capture.Record) {
	if rec.Status == event.StatusStateRead {
		r.n.Add(1)
	}
}

// TestStateIsRead: a request that reads the mod's state, and got an answer, is reported to the engine.
func TestStateIsRead(t *testing.T) {
	k := &reads{Recorder: follow.NewRecorder(io.Discard)}
	fine, refused := standin.Result(`{"a":1}`), standin.Failure(`{"code":-32000,"message":"no"}`)
	var answer []string
	m := modOf(func(string, string) []string { return answer })
	begin(t, Config{}, session.Config{Recorder: k}, m, func(t *testing.T, p *play) {
		for _, r := range []struct {
			method, params string
			answer         []string
			want           int64
		}{
			{"state/get", `{}`, fine, 1},
			{"state/get", `{}`, refused, 0},
			{gabp.MethodResourcesRead, `{"uri":"gabp://mod/colony"}`, fine, 1},
			{gabp.MethodResourcesRead, `{"uri":"gabp://mod/colony"}`, refused, 0},
			{gabp.MethodResourcesRead, `{"uri":"gabp://mod/heed/status"}`, nil, 0},
			{"colony/anything", `{}`, fine, 0},
		} {
			answer = r.answer
			before := k.n.Load()
			_, err := p.bridge.CallRaw(p.ctx, r.method, json.RawMessage(r.params))
			require.Equal(t, slices.Equal(r.answer, refused), err != nil, "%v", err)
			require.Equal(t, r.want, k.n.Load()-before, r)
		}
	})
}

// TestCallUnanswered holds what is known of a call without an answer: nothing.
func TestCallUnanswered(t *testing.T) {
	m := modOf(func(string, string) []string { return nil })
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
		e, status := modError(c.ctx, c.err)
		require.Equal(t, c.code, e.Code)
		require.Contains(t, e.Message, c.text)
		require.Equal(t, c.status, status)
		if errors.Is(c.err, theirs) {
			require.Same(t, theirs, e)
		} else {
			require.Equal(t, `{"outcome":"unknown"}`, string(e.Data))
		}
	}
}

// TestCallHeldBack holds that a call is not executed while an item blocks, that the refusal
// has the item and how to go on, and that it ends with the acknowledgement.
func TestCallHeldBack(t *testing.T) {
	m := modOf(done)
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
		require.Len(t, m.Asked(), 1)
		_, e = p.call("colony/look")
		require.Nil(t, e, "it only looks")
		_, e = p.call("colony/look-and-delete")
		p.held(e)
		require.Len(t, m.Asked(), 2)
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
			m := modOf(done)
			log := &modLog{err: errors.New("permission denied"), slow: c.cfg.AnswerWithin > 0}
			sc := session.Config{Log: log, Attention: c.a, AnswerWithin: c.cfg.AnswerWithin}
			begin(t, c.cfg, sc, m, func(t *testing.T, p *play) {
				_, e := p.call("colony/build")
				if c.goes {
					require.Nil(t, e)
					require.Len(t, m.Asked(), 1)
					return
				}
				h := p.held(e)
				require.Empty(t, m.Asked(), "a call that was refused is not executed")
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
				require.Len(t, m.Asked(), 1)
			})
		})
	}
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
			m := modOf(func(string, string) []string {
				var messages []string
				for i := range 3 {
					messages = append(messages, sends("colony.log", i+1, fmt.Sprintf(`{"level":"info","message":"Fine %d"}`, i)))
				}
				return slices.Concat(messages,
					[]string{sends("colony.log", 4, `{"level":"error","message":"Broken by the call"}`)}, standin.Result(`{"done":true}`))
			}, "colony.log", "colony/ticks")
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
	m := modOf(done, "colony.log")
	now := func() time.Time {
		time.Sleep(100 * time.Millisecond)
		return time.Unix(1_700_000_000, 0)
	}
	begin(t, Config{Now: now}, session.Config{}, m, func(t *testing.T, p *play) {
		m.Publish("colony.log", `{"level":"info","message":"Fine"}`)
		m.Publish("colony.log", `{"level":"error","message":"Broken by itself"}`)
		synctest.Wait() // the pipe hands bytes over before the message is read
		_, e := p.call("colony/build")
		p.held(e)
	})
	begin(t, Config{Now: now}, session.Config{}, m, func(t *testing.T, p *play) {
		m.Publish("colony.log", `{"level":"error","message":"Broken by itself"}`)
		synctest.Wait()
		var current gabp.CurrentResult
		require.NoError(t, p.bridge.Call(p.ctx, gabp.MethodAttentionCurrent, nil, &current))
		require.NotNil(t, current.Attention)
	})
}

// TestCheckDelivers holds that a call beside an advisory item does not deliver it.
func TestCheckDelivers(t *testing.T) {
	begin(t, Config{}, session.Config{}, modOf(done), func(t *testing.T, p *play) {
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
			var p *play
			m := standin.NewMod(standin.ModConfig{Tools: standin.Result(lists), Answers: func(string, string) []string {
				p.session.Observe(event.Log{Message: "Broken by the request"}.Entry())
				return standin.Result(`{"done":true}`)
			}})
			cfg := Config{}
			if c.allow != "" {
				cfg.Allow = []string{c.allow}
			}
			begin(t, cfg, session.Config{}, m, func(t *testing.T, whole *play) {
				p = whole
				p.session.Observe(event.Log{Message: "Fault of before"}.Entry())
				before := p.session.Open(nil)[0].ID
				raw, err := p.bridge.CallRaw(p.ctx, c.method, json.RawMessage(c.params))
				if c.held {
					e, _ := errors.AsType[*gabp.Error](err)
					h := p.held(e)
					require.Equal(t, before, h.Attention.ID)
					require.Equal(t, c.method, h.Tool)
					require.Empty(t, m.Asked())
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
				require.Equal(t, []string{strings.TrimSpace(c.method + " " + c.params)}, m.Asked())
				require.Equal(t, []string{c.method + " completed"}, p.operations())
				require.True(t, begins(string(raw), `{"done":true}`), string(raw))
				require.Contains(t, string(raw), `"executed":true`)
				require.Contains(t, string(raw), `"outcome":"blocking","reason":"charged"`)
			})
		})
	}
}

// TestPassMethod holds how each answer to what is no call of a tool is passed on.
func TestPassMethod(t *testing.T) {
	m := modOf(func(method, _ string) []string {
		switch method {
		case "colony/anything":
			return standin.Result(`{"n": 1.50}`)
		case "colony/number":
			return standin.Result(`1.50`)
		case "colony/odd":
			return []string{`{"v":"gabp/1","id":"$ID","type":"response","result":NaN}`}
		}
		return standin.Failure(`{"code":-9,"message":"no","data":[1]}`)
	})
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		raw, err := p.bridge.CallRaw(p.ctx, "colony/anything", json.RawMessage(`{"x": 1.0}`))
		require.NoError(t, err)
		require.Equal(t, `{"n": 1.50,"verdict":{"outcome":"clean","cleanThrough":3}}`, string(raw))
		require.Equal(t, []string{`colony/anything {"x": 1.0}`}, m.Asked())
		raw, err = p.bridge.CallRaw(p.ctx, "colony/number", nil)
		require.NoError(t, err)
		require.Equal(t, `1.50`, string(raw))
		_, err = p.bridge.CallRaw(p.ctx, "colony/nothing", nil)
		e, _ := errors.AsType[*gabp.Error](err)
		require.Equal(t, &gabp.Error{Code: -9, Message: "no", Data: json.RawMessage(`[1]`)}, e)
		_, err = p.bridge.CallRaw(p.ctx, "colony/odd", nil)
		_, odd := errors.AsType[*gabp.Verbatim](err)
		require.True(t, odd, "%v", err)
		require.EqualValues(t, 1, p.proxy.mod.odd.Load())
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
	tools := standin.Result(`{"more":1.50,"tools":[{"name":"colony/look","tags":["read-only"],"odd":1.50},{"name":"` + ToolStatus + `"}]}`)
	theirs := standin.Result(`{"resources":[{"uri":"gabp://mod/map"},{"uri":"` + ResourceBase + `items"}]}`)
	m := standin.NewMod(standin.ModConfig{Tools: tools, Answers: func(string, string) []string { return theirs }})
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

		copy(tools, standin.Result(`{"tools":[{"name":"colony/look"}]}`)) // a part, by the filter
		require.Equal(t, []string{"colony/look", ToolStatus},
			names(t, p, gabp.MethodToolsList, `{"filter":{"namePattern":"heed/status"}}`, "tools", "name"))
		require.Equal(t, []string{"read-only"}, p.proxy.mod.tagsOf("colony/look"), "a filtered list is not the list")
		for _, all := range []string{`{}`, `{"filter":null}`} {
			copy(tools, standin.Result(`{"tools":[{"name":"colony/look","tags":["read-only"]}]}`))
			names(t, p, gabp.MethodToolsList, `{}`, "tools", "name")
			require.NotEmpty(t, p.proxy.mod.tagsOf("colony/look"))
			copy(tools, standin.Result(`{"tools":[{"name":"colony/look"}]}`))
			names(t, p, gabp.MethodToolsList, all, "tools", "name")
			require.Empty(t, p.proxy.mod.tagsOf("colony/look"), "the latest list is")
		}

		copy(tools, standin.Result(`{"tools":{"odd":1.50}}`))
		raw, err = p.bridge.CallRaw(p.ctx, gabp.MethodToolsList, json.RawMessage(`{}`))
		require.NoError(t, err)
		require.Equal(t, `{"tools":{"odd":1.50}}`, string(raw), "another form")
		copy(tools, standin.Failure(`{"code":-32601,"message":"unknown"}`)) // it has no tools at all
		require.Equal(t, ours, names(t, p, gabp.MethodToolsList, `{}`, "tools", "name"))
		theirs = standin.Failure(`{"code":-3,"message":"busy"}`)
		_, err = p.bridge.CallRaw(p.ctx, gabp.MethodResourcesList, json.RawMessage(`{}`))
		require.ErrorContains(t, err, "busy")
	})
}

// TestReadResource holds which resources are heed's, and which the mod's.
func TestReadResource(t *testing.T) {
	m := modOf(func(string, string) []string { return standin.Result(`{"content":"a map"}`) })
	begin(t, Config{}, session.Config{}, m, func(t *testing.T, p *play) {
		raw, err := p.bridge.CallRaw(p.ctx, gabp.MethodResourcesRead, json.RawMessage(`{"uri":"`+ResourceBase+`current"}`))
		require.NoError(t, err)
		require.Equal(t, `{"content":{"attention":null},"mimeType":"application/json","encoding":"utf-8"}`, string(raw))
		require.Empty(t, m.Asked())
		raw, err = p.bridge.CallRaw(p.ctx, gabp.MethodResourcesRead, json.RawMessage(`{"uri":"gabp://mod/map"}`))
		require.NoError(t, err)
		require.True(t, begins(string(raw), `{"content":"a map"}`), string(raw))
	})
}
