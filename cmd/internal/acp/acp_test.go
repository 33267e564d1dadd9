package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
)

// memory is a conversation whose state survives as long as the test.
type memory struct {
	mu  sync.Mutex
	m   *steer.Machine
	now time.Time
	act func(steer.Action)
	did chan struct{} // has one when something was done, if it is not nil

	reports []string      // of calls
	verdict chan struct{} // the end of a call waits for it, if it is not nil, and leads to a message that rides
}

// Report keeps the report of a call.
func (c *memory) Report(_ context.Context, call bridge.Call) error {
	c.mu.Lock()
	c.reports = append(c.reports, strings.TrimSuffix(fmt.Sprint(call.ID, " ", call.Status, " ", call.Tool), " ")+
		map[bool]string{true: " exempt"}[call.Exempt])
	c.mu.Unlock()
	if call.Status.Ended() && c.verdict != nil {
		<-c.verdict
		c.receive(steer.Message{Author: "heed", Text: "verdict", Rides: true})
	}
	return nil
}

func (c *memory) Do(f func(m *steer.Machine, now time.Time) steer.Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := f(c.m, c.now); a.Do != steer.Nothing {
		c.act(a)
	}
	select {
	case c.did <- struct{}{}:
	default:
	}
}

// state returns the machine's.
func (c *memory) state() steer.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.m.State()
}

// receive gives the conversation a message of attention.
func (c *memory) receive(msg steer.Message) (receipt steer.Receipt) {
	c.Do(func(m *steer.Machine, now time.Time) steer.Action {
		r, a := m.Receive(now, msg)
		receipt = r
		return a
	})
	return receipt
}

type verified struct{}

func (verified) Verify(author string) steer.Class {
	switch author {
	case "user":
		return steer.Owner
	case "heed":
		return steer.Attention
	}
	return steer.Stranger
}

// pipe is one end of a connection.
type pipe struct {
	io.Reader
	io.Writer
	close func()
}

func (p pipe) Close() error { p.close(); return nil }

// connect returns both ends of a connection.
func connect() (pipe, pipe) {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	end := func(r, w io.Closer) func() {
		return func() { _, _ = r.Close(), w.Close() }
	}
	return pipe{r1, w2, end(r1, w2)}, pipe{r2, w1, end(r2, w1)}
}

// peer is a scripted editor or agent.
type peer struct {
	pipe
	mu    sync.Mutex
	lines []string
}

func newPeer(p pipe) *peer {
	peer := &peer{pipe: p}
	go func() {
		scanner := bufio.NewScanner(p)
		scanner.Buffer(nil, 128<<20)
		for scanner.Scan() {
			peer.mu.Lock()
			peer.lines = append(peer.lines, scanner.Text())
			peer.mu.Unlock()
		}
	}()
	return peer
}

func (p *peer) send(line string) { _, _ = io.WriteString(p, line+"\n") }

// take returns what came since it was called last.
func (p *peer) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := p.lines
	p.lines = nil
	return lines
}

// framing is short.
var framing = steer.Framing{
	Working: "W:", Arrived: "+", Several: "+{count}", From: "{author}:", Steer: "~", Interrupt: "!", Withdrawn: "gone",
	Unknown: "?",
}

// world is a proxy between a scripted editor and agent.
type world struct {
	t             testing.TB
	editor, agent *peer
	conversation  *memory
	ceiling       steer.Ceiling
	started       []string // sessions, and whether they are fresh
	err           chan error
}

// every has all calls go to the game.
func every(string, string) bool { return true }

func newWorld(t testing.TB, policy steer.Policy, change func(*Config)) *world {
	w := &world{t: t, err: make(chan error, 1)}
	editor, near := connect()
	agent, far := connect()
	w.editor, w.agent = newPeer(editor), newPeer(agent)
	cfg := Config{
		Agent: far, Editor: near, Framing: framing, Game: every, Logger: slog.New(slog.DiscardHandler),
		Start: func(id string, fresh bool, c steer.Ceiling, act func(steer.Action)) (Conversation, error) {
			m, err := steer.New(policy, c, verified{})
			w.ceiling = c
			w.started = append(w.started, fmt.Sprint(id, " ", fresh))
			w.conversation = &memory{m: m, act: act, now: time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)}
			return w.conversation, err
		},
	}
	if change != nil {
		change(&cfg)
	}
	go func() { w.err <- Run(context.Background(), cfg) }()
	return w
}

