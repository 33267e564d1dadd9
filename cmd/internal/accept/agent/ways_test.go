package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/deliver"
	"github.com/heedlog/heed/cmd/internal/mcp"
	"github.com/heedlog/heed/cmd/internal/session"
	words "github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// asResult returns a result in the form of GABP, with the facts that an agent reads in a text of heed: the outcome of the
// call, and an item to acknowledge or an advisory one.
func asResult(raw json.RawMessage, text string) json.RawMessage {
	with := map[string]any{"result": raw}
	_ = json.Unmarshal(raw, &with)
	if m := outcomeText.FindStringSubmatch(text); m != nil {
		with["verdict"] = map[string]string{"outcome": m[1]}
	}
	item := heed.Item{ID: "-", State: coalesce.Open, Severity: event.SeverityError, Summary: text}
	if m := itemText.FindStringSubmatch(text); m != nil {
		item.ID, item.Blocking = m[1], true
		item.LatestSequence, _ = strconv.ParseUint(m[2], 10, 64)
	}
	if item.Blocking || strings.Contains(text, "(advisory)") {
		with["attention"] = gabp.Project(&item)
	}
	raw, _ = json.Marshal(with)
	return raw
}

var (
	outcomeText = regexp.MustCompile(`Outcome of [^:]*: (\w+)`)
	itemText    = regexp.MustCompile(`(?:heed_ack with id "|ACK )([\w-]+)(?: (\d+))?`)
)

// refused is the error of a call that was not executed.
func refused(text string) error {
	return &gabp.Error{Code: gabp.CodeToolUnavailable, Message: "not executed", Data: asResult(nil, text)}
}

// reports has the calls of an agent reported to a heed by its host, where that heed takes such reports.
type reports struct{ heed *gabp.Client }

func (r *reports) report(ctx context.Context, id int, tool, status string) (text string) {
	var verdicts []heed.Verdict // of calls that ended and are not clean
	_ = r.heed.Call(ctx, "heed/call", map[string]string{
		"agent": "bench", "id": fmt.Sprint(id), "tool": tool, "status": status,
	}, &verdicts)
	for _, v := range verdicts {
		text += fmt.Sprintf("Outcome of the call %s: %s. %s\n", tool, v.Outcome, v.Text)
	}
	return text
}

func (r *reports) ack(ctx context.Context, id string, through uint64) error {
	_, err := r.heed.CallTool(ctx, bridge.ToolAck, map[string]any{"attentionId": id, "agent": "bench", "through": through})
	return err
}

// next says how an agent acknowledges an item.
func next(item *heed.Item) string { return fmt.Sprintf("ACK %s %d", item.ID, item.LatestSequence) }

func look(*heed.Item) string { return "read a brief" }

// viaHook asks heed before each call whether it is denied, and after it for a text, as the hooks of Claude Code do.
type viaHook struct {
	reports
	game  *gabp.Client
	talk  *deliver.Conversation
	calls int
}

func newHook(game, client *gabp.Client) *viaHook {
	h := &viaHook{reports: reports{client}, game: game}
	h.talk = deliver.New(deliver.Config{
		Heed: client, Way: words.Way{Look: look, Ack: next, More: look},
		Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	h.do(func(m *steer.Machine) { m.Begin(steer.Message{Author: deliver.User}) })
	return h
}

func (h *viaHook) do(f func(m *steer.Machine)) {
	h.talk.Do(func(m *steer.Machine, _ time.Time) steer.Action {
		f(m)
		return steer.Action{}
	})
}

func (h *viaHook) call(ctx context.Context, tool string, args any) (json.RawMessage, error) {
	h.do(func(m *steer.Machine) { deliver.Confirm(m) })
	if tool == "colony/build" { // else the owner allows it
		var current gabp.CurrentResult
		if err := h.heed.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &current); err != nil {
			return nil, err
		}
		if item := current.Attention; item != nil && item.Blocking {
			_, err := h.talk.Offer(ctx)
			return nil, errors.Join(refused(next(item)), err)
		}
	}
	h.calls++
	h.report(ctx, h.calls, tool, "started")
	raw, err := h.game.CallTool(ctx, tool, args)
	if err != nil {
		return nil, err
	}
	verdict := h.report(ctx, h.calls, tool, "completed")
	news, err := h.talk.Offer(ctx)
	return asResult(raw, verdict+news), err
}

// viaACP makes calls that heed knows by reports only. The agent has the conversation of the policy steer. The answer to
// a report reaches it with the prompt for its next step; to a script, that is with the result.
type viaACP struct {
	reports
	game  *gabp.Client
	calls int
}

func (a *viaACP) call(ctx context.Context, tool string, args any) (json.RawMessage, error) {
	a.calls++
	id := a.calls
	a.report(ctx, id, tool, "started")
	raw, err := a.game.CallTool(ctx, tool, args)
	return asResult(raw, a.report(ctx, id, tool, "completed")), err
}

// viaMCP is a client of the proxy of MCP.
type viaMCP struct {
	to      io.Writer
	answers chan json.RawMessage
	calls   int
}

// newMCP lets a proxy run between a client and a game that is a server of MCP.
func newMCP(ctx context.Context, s *session.Session, px *bridge.Proxy, g *game, run func(func() error)) *viaMCP {
	client, near := net.Pipe()
	server, far := net.Pipe()
	proxy := mcp.New(mcp.Config{
		Session: s, Bridge: px, Client: near, Server: far, Left: func() { _ = server.Close() }, Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	})
	run(func() error {
		err := proxy.Run(ctx)
		_, _ = near.Close(), far.Close()
		return err
	})
	go g.serveMCP(ctx, server)
	m := &viaMCP{to: client, answers: make(chan json.RawMessage)}
	go func() {
		defer close(m.answers)
		for lines := newLines(client); lines.Scan(); {
			var answer struct {
				ID json.RawMessage `json:"id"`
			}
			if json.Unmarshal(lines.Bytes(), &answer) == nil && answer.ID != nil {
				m.answers <- append(json.RawMessage(nil), lines.Bytes()...)
			}
		}
	}()
	go func() {
		<-ctx.Done()
		_ = client.Close()
	}()
	_ = testkit.Must(m.ask("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": struct{}{}}))
	_ = testkit.Must(m.ask("tools/list", struct{}{}))
	return m
}

