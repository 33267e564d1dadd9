package steering

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// host is the program in which an agent works, or its editor.
type host struct {
	heed, self string // the programs
	dir, log   string
	model      *endpoint
	game       *os.File // lines for the game to log, if heed starts the game
}

// serve starts "heed serve", and returns when it answers.
func (h *host) serve(ctx context.Context) (stop func(), err error) {
	c := exec.CommandContext(ctx, h.heed, "serve", "--no-config", "--state", h.dir, "--log-level", "error", h.log)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait()
	}
	for range 500 {
		if exec.CommandContext(ctx, h.heed, "status", "--state", h.dir).Run() == nil {
			return stop, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	stop()
	return nil, errors.New("heed serve does not answer")
}

// work lets an agent work: it asks the model, and does what that says. Both return a text for the next request.
func (h *host) work(ctx context.Context, call, acknowledge func(context.Context, []string) (string, error)) error {
	messages := []string{"Build a wall."}
	acked := false
	for {
		tool, err := ask(ctx, h.model.URL, messages)
		if err != nil {
			return errors.Join(ctx.Err(), err)
		}
		do := call
		if tool == "ack" {
			do = acknowledge
		}
		text, err := do(ctx, messages)
		if err != nil {
			return errors.Join(ctx.Err(), err)
		}
		switch {
		case tool == "ack":
			messages = nil // the model continues from its own work
			acked = true
		case acked: // a fault before the next call joins the acknowledged incident
			h.model.acked()
			acked = false
		}
		messages = append(messages, text)
	}
}

// habit is after how many steps an agent asks by itself.
const habit = 20

func (h *host) asks(ctx context.Context) error {
	steps := 0
	return h.work(ctx, func(ctx context.Context, _ []string) (string, error) {
		if steps++; steps%habit != 0 {
			return "built", nil
		}
		out, _ := exec.CommandContext(ctx, h.heed, "current", "--state", h.dir).Output() // 1 where an item blocks
		return string(out), nil
	}, func(ctx context.Context, _ []string) (string, error) {
		return "acknowledged", exec.CommandContext(ctx, h.heed, "ack", "--state", h.dir).Run()
	})
}

// hook runs the hook of an event, and returns its denial or text.
func (h *host) hook(ctx context.Context, event string, more map[string]any) (denied bool, text string, err error) {
	input := map[string]any{
		"hook_event_name": event, "session_id": "s1", "transcript_path": "/t", "cwd": "/", "permission_mode": "default",
	}
	maps.Copy(input, more)
	raw, err := json.Marshal(input)
	if err != nil {
		return false, "", err
	}
	c := exec.CommandContext(ctx, h.heed, "hook", "--no-config", "--state", h.dir)
	c.Stdin, c.Stderr = bytes.NewReader(raw), os.Stderr
	out, err := c.Output()
	if err != nil || len(out) == 0 {
		return false, "", err
	}
	var said struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Context  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	err = json.Unmarshal(out, &said)
	return said.Specific.Decision == "deny", said.Specific.Reason + said.Specific.Context, err
}

func (h *host) hooks(ctx context.Context) error {
	if _, _, err := h.hook(ctx, "UserPromptSubmit", map[string]any{"prompt": "Build a wall."}); err != nil {
		return err
	}
	return h.work(ctx, func(ctx context.Context, _ []string) (string, error) {
		tool := map[string]any{"tool_name": "mcp__game__build", "tool_use_id": "t", "tool_input": struct{}{}}
		denied, text, err := h.hook(ctx, "PreToolUse", tool)
		if err != nil || denied {
			return text, err
		}
		tool["tool_response"] = "built"
		_, text, err = h.hook(ctx, "PostToolUse", tool)
		return "built " + text, err
	}, func(ctx context.Context, messages []string) (string, error) {
		return "acknowledged", ack(ctx, h.heed, h.dir, strings.Join(messages, "\n"))
	})
}

// peer is a program that speaks JSON-RPC over its standard streams, a message a line.
type peer struct {
	in   io.WriteCloser
	out  chan []byte
	wait func() error
	ids  int // of requests so far
}

func talk(ctx context.Context, args ...string) (*peer, error) {
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stderr = os.Stderr
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &peer{in: in, out: make(chan []byte, 1024), wait: c.Wait}
	go func() {
		defer close(p.out)
		for s := newScanner(r); s.Scan(); {
			p.out <- bytes.Clone(s.Bytes())
		}
	}()
	return p, c.Start()
}

func (p *peer) close() {
	_ = p.in.Close()
	_ = p.wait()
}

// ask writes a request.
func (p *peer) ask(method string, params any) error {
	p.ids++
	return json.NewEncoder(p.in).Encode(map[string]any{"jsonrpc": "2.0", "id": p.ids, "method": method, "params": params})
}

// request writes a request, and returns its result.
func (p *peer) request(method string, params any) (json.RawMessage, error) {
	if err := p.ask(method, params); err != nil {
		return nil, err
	}
	for line := range p.out {
		var m message
		if json.Unmarshal(line, &m) == nil && string(m.ID) == fmt.Sprint(p.ids) && m.Method == "" {
			return m.Result, nil
		}
	}
	return nil, io.ErrUnexpectedEOF
}

func newScanner(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 16<<20)
	return s
}