// open lets the editor open session s.
func (w *world) open(initialized string) {
	w.editor.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	synctest.Wait()
	w.agent.send(`{"jsonrpc":"2.0","id":"i","result":` + initialized + `}`)
	synctest.Wait()
	w.editor.send(`{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	synctest.Wait()
	w.agent.send(`{"jsonrpc":"2.0","id":"n","result":{"sessionId":"s"}}`)
	synctest.Wait()
	w.editor.take()
	w.agent.take()
}

// TestFresh holds that what is kept of a session is asked for where the editor loads it, not where the agent gives its id
// to a new one.
func TestFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, steer.Policy{}, nil)
		w.open(`{"protocolVersion":1}`)
		w.editor.send(`{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"old","cwd":"/"}}`)
		synctest.Wait()
		w.agent.send(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		synctest.Wait()
		require.Equal(t, []string{"s true", "old false"}, w.started)
		w.close()
	})
}

// TestNotSteered: a session is steered once the agent has given it an id that is not known. The prompts of all others
// pass unchanged: of sessions that did not begin, of another version of the protocol, and beyond the bound.
func TestNotSteered(t *testing.T) {
	opens := func(w *world, method, params, answer string) {
		w.editor.send(`{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + `}`)
		synctest.Wait()
		w.agent.send(`{"jsonrpc":"2.0","id":7,` + answer + `}`)
		synctest.Wait()
	}
	prompt := `{"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"x", "prompt":[]}}`
	for name, c := range map[string]struct {
		method, params, answer string
		init                   string
		steered                bool
		started                string
	}{
		"a new one":            {"session/new", `{}`, `"result":{"sessionId":"x"}`, `{"protocolVersion":1}`, true, "x true"},
		"a fork":               {"session/fork", `{"sessionId":"s"}`, `"result":{"sessionId":"x"}`, `{}`, true, "x true"},
		"a loaded one":         {"session/load", `{"sessionId":"x"}`, `"result":null`, `{}`, true, "x false"},
		"a resumed one":        {"session/resume", `{"sessionId":"x"}`, `"result":{}`, `{}`, true, "x false"},
		"without an id":        {"session/new", `{}`, `"result":{}`, `{}`, false, ""},
		"an id of no text":     {"session/new", `{}`, `"result":{"sessionId":7}`, `{}`, false, ""},
		"refused":              {"session/load", `{"sessionId":"x"}`, `"error":{"code":-1,"message":"no"}`, `{}`, false, ""},
		"of a version to come": {"session/new", `{}`, `"result":{"sessionId":"x"}`, `{"protocolVersion":3}`, false, ""},
		"of another method":    {"session/list", `{"sessionId":"x"}`, `"result":{"sessionId":"x"}`, `{}`, false, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, steer.Policy{}, nil)
			w.open(c.init)
			before := len(w.started)
			opens(w, c.method, c.params, c.answer)
			opens(w, c.method, c.params, c.answer) // what is known goes on
			require.Equal(t, c.steered, len(w.started) == before+1, "%s: %v", name, w.started)
			require.Equal(t, c.steered, len(w.started) != before, name)
			require.True(t, !c.steered || w.started[before] == c.started, "%s: %v", name, w.started)
			w.agent.take()
			w.editor.send(prompt)
			synctest.Wait()
			require.Equal(t, []string{prompt}, w.agent.take(), name)
			w.close()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, steer.Policy{}, func(c *Config) {
			start := c.Start
			c.Start = func(id string, fresh bool, l steer.Ceiling, act func(steer.Action)) (Conversation, error) {
				if c, err := start(id, fresh, l, act); id != "x" {
					return c, err
				}
				return nil, errors.New("no memory")
			}
		})
		w.open(`{}`)
		opens(w, "session/new", `{}`, `"result":{"sessionId":"x"}`)
		w.agent.take()
		w.editor.send(prompt)
		synctest.Wait()
		require.Equal(t, []string{prompt}, w.agent.take())
		const most = 1024
		for n := range most + 3 {
			opens(w, "session/new", `{}`, fmt.Sprintf(`"result":{"sessionId":"n%d"}`, n))
		}
		require.Len(t, w.started, most+1, "with the one that failed")
		w.close()
	})
}

// TestLateActions: an action that was decided for a turn that a person has stopped since does nothing. The agent gets one
// prompt at a time, and each message once.
func TestLateActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan func(), 10)
		w := newWorld(t, steer.Policy{}, func(c *Config) {
			c.PromptIdle = true
			start := c.Start
			c.Start = func(id string, fresh bool, l steer.Ceiling, act func(steer.Action)) (Conversation, error) {
				return start(id, fresh, l, func(a steer.Action) { late <- func() { act(a) } })
			}
		})
		defer w.close()
		w.open(`{}`)
		gets := func() (got []string) {
			for len(late) > 0 {
				(<-late)()
				synctest.Wait()
			}
			for _, l := range w.agent.take() {
				got = append(got, short(l))
			}
			return got
		}
		w.play("M one\nE cancel\na cancel\nM two")
		require.Equal(t, []string{"prompt heed-1 two"}, gets())
		w.play("A heed-1: end_turn")
		require.Equal(t, []string{"prompt heed-2 one"}, gets())
		w.play("A heed-2: end_turn")
		require.Empty(t, gets())

		w.agent.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` +
			`"sessionUpdate":"session_info_update","_meta":{"goose":{"activeRunId":"r"}}}}}`)
		synctest.Wait()
		w.editor.take()
		w.play("E prompt 1 Build.\na prompt 1 Build.\nM three\nA 1: end_turn\ne 1: end_turn")
		require.Equal(t, []string{"prompt heed-3 three"}, gets(), "not added to a turn that has ended")
		w.play("A heed-3: end_turn")
	})
}

// TestCounts: the log has at the end how many lines were passed on without being understood, or dropped.
func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		w := newWorld(t, steer.Policy{}, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		w.open(`{}`)
		w.play(`
			E prompt 1 Build.
			a prompt 1 Build.
			A permission p
			e permission p
			M item
			a cancel
			a p: outcome cancelled
			E p: outcome selected
			A 1: cancelled
			a prompt heed-1 W:|Build.|+ heed: item ~
			A 1: end_turn
			A 1: end_turn
			A heed-9: end_turn
			A heed-1: end_turn
			e 1: end_turn`)
		for range 5 {
			w.editor.send("not JSON")
			w.agent.send("[1]")
		}
		for n := range maxCalls + 4 {
			if n == 0 {
				w.editor.send(long("prompt 2 Go on."))
				synctest.Wait()
			}
			w.agent.send(long(fmt.Sprintf("call c%d in_progress", n)))
		}
		synctest.Wait()
		w.agent.close()
		require.ErrorIs(t, <-w.err, jsonrpc.ErrProgram)
		w.editor.close()
		require.Contains(t, log.String(), `msg="acp: ended" sessions=1 "invalid lines"=10 "not steered"=4 `+
			`"answers without a request"=3 "late answers"=1`)
		require.Contains(t, w.editor.take(), `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the agent has ended"}}`)
	})
}

// TestConfirmed: a message counts as delivered with the first sign that the model works on it, and before its answer.
func TestConfirmed(t *testing.T) {
	for kind, confirms := range map[string]bool{
		"agent_message_chunk": true, "agent_thought_chunk": true, "tool_call": true, "plan": true,
		"available_commands_update": false, "tool_call_update": false, "user_message_chunk": false,
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, steer.Policy{}, nil)
			defer w.close()
			w.open(`{}`)
			w.play("E prompt 1 Build.\na prompt 1 Build.\nM item\na cancel\nA 1: cancelled\n" +
				"a prompt heed-1 W:|Build.|+ heed: item ~")
			require.Len(t, w.conversation.state().Sent, 1)
			for range 2 {
				w.agent.send(`{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"` + kind + `"}}}`)
				synctest.Wait()
				require.Equal(t, confirms, len(w.conversation.state().Sent) == 0, kind)
			}
			w.editor.take()
			w.play("A heed-1: end_turn\ne 1: end_turn")
			require.Empty(t, w.conversation.state().Sent)
		})
	}
}

