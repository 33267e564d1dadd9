package gabp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Ping asks whether the server answers.
func (c *Client) Ping(ctx context.Context) error { return c.Call(ctx, methodPing, nil, nil) }

func connect(t testing.TB, addr string, change func(*ClientConfig)) *Client {
	t.Helper()
	cfg := ClientConfig{Token: token, Limits: Limits{
		HelloTimeout: patience, FrameTimeout: patience,
		WriteTimeout: patience,
	}}
	if change != nil {
		change(&cfg)
	}
	c, err := Dial(context.Background(), addr, cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Close())
		<-c.Done()
	})
	return c
}

func TestClient(t *testing.T) {
	ctx := context.Background()
	s := start(t, nil)
	c := connect(t, s.addr, nil)
	require.Equal(t, "heed", c.Welcome().AgentID)
	require.Contains(t, c.Welcome().Capabilities.Methods, "tools/list")
	require.NotContains(t, c.Welcome().Capabilities.Methods, "attention/current")
	require.NoError(t, c.Ping(ctx))

	var list toolsListResult
	require.NoError(t, c.Call(ctx, MethodToolsList, nil, &list))
	require.Equal(t, "save/load", list.Tools[0].Name)
	raw, err := c.CallTool(ctx, "save/load", map[string]string{"name": "Outpost <1>"})
	require.NoError(t, err)
	require.Equal(t, `{"name":"save/load","arguments":{"name":"Outpost <1>"}}`, string(raw))
	_, err = c.CallTool(ctx, "save/fail", nil)
	requireCode(t, codeInternal, err)
	require.NotContains(t, err.Error(), "\x1b")
	requireCode(t, CodeMethodNotFound, c.Call(ctx, "farm/plow", nil, nil))
	require.Error(t, c.Call(ctx, "tools/list", func() {}, nil))
	require.Error(t, c.Call(ctx, "tools/list", nil, new(int)))

	require.NoError(t, c.Close())
	<-c.Done()
	require.ErrorIs(t, c.Err(), errClosed)
	require.ErrorIs(t, c.Ping(ctx), errClosed)
	require.Zero(t, s.Stats().Malformed)
}

func TestClientRefused(t *testing.T) {
	s := start(t, nil)
	_, err := Dial(context.Background(), s.addr, ClientConfig{Token: strings.Repeat("0", 64)})
	requireCode(t, CodeAuthFailed, err)
	require.NotContains(t, err.Error(), "0000")
	_, err = Dial(context.Background(), s.addr, ClientConfig{Token: token, Limits: Limits{MessageSize: 1}})
	require.ErrorContains(t, err, "MessageSize")
}

// TestClientLosesOldest: a handler that does not keep up loses the oldest
// events, and is told how many.
func TestClientLosesOldest(t *testing.T) {
	s := start(t, nil)
	c := connect(t, s.addr, func(c *ClientConfig) { c.Limits.EventQueue = 10 })
	enter, leave := make(chan Event), make(chan struct{})
	_, err := c.Events(context.Background(), []string{"a/b"}, func(e Event) {
		enter <- e
		<-leave
	})
	require.NoError(t, err)
	require.NoError(t, s.Publish("a/b", "", 0, nil))
	first := <-enter
	require.EqualValues(t, 1, first.Seq)
	var written atomic.Int64
	for i := range 100 {
		require.NoError(t, s.Publish("a/b", "", i, func(*ServerSession) { written.Add(1) }))
	}
	// An answer may go before events that wait, and not before those that were written.
	eventually(t, "events were written", func() bool { return written.Load() == 100 })
	require.NoError(t, c.Ping(context.Background()))
	seq, lost := first.Seq, uint64(0)
	for seq < 101 {
		leave <- struct{}{}
		e := <-enter
		require.Equal(t, seq+1+e.Lost, e.Seq, "holes are told of")
		seq, lost = e.Seq, lost+e.Lost
	}
	leave <- struct{}{}
	require.GreaterOrEqual(t, lost, uint64(80))
}

func TestClientBounds(t *testing.T) {
	release := make(chan struct{})
	s := start(t, func(c *ServerConfig) {
		c.Mux = serving(func(ctx context.Context, _ *Request) (any, error) {
			select {
			case <-release:
			case <-ctx.Done():
			}
			return nil, nil
		})
	})
	c := connect(t, s.addr, func(c *ClientConfig) { c.Limits.ConcurrentRequests = 2 })
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() { _ = c.Call(context.Background(), "a/b", nil, nil) })
	}
	eventually(t, "running", func() bool { return s.Stats().Requests == 2 })
	requireCode(t, CodeBusy, c.Ping(context.Background()))
	close(release)
	calls.Wait()
	require.NoError(t, c.Ping(context.Background()))
	require.Error(t, c.Call(context.Background(), "a/b", strings.Repeat("x", defaultMessageSize), nil))
	require.NoError(t, c.Ping(context.Background()), "the connection stands")
}

