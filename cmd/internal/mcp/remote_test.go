package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/mcp"
)

// game is a game that serves MCP over HTTP. It holds each request to the headers that it must have.
type game struct {
	t       testing.TB
	events  bool // answers are events
	pretty  bool // answers have line feeds
	breaks  bool // streams break off before the answer, which comes when they are asked for again
	silent  bool // it has no stream of its own
	handler func(w http.ResponseWriter, r *http.Request, m map[string]any) bool

	mu       sync.Mutex
	sessions int
	held     map[string]string // answers, by the event before them
	got      chan string       // method of each request of HTTP, and of its message
	gone     chan struct{}     // a client left
	over     chan struct{}     // the session has ended
	own      chan string       // what it sends by itself
}

func (g *game) session() string { return fmt.Sprintf("s%d", g.sessions) }

// restart forgets the session.
func (g *game) restart() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions++
	close(g.over)
	g.over = make(chan struct{})
}

func (g *game) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	assert.Equal(g.t, "Bearer secret", r.Header.Get("Authorization"))
	var m map[string]any
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	method, _ := m["method"].(string)
	g.got <- strings.TrimSpace(r.Method + " " + method)
	g.mu.Lock()
	session, over := g.session(), g.over
	g.mu.Unlock()
	params, _ := m["params"].(map[string]any)
	_, modern := params["_meta"]
	switch {
	case modern:
		assert.Equal(g.t, "2026-07-28", r.Header.Get("Mcp-Protocol-Version"))
		assert.Equal(g.t, method, r.Header.Get("Mcp-Method"))
		assert.Empty(g.t, r.Header.Get("Mcp-Session-Id"))
	case method == "initialize":
		assert.Empty(g.t, r.Header.Get("Mcp-Session-Id"))
		w.Header().Set("Mcp-Session-Id", session)
	case r.Header.Get("Mcp-Session-Id") != session:
		w.WriteHeader(http.StatusNotFound)
		return
	default:
		assert.Equal(g.t, "2025-11-25", r.Header.Get("Mcp-Protocol-Version"))
	}
	if g.handler != nil && g.handler(w, r, m) {
		return
	}
	flush := http.NewResponseController(w).Flush
	switch last := r.Header.Get("Last-Event-Id"); {
	case r.Method == http.MethodDelete:
	case last != "" && g.held[last] != "":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "id: end\nevent: message\ndata: %s\n\n", g.held[last])
	case r.Method == http.MethodGet && g.silent:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_ = flush()
		for {
			select {
			case line := <-g.own:
				_, _ = fmt.Fprintf(w, ": comment\r\ndata: %s\r\n\r\n", line)
				_ = flush()
			case <-over:
				return
			case <-r.Context().Done():
				return
			}
		}
	case m["id"] == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		result := map[string]any{"content": []any{map[string]string{"type": "text", "text": "built"}}}
		switch method {
		case "initialize":
			result = map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": struct{}{}}}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]string{"name": "build"}}}
		}
		answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m["id"], "result": result})
		if g.pretty {
			answer, _ = json.MarshalIndent(json.RawMessage(answer), "", "\t")
		}
		if !g.events {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(answer)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if g.breaks && method != "initialize" {
			g.held = map[string]string{fmt.Sprint("e", m["id"]): string(answer)}
			_, _ = fmt.Fprintf(w, "id: e%v\nretry: 1\ndata:\n\n", m["id"])
			return
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(string(answer), "\n", "\ndata: "))
		_ = flush()
		<-r.Context().Done() // which the client ends
		g.gone <- struct{}{}
	}
}

// beginGame runs a proxy in front of a game over HTTP.
func beginGame(t *testing.T, g *game) (*between, *mcp.Remote) {
	g.t, g.sessions, g.over = t, 1, make(chan struct{})
	g.got, g.own, g.gone = make(chan string, 64), make(chan string, 8), make(chan struct{}, 64)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return beginURL(t, server.URL)
}