// TestRequestsInACanceledTurn: of the agent's requests in a turn that the proxy cancels, only permissions are answered.
func TestRequestsInACanceledTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, steer.Policy{}, nil)
		defer w.close()
		w.open(`{}`)
		w.play("E prompt 1 Build.\na prompt 1 Build.")
		read := func(id string) {
			line := `{"jsonrpc":"2.0","id":"` + id + `","method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}`
			w.agent.send(line)
			synctest.Wait()
			require.Equal(t, []string{line}, w.editor.take())
		}
		read("f1")
		w.play("A permission p1\ne permission p1\nM item\na cancel\na p1: outcome cancelled")
		read("f2")
		w.play("A permission p2\na p2: outcome cancelled")
		w.editor.send(`{"jsonrpc":"2.0","id":"f1","result":{"content":"x"}}`)
		synctest.Wait()
		require.Len(t, w.agent.take(), 1)
		w.play("A 1: cancelled\na prompt heed-1 W:|Build.|+ heed: item ~\nA heed-1: end_turn\ne 1: end_turn")
	})
}

// TestInjectionForms holds the whole request of each form of injection.
func TestInjectionForms(t *testing.T) {
	const prompt = `"sessionId":"s","prompt":[{"type":"text","text":"+\n\nheed:\n\nitem\n\n~"}]`
	for want, c := range map[string]struct{ init, run string }{
		`{"jsonrpc":"2.0","id":"heed-1","method":"_session/steering","params":{` + prompt +
			`,"_meta":{"steering":{"idleBehavior":"promptRequired"}}}}`: {`{"_meta":{"steering":{"supported":true}}}`, ""},
		`{"jsonrpc":"2.0","id":"heed-1","method":"_goose/unstable/session/steer","params":{` + prompt +
			`,"expectedRunId":"run 7"}}`: {`{}`, `run "run 7"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, steer.Policy{}, nil)
			defer w.close()
			w.open(c.init)
			w.play("E prompt 1 Build.\na prompt 1 Build.")
			if c.run != "" {
				w.agent.send(long(c.run))
				synctest.Wait()
			}
			message := steer.Message{Author: "heed", Topic: "item", Revision: "1", Text: "item"}
			require.Equal(t, steer.Accepted, w.conversation.receive(message))
			synctest.Wait()
			lines := w.agent.take()
			require.Len(t, lines, 1)
			require.JSONEq(t, want, lines[0])
		})
	}
}

// TestReports holds which calls are reported, and how they end.
func TestReports(t *testing.T) {
	const turn = `
		E prompt 1 Build.
		a prompt 1 Build.
		A call c1 pending
		e call c1 pending`
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"completed": {`
		A update c1 in_progress
		e update c1 in_progress
		A update c1 completed
		e update c1 completed
		A update c1 completed
		e update c1 completed`, []string{"c1 started c1", "c1 completed"}},
		"failed": {`
		A update c1 failed
		e update c1 failed`, []string{"c1 started c1", "c1 failed"}},
		"side by side": {`
		A call c2 in_progress
		e call c2 in_progress
		A update c2 completed
		e update c2 completed
		A update c1 failed
		e update c1 failed`, []string{"c1 started c1", "c2 started c2", "c2 completed", "c1 failed"}},
		"a person cancels": {`
		E cancel
		a cancel
		A 1: cancelled
		e 1: cancelled`, []string{"c1 started c1", "c1 cancelled"}},
		"heed cancels": {`
		M item
		T
		a cancel
		A 1: cancelled
		e update c1 failed
		a prompt heed-1 W:|Build.|+ heed: item ? ~`, []string{"c1 started c1", "c1 cancelled"}},
		"the turn fails": {`
		A 1: error
		e 1: error`, []string{"c1 started c1", "c1 cancelled"}},
		"the turn ends in order": {`
		A 1: end_turn
		e 1: end_turn`, []string{"c1 started c1", "c1 completed"}},
		"a call that only reads": {`
		A {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c2","title":"c2","kind":"read"}}}
		e call c2`, []string{"c1 started c1", "c2 started c2 exempt"}},
		"no call of the game": {`
		A call other pending
		e call other pending
		A update other completed
		e update other completed`, []string{"c1 started c1"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, steer.Policy{}, func(c *Config) {
					c.Game = func(title, _ string) bool { return title != "other" }
				})
				w.open(`{"protocolVersion":1}`)
				w.play(turn + c.script)
				require.Equal(t, c.want, w.conversation.reports)
				w.close()
			})
		})
	}
}

// TestCallsOfTheGame: a stop waits for calls of the game alone, which a call may show with any of its updates, also
// where many others are open.
func TestCallsOfTheGame(t *testing.T) {
	const most = 4096
	for name, c := range map[string]struct {
		others int
		lines  []string // of one call, after which a message comes
		waits  bool
	}{
		"of another":                      {0, []string{`"tool_call","title":"look"`}, false},
		"of the game":                     {0, []string{`"tool_call","title":"game"`}, true},
		"known late":                      {0, []string{`"tool_call"`, `"tool_call_update","title":"game"`}, true},
		"it stays one":                    {0, []string{`"tool_call","title":"game"`, `"tool_call_update","title":"look"`}, true},
		"known late, among many":          {most - 1, []string{`"tool_call"`, `"tool_call_update","title":"game"`}, true},
		"one of the most":                 {most - 1, []string{`"tool_call","title":"game"`}, true},
		"more than are kept":              {most, []string{`"tool_call","title":"game"`}, false},
		"it has ended":                    {0, []string{`"tool_call","title":"game"`, `"tool_call_update","status":"failed"`}, false},
		"it had ended when it was shown":  {0, []string{`"tool_call","title":"game","status":"completed"`}, false},
		"an update that is none of calls": {0, []string{`"plan","title":"game"`}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, steer.Policy{}, func(c *Config) { c.Game = func(title, _ string) bool { return title == "game" } })
			defer w.close()
			w.open(`{}`)
			w.play("E prompt 1 Build.\na prompt 1 Build.")
			update := func(id, rest string) {
				w.agent.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"toolCallId":"` + id +
					`","sessionUpdate":` + rest + `}}}`)
			}
			for n := range c.others {
				update(fmt.Sprint("other ", n), `"tool_call","title":"look"`)
			}
			for _, line := range c.lines {
				update("c", line)
			}
			synctest.Wait()
			w.editor.take()
			message := steer.Message{Author: "heed", Topic: "item", Revision: "1", Text: "item"}
			require.Equal(t, steer.Accepted, w.conversation.receive(message))
			synctest.Wait()
			require.Equal(t, c.waits, len(w.agent.take()) == 0, name)
			update("c", `"tool_call_update","status":"completed"`)
			synctest.Wait()
			require.Equal(t, c.waits, len(w.agent.take()) == 1, name)
		})
	}
}

