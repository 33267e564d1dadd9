package gabp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// patience bounds what tests wait for; nothing takes that long.
const patience = 2 * time.Minute

// eventually waits for a condition.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("timed out: %s", what)
		}
		runtime.Gosched()
		time.Sleep(100 * time.Microsecond)
	}
}

// noLeaks checks at the end of a test that no goroutine of this package is
// left.
func noLeaks(t testing.TB) {
	t.Cleanup(func() {
		buf := make([]byte, 4<<20)
		eventually(t, "goroutines left", func() bool {
			return !bytes.Contains(buf[:runtime.Stack(buf, true)], []byte("heed/gabp.("))
		})
	})
}

// lockedBuffer collects logs.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

type rig struct {
	*Server
	addr string
	logs *lockedBuffer
	stop context.CancelFunc
	done chan error
}

// start serves on a loopback port until the test ends.
func start(t testing.TB, change func(*ServerConfig)) *rig {
	t.Helper()
	noLeaks(t)
	mux := new(Mux)
	mux.Handle(MethodToolsList, func(context.Context, *Request) (any, error) {
		return toolsListResult{Tools: []Tool{{
			Name: "save/load", Title: "Load", Description: "Loads a save.",
			InputSchema: json.RawMessage(`{"type":"object"}`), OutputSchema: json.RawMessage(`{}`),
		}}}, nil
	})
	mux.Handle(MethodToolsCall, func(_ context.Context, r *Request) (any, error) {
		call, err := ParseToolCall(r.Params)
		if err != nil {
			return nil, err
		}
		if call.Name == "save/fail" {
			return nil, errors.New("disk\x1b[31m full")
		}
		return call, nil
	})
	r := &rig{logs: &lockedBuffer{}, done: make(chan error, 1)}
	cfg := ServerConfig{
		Token: token, AgentID: "heed", App: App{Name: "Farm", Version: "1.0"}, Mux: mux,
		Capabilities: func() Capabilities { return Capabilities{Events: []string{"a/b", "c/d"}} },
		Logger:       slog.New(slog.NewTextHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Limits:       Limits{HelloTimeout: patience, FrameTimeout: patience, WriteTimeout: patience},
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	r.Server, err = NewServer(cfg)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	l, err := Listen(ctx, "127.0.0.1:0")
	require.NoError(t, err)
	r.addr, r.stop = l.Addr().String(), stop
	go func() { r.done <- r.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-r.done)
		require.NotContains(t, r.logs.String(), token)
	})
	return r
}

// peer is a bridge that sends what it is told, and holds all it gets to the
// schemas.
type peer struct {
	testing.TB
	net.Conn
	r *bufio.Reader
	n int
}

func dial(t testing.TB, addr string) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = conn.Close() })
	return &peer{TB: t, Conn: conn, r: bufio.NewReader(conn)}
}

func (p *peer) send(text string) {
	p.Helper()
	_, err := fmt.Fprintf(p, "Content-Length: %d\r\n\r\n%s", len(text), text)
	require.NoError(p, err)
}

func (p *peer) id() string {
	p.n++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", p.n)
}

func (p *peer) request(method, params string) string {
	p.Helper()
	id := p.id()
	p.send(`{"v":"gabp/1","id":"` + id + `","type":"request","method":"` + method + `","params":` + params + `}`)
	return id
}

// recv returns the next message, which must be framed exactly.
func (p *peer) recv(method string) message {
	p.Helper()
	m, err := p.tryRecv(method)
	require.NoError(p, err)
	return m
}

func (p *peer) tryRecv(method string) (message, error) {
	p.Helper()
	text, err := p.tryText()
	if err != nil {
		return message{}, err
	}
	checkMessage(p, text, method)
	followsAPI(p, text, method)
	m, err := decodeWithin(text, Limits{})
	require.NoError(p, err)
	return m, nil
}

// text returns the next message as it is.
func (p *peer) text() []byte {
	p.Helper()
	text, err := p.tryText()
	require.NoError(p, err)
	return text
}

func (p *peer) tryText() ([]byte, error) {
	p.Helper()
	line, err := p.r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	digits, ok := strings.CutPrefix(strings.TrimSuffix(line, "\r\n"), "Content-Length: ")
	require.True(p, ok, line)
	n, err := strconv.Atoi(digits)
	require.NoError(p, err)
	for _, want := range []string{"Content-Type: application/json\r\n", "\r\n"} {
		line, err := p.r.ReadString('\n')
		require.NoError(p, err)
		require.Equal(p, want, line)
	}
	text := make([]byte, n)
	_, err = io.ReadFull(p.r, text)
	require.NoError(p, err)
	return text, nil
}

