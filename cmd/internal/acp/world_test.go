package acp

import (
	"bufio"
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

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/internal/testkit"
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
func (c *memory) receive(msg steer.Message) (got string) {
	c.Do(func(m *steer.Machine, now time.Time) steer.Action {
		r, a := m.Receive(now, msg)
		got = string(r)
		return a
	})
	return got
}

func verified(author string) steer.Class {
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

// framing shortens the words around messages.
var framing = strings.NewReplacer("\n\n", " ", "\n", " ", "[What you were working on]", "W:",
	"[This arrived while you were working]", "+", "[2 messages arrived while you were working]", "+2", "From ", "",
	"You were stopped for a message that is no news any more. Please continue what you were working on.", "gone",
	"A call to the game was in flight when you were stopped. Its outcome is unknown: read the game's state before you "+
		"repeat it.", "?", "This supersedes what you were working on: please turn to it now.", "!",
	"Please continue what you were working on, and incorporate this if it is relevant. If it is unrelated, acknowledge it "+
		"briefly and carry on.", "~")

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

func newWorld(t testing.TB, policy steer.Policy, changes ...func(*Config)) *world {
	w := &world{t: t, err: make(chan error, 1)}
	editor, near := connect()
	agent, far := connect()
	w.editor, w.agent = newPeer(editor), newPeer(agent)
	cfg := Config{
		Agent: far, Editor: near, Left: far.close, Game: every, Logger: slog.New(slog.DiscardHandler),
		Start: func(id string, fresh bool, c steer.Ceiling, act func(steer.Action)) Conversation {
			m := testkit.Must(steer.New(policy, c, verified))
			w.ceiling = c
			w.started = append(w.started, fmt.Sprint(id, " ", fresh))
			w.conversation = &memory{m: m, act: act, now: time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)}
			return w.conversation
		},
	}
	for _, change := range changes {
		change(&cfg)
	}
	go func() { w.err <- Run(context.Background(), cfg) }()
	return w
}

// inWorld plays a test in a world of its own, in which session s is open.
func inWorld(t *testing.T, play func(t *testing.T, w *world), changes ...func(*Config)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, steer.Policy{}, changes...)
		defer w.close()
		w.open(`{}`)
		play(t, w)
	})
}

// says lets one side send a line, and waits until all has happened.
func (w *world) says(p *peer, line string) {
	p.send(line)
	synctest.Wait()
}

// attention lets a message of attention come, and waits until all has happened.
func (w *world) attention(m steer.Message) {
	w.t.Helper()
	m.Author, m.Revision = "heed", "1"
	require.Equal(w.t, string(steer.Accepted), w.conversation.receive(m))
	synctest.Wait()
}

// open lets the editor open session s.
func (w *world) open(initialized string) {
	w.says(w.editor, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	w.says(w.agent, `{"jsonrpc":"2.0","id":"i","result":`+initialized+`}`)
	w.says(w.editor, `{"jsonrpc":"2.0","id":"n","method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	w.says(w.agent, `{"jsonrpc":"2.0","id":"n","result":{"sessionId":"s"}}`)
	w.editor.take()
	w.agent.take()
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
				words = append(words, framing.Replace(t.Text))
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
// attention, H holds the verdicts of calls back, V lets them come, = compares the reports of calls; e and a are what they
// receive thereupon, all of it.
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
			w.attention(steer.Message{Topic: rest, Text: rest, Rides: kind == "R", Invalid: kind == "X"})
		case "W":
			w.conversation.Do(func(m *steer.Machine, _ time.Time) steer.Action { m.Withdraw(rest); return steer.Action{} })
		case "=":
			require.Equal(w.t, rest, strings.Join(w.conversation.reports, ", "))
		case "H":
			w.conversation.verdict = make(chan struct{})
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
