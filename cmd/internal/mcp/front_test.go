package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/mcp"
	"github.com/heedlog/heed/internal/testkit"
)

// front is a proxy whose clients come over HTTP.
type front struct {
	*between
	url     string
	session string
}

func beginFront(t *testing.T) *front {
	b := &between{t: t, server: make(chan string, 64)}
	fromServer, toClient := io.Pipe()
	b.toClient = toClient
	f := mcp.NewFront("secret", false)
	b.run(f, fromServer, f, pipeTo(b.server))
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return &front{between: b, url: server.URL}
}

// reply is the answer to an HTTP request: the data of its events, or its body.
type reply struct {
	*http.Response
	lines chan string
	leave func()
}

// send sends an HTTP request, with headers as pairs. It comes back when the answer has begun.
func (f *front) send(method, body string, headers ...string) *reply {
	f.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	f.t.(*testing.T).Cleanup(leave)
	req := testkit.Must(http.NewRequestWithContext(ctx, method, f.url, strings.NewReader(body)))
	req.Header.Set("Authorization", "Bearer secret")
	if f.session != "" {
		req.Header.Set("Mcp-Session-Id", f.session)
	}
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp := testkit.Must(http.DefaultClient.Do(req))
	r := &reply{resp, make(chan string, 64), leave}
	go func() {
		defer close(r.lines)
		defer resp.Body.Close() //nolint:errcheck // the test reads it
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			if text := lines.Text(); text != "" && !strings.HasPrefix(text, "event: ") && text != ":" {
				r.lines <- text
			}
		}
	}()
	return r
}

// next returns the next line of a reply that is no id of an event.
func (f *front) next(r *reply) string {
	f.t.Helper()
	for {
		line := f.take(r.lines)
		switch name, value, _ := strings.Cut(line, ": "); name {
		case "id":
		case "data":
			return value
		default:
			return line
		}
	}
}