// call sends a request and returns its response.
func (p *peer) call(method, params string) message {
	p.Helper()
	id := p.request(method, params)
	m := p.recv(method)
	require.Equal(p, id, m.ID)
	return m
}

func helloText(tok string) string {
	return `{"token":"` + tok + `","bridgeVersion":"1","platform":"darwin","launchId":"550e8400-e29b-41d4-a716-446655440000","clientInfo":{"name":"scripted bridge","version":"1"}}`
}

func (p *peer) hello() Welcome {
	p.Helper()
	m := p.call(methodHello, helloText(token))
	require.Nil(p, m.Error)
	var w Welcome
	require.NoError(p, json.Unmarshal(m.Result, &w))
	return w
}

// ends requires that the server closes the connection.
func (p *peer) ends() {
	p.Helper()
	_, err := io.Copy(io.Discard, p.r)
	if err != nil {
		require.NotErrorIs(p, err, context.DeadlineExceeded)
		require.NotContains(p, err.Error(), "timeout")
	}
}

func TestSession(t *testing.T) {
	s := start(t, nil)
	p := dial(t, s.addr)
	w := p.hello()
	require.Equal(t, "heed", w.AgentID)
	require.Equal(t, "1.0", w.SchemaVersion)
	require.Equal(t, []string{"a/b", "c/d"}, w.Capabilities.Events)
	require.Subset(t, w.Capabilities.Methods, []string{
		"session/hello", "session/ping", "session/goodbye", "tools/call",
		"tools/list", "events/list",
	})
	require.Equal(t, &WireLimits{MaxMessageSize: defaultMessageSize, MaxConcurrentRequests: 32, RequestTimeout: 300},
		w.Capabilities.Limits)

	require.Equal(t, `{}`, string(p.call("session/ping", `{}`).Result))
	require.Nil(t, p.call("tools/list", `{}`).Error)
	require.JSONEq(t, `{"name":"save/load","arguments":{"a":1}}`,
		string(p.call("tools/call", `{"name":"save/load","parameters":{"a":1}}`).Result))
	requireCode(t, codeInternal, p.call("tools/call", `{"name":"save/fail"}`).Error)
	requireCode(t, CodeMethodNotFound, p.call("attention/current", `{}`).Error)
	requireCode(t, CodeMethodNotFound, p.call("farm/plow", `{}`).Error)
	requireCode(t, codeInvalidRequest, p.call("session/hello", helloText(token)).Error, "hello twice")
	requireCode(t, CodeInvalidParams, p.call("tools/call", `{"name":"nope"}`).Error)
	require.Nil(t, p.call("session/goodbye", `{}`).Error)
	p.ends()

	again := dial(t, s.addr)
	again.hello() // the same token
	both := dial(t, s.addr)
	both.hello()
	require.Nil(t, again.call("session/ping", `{}`).Error)
	require.Nil(t, both.call("session/ping", `{}`).Error)
}

// TestAnswersWhatItCan: a message that is none is answered, and the session
// goes on.
func TestAnswersWhatItCan(t *testing.T) {
	s := start(t, nil)
	p := dial(t, s.addr)
	p.hello()
	for _, c := range []struct {
		text, id string
		code     int
	}{
		{`[]`, nilID, codeInvalidRequest},
		{`{`, nilID, codeParse},
		{`{"v":"gabp/1","id":null,"type":"request","method":"session/ping"}`, nilID, codeInvalidField},
		{`{"v":"gabp/1","id":5,"type":"request","method":"session/ping"}`, nilID, codeInvalidField},
		{
			`{"v":"gabp/2","id":"3d0c2f7e-5b1a-4c6d-9e8f-000000000001","type":"request","method":"session/ping"}`,
			"3d0c2f7e-5b1a-4c6d-9e8f-000000000001", codeVersionMismatch,
		},
		{
			`{"v":"gabp/1","id":"3d0c2f7e-5b1a-4c6d-9e8f-000000000002","type":"event","channel":"a","seq":1,"payload":1}`,
			"3d0c2f7e-5b1a-4c6d-9e8f-000000000002", codeInvalidRequest,
		},
		{`{"v":"gabp/1","id":"3d0c2f7e-5b1a-4c6d-9e8f-000000000003","type":"response","result":1,"error":{"code":1,"message":"m"}}`, "3d0c2f7e-5b1a-4c6d-9e8f-000000000003", codeInvalidRequest},
		{`{"v":"gabp/1","id":"3d0c2f7e-5b1a-4c6d-9e8f-000000000004","type":"event","channel":"attention/opened","seq":1,"payload":{}}`, "3d0c2f7e-5b1a-4c6d-9e8f-000000000004", codeInvalidField},
	} {
		p.send(c.text)
		m := p.recv("")
		require.Equal(t, c.id, m.ID, c.text)
		requireCode(t, c.code, m.Error, c.text)
	}
	p.send(`{"v":"gabp/1","id":"any form","type":"response","result":1}`) // nobody asked; nobody answers
	require.Nil(t, p.call("session/ping", `{}`).Error)
}