// TestLongPromptIsCut: of a prompt, the machine keeps the beginning of its text; the agent gets all of it again.
func TestLongPromptIsCut(t *testing.T) {
	const maxRequest = 64 << 10
	for _, more := range []int{-1, 0, 1, 10_000} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, steer.Policy{}, nil)
			defer w.close()
			w.open(`{}`)
			text := "Build " + strings.Repeat("ä", (maxRequest+more-6)/2)
			text += strings.Repeat(".", maxRequest+more-len(text))
			w.editor.send(long("prompt 1 " + text))
			synctest.Wait()
			w.agent.take()
			kept := w.conversation.state().Working[0].Text
			begin, cut := strings.CutSuffix(kept, " […]")
			require.Equal(t, more > 0, cut)
			require.True(t, strings.HasPrefix(text, begin) && utf8.ValidString(begin))
			require.GreaterOrEqual(t, len(begin), min(len(text), maxRequest-1))
			require.LessOrEqual(t, len(begin), maxRequest)
			w.play("M item\na cancel\nA 1: cancelled\na prompt heed-1 W:|" + text + "|+ heed: item ~")
		})
	}
}

// TestPassesUnchanged: lines that the proxy does not know pass byte for byte, once and in their order, also while the
// agent works.
func TestPassesUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, steer.Policy{}, nil)
		w.open(`{}`)
		for _, working := range []bool{false, true} {
			if working {
				w.editor.send(long("prompt p Build."))
				synctest.Wait()
				require.Len(t, w.agent.take(), 1)
			}
			for fromEditor, lines := range map[bool][]string{
				true: {
					`{"jsonrpc":"2.0","id":5, "method":"session/list"}`, `{"method":"session/set_mode", "params":{"sessionId":"s"}}`,
					`{"id":99, "result":{}}`, `not JSON`, `[1, 2]`, `{}`, `{"method":"session/cancel", "params":{"sessionId":"other"}}`,
					`{"method":"$/cancel_request", "params":{"requestId":5}}`, `{"method":"$/cancel_request", "params":7}`,
					`{"id":6, "method":"session/prompt", "params":{"sessionId":"other"}}`,
				},
				false: {
					`{"method":"session/update", "params":7}`, `{"method":"session/update", "params":{"sessionId":"s", "update":7}}`,
					`{"method":"session/update", "params":{"sessionId":"other", "update":{"sessionUpdate":"plan"}}}`,
					`{"id":1, "method":"session/request_permission", "params":{"sessionId":"other"}}`,
					`{"method":"session/request_permission", "params":{"sessionId":"s"}}`, `{"id":2, "method":"fs/read_text_file"}`,
					`not JSON`, `[1, 2]`, `{"id":77, "result":{}}`, `{"id":null, "error":{}}`,
					`{"method":"session/update", "params":{"sessionId":"s", "update":{"sessionUpdate":"tool_call", "status":"failed"}}}`,
					`{"method":"session/update", "params":{"sessionId":"s", "update":{"sessionUpdate":"odd", "toolCallId":"c"}}}`,
				},
			} {
				from, to := w.agent, w.editor
				if fromEditor {
					from, to = w.editor, w.agent
				}
				for _, line := range lines {
					from.send(line)
				}
				synctest.Wait()
				require.Equal(t, lines, to.take())
				require.Empty(t, from.take())
			}
			w.agent.send(`{"id":5,"result":{}}`)
			w.agent.send(`{"id":6,"result":{}}`)
			synctest.Wait()
			require.Len(t, w.editor.take(), 2, "their ids are free again")
		}
		w.close()
	})
}

// TestVerdictStopsWithItem holds that a stop for an item waits for the verdict of the call that ends, and carries it.
func TestVerdictStopsWithItem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, steer.Policy{}, nil)
		w.open(`{"protocolVersion":1}`)
		w.conversation.verdict = make(chan struct{})
		w.play(`
		E prompt 1 Build.
		a prompt 1 Build.
		A call c1 in_progress
		e call c1 in_progress
		M item
		A update c1 completed
		e update c1 completed
		V
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+2 heed: item heed: verdict ~|` + finished + ` > c1 (completed)`)
		w.close()
	})
}

// close lets the editor end.
func (w *world) close() {
	w.editor.close()
	if err := <-w.err; !errors.Is(err, jsonrpc.ErrProgram) {
		require.NoError(w.t, err)
	}
	w.agent.close()
	synctest.Wait()
}