func beginURL(t *testing.T, url string) (*between, *mcp.Remote) {
	remote := mcp.Dial(url, "secret", slog.New(slog.DiscardHandler))
	t.Cleanup(func() { remote.Finish(0) })
	b := &between{t: t, client: make(chan string, 64)}
	fromClient, toProxy := io.Pipe()
	b.toProxy = toProxy
	b.run(fromClient, remote, pipeTo(b.client), remote)
	return b, remote
}

// wait returns when the game got a request.
func (g *game) wait(kind string) {
	g.t.Helper()
	for {
		select {
		case got := <-g.got:
			if got == kind {
				return
			}
		case <-time.After(patience):
			require.FailNow(g.t, "no request comes", kind)
		}
	}
}

const ack = `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"heed_ack","arguments":{"id":"1"}}}`

const hello25 = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`

// TestGameOverHTTP: an agent is held, reads why, acknowledges and goes on, whatever form the game's answers have.
func TestGameOverHTTP(t *testing.T) {
	for name, g := range map[string]*game{
		"one object": {}, "pretty": {pretty: true}, "events": {events: true, silent: true},
		"several lines": {events: true, pretty: true}, "broken streams": {events: true, breaks: true},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := beginGame(t, g)
			require.Contains(t, b.gets(hello25), `"instructions":"heed watches`)
			b.ask(inited)
			g.wait("GET")
			require.Contains(t, b.gets(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`), `[{"name":"build"},{`)
			require.Regexp(t, `"text": ?"built"`, b.gets(build))
			b.log(fault)
			require.Contains(t, b.gets(build), "Not executed: ")
			require.Contains(t, b.gets(ack), `\"acknowledged\":true`)
			require.Regexp(t, `"text": ?"built"`, b.gets(build))
			g.restart() // such as a game in an editor that is played again
			require.Regexp(t, `"text": ?"built"`, b.gets(build))
			g.wait("POST initialize")
			g.wait("POST notifications/initialized")
			if !g.silent {
				g.wait("GET")
				g.own <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
				require.Equal(t, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, b.take(b.client))
			}
			b.gets(typed(build)) // of a version without sessions
		})
	}
}

// TestGameThatFails: each request has an answer, which says whether the call may have been executed.
func TestGameThatFails(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	b, _ := beginURL(t, server.URL)
	const refused = `"id":7,"error":{"code":-32603,"message":"heed: the server cannot be reached, and did nothing: ` +
		`.*refused`

	require.Regexp(t, refused, b.gets(build))

	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"a status":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, `HTTP 500 Internal Server Error"`},
		"a redirect": {http.RedirectHandler("/x", http.StatusTemporaryRedirect).ServeHTTP, `HTTP 307 `},
		"a page":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, `HTTP 200 OK"`},
		"its own error": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"}}`)
		}, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"},"id":7}`},
		"the end of its stream": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {}\n\n")
		}, `broke off: EOF; whether it was executed is not known\n\nOutcome of this call: unknown`},
		"events with a status": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(500)
			_, _ = io.WriteString(w, "data: {}\n\n")
		}, `HTTP 500 Internal Server Error"`},
		"a lost connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, `whether it was executed is not known\n\nOutcome of this call: unknown`},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			b, _ := beginURL(t, server.URL)
			got := b.gets(build)
			if got == "{}" {
				got = b.take(b.client)
			}
			require.Contains(t, got, c.want)
			require.Contains(t, got, `"id":7`)
		})
	}
}

// TestSessionThatCannotBegin: of a session that is begun again in vain, the client hears no answer to its initialize, but
// to its request alone.
func TestSessionThatCannotBegin(t *testing.T) {
	began := false
	b, _ := beginGame(t, &game{handler: func(w http.ResponseWriter, _ *http.Request, m map[string]any) bool {
		again := m["method"] == "initialize" && began
		if began = began || m["method"] == "initialize"; again {
			w.WriteHeader(http.StatusInternalServerError)
		} else if m["method"] == "tools/call" {
			w.WriteHeader(http.StatusNotFound)
		}
		return again || m["method"] == "tools/call"
	}})
	require.Contains(t, b.gets(hello25), `"id":1,`)
	require.Contains(t, b.gets(build), `"id":7,"error":`)
}