// TestInvalidFixturesOverTheWire sends what is invalid, in a session and before
// one, and wants an answer to each.
func TestInvalidFixturesOverTheWire(t *testing.T) {
	s := start(t, nil)
	in := dial(t, s.addr)
	in.hello()
	for _, path := range glob(t, "conformance/invalid/*.json") {
		var c struct {
			Code    int
			Message json.RawMessage
		}
		require.NoError(t, json.Unmarshal(read(t, path), &c))
		if c.Message == nil {
			c.Message = json.RawMessage("null")
		}
		in.send(string(c.Message))
		requireCode(t, c.Code, in.recv("").Error, path)
		if strings.HasPrefix(filepath.Base(path), "hello-") {
			out := dial(t, s.addr)
			out.send(string(c.Message))
			want := c.Code
			if want == CodeInvalidParams {
				// Who has no token is told nothing else.
				require.Contains(t, []int{want, CodeAuthFailed}, out.recv("").Error.Code, path)
			} else {
				requireCode(t, want, out.recv("").Error, path)
			}
			out.ends()
		}
	}
}

func TestBeforeHello(t *testing.T) {
	s := start(t, nil)
	p := dial(t, s.addr)
	requireCode(t, codeAuthRequired, p.call("session/ping", `{}`).Error)
	requireCode(t, codeAuthRequired, p.call("tools/call", `{"name":"save/load"}`).Error)
	p.hello()

	p = dial(t, s.addr)
	for range 8 {
		requireCode(t, codeAuthRequired, p.call("session/ping", `{}`).Error)
	}
	p.ends()

	p = dial(t, s.addr)
	_, err := fmt.Fprintf(p, "Content-Length: %d\r\n\r\n", 100_000)
	require.NoError(t, err)
	requireCode(t, codeInvalidRequest, p.recv("").Error, "large before the hello")
	p.ends()
}

func TestWrongTokens(t *testing.T) {
	s := start(t, nil)
	const n = 1000
	for i := range n {
		wrong := fmt.Sprintf("%s%04d", token[:60], i)
		p := dial(t, s.addr)
		requireCode(t, CodeAuthFailed, p.call(methodHello, helloText(wrong)).Error)
		p.ends()
		require.NoError(t, p.Close())
	}
	require.EqualValues(t, n, s.Stats().AuthFailures)
	require.NotContains(t, s.logs.String(), token[:60])
	p := dial(t, s.addr)
	p.hello()
	requireCode(t, codeAuthRequired, dial(t, s.addr).call(methodHello, `{"bridgeVersion":"1"}`).Error)
}

func TestManyConnections(t *testing.T) {
	s := start(t, nil)
	n := 10_000
	if testing.Short() {
		n = 500
	}
	for i := range n {
		conn, err := net.Dial("tcp", s.addr)
		require.NoError(t, err)
		switch i % 4 {
		case 1:
			_, _ = conn.Write([]byte("Content-Length: 100\r\n\r\n{")) // half a frame
		case 2:
			_, _ = conn.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"))
		}
		// No TIME_WAIT for each of them on the test's machine.
		require.NoError(t, conn.(*net.TCPConn).SetLinger(0))
		require.NoError(t, conn.Close())
	}
	dial(t, s.addr).hello()
}