// long writes what stands in a script as a message.
func long(text string) string {
	if strings.HasPrefix(text, "{") || text == "" {
		return text
	}
	word, rest, _ := strings.Cut(text, " ")
	quoted := func(s string) string {
		data, _ := json.Marshal(s)
		return string(data)
	}
	id := func(s string) string {
		if strings.Trim(s, "0123456789") == "" {
			return s
		}
		return quoted(s)
	}
	update := func(body string) string {
		return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{` + body + `}}}`
	}
	switch word {
	case "prompt":
		n, words, _ := strings.Cut(rest, " ")
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/prompt",`+
			`"params":{"sessionId":"s","prompt":[{"type":"text","text":%s}]}}`, id(n), quoted(words))
	case "cancel":
		return `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`
	case "chunk":
		return update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"…"}`)
	case "call":
		n, status, _ := strings.Cut(rest, " ")
		return update(`"sessionUpdate":"tool_call","toolCallId":"` + n + `","title":"` + n + `","status":"` + status + `"`)
	case "run":
		return update(`"sessionUpdate":"session_info_update","_meta":{"goose":{"activeRunId":` + rest + `}}`)
	case "update":
		n, status, _ := strings.Cut(rest, " ")
		return update(`"sessionUpdate":"tool_call_update","toolCallId":"` + n + `","status":"` + status + `"`)
	case "state":
		state, stop, ends := strings.Cut(rest, " ")
		if ends {
			state += `","stopReason":"` + stop
		}
		return update(`"sessionUpdate":"state_update","state":"` + state + `"`)
	case "user":
		return update(`"sessionUpdate":"user_message","messageId":"` + rest + `","content":[]`)
	case "permission":
		return `{"jsonrpc":"2.0","id":` + id(rest) + `,"method":"session/request_permission",` +
			`"params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}`
	}
	n := id(strings.TrimSuffix(word, ":"))
	switch {
	case rest == "error":
		return `{"jsonrpc":"2.0","id":` + n + `,"error":{"code":-32603,"message":"no"}}`
	case strings.HasPrefix(rest, "{"):
		return `{"jsonrpc":"2.0","id":` + n + `,"result":` + rest + `}`
	case strings.HasPrefix(rest, "outcome "):
		return `{"jsonrpc":"2.0","id":` + n + `,"result":{"outcome":{"outcome":"` + strings.TrimPrefix(rest, "outcome ") + `"}}}`
	}
	return `{"jsonrpc":"2.0","id":` + n + `,"result":{"stopReason":"` + rest + `"}}`
}

// short is the reverse of long, for what is received.
func short(line string) string {
	var m message
	var p promptParams
	var u updateParams
	if !jsonrpc.Read(jsontext.Value(line), &m) {
		return line
	}
	id := strings.Trim(jsonrpc.Key(m.ID), `"`)
	jsonrpc.Read(m.Params, &p)
	switch m.Method {
	case "session/prompt", "_session/steering", "_goose/unstable/session/steer":
		var words []string
		for _, b := range p.Prompt {
			var t textBlock
			if jsonrpc.Read(b, &t); t.Type == "text" {
				words = append(words, strings.NewReplacer("\n\n", " ", "\n", " ").Replace(t.Text))
			} else {
				words = append(words, "<"+t.Type+">")
			}
		}
		return strings.Join([]string{m.Method[strings.LastIndexByte(m.Method, '/')+1:], id, strings.Join(words, "|")}, " ")
	case "session/cancel":
		return "cancel"
	case "session/list", "$/cancel_request":
		return m.Method
	case "session/request_permission":
		return "permission " + id
	case "session/update":
		var up update
		jsonrpc.Read(m.Params, &u)
		jsonrpc.Read(u.Update, &up)
		switch up.Kind {
		case "agent_message_chunk":
			return "chunk"
		case "tool_call":
			return "call " + up.CallID + " " + up.Status
		case "state_update":
			return strings.TrimSpace("state " + up.State + " " + up.Stop)
		case "user_message":
			return "user " + up.MessageID
		case "session_info_update":
			return "run " + string(up.Meta.Goose.RunID)
		}
		return "update " + up.CallID + " " + up.Status
	}
	var r struct {
		StopReason string
		Outcome    struct{ Outcome string }
	}
	switch _ = json.Unmarshal(m.Result, &r); {
	case m.Error != nil:
		return id + ": error"
	case r.Outcome.Outcome != "":
		return id + ": outcome " + r.Outcome.Outcome
	}
	return id + ": " + r.StopReason
}

// play lets what a script says happen: E and A are what the editor and the agent send, M the topic of a message of
// attention, V the verdict of a call; e and a are what they receive thereupon, all of it.
func (w *world) play(script string) {
	w.t.Helper()
	steps := strings.Split(strings.TrimSpace(script), "\n")
	for i := 0; i < len(steps); {
		step := strings.TrimSpace(steps[i])
		kind, rest, _ := strings.Cut(step, " ")
		switch kind {
		case "E":
			w.editor.send(long(rest))
		case "A":
			w.agent.send(long(rest))
		case "M", "R", "X":
			msg := steer.Message{
				Author: "heed", Topic: rest, Revision: "1", Text: rest, Rides: kind == "R", Invalid: kind == "X",
			}
			require.Equal(w.t, steer.Accepted, w.conversation.receive(msg), step)
		case "W":
			w.conversation.Do(func(m *steer.Machine, _ time.Time) steer.Action { m.Withdraw(rest); return steer.Action{} })
		case "V":
			close(w.conversation.verdict)
		case "T":
			w.conversation.Do(func(m *steer.Machine, now time.Time) steer.Action {
				w.conversation.now = m.Deadline()
				return m.Ready(w.conversation.now)
			})
		default:
			w.t.Fatalf("unknown step %q", step)
		}
		synctest.Wait()
		want := map[string][]string{}
		for i++; i < len(steps); i++ {
			kind, rest, _ := strings.Cut(strings.TrimSpace(steps[i]), " ")
			if kind != "e" && kind != "a" {
				break
			}
			want[kind] = append(want[kind], rest)
		}
		for kind, p := range map[string]*peer{"e": w.editor, "a": w.agent} {
			var got []string
			for _, l := range p.take() {
				got = append(got, strings.TrimSpace(short(l)))
			}
			require.Equal(w.t, want[kind], got, "%s after %q", kind, step)
		}
	}
}