func newLines(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	return lines
}

func (m *viaMCP) ask(method string, params any) (json.RawMessage, error) {
	m.calls++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.calls, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := m.to.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	answer, ok := <-m.answers
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	return answer, nil
}

func (m *viaMCP) call(_ context.Context, tool string, args any) (json.RawMessage, error) {
	answer, err := m.ask("tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return nil, err
	}
	var a struct {
		Result struct {
			IsError    bool                       `json:"isError"`
			Content    []struct{ Text string }    `json:"content"`
			Structured map[string]json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || len(a.Result.Content) == 0 {
		return nil, fmt.Errorf("%s: %w", answer, err)
	}
	text := a.Result.Content[0].Text
	if a.Result.IsError {
		return nil, refused(text)
	}
	delete(a.Result.Structured, "heed")
	raw, err := json.Marshal(a.Result.Structured)
	return asResult(raw, text), err
}

func (m *viaMCP) ack(ctx context.Context, id string, _ uint64) error {
	_, err := m.call(ctx, "heed_ack", map[string]string{"id": id})
	return err
}

// serveMCP lets the game be a server of MCP, until its client leaves.
func (g *game) serveMCP(ctx context.Context, conn net.Conn) {
	for lines := newLines(conn); lines.Scan(); {
		var r struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &r) != nil || r.ID == nil {
			continue
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": r.ID}
		switch r.Method {
		case "initialize":
			answer["result"] = json.RawMessage(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},` +
				`"serverInfo":{"name":"colony","version":"1"}}`)
		case "tools/list":
			answer["result"] = json.RawMessage(`{"tools":[{"name":"colony/build","inputSchema":{"type":"object"}},` +
				`{"name":"colony/read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`)
		default:
			result, err := g.call(ctx, &gabp.Request{Params: r.Params})
			if err != nil {
				answer["error"] = map[string]any{"code": -32000, "message": err.Error()}
				break
			}
			answer["result"] = map[string]any{
				"content": []any{map[string]string{"type": "text", "text": "done"}}, "structuredContent": result,
			}
		}
		line, _ := json.Marshal(answer)
		if _, err := conn.Write(append(line, '\n')); err != nil {
			return
		}
	}
}

// TestAsResult holds that the outcome and the item in a text of heed are found.
func TestAsResult(t *testing.T) {
	res, err := parseResult(asResult(json.RawMessage(`{"built":1}`), "Outcome of this call: unknown. Why.\n\n"+
		"Item e-1 (blocking: x)\nAcknowledge it: call heed_ack with id \"7\"."))
	require.NoError(t, err)
	assert.Equal(t, "unknown", res.verdict.Outcome)
	assert.Equal(t, "7", res.item.ID)
	assert.True(t, res.item.Blocking)
	res = testkit.Must(parseResult(asResult(json.RawMessage(`{"built":1}`), "")))
	assert.Nil(t, res.item)
	assert.Empty(t, res.verdict.Outcome)
}