func TestBrokenFrames(t *testing.T) {
	s := start(t, nil)
	for _, text := range []string{
		"Content-Length: -1\r\n\r\n", "Content-Length: 2\r\nContent-Length: 9\r\n\r\n{}", "Content-Type: a\r\n\r\n",
		"Content-Length: 99999999999\r\n\r\n" + strings.Repeat("x", 100_000), strings.Repeat("x", 8192),
		"{\"v\":\"gabp/1\"}\n",
	} {
		for _, greeted := range []bool{false, true} {
			p := dial(t, s.addr)
			if greeted {
				p.hello()
			}
			_, err := p.Write([]byte(text))
			require.NoError(t, err)
			m := p.recv("")
			require.Equal(t, nilID, m.ID)
			require.Contains(t, []int{codeParse, codeInvalidRequest}, m.Error.Code)
			p.ends()
		}
	}
	// Without line ends of the protocol, and merged: harmless.
	p := dial(t, s.addr)
	hello := `{"v":"gabp/1","id":"` + p.id() + `","type":"request","method":"session/hello","params":` +
		helloText(token) + `}`
	ping := `{"v":"gabp/1","id":"` + p.id() + `","type":"request","method":"session/ping"}`
	_, err := fmt.Fprintf(p, "content-length:%d\n\n%scontent-length:%d\n\n%s", len(hello), hello, len(ping), ping)
	require.NoError(t, err)
	require.Nil(t, p.recv(methodHello).Error)
	require.Nil(t, p.recv(methodPing).Error)
}

func TestSilentPeers(t *testing.T) {
	s := start(t, func(c *ServerConfig) {
		c.Limits = Limits{Connections: 4, HelloTimeout: 50 * time.Millisecond}
	})
	p := dial(t, s.addr)
	p.ends() // no hello in time
}

func TestTooManyConnections(t *testing.T) {
	s := start(t, func(c *ServerConfig) { c.Limits = Limits{Connections: 4, HelloTimeout: patience} })
	for range 20 { // they give way
		dial(t, s.addr)
	}
	var peers []*peer
	for range 4 {
		p := dial(t, s.addr)
		p.hello()
		peers = append(peers, p)
	}
	dial(t, s.addr).ends() // no room for one more
	require.Nil(t, peers[0].call("session/ping", `{}`).Error)
	require.NoError(t, peers[0].Close())
	eventually(t, "room again", func() bool {
		conn, err := net.Dial("tcp", s.addr)
		require.NoError(t, err)
		p := &peer{TB: t, Conn: conn, r: bufio.NewReader(conn)}
		defer conn.Close() //nolint:errcheck // it is over
		id := p.id()
		text := `{"v":"gabp/1","id":"` + id + `","type":"request","method":"session/hello","params":` + helloText(token) + `}`
		_, _ = fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(text), text)
		_, err = p.tryRecv(methodHello)
		return err == nil
	})
}