var scripts = []struct {
	name, script string
	policy       steer.Policy
	init         string
	change       func(*Config)
}{
	{name: "a turn without messages", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A chunk
		e chunk
		A 1: end_turn
		e 1: end_turn`},
	{name: "a steer", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		A chunk
		e chunk
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~
		A chunk
		e chunk
		A heed-1: end_turn
		e 1: end_turn`},
	{name: "two steers in a turn", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M one
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: one ~
		M two
		a cancel
		A heed-1: cancelled
		a prompt heed-2 W:|Build.|+2 heed: one heed: two ~
		A heed-2: refusal
		e 1: refusal`},
	{name: "an interrupt", policy: steer.Policy{InterruptOnInvalid: true}, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		X item
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item !
		A heed-1: end_turn
		e 1: end_turn`},
	{name: "an agent answers a canceled prompt with an error", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		A 1: error
		a prompt heed-1 W:|Build.|+ heed: item ~
		A heed-1: end_turn
		e 1: end_turn`},
	{name: "messages while canceling", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M one
		a cancel
		M two
		A 1: cancelled
		a prompt heed-1 W:|Build.|+2 heed: one heed: two ~
		A heed-1: end_turn
		e 1: end_turn`},
	{name: "a message is withdrawn while canceling", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		W item
		A 1: cancelled
		a prompt heed-1 W:|Build.|gone
		A heed-1: end_turn
		e 1: end_turn`},
	{name: "the turn ends by itself while canceling", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		A 1: end_turn
		a prompt heed-1 item
		A heed-1: end_turn
		e 1: end_turn`},
	{name: "the turn ends by itself while canceling, and nothing waits", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		W item
		A 1: end_turn
		e 1: end_turn`},
	{name: "a prompt while canceling", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		E prompt 2 And a roof.
		A 1: cancelled
		a prompt heed-1 W:|Build.|+2 heed: item user: And a roof. ~
		A chunk
		e chunk
		A heed-1: end_turn
		e 1: end_turn
		e 2: end_turn`},
	{name: "a prompt while canceling, and the turn ends by itself", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		E prompt 2 And a roof.
		A 1: end_turn
		e 1: end_turn
		a prompt heed-1 heed: item user: And a roof.
		A heed-1: end_turn
		e 2: end_turn`},
	{name: "a prompt while working", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E prompt 2 And a roof.
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ user: And a roof. ~
		A heed-1: end_turn
		e 1: end_turn
		e 2: end_turn`},
	{name: "a prompt while working waits", policy: steer.Policy{Mode: steer.ModeQueue}, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E prompt 2 And a roof.
		A 1: max_tokens
		e 1: max_tokens
		a prompt heed-1 And a roof.
		A heed-1: end_turn
		e 2: end_turn`},
	{
		name:   "a prompt while working that the machine drops waits in the proxy",
		policy: steer.Policy{Mode: steer.ModeQueue, Dedup: steer.DedupDrop}, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E prompt 2 And a roof.
		A 1: end_turn
		e 1: end_turn
		a prompt 2 And a roof.
		A 2: end_turn
		e 2: end_turn`,
	},
	{
		name:   "a prompt that waits in the proxy while the turn goes on",
		policy: steer.Policy{MaxPending: 1}, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A call c1 in_progress
		e call c1 in_progress
		M item
		E prompt 2 And a roof.
		A update c1 completed
		e update c1 completed
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~|` + finished + ` > c1 (completed)
		A heed-1: end_turn
		e 1: end_turn
		a prompt 2 And a roof.
		A 2: end_turn
		e 2: end_turn`,
	},
	{
		name: "of two injections the first is refused", init: `{"_meta":{"steering":{"supported":true}}}`,
		policy: steer.Policy{SteersPerTurn: 9}, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M one
		a steering heed-1 + heed: one ~
		M two
		a steering heed-2 + heed: two ~
		A heed-1: {"outcome":"odd"}
		a cancel
		A heed-2: {"outcome":"injected"}
		A 1: cancelled
		a prompt heed-3 W:|Build.|+ heed: one ~
		M three
		a cancel
		A heed-3: cancelled
		a prompt heed-4 W:|Build.|+2 heed: one heed: three ~
		A heed-4: end_turn
		e 1: end_turn`,
	},
	{
		name: "a prompt is injected, and an injection before it is refused", init: `{"_meta":{"steering":{"supported":true}}}`,
		script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M one
		a steering heed-1 + heed: one ~
		E prompt 2 And a roof.
		a steering heed-2 + user: And a roof. ~
		A heed-1: {"outcome":"odd"}
		a cancel
		A 1: cancelled
		a prompt heed-3 W:|Build.|+2 user: And a roof. heed: one ~
		A heed-3: end_turn
		e 1: end_turn
		e 2: end_turn
		A heed-2: {"outcome":"injected"}`,
	},
	{name: "a person stops", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E cancel
		a cancel
		M item
		A 1: cancelled
		e 1: cancelled
		E prompt 2 Go on.
		a prompt 2 Go on.|+ heed: item ~
		A 2: end_turn
		e 2: end_turn`},
	{name: "a person stops and prompts before the agent has stopped", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E cancel
		a cancel
		E prompt 2 A farm.
		A 1: cancelled
		e 1: cancelled
		a prompt 2 A farm.
		A 2: end_turn
		e 2: end_turn`},
	{name: "a person stops what waits", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E cancel
		a cancel
		E prompt 2 A farm.
		E cancel
		e 2: cancelled
		a cancel
		A 1: end_turn
		e 1: end_turn`},
	{name: "a person stops while canceling", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		E prompt 2 And a roof.
		E cancel
		a cancel
		A 1: cancelled
		e 2: cancelled
		e 1: cancelled
		E prompt 3 Go on.
		a prompt 3 Go on.|+ heed: item ~
		A 3: end_turn
		e 3: end_turn`},
	{name: "a person stops a prompt of the proxy", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~
		E cancel
		a cancel
		A heed-1: cancelled
		e 1: cancelled`},
	{name: "the editor cancels its request, which the agent has under another id", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~
		E {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}
		a cancel
		A heed-1: cancelled
		e 1: cancelled`},
	{name: "the editor cancels its request", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}
		a $/cancel_request
		M item
		A 1: error
		e 1: error
		E prompt 2 On.
		a prompt 2 On.|+ heed: item ~`},
	{name: "a permission in a canceled turn", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A permission 1
		e permission 1
		A permission p
		e permission p
		E p: outcome selected
		a p: outcome selected
		M item
		a cancel
		a 1: outcome cancelled
		A permission q
		a q: outcome cancelled
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~
		E 1: outcome selected
		A heed-1: end_turn
		e 1: end_turn`},
	{
		name: "a call holds the cancel back, and calls are closed", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A call c1 in_progress
		e call c1 in_progress
		A call other pending
		e call other pending
		M item
		A update c1 completed
		e update c1 completed
		a cancel
		A 1: cancelled
		e update other failed
		a prompt heed-1 W:|Build.|+ heed: item ~|` + finished + ` > c1 (completed)
		A heed-1: end_turn
		e 1: end_turn`,
		change: func(c *Config) { c.Game = func(title, _ string) bool { return title == "c1" } },
	},
	{
		name: "a call whose input comes late", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A call c1 pending
		e call c1 pending
		A {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"game"}}}
		e update c1
		M item
		A update c1 completed
		e update c1 completed
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~|` + finished + ` > game (completed)`,
		change: func(c *Config) {
			c.Game = func(title, _ string) bool { return title == "game" }
		},
	},
	{name: "a call that does not end", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A update c1 in_progress
		e update c1 in_progress
		M item
		T
		a cancel
		A 1: cancelled
		e update c1 failed
		a prompt heed-1 W:|Build.|+ heed: item ? ~
		A heed-1: end_turn
		e 1: end_turn`},
	{name: "idle: messages wait for a prompt", script: `
		M one
		R two
		E prompt 1 Build.
		a prompt 1 Build.|+2 heed: one heed: two ~
		A 1: end_turn
		e 1: end_turn`},
	{name: "what rides waits for the next prompt", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		R item
		A 1: end_turn
		e 1: end_turn
		E prompt 2 On.
		a prompt 2 On.|+ heed: item ~
		A 2: end_turn
		e 2: end_turn`},
	{name: "idle: messages prompt", change: func(c *Config) { c.PromptIdle = true }, script: `
		M one
		a prompt heed-1 one
		A chunk
		e chunk
		A heed-1: end_turn`},
	{name: "a prompt that fails", script: `
		M item
		E prompt 1 Build.
		a prompt 1 Build.|+ heed: item ~
		A 1: error
		e 1: error
		E prompt 2 Build.
		a prompt 2 Build.|+ heed: item ~
		A 2: end_turn
		e 2: end_turn
		E prompt 3 On.
		a prompt 3 On.`},
	{name: "a prompt of the proxy that fails is tried again, and goes with the next", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~
		A heed-1: error
		a prompt heed-2 W:|Build.|+ heed: item ~
		A heed-2: error
		a prompt heed-3 W:|Build.|+ heed: item ~
		A heed-3: error
		e 1: error
		E prompt 2 On.
		a prompt 2 On.|W:|Build.|+ heed: item ~
		A 2: end_turn
		e 2: end_turn`},
	{name: "images are sent again", script: `
		E {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"See"},{"type":"image","data":"","mimeType":"image/png"},{"type":"text","text":"there."}]}}
		a prompt 1 See|<image>|there.
		M item
		a cancel
		E {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"audio"},{"type":"text","text":"And hear."}]}}
		A 1: cancelled
		a prompt heed-1 W:|See|<image>|there.|+2 heed: item user: And hear. ~|<audio>
		A heed-1: end_turn
		e 1: end_turn
		e 2: end_turn`},
	{name: "an injection", init: `{"_meta":{"steering":{"supported":true}}}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a steering heed-1 + heed: item ~
		A heed-1: {"outcome":"injected"}
		E prompt 2 And a roof.
		a steering heed-2 + user: And a roof. ~
		A heed-2: {"outcome":"injected"}
		A 1: end_turn
		e 1: end_turn
		e 2: end_turn`},
	{name: "an injection that is refused", init: `{"_meta":{"steering":{"supported":true}}}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a steering heed-1 + heed: item ~
		A heed-1: error
		a cancel
		A 1: cancelled
		a prompt heed-2 W:|Build.|+ heed: item ~
		M other
		a cancel
		A heed-2: cancelled
		a prompt heed-3 W:|Build.|+2 heed: item heed: other ~
		A heed-3: end_turn
		e 1: end_turn`},
	{name: "an injection that finds no turn", init: `{"_meta":{"steering":{"supported":true}}}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a steering heed-1 + heed: item ~
		A heed-1: {"outcome":"promptRequired","reason":"noRunningTurn"}
		a cancel
		A 1: end_turn
		a prompt heed-2 item
		M other
		a steering heed-3 + heed: other ~
		A heed-3: {"outcome":"injected"}
		A heed-2: end_turn
		e 1: end_turn`},
	{name: "an injection that is answered after the turn", init: `{"_meta":{"steering":{"supported":true}}}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E prompt 2 And a roof.
		a steering heed-1 + user: And a roof. ~
		A 1: end_turn
		e 1: end_turn
		A heed-1: {"outcome":"injected"}
		e 2: end_turn`},
	{name: "an injection that comes after the turn", init: `{"_meta":{"steering":{"supported":true}}}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		E prompt 2 And a roof.
		a steering heed-1 + user: And a roof. ~
		A 1: end_turn
		e 1: end_turn
		A heed-1: {"outcome":"promptRequired","reason":"noRunningTurn"}
		a prompt 2 And a roof.
		A 2: end_turn
		e 2: end_turn`},
	{name: "an injection whose answer is unknown", init: `{"_meta":{"steering":{"supported":true}}}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a steering heed-1 + heed: item ~
		A heed-1: {}
		a cancel
		A 1: cancelled
		a prompt heed-2 W:|Build.|+ heed: item ~`},
	{name: "an injection of goose", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A run "r1"
		e run "r1"
		M item
		a steer heed-1 + heed: item ~
		A heed-1: {"runId":"r1","messageId":"m"}
		A run null
		e run null
		M other
		a cancel
		A 1: cancelled
		a prompt heed-2 W:|Build.|+ heed: other ~`},
	{name: "version 2: the editor sees one turn", init: `{"protocolVersion":2}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A 1: {}
		e 1: 
		A user m1
		e user m1
		A state running
		e state running
		A call c completed
		e call c completed
		M item
		a cancel
		A state idle cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~|` + finished + ` > c (completed)
		A heed-1: {}
		A user m2
		A state running
		e state running
		A user m3
		e user m3
		A chunk
		e chunk
		A state requires_action
		e state requires_action
		A state idle end_turn
		e state idle end_turn
		E prompt 2 Dig.
		a prompt 2 Dig.
		A 2: error
		e 2: error`},
	{name: "version 2: a prompt during a turn is accepted at once", init: `{"protocolVersion":2}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A 1: {}
		e 1: 
		A state running
		e state running
		E prompt 2 Dig.
		e 2: 
		a cancel
		A state idle cancelled
		a prompt heed-1 W:|Build.|+ user: Dig. ~
		A heed-1: {}
		A user m2
		e user m2
		A state running
		e state running
		A state idle end_turn
		e state idle end_turn`},
	{name: "version 2: a person stops the turn", init: `{"protocolVersion":2}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A 1: {}
		e 1: 
		A state running
		e state running
		E cancel
		a cancel
		M item
		A state idle cancelled
		e state idle cancelled
		E prompt 2 Dig.
		a prompt 2 Dig.|+ heed: item ~`},
	{name: "version 2: an agent that fails after it accepted, and idle without a turn", init: `{"protocolVersion":2}`, script: `
		A state idle
		e state idle
		E prompt 1 Build.
		a prompt 1 Build.
		A state idle
		e state idle
		A 1: {}
		e 1: 
		A state running
		e state running
		M item
		a cancel
		A state idle cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~
		A heed-1: error
		a prompt heed-2 W:|Build.|+ heed: item ~
		A heed-2: error
		a prompt heed-3 W:|Build.|+ heed: item ~
		A heed-3: error
		e state idle refusal`},
	{name: "version 2: a prompt that was accepted is answered once", init: `{"protocolVersion":2}`, script: `
		E prompt 1 Build.
		a prompt 1 Build.
		A 1: {}
		e 1: 
		A state running
		e state running
		E cancel
		a cancel
		E prompt 2 Dig.
		e 2: 
		A state idle cancelled
		e state idle cancelled
		a prompt 2 Dig.
		A 2: error
		e state idle refusal`},
	{name: "version 2: a turn of the proxy ends for the editor", init: `{"protocolVersion":2}`, change: idles, script: `
		M item
		a prompt heed-1 item
		A heed-1: {}
		A user m1
		A state running
		e state running
		A state idle end_turn
		e state idle end_turn`},
	{name: "the latest finished calls are listed", script: `
		E prompt 1 Build.
		a prompt 1 Build.
` + manyCalls(23) + `
		M item
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~|` + finished + ` (3 earlier ones are left out)` + listed(4, 23) + `
		A heed-1: end_turn
		e 1: end_turn
		E prompt 2 Dig.
		a prompt 2 Dig.
		M other
		a cancel
		A 2: cancelled
		a prompt heed-2 W:|Dig.|+ heed: other ~`},
	{name: "a turn that is answered twice", script: `
		E prompt 1 Build.
		a prompt 1 Build.
		M item
		a cancel
		A 1: cancelled
		a prompt heed-1 W:|Build.|+ heed: item ~
		A 1: end_turn
		A heed-1: end_turn
		e 1: end_turn
		A heed-1: end_turn`},
	{name: "ids of the directions overlap, and a loaded session goes on", script: `
		E {"jsonrpc":"2.0","id":7,"method":"session/load","params":{"sessionId":"s","cwd":"/"}}
		a 7: 
		A {"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}
		e 7: 
		E 7: {"content":""}
		a 7: 
		A 7: {}
		e 7: 
		E prompt 7 Build.
		a prompt 7 Build.
		A permission 7
		e permission 7
		E 7: outcome selected
		a 7: outcome selected
		A 7: end_turn
		e 7: end_turn`},
}

// idles lets messages begin turns.
func idles(c *Config) { c.PromptIdle = true }

// finished begins the list of finished calls.
const finished = "These calls were finished before you were stopped. Do not repeat them without looking:"

// manyCalls is a script of n calls that fail, and listed their list from one to another.
func manyCalls(n int) (script string) {
	for i := range n {
		script += fmt.Sprintf("\t\tA call c%d failed\n\t\te call c%d failed\n", i+1, i+1)
	}
	return strings.TrimSuffix(script, "\n")
}

func listed(from, to int) (list string) {
	for i := from; i <= to; i++ {
		list += fmt.Sprintf(" > c%d (failed)", i)
	}
	return list
}

// TestAnotherVersionIsNoted holds that an agent of a version that is not known is one line for the person.
func TestAnotherVersionIsNoted(t *testing.T) {
	for version, noted := range map[int]int{1: 0, 2: 0, 3: 1} {
		synctest.Test(t, func(t *testing.T) {
			var notes []string
			var log bytes.Buffer
			w := newWorld(t, steer.Policy{}, func(c *Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, nil))
				c.Note = func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
			})
			w.open(fmt.Sprintf(`{"protocolVersion":%d}`, version))
			w.close()
			require.Len(t, notes, noted)
			require.Contains(t, log.String(), fmt.Sprintf(`"not steered"=%d`, noted))
			require.NotContains(t, strings.Join(notes, ""), "\n")
		})
	}
}

func TestScripts(t *testing.T) {
	for _, s := range scripts {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, s.policy, s.change)
				defer w.close()
				if s.init == "" {
					s.init = `{"protocolVersion":1}`
				}
				w.open(s.init)
				w.play(s.script)
			})
		})
	}
}