// TestCancelOverHTTP: since 2026-07-28, the end of the request says that it is canceled; before, a notification does.
func TestCancelOverHTTP(t *testing.T) {
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7.0}}`
	left := make(chan struct{}, 8)
	g := &game{handler: func(_ http.ResponseWriter, r *http.Request, m map[string]any) bool {
		if m["method"] != "tools/call" {
			return false
		}
		<-r.Context().Done()
		left <- struct{}{}
		return true
	}}
	b, _ := beginGame(t, g)
	b.ask(typed(build))
	g.wait("POST tools/call")
	b.ask(cancel)
	<-left
	b.gets(hello25)
	require.Contains(t, b.gets(strings.Replace(build, "7", "8", 1)), "Not executed: ", "its outcome is not known")
	require.Contains(t, b.gets(ack), `\"acknowledged\":true`)
	b.ask(build)
	g.wait("POST tools/call")
	b.ask(cancel)
	g.wait("POST notifications/cancelled")
}

// TestClientLeavesGame: open requests have their answers, and the session is ended.
func TestClientLeavesGame(t *testing.T) {
	called, goOn := make(chan struct{}), make(chan struct{})
	g := &game{handler: func(_ http.ResponseWriter, _ *http.Request, m map[string]any) bool {
		if m["method"] == "tools/call" {
			close(called)
			<-goOn
		}
		return false
	}}
	b, remote := beginGame(t, g)
	b.gets(hello25)
	b.ask(build)
	<-called
	finished := make(chan struct{})
	go func() { remote.Finish(time.Minute); close(finished) }()
	close(goOn)
	require.Contains(t, b.take(b.client), "built")
	<-finished
	g.wait("DELETE")
	require.NoError(t, <-b.ended)
}

// TestMirrorsArguments: heed repeats arguments in headers, if the tool of the game wants that and they are not null.
func TestMirrorsArguments(t *testing.T) {
	got := make(chan http.Header, 8)
	g := &game{handler: func(w http.ResponseWriter, r *http.Request, m map[string]any) bool {
		switch m["method"] {
		case "tools/call":
			got <- r.Header
		case "tools/list":
			answer := `"result":` + mirroring
			if m["id"] != 2.0 {
				answer = `"error":{"code":-1}`
			}
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%v,%s}`, m["id"], answer)
			return true
		}
		return false
	}}
	b, _ := beginGame(t, g)
	tools := b.gets(typed(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`))
	require.Contains(t, tools, "x-mcp-header")
	names := regexp.MustCompile(`"name":"(\w+)","inputSchema`).FindAllStringSubmatch(tools, -1)
	require.Len(t, names, 2, "others must not reach a client over HTTP")
	require.Equal(t, []string{"build", "named"}, []string{names[0][1], names[1][1]})
	call := func(arguments string) (sent map[string]string) {
		b.gets(typed(toolCall(3, "build", arguments)))
		sent = map[string]string{}
		for name, values := range <-got {
			if strings.HasPrefix(name, "Mcp-Param-") {
				sent[name] = values[0]
			}
		}
		return sent
	}
	require.Equal(t, map[string]string{
		"Mcp-Param-Region": "=?base64?w7xiZXI=?=", "Mcp-Param-Count": "42", "Mcp-Param-Roof": "true",
	}, call(`{"region":"über","count":42,"at":{"roof":true},"plain":"x"}`))
	require.Equal(t, map[string]string{"Mcp-Param-Region": "=?base64??="}, call(`{"region":"","count":null}`))
	require.Empty(t, call(`{"plain":"x"}`))
	list := typed(`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":5,"error":{"code":-1}}`, b.gets(list), "no list")
}