// TestConcurrentRequests: as many at a time as the limits say, one more is
// refused, and none is served twice.
func TestConcurrentRequests(t *testing.T) {
	release := make(chan struct{}, 3)
	var running atomic.Int32
	s := start(t, func(c *ServerConfig) {
		c.Limits.ConcurrentRequests = 3
		c.Mux = serving(func(ctx context.Context, _ *Request) (any, error) {
			running.Add(1)
			defer running.Add(-1)
			select {
			case <-release:
				return "done", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
	})
	p := dial(t, s.addr)
	p.hello()
	ids := map[string]bool{}
	for range 3 {
		ids[p.request("tools/call", `{"name":"a/b"}`)] = true
	}
	eventually(t, "running", func() bool { return running.Load() == 3 })
	requireCode(t, CodeBusy, p.call("tools/call", `{"name":"a/b"}`).Error)
	require.Nil(t, p.call("session/ping", `{}`).Error, "what is built in is still served")
	for range 3 {
		release <- struct{}{}
	}
	for range 3 {
		m := p.recv("tools/call")
		require.Nil(t, m.Error)
		require.True(t, ids[m.ID])
		delete(ids, m.ID)
	}
	require.EqualValues(t, 1, s.Stats().Busy)

	p.request("tools/call", `{"name":"a/b"}`)
	eventually(t, "running", func() bool { return running.Load() == 1 })
	require.NoError(t, p.Close())
	eventually(t, "cancelled with its connection", func() bool { return running.Load() == 0 })
}

// TestNextRequest: who has as many requests as it may, and is answered, has room for the next.
func TestNextRequest(t *testing.T) {
	s := start(t, func(c *ServerConfig) { c.Limits.ConcurrentRequests = 1 })
	p := dial(t, s.addr)
	p.hello()
	for range 200 {
		require.Nil(t, p.call("tools/call", `{"name":"a/b"}`).Error)
	}
	require.Zero(t, s.Stats().Busy)
}

func TestRequestTimeout(t *testing.T) {
	release := make(chan struct{})
	s := start(t, func(c *ServerConfig) {
		c.Limits.RequestTimeout = 20 * time.Millisecond
		c.Mux = serving(func(_ context.Context, _ *Request) (any, error) {
			<-release // it does not obey its context
			return "late", nil
		})
	})
	p := dial(t, s.addr)
	p.hello()
	requireCode(t, CodeToolTimeout, p.call("tools/call", `{"name":"a/b"}`).Error)
	requireCode(t, CodeTimeout, p.call("a/b", `{}`).Error)
	close(release)
	require.Nil(t, p.call("session/ping", `{}`).Error, "the late answers are lost")
}

func TestHandlerFaults(t *testing.T) {
	s := start(t, func(c *ServerConfig) {
		c.Mux = serving(func(_ context.Context, r *Request) (any, error) {
			switch r.Method {
			case "a/panic":
				panic("bug")
			case "a/value":
				return func() {}, nil
			case "a/huge":
				return strings.Repeat("x", defaultMessageSize), nil
			}
			return nil, &Error{Code: -5, Message: "own", Data: json.RawMessage(`"` + strings.Repeat("x", defaultMessageSize) +
				`"`)}
		})
	})
	p := dial(t, s.addr)
	p.hello()
	for _, method := range []string{"a/panic", "a/value", "a/huge"} {
		requireCode(t, codeInternal, p.call(method, `{}`).Error, method)
	}
	m := p.call("a/error", `{}`)
	requireCode(t, -5, m.Error)
	require.Empty(t, m.Error.Data)
	require.EqualValues(t, 1, s.Stats().Panics)
}

func TestEvents(t *testing.T) {
	s := start(t, nil)
	p := dial(t, s.addr)
	p.hello()
	var sub subscribeResult
	require.NoError(t, json.Unmarshal(p.call("events/subscribe", `{"channels":["a/b","x/y","c/d"]}`).Result, &sub))
	require.Equal(t, []string{"a/b", "c/d"}, sub.Subscribed)
	requireCode(t, codeChannelNotFound, p.call("events/subscribe", `{"channels":["x/y"]}`).Error)

	sent := make(chan string, 10)
	for i := range 3 {
		require.NoError(t, s.Publish("a/b", "", map[string]int{"n": i}, func(ss *ServerSession) { sent <- ss.Consumer() }))
	}
	require.NoError(t, s.Publish("c/d", "", json.RawMessage(`{ "raw" :1}`), nil))
	require.NoError(t, s.Publish("x/y", "", 1, nil))
	for i := range 3 {
		m := p.recv("")
		require.Equal(t, "a/b", m.Channel)
		require.EqualValues(t, i+1, m.Seq)
		require.Equal(t, fmt.Sprintf(`{"n":%d}`, i), string(m.Payload))
		require.Equal(t, "scripted_bridge#550e8400-e29b-41", <-sent)
	}
	m := p.recv("")
	require.EqualValues(t, 1, m.Seq, "each channel counts for itself")
	require.Equal(t, `{ "raw" :1}`, string(m.Payload))

	var un unsubscribeResult
	require.NoError(t, json.Unmarshal(p.call("events/unsubscribe", `{"channels":["a/b","x/y"]}`).Result, &un))
	require.Equal(t, []string{"a/b"}, un.Unsubscribed)
	require.NoError(t, s.Publish("a/b", "", 1, nil))
	var list eventsListResult
	require.NoError(t, json.Unmarshal(p.call("events/list", `{}`).Result, &list))
	require.Equal(t, eventsListResult{Channels: []string{"a/b", "c/d"}, Subscribed: []string{"c/d"}}, list)

	p.call("events/subscribe", `{"channels":["a/b"]}`)
	require.NoError(t, s.Publish("a/b", "", 1, nil))
	require.EqualValues(t, 4, p.recv("").Seq, "numbers go on")

	require.Error(t, s.Publish("a/b", "", func() {}, nil))
	require.Error(t, s.Publish("a/b", "", strings.Repeat("x", defaultMessageSize), nil))
}

// TestSlowSubscriber: one who does not read delays nobody, and is dropped when
// too much waits; what has a key is conflated, without holes in the numbers.
func TestSlowSubscriber(t *testing.T) {
	s := start(t, func(c *ServerConfig) {
		c.Limits = Limits{EventQueue: 50, WriteTimeout: patience, MessageSize: 1 << 20}
	})
	dead, slow, quick := dial(t, s.addr), dial(t, s.addr), dial(t, s.addr)
	for _, p := range []*peer{dead, slow, quick} {
		p.hello()
		channel := map[*peer]string{dead: "a/b", slow: "c/d", quick: "c/d"}[p]
		require.Nil(t, p.call("events/subscribe", `{"channels":["`+channel+`"]}`).Error)
	}
	text := strings.Repeat("x", 10_000)
	eventually(t, "the dead one is dropped", func() bool {
		require.NoError(t, s.Publish("a/b", "", text, nil))
		return s.Stats().Disconnected == 1
	})
	const n = 3000
	got := make(chan message, n)
	go func() {
		for {
			m, err := quick.tryRecv("")
			if err != nil {
				close(got)
				return
			}
			got <- m
		}
	}()
	for i := range n {
		require.NoError(t, s.Publish("c/d", "one", map[string]any{"n": i, "text": text}, nil))
	}
	last := func(m message) bool { return strings.HasPrefix(string(m.Payload), fmt.Sprintf(`{"n":%d,`, n-1)) }
	var seq uint64
	for m := range got {
		seq++
		require.Equal(t, seq, m.Seq)
		if last(m) {
			break
		}
	}
	seq = 0
	for {
		m := slow.recv("")
		seq++
		require.Equal(t, seq, m.Seq, "no holes")
		if last(m) {
			break
		}
	}
	require.Less(t, seq, uint64(n), "conflated")
	require.NotZero(t, s.Stats().Conflated)
	require.EqualValues(t, 1, s.Stats().Disconnected)
	require.NoError(t, quick.Close())
	for range got { // until its reader is gone
	}
}

// TestPassingEventsGiveWay: a flood of events that pass costs a subscriber neither its connection
// nor an event that does not pass, nor the order of those; the numbers say how many gave way.
func TestPassingEventsGiveWay(t *testing.T) {
	const flood, queue = 100_000, 100
	s := start(t, func(c *ServerConfig) {
		c.Limits = Limits{EventQueue: queue, WriteTimeout: patience}
		c.Capabilities = func() Capabilities { return Capabilities{Events: []string{"mod/a", "mod/b", "heed/kept"}} }
	})
	p := dial(t, s.addr)
	p.hello()
	require.Nil(t, p.call("events/subscribe", `{"channels":["mod/a","mod/b","heed/kept"]}`).Error)
	text := `,"text":"` + strings.Repeat("x", 1000) + `"}` // in all far more than sockets hold
	for i := range flood {
		require.NoError(t, s.Pass("mod/"+string("ab"[i%2]), 0, json.RawMessage(`{"n":`+strconv.Itoa(i)+text)))
		if i%(flood/10) == 0 {
			require.NoError(t, s.Publish("heed/kept", strconv.Itoa(i), map[string]any{"n": i}, nil))
		}
	}
	gone := s.Stats().EventsDropped
	require.NotZero(t, gone)
	require.Zero(t, s.Stats().Disconnected)

	var got, holes, attention uint64
	seqs, latest := map[string]uint64{}, map[string]float64{}
	conn := newConn(p.Conn, defaultLimits(t))
	for latest["mod/b"] != flood-1 {
		m, err := conn.Read()
		require.NoError(t, err)
		var payload struct{ N float64 }
		require.NoError(t, json.Unmarshal(m.Payload, &payload))
		require.Greater(t, m.Seq, seqs[m.Channel])
		if latest[m.Channel] != 0 {
			require.Greater(t, payload.N, latest[m.Channel], "in order")
		}
		if m.Channel == "heed/kept" {
			require.Equal(t, seqs[m.Channel]+1, m.Seq, "none of these gives way")
			require.EqualValues(t, attention*flood/10, payload.N)
			attention++
		} else {
			got++
			holes += m.Seq - seqs[m.Channel] - 1
			require.EqualValues(t, m.Seq, uint64(payload.N)/2+1, "as if all had been sent")
		}
		seqs[m.Channel], latest[m.Channel] = m.Seq, payload.N
	}
	require.EqualValues(t, 10, attention)
	require.Equal(t, gone, holes)
	require.EqualValues(t, flood, got+holes)
	require.Equal(t, 1, strings.Count(s.logs.String(), "are dropped"), "said once")
}

// TestPassingMissed: what never came leaves a hole as well, also where the event after it gave way.
func TestPassingMissed(t *testing.T) {
	s := start(t, nil)
	p := dial(t, s.addr)
	p.hello()
	require.Nil(t, p.call("events/subscribe", `{"channels":["a/b"]}`).Error)
	for _, missed := range []uint64{0, 0, 3, 0} {
		require.NoError(t, s.Pass("a/b", missed, 1))
	}
	for _, seq := range []uint64{1, 2, 6, 7} {
		require.Equal(t, seq, p.recv("").Seq)
	}
}

// TestPassingAlone: where only events that do not pass wait, one that does gives way itself, and is
// no reason to end the connection.
func TestPassingAlone(t *testing.T) {
	s := start(t, func(c *ServerConfig) { c.Limits = Limits{EventQueue: 2, WriteTimeout: patience} })
	p := dial(t, s.addr)
	p.hello()
	require.Nil(t, p.call("events/subscribe", `{"channels":["a/b","c/d"]}`).Error)
	text := strings.Repeat("x", 1<<20)
	for i := 0; s.Stats().EventsDropped == 0; i++ { // until the socket is full, and then both places
		require.NoError(t, s.Publish("a/b", strconv.Itoa(i%2), text, nil))
		require.NoError(t, s.Pass("c/d", 0, text))
	}
	require.Zero(t, s.Stats().Disconnected)
}

// TestPeerThatDoesNotRead has answers pile up: it is disconnected in time, and
// holds up nobody.
func TestPeerThatDoesNotRead(t *testing.T) {
	s := start(t, func(c *ServerConfig) { c.Limits.WriteTimeout = 100 * time.Millisecond })
	p := dial(t, s.addr)
	p.hello()
	text := `{"v":"gabp/1","id":"` + strings.Repeat("x", 200) + `","type":"request","method":"a/b"}`
	one := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
	chunk := []byte(strings.Repeat(one, 1000))
	for {
		if _, err := p.Write(chunk); err != nil {
			break
		}
	}
	other := dial(t, s.addr)
	other.hello()
}

func TestRefusesOtherMachines(t *testing.T) {
	ctx := context.Background()
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:4711", "[::]:0", "example.com:80", "nonsense"} {
		_, err := Listen(ctx, addr)
		require.Error(t, err, addr)
		_, err = Dial(ctx, addr, ClientConfig{Token: token})
		require.Error(t, err, addr)
	}
	s, err := NewServer(ServerConfig{Token: token, AgentID: "a", App: App{Name: "a", Version: "1"}, Mux: new(Mux)})
	require.NoError(t, err)
	l, err := net.Listen("tcp", "0.0.0.0:0")
	require.NoError(t, err)
	require.ErrorContains(t, s.Serve(ctx, l), "open to other machines")
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestServerConfig(t *testing.T) {
	good := ServerConfig{Token: token, AgentID: "a", App: App{Name: "a", Version: "1"}, Mux: new(Mux)}
	_, err := NewServer(good)
	require.NoError(t, err)
	for field, spoil := range map[string]func(*ServerConfig){
		"Token":              func(c *ServerConfig) { c.Token = "short" },
		"AgentID":            func(c *ServerConfig) { c.AgentID = "" },
		"App":                func(c *ServerConfig) { c.App.Version = "" },
		"Mux":                func(c *ServerConfig) { c.Mux = nil },
		"MessageSize":        func(c *ServerConfig) { c.Limits.MessageSize = 10 },
		"Connections":        func(c *ServerConfig) { c.Limits.Connections = -1 },
		"RequestTimeout":     func(c *ServerConfig) { c.Limits.RequestTimeout = -1 },
		"ConcurrentRequests": func(c *ServerConfig) { c.Limits.ConcurrentRequests = -1 },
	} {
		bad := good
		spoil(&bad)
		_, err := NewServer(bad)
		require.ErrorContains(t, err, field)
	}
}

func TestWelcomeHook(t *testing.T) {
	closed := make(chan string, 1)
	s := start(t, func(c *ServerConfig) {
		c.Welcome = func(_ context.Context, ss *ServerSession, w *Welcome) error {
			if ss.ClientName() == "heed" {
				return Errorf(CodeToolFailed, "too old")
			}
			w.AgentID = "mod"
			w.Capabilities.Methods = append(w.Capabilities.Methods, "farm/plow", "farm/plow", "Not A Name")
			w.Capabilities.Events = append(w.Capabilities.Events, "mod/said")
			return nil
		}
		c.Closed = func(ss *ServerSession) { closed <- ss.Consumer() }
	})
	p := dial(t, s.addr)
	w := p.hello()
	require.Equal(t, "mod", w.AgentID)
	require.Contains(t, w.Capabilities.Methods, "farm/plow")
	require.NotContains(t, w.Capabilities.Methods, "Not A Name")
	require.Nil(t, p.call("events/subscribe", `{"channels":["mod/said"]}`).Error)
	require.NoError(t, p.Close())
	require.Equal(t, "scripted_bridge#550e8400-e29b-41", <-closed, "without the token")

	p = dial(t, s.addr)
	requireCode(t, CodeToolFailed, p.call(methodHello,
		strings.Replace(helloText(token), "scripted bridge", "heed", 1)).Error)
	p.ends()
}

// TestWelcomeWaits: a welcome that waits ends when its bridge leaves, and nothing that a bridge sends meanwhile is lost.
func TestWelcomeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = time.Minute // longer than a bridge may take for its hello
		var left error
		s, err := NewServer(ServerConfig{
			Token: token, AgentID: "heed", App: App{Name: "Farm", Version: "1.0"},
			Mux: serving(func(context.Context, *Request) (any, error) { return 7, nil }),
			Welcome: func(ctx context.Context, _ *ServerSession, _ *Welcome) error {
				select {
				case <-ctx.Done():
				case <-time.After(wait):
				}
				left = ctx.Err()
				return left
			},
		})
		require.NoError(t, err)
		connect := func() *peer {
			ours, theirs := net.Pipe()
			go func() { _ = s.ServeConn(t.Context(), theirs) }()
			return &peer{TB: t, Conn: ours, r: bufio.NewReader(ours)}
		}
		p := connect()
		p.request(methodHello, helloText(token))
		time.Sleep(wait / 2)
		require.NoError(t, p.Close())
		synctest.Wait()
		require.ErrorIs(t, left, context.Canceled)

		p = connect()
		p.request(methodHello, helloText(token))
		p.request("a/b", `{}`)
		time.Sleep(wait)
		require.Nil(t, p.recv(methodHello).Error)
		require.Equal(t, "7", string(p.recv("a/b").Result))
		require.Equal(t, uint64(1), s.Stats().Sessions)
		require.NoError(t, p.Close())
	})
}

