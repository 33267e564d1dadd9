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
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
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

type rig struct {
	*Server
	addr string
	logs *testkit.Buffer
	stop context.CancelFunc
	done chan error
}

// newServer returns a server for cfg, which may lack the required fields.
func newServer(t testing.TB, cfg ServerConfig) *Server {
	t.Helper()
	cfg.Token, cfg.AgentID, cfg.App = token, "a", App{Name: "a", Version: "1"}
	if cfg.Mux == nil {
		cfg.Mux = new(Mux)
	}
	s, err := NewServer(cfg)
	require.NoError(t, err)
	return s
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
	r := &rig{logs: &testkit.Buffer{}, done: make(chan error, 1)}
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

// helloMessage is a hello as a message.
var helloMessage = `{"v":"gabp/1","id":"00000000-0000-4000-8000-000000000001","type":"request","method":"session/hello","params":` +
	helloText(token) + `}`

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

// serving returns a Mux that gives all requests to h.
func serving(h handler) *Mux {
	mux := new(Mux)
	mux.Fallback = h
	return mux
}