// message is one of JSON-RPC.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
}

// answer writes the result of a request.
func answer(w io.Writer, id json.RawMessage, result any) error {
	return json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

// ackNumber is the number of the item that is to be acknowledged.
var ackNumber = regexp.MustCompile(`call heed_ack with id "(\d+)"`)

func (h *host) mcp(ctx context.Context) error {
	p, err := talk(ctx, h.heed, "mcp", "--no-config", "--state", h.dir, "--log", h.log, "--",
		h.self, "steering", "-role", "server")
	if err != nil {
		return err
	}
	defer p.close()
	if _, err := p.request("initialize", map[string]any{"protocolVersion": "2025-06-18"}); err != nil {
		return err
	}
	call := func(tool string, arguments any) (string, error) {
		raw, err := p.request("tools/call", map[string]any{"name": tool, "arguments": arguments})
		var r struct{ Content []struct{ Text string } }
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		var texts []string
		for _, c := range r.Content {
			texts = append(texts, c.Text)
		}
		return strings.Join(texts, "\n"), err
	}
	return h.work(ctx, func(context.Context, []string) (string, error) {
		return call("build", struct{}{})
	}, func(_ context.Context, messages []string) (string, error) {
		m, err := last(ackNumber, strings.Join(messages, "\n"))
		if err != nil {
			return "", err
		}
		return call("heed_ack", map[string]string{"id": m[1]})
	})
}

// serve answers the requests on a stream with what take returns, nil for none.
func serve(in io.Reader, out io.Writer, take func(m message) (result any)) error {
	for s := newScanner(in); s.Scan(); {
		var m message
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			return err
		}
		if result := take(m); result != nil {
			if err := answer(out, m.ID, result); err != nil {
				return err
			}
		}
	}
	return nil
}

// server answers as an MCP server with one tool.
func server(m message) any {
	switch m.Method {
	case "initialize":
		return map[string]any{
			"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": struct{}{}},
			"serverInfo": map[string]string{"name": "colony", "version": "1"},
		}
	case "tools/call":
		return map[string]any{"content": []any{map[string]string{"type": "text", "text": "built"}}}
	}
	return nil
}

// acp is an editor that asks for one long turn. The agent reports acknowledgements to it.
func (h *host) acp(ctx context.Context) error {
	p, err := talk(ctx, h.heed, "acp", "--no-config", "--state", h.dir, "--steers-per-turn", "1000",
		"--steers-per-minute", "1000", "--", h.self, "steering", "-role", "agent", "-model", h.model.URL)
	if err != nil {
		return err
	}
	defer p.close()
	if _, err := p.request("initialize", map[string]any{"protocolVersion": 1}); err != nil {
		return err
	}
	if _, err := p.request("session/new", map[string]any{"cwd": h.dir, "mcpServers": []any{}}); err != nil {
		return err
	}
	prompt := func() error {
		return p.ask("session/prompt", map[string]any{
			"sessionId": "s1", "prompt": []any{map[string]string{"type": "text", "text": "Build a wall."}},
		})
	}
	if err := prompt(); err != nil {
		return err
	}
	calls := 2 // since an acknowledgement
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, ok := <-p.out:
			var m message
			if !ok {
				return errors.Join(ctx.Err(), io.ErrUnexpectedEOF)
			}
			if err := json.Unmarshal(line, &m); err != nil {
				return err
			}
			if asksToAck := bytes.Contains(m.Params, []byte("ACKNOWLEDGE ")); asksToAck {
				var with struct {
					Update struct{ Content struct{ Text string } }
				}
				if err := json.Unmarshal(m.Params, &with); err != nil {
					return err
				}
				if err := ack(ctx, h.heed, h.dir, with.Update.Content.Text); err != nil {
					return errors.Join(ctx.Err(), err)
				}
				calls = 0
			}
			if bytes.Contains(m.Params, []byte(`"tool_call_update"`)) {
				if calls++; calls == 2 { // the first may have begun before
					h.model.acked()
				}
			}
			if string(m.ID) == fmt.Sprint(p.ids) { // a person continues
				if err := prompt(); err != nil {
					return err
				}
			}
		}
	}
}