// TestStop: a server that is stopped leaves nothing running.
func TestStop(t *testing.T) {
	s := start(t, func(c *ServerConfig) {
		c.Mux = serving(func(ctx context.Context, _ *Request) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
	})
	p := dial(t, s.addr)
	p.hello()
	p.request("a/b", `{}`)
	eventually(t, "running", func() bool { return s.Stats().Requests == 1 })
	dial(t, s.addr)
	s.stop()
	p.ends()
}

// serving returns a Mux that gives all requests to h.
func serving(h Handler) *Mux {
	mux := new(Mux)
	mux.Fallback = h
	return mux
}

// FuzzServer sends arbitrary bytes to a server, before and after a hello.
func FuzzServer(f *testing.F) {
	for _, path := range []string{"valid/hello", "valid/subscribe", "invalid/batch"} {
		f.Add(read(f, "conformance/"+path+".json"), true, true)
		f.Add(read(f, "conformance/"+path+".json"), false, true)
	}
	f.Add([]byte("Content-Length: 2\r\n\r\n{}Content-Length: -2\r\n\r\n"), true, false)
	mux := new(Mux)
	mux.Fallback = func(_ context.Context, r *Request) (any, error) { return r.Params, nil }
	s, err := NewServer(ServerConfig{
		Token: token, AgentID: "a", App: App{Name: "a", Version: "1"}, Mux: mux,
		Capabilities: func() Capabilities { return Capabilities{Events: []string{"a/b"}} },
	})
	require.NoError(f, err)
	hello := `{"v":"gabp/1","id":"00000000-0000-4000-8000-000000000001","type":"request","method":"session/hello","params":` + helloText(token) + `}`
	f.Fuzz(func(t *testing.T, data []byte, greeted, framed bool) {
		var in bytes.Buffer
		if greeted {
			fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n%s", len(hello), hello)
		}
		if framed {
			fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n", len(data))
		}
		in.Write(data)
		out := &script{in: &in}
		_ = s.ServeConn(context.Background(), out)
		r := bufio.NewReader(&out.out)
		for p := (&peer{TB: t, r: r}); ; {
			if _, err := r.Peek(1); err != nil {
				break
			}
			line, err := r.ReadString('\n')
			require.NoError(t, err)
			var n int
			_, err = fmt.Sscanf(line, "Content-Length: %d\r\n", &n)
			require.NoError(t, err)
			_, _ = r.Discard(len(frameTail) - len("\r\n"))
			text := make([]byte, n)
			_, err = io.ReadFull(r, text)
			require.NoError(t, err)
			_, err = decodeWithin(text, Limits{MessageSize: 64 << 20})
			require.NoError(p, err, "%s", text)
		}
	})
}

// script is a stream that says what it was given, and keeps what it is told.
type script struct {
	in  *bytes.Buffer
	mu  sync.Mutex
	out bytes.Buffer
}

func (s *script) Read(p []byte) (int, error) { return s.in.Read(p) }
func (s *script) Close() error               { return nil }
func (s *script) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}