// begins begins a session.
func (f *front) begins() {
	f.t.Helper()
	f.session = ""
	done := make(chan *reply)
	go func() { done <- f.send("POST", hello25) }()
	require.Contains(f.t, f.take(f.server)+f.drain(), `"method":"initialize"`)
	f.serve(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`)
	r := <-done
	require.Equal(f.t, "application/json", r.Header.Get("Content-Type"))
	line := f.next(r)
	require.Contains(f.t, line, `"instructions":"heed watches`)
	f.session = r.Header.Get("Mcp-Session-Id")
	require.Len(f.t, f.session, 64)
}

// drain returns what the server got before initialize.
func (f *front) drain() (all string) {
	for len(f.server) > 0 {
		all += <-f.server
	}
	return all
}

// TestRefusedOverHTTP is the table of requests that do not reach the server.
func TestRefusedOverHTTP(t *testing.T) {
	f := beginFront(t)
	f.begins()
	session := f.session
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	look := modern(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"größe"}}`)
	for name, c := range map[string]struct {
		method, body string
		headers      []string
		status       int
		want         string
	}{
		"no token":             {"POST", ping, []string{"Authorization", ""}, 401, "not with the token"},
		"another token":        {"POST", ping, []string{"Authorization", "Bearer secret2"}, 401, "not with the token"},
		"a page of another":    {"POST", ping, []string{"Origin", "http://evil.example"}, 403, "origin"},
		"no page":              {"POST", ping, []string{"Origin", "null"}, 403, "origin"},
		"another name":         {"POST", ping, []string{"Host", "evil.example:80"}, 403, "host"},
		"no message":           {"POST", `[1]`, nil, 400, `"code":-32700`},
		"twice a name":         {"POST", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, nil, 400, `"code":-32700`},
		"no session":           {"POST", ping, []string{"Mcp-Session-Id", ""}, 400, "initialize begins one"},
		"another session":      {"POST", ping, []string{"Mcp-Session-Id", "x"}, 404, "initialize begins one"},
		"no version":           {"POST", ping, []string{"Mcp-Protocol-Version", "bad"}, 400, "initialize begins one"},
		"GET of another":       {"GET", "", []string{"Mcp-Session-Id", "x"}, 404, "not of this session"},
		"DELETE without":       {"DELETE", "", []string{"Mcp-Session-Id", ""}, 400, "not of this session"},
		"another method":       {"PUT", "", nil, 405, "POST"},
		"no metadata":          {"POST", ping, []string{"Mcp-Protocol-Version", "2026-07-28"}, 400, `"id":2,"error":{"code":-32602`},
		"no capabilities":      {"POST", typed(ping), headers("ping", ""), 400, `"id":2,"error":{"code":-32602`},
		"no headers":           {"POST", look, nil, 400, `"id":2,"error":{"code":-32020`},
		"header of another":    {"POST", look, headers("tools/call", "grosse"), 400, `"id":2,"error":{"code":-32020`},
		"method of another":    {"POST", look, headers("tools/list", "=?base64?Z3LDtsOfZQ==?="), 400, `"code":-32020`},
		"encoded of another":   {"POST", look, headers("tools/call", "=?base64?!?="), 400, `"code":-32020`},
		"version of another":   {"POST", look, append(headers("tools/call", "=?base64?Z3LDtsOfZQ==?="), "Mcp-Protocol-Version", "2025-11-25"), 400, `"code":-32020`},
		"initialize elsewhere": {"POST", hello25, []string{"Origin", "http://127.0.0.1.evil.example"}, 403, "origin"},
	} {
		r := f.send(c.method, c.body, c.headers...)
		require.Equal(t, c.status, r.StatusCode, name)
		require.Contains(t, f.next(r), c.want, name)
	}
	require.Empty(t, f.server)
	for _, origin := range []string{"", "http://localhost:6274", "http://127.0.0.1", "http://[::1]:80"} {
		r := f.send("POST", inited, "Origin", origin, "Mcp-Protocol-Version", "2025-11-25")
		require.Equal(t, 202, r.StatusCode)
		require.Equal(t, inited, f.take(f.server))
	}
	require.Equal(t, 204, f.send("DELETE", "").StatusCode)
	f.session = session
	require.Equal(t, 405, f.send("GET", "").StatusCode)
	require.Equal(t, 404, f.send("POST", ping).StatusCode)
}

// modern is typed, with the capabilities of the client.
func modern(request string) string {
	return strings.Replace(typed(request), `{"io.`, `{"io.modelcontextprotocol/clientCapabilities":{},"io.`, 1)
}

// modern sends a request of the version without sessions, and does not wait for its answer.
func (f *front) modern(request, method, name string, more ...string) chan *reply {
	done := make(chan *reply, 1)
	go func() { done <- f.send("POST", modern(request), append(headers(method, name), more...)...) }()
	return done
}

func headers(method, name string) []string {
	return []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}
}

// TestSessionOverHTTP: answers and progress go to their requests, and all else to the stream of the session.
func TestSessionOverHTTP(t *testing.T) {
	f := beginFront(t)
	f.begins()
	own := f.send("GET", "", "Mcp-Protocol-Version", "2025-06-18")
	require.Equal(t, 409, f.send("GET", "").StatusCode, "one at a time")
	other := strings.Replace(build, `"id":7`, `"id":8`, 1)
	call := f.send("POST", "{\n"+strings.Replace(build[1:], `"params":{`, `"params":{"_meta":{"progressToken":"p"},`, 1))
	f.take(f.server)
	second := f.send("POST", other)
	f.take(f.server)
	require.Equal(t, 400, f.send("POST", other).StatusCode, "two have this id")
	require.Equal(t, "text/event-stream", call.Header.Get("Content-Type"))
	progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}`
	f.serve(progress)
	require.Equal(t, progress, f.next(call))
	asks := `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`
	f.serve(asks)
	require.Equal(t, asks, f.next(own))
	answer := `{"jsonrpc":"2.0","id":1,"result":{}}`
	require.Equal(t, 202, f.send("POST", answer).StatusCode)
	require.Equal(t, answer, f.take(f.server))
	f.serve(`{"jsonrpc":"2.0","id":8.0,` + built + `}`)
	require.Contains(t, f.next(second), `"id":8.0,`)
	_, more := <-second.lines
	require.False(t, more, "the answer is the last")
	f.log(fault)
	f.serve(`{"jsonrpc":"2.0","id":7,` + built + `}`)
	require.Contains(t, f.next(call), "Outcome of this call: ")
	f.send("POST", inited)
	f.take(f.server)
}

// TestBrokenOff: a call whose stream breaks off in a session is canceled, and opens an item.
func TestBrokenOff(t *testing.T) {
	f := beginFront(t)
	f.begins()
	call := f.send("POST", build)
	require.Equal(t, build, f.take(f.server))
	call.leave()
	require.Contains(t, f.take(f.server), `"method":"notifications/cancelled","params":{"reason":"the client left","requestId":7}`)
	require.Contains(t, f.next(f.send("POST", build)), "Not executed: the caller left during a call")
}

// TestAnotherClient: another session ends the one before, and what it had asked for is canceled.
func TestAnotherClient(t *testing.T) {
	f := beginFront(t)
	f.begins()
	first := f.session
	call := f.send("POST", build)
	require.Equal(t, build, f.take(f.server))
	f.session = ""
	done := make(chan *reply)
	go func() { done <- f.send("POST", strings.Replace(hello25, `"id":1`, `"id":9`, 1)) }()
	require.Contains(t, f.take(f.server), `"method":"notifications/cancelled","params":{"reason":"the client left","requestId":7}`)
	require.Contains(t, f.take(f.server), `"method":"initialize"`)
	require.Contains(t, f.next(call), "heed: another client began a session, and one is served at a time; whether it was executed is not known")
	f.serve(`{"jsonrpc":"2.0","id":9,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`)
	r := <-done
	f.session = first
	again := f.send("POST", build)
	require.Equal(t, 404, again.StatusCode)
	require.Contains(t, f.next(again), "one client is served at a time")
	f.session = r.Header.Get("Mcp-Session-Id")
	call = f.send("POST", build)
	require.Contains(t, f.next(call), "Not executed: the caller left during a call")
}

// TestWithoutSession: since 2026-07-28, an answer is alone, its status says how it failed, subscriptions are streams, and
// a request ends with its connection.
func TestWithoutSession(t *testing.T) {
	f := beginFront(t)
	done := f.modern(build, "tools/call", "build")
	require.Equal(t, modern(build), f.take(f.server))
	f.serve(`{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}`)
	r := <-done
	require.Equal(t, 200, r.StatusCode)
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Empty(t, r.Header.Get("Mcp-Session-Id"))
	require.Equal(t, `{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}`, f.next(r))

	for code, status := range map[string]int{"-32601": 404, "-32602": 200, "-32022": 400, "-32021": 400, "1": 200} {
		done = f.modern(`{"jsonrpc":"2.0","id":3,"method":"x/y"}`, "x/y", "")
		f.take(f.server)
		f.serve(`{"jsonrpc":"2.0","id":3,"error":{"code":` + code + `,"message":"no"}}`)
		require.Equal(t, status, (<-done).StatusCode, code)
	}

	notice := `{"jsonrpc":"2.0","method":"notifications/x"}` // without _meta, which a request alone must have
	require.Equal(t, 202, f.send("POST", notice, headers("notifications/x", "")...).StatusCode)
	require.Equal(t, notice, f.take(f.server))

	listen := `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["` +
		bridge.ResourceBase + `items"]}}}`
	r = <-f.modern(listen, "subscriptions/listen", "")
	require.Equal(t, "text/event-stream", r.Header.Get("Content-Type"))
	require.Contains(t, f.next(r), `"method":"notifications/subscriptions/acknowledged"`)
	f.log(fault)
	require.Contains(t, f.next(r), `"method":"notifications/resources/updated","params":{"_meta":{`+
		`"io.modelcontextprotocol/subscriptionId":"s"}`)
	r.leave()
	require.Contains(t, f.take(f.server), `"method":"notifications/cancelled","params":{"reason":"the client left","requestId":"s"}`)
	done = f.modern(build, "tools/call", "build")
	require.Contains(t, f.next(<-done), "Not executed: ")
}

// TestWhichStream: a message of the server goes to the subscription that it names, else to the request whose token it
// has, else to the latest request, as long as the client does not read the stream of its session.
func TestWhichStream(t *testing.T) {
	f := beginFront(t)
	replies := map[string]chan *reply{}
	ask := func(id, method, name, params string) {
		request := `{"jsonrpc":"2.0","id":"` + id + `","method":"` + method + `","params":{` + params + `}}`
		replies[id] = f.modern(request, method, name)
		require.Contains(t, f.take(f.server), `"id":"`+id+`"`)
	}
	ask("changes", "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
	ask("first", "tools/call", "a", `"name":"a"`)
	ask("latest", "tools/call", "b", `"name":"b"`)
	for id, message := range map[string]string{
		"changes": `{"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"changes"}}}`,
		"latest":  `{"method":"notifications/message","params":{"data":"x"}}`,
	} {
		f.serve(message)
		require.Equal(t, message, f.next(<-replies[id]), id)
	}

	f.serve(`{"jsonrpc":"2.0","id":"first","result":{}}`)
	f.next(<-replies["first"])

	f = beginFront(t)
	f.begins()
	first := f.send("POST", strings.Replace(build, `"params":{`, `"params":{"_meta":{"progressToken":"p"},`, 1))
	f.take(f.server)
	latest := f.send("POST", strings.Replace(build, `"id":7`, `"id":8`, 1))
	f.take(f.server)
	progress := `{"method":"notifications/progress","params":{"progressToken":"p"}}`
	asks := `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`
	f.serve(asks)
	require.Equal(t, asks, f.next(latest))
	f.serve(progress)
	require.Equal(t, progress, f.next(first))
}

// mirroring is a list of a tool whose arguments are repeated in headers, one of them in an object.
const mirroring = `{"tools":[{"name":"build","inputSchema":{"type":"object","properties":{` +
	`"region":{"type":"string","x-mcp-header":"Region"},"count":{"type":"integer","x-mcp-header":"Count"},` +
	`"at":{"type":"object","properties":{"roof":{"type":"boolean","x-mcp-header":"Roof"}}},` +
	`"plain":{"type":"string"}}}},` +
	`{"name":"odd","inputSchema":{"properties":{"odd":{"type":"number","x-mcp-header":"Odd"}}}},` +
	`{"name":"bad","inputSchema":{"properties":{"bad":{"type":"string","x-mcp-header":"a b"}}}},` +
	`{"name":"twice","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}},` +
	`{"name":"number","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":7}}}},` +
	`{"name":"empty","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":""}}}},` +
	`{"name":"root","inputSchema":{"type":"string","x-mcp-header":"Root"}},` +
	`{"name":"items","inputSchema":{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}},` +
	`{"name":"any","inputSchema":{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}},` +
	`{"name":"named","inputSchema":{"properties":{"x-mcp-header":{"type":"string"}}}}],` +
	`"resultType":"complete"}`

// TestMirroredArguments: heed refuses a call whose headers do not repeat the arguments that the tool wants repeated.
func TestMirroredArguments(t *testing.T) {
	f := beginFront(t)
	done := f.modern(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "tools/list", "")
	f.take(f.server)
	f.serve(`{"jsonrpc":"2.0","id":1,"result":` + mirroring + `}`)
	require.Equal(t, 200, (<-done).StatusCode)
	for i, c := range []struct {
		arguments string
		headers   []string
		status    int
	}{
		{`{"plain":"x"}`, nil, 200},
		{`{"region":null}`, nil, 200},
		{`{"region":"eu","count":42.0,"at":{"roof":true}}`, []string{"Mcp-Param-Region", "eu", "mcp-param-count", "42", "Mcp-Param-Roof", "true"}, 200},
		{`{"region":"über"}`, []string{"Mcp-Param-Region", "=?base64?w7xiZXI=?="}, 200},
		{`{"region":"eu"}`, nil, 400},
		{`{"region":"eu"}`, []string{"Mcp-Param-Region", "us"}, 400},
		{`{"region":"42"}`, []string{"Mcp-Param-Region", "42.0"}, 400},
		{`{"count":42}`, []string{"Mcp-Param-Count", "43"}, 400},
		{`{"at":{"roof":true}}`, []string{"Mcp-Param-Roof", "false"}, 400},
		{`{"region":"x"}`, []string{"Mcp-Param-Region", "=?base64?!?="}, 400},
	} {
		call := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"build","arguments":%s}}`, i+9, c.arguments)
		done = f.modern(call, "tools/call", "build", c.headers...)
		if c.status == 200 {
			f.take(f.server)
			f.serve(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","content":[]}}`, i+9))
		}
		r := <-done
		require.Equal(t, c.status, r.StatusCode, c.arguments)
		if line := f.next(r); c.status != 200 {
			require.Contains(t, line, `"code":-32020`)
		}
	}
}