// mod is a server by hand, with the habits of servers in the field.
func mod(t *testing.T, serve func(conn net.Conn, r *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close() //nolint:errcheck // it is over
		serve(conn, bufio.NewReader(conn))
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
	})
	return l.Addr().String()
}

// request reads one request by hand.
func request(r *bufio.Reader) (id, method string) {
	var n int
	if _, err := fmt.Fscanf(r, "Content-Length: %d\r\nContent-Type: application/json\r\n\r\n", &n); err != nil {
		return "", ""
	}
	text := make([]byte, n)
	for i := range text {
		text[i], _ = r.ReadByte()
	}
	var m struct{ ID, Method string }
	_ = json.Unmarshal(text, &m)
	return m.ID, m.Method
}

func respond(conn net.Conn, text string) {
	_, _ = fmt.Fprintf(conn, "content-length: %d\r\nContent-Type: application/json\r\n\r\n%s", len(text), text)
}

func TestClientOfAMod(t *testing.T) {
	noLeaks(t)
	addr := mod(t, func(conn net.Conn, r *bufio.Reader) {
		id, _ := request(r)
		respond(conn, `{"v":"gabp/1","id":"`+id+`","type":"response","result":{"agentId":"mod","observed":{"cwd":"/x"}},"error":null,"params":null}`)
		id, _ = request(r)
		respond(conn, `not json`)
		respond(conn, `{"v":"gabp/1","id":"unknown","type":"response","result":1}`)
		respond(conn, `{"v":"gabp/1","id":"x","type":"event","channel":"a/b","seq":1,"payload":1}`)
		respond(conn, `{"v":"gabp/1","id":"`+id+`","type":"response","result":1,"error":{"code":1,"message":"both"}}`)
		id, _ = request(r)
		respond(conn, `{"v":"gabp/1","id":"`+id+`","type":"response","result":{ "exact" : 1.50 }}`)
		_, _ = request(r)
		_, _ = conn.Write([]byte("Content-Length: -1\r\n\r\n"))
		_, _ = request(r)
	})
	c := connect(t, addr, nil)
	require.JSONEq(t, `{"cwd":"/x"}`, string(c.Welcome().Observed))
	requireCode(t, codeInvalidRequest, c.Ping(context.Background()))
	raw, err := c.CallRaw(context.Background(), "a/b", nil)
	require.NoError(t, err)
	require.Equal(t, `{ "exact" : 1.50 }`, string(raw))
	err = c.Ping(context.Background())
	require.ErrorAs(t, err, new(*frameError))
	require.NotErrorAs(t, err, new(*Error), "the mod has refused nothing")
	<-c.Done()
}

func TestUnixAndStream(t *testing.T) {
	noLeaks(t)
	s := newServer(t, ServerConfig{})
	ctx, cancel := context.WithCancel(context.Background())
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(ctx, "unix:"+path)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	_, err = Listen(ctx, "unix:"+path)
	require.Error(t, err, "somebody serves it")
	done := make(chan error, 2)
	go func() { done <- s.Serve(ctx, l) }()
	require.NoError(t, connect(t, "unix:"+path, nil).Ping(ctx))

	near, far := net.Pipe()
	go func() { done <- s.ServeConn(ctx, plain{near}) }()
	c, err := NewClient(ctx, plain{far}, ClientConfig{Token: token})
	require.NoError(t, err)
	require.NoError(t, c.Ping(ctx))
	require.NoError(t, c.Close())
	require.NoError(t, <-done)
	cancel()
	require.NoError(t, <-done)

	// A socket that was left behind is replaced.
	ln, err := net.Listen("unix", path)
	require.NoError(t, err)
	ln.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, ln.Close())
	l, err = Listen(context.Background(), "unix:"+path)
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// deaf is a stream whose reads go on after it was closed, as those of a
// terminal.
type deaf struct{ hang chan struct{} }

func (d deaf) Read([]byte) (int, error) {
	<-d.hang
	return 0, net.ErrClosed
}
func (d deaf) Write(p []byte) (int, error) { return len(p), nil }
func (d deaf) Close() error                { return nil }

// TestStopBesideARead: a server stops though its stream's read does not end.
func TestStopBesideARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, ServerConfig{})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		d := deaf{make(chan struct{})}
		start := time.Now()
		require.NoError(t, s.ServeConn(ctx, d))
		require.Equal(t, readGrace, time.Since(start))
		close(d.hang)
	})
}

func TestHandledWaits(t *testing.T) {
	var q eventQueue
	q.init(&Limits{EventQueue: 2, MessageSize: 1024})
	require.NoError(t, q.wait(t.Context()), "nothing to wait for")
	for range 3 { // the first is dropped
		q.push(Event{Channel: "a"})
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, q.wait(ended), context.Canceled)

	waited := make(chan error, 1)
	go func() { waited <- q.wait(t.Context()) }()
	for range 2 {
		_, ok := q.pop()
		require.True(t, ok)
	}
	select {
	case err := <-waited:
		require.Fail(t, "the last event is still being handled", err)
	default:
	}
	go q.pop() // done with it, and waits for the next
	require.NoError(t, <-waited)
	q.close()
}
