package gabp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// pair returns a client and the server behind it, over a pipe, which end with the test; it is for bubbles of synctest
// too.
func pair(t *testing.T, sc ServerConfig, cc ClientConfig) (*Client, *Server) {
	t.Helper()
	s := newServer(t, sc)
	near, far := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.ServeConn(ctx, far)
	}()
	cc.Token = token
	c, err := NewClient(ctx, near, cc)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		<-c.Done()
		cancel()
		<-done
	})
	return c, s
}

// TestLax holds that names and ids in a form of their own reach a server that accepts them, and no other.
func TestLax(t *testing.T) {
	for _, lax := range []bool{false, true} {
		c, _ := pair(t, ServerConfig{Lax: lax, Mux: serving(func(_ context.Context, r *Request) (any, error) {
			return r.Method, nil
		})}, ClientConfig{})
		for method, params := range map[string]string{"Odd Method": `{}`, MethodToolsCall: `{"name":"Odd Tool"}`} {
			raw, err := c.CallRaw(t.Context(), method, json.RawMessage(params))
			if lax {
				require.NoError(t, err)
				require.Equal(t, `"`+method+`"`, string(raw))
			} else {
				require.Error(t, err)
			}
		}
		_, err := c.CallRaw(t.Context(), MethodToolsCall, json.RawMessage(`{}`))
		requireCode(t, CodeInvalidParams, err, "a name there must be")
	}
}

// TestCallsEndWithTheConnection holds that calls in flight, and later ones, have the reason of the end.
func TestCallsEndWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := pair(t, ServerConfig{Mux: serving(func(ctx context.Context, _ *Request) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})}, ClientConfig{})
		require.EqualValues(t, 1, s.Stats().Sessions)
		ended := make(chan error, 1)
		go func() { ended <- c.Call(t.Context(), "a/b", nil, nil) }()
		synctest.Wait()
		require.NoError(t, c.Err())
		require.NoError(t, c.conn.Close())
		err := <-ended
		require.ErrorContains(t, err, "gabp: connection ended: ")
		require.Equal(t, err, c.Err())
		require.Equal(t, err, c.Call(t.Context(), "a/b", nil, nil))
		require.NoError(t, c.Close())
		require.Equal(t, err, c.Err(), "the first reason stays")
		time.Sleep(time.Hour)
		require.Zero(t, s.Stats().Timeouts)
	})
}

// TestClientArguments holds what cannot be sent.
func TestClientArguments(t *testing.T) {
	c, s := pair(t, ServerConfig{}, ClientConfig{})
	_, err := c.CallTool(t.Context(), "a/b", func() {})
	require.ErrorContains(t, err, "gabp: tools/call: params: ")
	require.ErrorContains(t, c.Call(t.Context(), "a/b", func() {}, nil), "gabp: a/b: params: ")
	require.Zero(t, s.Stats().Requests)
	_, err = NewClient(t.Context(), &net.TCPConn{}, ClientConfig{Limits: Limits{Connections: -1}})
	require.ErrorContains(t, err, "Limits.Connections is -1")
	p, err := marshal(json.RawMessage(nil))
	require.NoError(t, err)
	require.Equal(t, "null", string(p))
}

// TestEventHandlers holds that the latest handler of a channel gets its events.
func TestEventHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		channels := []string{"a/b"}
		c, s := pair(t, ServerConfig{
			Capabilities: func() Capabilities { return Capabilities{Events: channels} },
			Limits:       Limits{Subscriptions: 2},
		}, ClientConfig{})
		var got []string
		handler := func(name string) func(Event) {
			return func(e Event) { got = append(got, name+" "+e.Channel+" "+string(e.Payload)) }
		}
		publish := func(channel, payload string, want ...string) {
			t.Helper()
			got = nil
			require.NoError(t, s.Publish(channel, "", json.RawMessage(payload), nil))
			synctest.Wait()
			require.Equal(t, want, got)
		}
		_, err := c.Events(t.Context(), []string{"a/b"}, handler("first"))
		require.NoError(t, err)
		publish("a/b", "1", "first a/b 1")
		_, err = c.Events(t.Context(), []string{"a/b", "c/d"}, handler("second"))
		require.NoError(t, err, "one is known")
		publish("a/b", "2", "second a/b 2")
		publish("c/d", "3")
		channels = append(channels, "c/d", "e/f", "g/h")
		known, err := c.Events(t.Context(), []string{"c/d", "e/f", "a/b"}, handler("third"))
		require.NoError(t, err)
		require.Equal(t, []string{"c/d", "a/b"}, known, "no more than two")
		publish("e/f", "4")
		publish("c/d", "5", "third c/d 5")
		_, err = c.Events(t.Context(), []string{"g/h"}, handler("fourth"))
		requireCode(t, codeSubscriptionFailed, err)
		_, err = c.Events(t.Context(), []string{"x/y"}, handler("fourth"))
		requireCode(t, codeChannelNotFound, err)

		var list eventsListResult
		require.NoError(t, c.Call(t.Context(), methodEventsList, nil, &list))
		require.Equal(t, eventsListResult{Channels: channels, Subscribed: []string{"a/b", "c/d"}}, list)
		raw, err := c.CallRaw(t.Context(), methodEventsUnsub, json.RawMessage(`{"channels":["x/y","a/b","a/b"]}`))
		require.NoError(t, err)
		require.Equal(t, `{"unsubscribed":["a/b"]}`, string(raw))
		publish("a/b", "6")
		_, err = c.Events(t.Context(), []string{"a/b"}, handler("fifth"))
		require.NoError(t, err)
		publish("a/b", "7", "fifth a/b 7")
		require.EqualValues(t, 4, s.Stats().Published)
		_, err = c.CallRaw(t.Context(), methodEventsUnsub, json.RawMessage(`{}`))
		requireCode(t, CodeInvalidParams, err)
		_, err = c.CallRaw(t.Context(), methodEventsSubscribe, json.RawMessage(`{}`))
		requireCode(t, CodeInvalidParams, err)
	})
}

// TestLargeAnswers holds what is said in place of an answer that is larger than a message may be.
func TestLargeAnswers(t *testing.T) {
	const size = 8 << 10
	most := size - maxEnvelope
	var answer func() (any, error)
	c, s := pair(t, ServerConfig{
		Limits: Limits{MessageSize: size},
		Mux: serving(func(context.Context, *Request) (any, error) {
			return answer()
		}),
	}, ClientConfig{})
	text := func(n int) string { return strings.Repeat("x", n) }
	result := func(n int) func() (any, error) { return func() (any, error) { return text(n - 2), nil } }
	fails := func(n int) func() (any, error) {
		return func() (any, error) {
			return nil, &Error{Code: -7, Message: "broken", Data: json.RawMessage(`"` + text(n-8) + `"`)}
		}
	}
	for _, c2 := range []struct {
		answer func() (any, error)
		code   int
		data   bool
	}{
		{result(most), 0, false},
		{result(most + 1), codeInternal, false},
		{fails(most / 8), -7, true},
		{fails(most/8 + 1), -7, false},
		{func() (any, error) { return func() {}, nil }, codeInternal, false},
	} {
		answer = c2.answer
		raw, err := c.CallRaw(t.Context(), "a/b", nil)
		if c2.code == 0 {
			require.NoError(t, err)
			require.Len(t, raw, most)
			continue
		}
		requireCode(t, c2.code, err)
		e, _ := errors.AsType[*Error](err)
		require.Equal(t, c2.data, len(e.Data) > 0)
	}
	answer = result(most + 1)
	require.ErrorContains(t, c.Call(t.Context(), "a/b", nil, nil), "the call was executed")
	require.NoError(t, s.Publish("a/b", "", json.RawMessage(text(most)), nil))
	require.ErrorContains(t, s.Publish("a/b", "", json.RawMessage(text(most+1)), nil), "6145 bytes, want at most 6144")
	require.ErrorContains(t, s.Publish("a/b", "", func() {}, nil), "gabp: event on a/b: ")
}

// TestLargeVerbatim holds that an answer in a form of its own is passed on as it is where it fits a message.
func TestLargeVerbatim(t *testing.T) {
	server := newServer(t, ServerConfig{})
	for n, whole := range map[int]bool{
		defaultMessageSize - maxEnvelope:     true,
		defaultMessageSize - maxEnvelope + 1: false,
	} {
		s := newServerSession(server, newConn(&written{}, server.limits))
		s.answer("1", nil, &Verbatim{Err: Errorf(-7, "odd"), text: make([]byte, n)}, nil)
		require.Equal(t, whole, s.out.replies[0].verbatim != nil)
		require.Equal(t, whole, s.out.replies[0].Error == nil)
	}
}

// TestLargeRefusal holds that a refusal, whose data a host chooses, fits a message.
func TestLargeRefusal(t *testing.T) {
	server := newServer(t, ServerConfig{})
	s := newServerSession(server, newConn(&written{}, server.limits))
	s.refuse(&message{}, Errorf(-7, "odd").WithData(strings.Repeat("x", defaultMessageSize)))
	require.Equal(t, message{ID: nilID, Type: typeResponse, Error: Errorf(-7, "odd")}, s.out.replies[0])
}

// failing is a listener that fails as often as it is told, and then ends.
type failing struct {
	net.Listener
	fails  int
	once   sync.Once
	closed chan struct{}
}

func (l *failing) Accept() (net.Conn, error) {
	if l.fails--; l.fails >= 0 {
		return nil, errors.New("too many open files")
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *failing) Addr() net.Addr { return &net.UnixAddr{} }

func (l *failing) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// TestAcceptFails holds that a listener may fail for a while, and how long.
func TestAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, ServerConfig{})
		ctx, cancel := context.WithCancel(t.Context())
		l := &failing{fails: maxAcceptFailures, closed: make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(ctx, l) }()
		time.Sleep(time.Minute)
		cancel()
		require.NoError(t, <-ended)

		start := time.Now()
		l = &failing{fails: maxAcceptFailures + 1, closed: make(chan struct{})}
		require.ErrorContains(t, s.Serve(t.Context(), l), "gabp: accept: too many open files")
		require.Equal(t, 4200*time.Millisecond, time.Since(start), "ever later")

		l = &failing{closed: make(chan struct{})}
		require.NoError(t, l.Close())
		start = time.Now()
		require.ErrorIs(t, s.Serve(t.Context(), l), net.ErrClosed)
		require.Zero(t, time.Since(start))
	})
}

// short is a stream that writes less than it was given, and says nothing.
type short struct{ io.ReadWriteCloser }

func (short) Write(p []byte) (int, error) { return len(p) - 1, nil }

// written is a stream that keeps what is written.
type written struct {
	io.ReadWriteCloser
	text []byte
}

func (w *written) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	return len(p), nil
}

// TestWrites holds how large a message may be that is sent, and that a part of one is an error.
func TestWrites(t *testing.T) {
	lim := defaultLimits(t)
	lim.MessageSize = 1000
	m := message{ID: "1", Type: typeRequest, Method: "a/b"}
	m.Params = json.RawMessage(`{"x":"` + strings.Repeat("x", 1000-len(m.Append(nil))-len(`,"params":{"x":""}`)) + `"}`)
	require.Len(t, m.Append(nil), 1000)
	w := &written{}
	require.NoError(t, newConn(w, lim).Write(m))
	require.Equal(t, "Content-Length: 1000\r\nContent-Type: application/json\r\n\r\n"+string(m.Append(nil)), string(w.text))
	m.Params = json.RawMessage(`{"x":"` + strings.Repeat("x", 1000) + `"}`)
	requireCode(t, codeInternal, newConn(w, lim).Write(m))
	require.ErrorIs(t, newConn(short{}, lim).Write(message{ID: "1", Type: typeRequest, Method: "a/b"}), io.ErrShortWrite)
}

// halves is a connection whose output can be ended alone.
type halves struct {
	net.Conn
	ended int
}

func (h *halves) CloseWrite() error { h.ended++; return nil }

// TestServeEnds holds how a session ends: with the time for a peer to read the last answer where the server ends it for
// what the peer sent, and with a bound on how long handlers may take.
func TestServeEnds(t *testing.T) {
	call := `{"v":"gabp/1","id":"00000000-0000-4000-8000-000000000002","type":"request","method":"a/b"}`
	breaks := func(near net.Conn, _ func()) { _, _ = io.WriteString(near, "Content-Length: -1\r\n\r\n") }
	for _, c := range []struct {
		name    string
		deaf    bool // the peer does not read
		handler time.Duration
		do      func(near net.Conn, cancel func())
		ended   int
		took    time.Duration
		err     string
	}{
		{"the peer left", false, 0, func(near net.Conn, _ func()) { _ = near.Close() }, 0, 0, ""},
		{"the host stops", false, 0, func(_ net.Conn, cancel func()) { cancel() }, 0, 0, ""},
		{"a broken frame", false, 0, breaks, 1, 250 * time.Millisecond, "frame: "},
		{"a broken frame of a peer that does not read", true, 0, breaks, 0, 10 * time.Second, "gabp: write: "},
		{
			"a handler that takes its time", false, 3 * time.Second, func(_ net.Conn, cancel func()) { cancel() },
			0, 3 * time.Second, "",
		},
		{
			"a handler that takes too long", false, 9 * time.Second, func(_ net.Conn, cancel func()) { cancel() },
			0, 5 * time.Second, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, ServerConfig{Mux: serving(func(context.Context, *Request) (any, error) {
					time.Sleep(c.handler)
					return nil, nil
				})})
				ctx, cancel := context.WithCancel(t.Context())
				near, far := net.Pipe()
				h := &halves{Conn: far}
				ended := make(chan error, 1)
				go func() { ended <- s.ServeConn(ctx, h) }()
				if !c.deaf {
					go func() { _, _ = io.Copy(io.Discard, near) }()
					for _, text := range []string{helloMessage, call} {
						testkit.Must(io.WriteString(near, frame(text)))
					}
					synctest.Wait()
				}
				start := time.Now()
				c.do(near, cancel)
				err := <-ended
				require.Equal(t, c.took, time.Since(start))
				require.Equal(t, c.ended, h.ended)
				if c.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, c.err)
				}
				cancel()
				_ = near.Close()
				time.Sleep(time.Minute)
			})
		})
	}
}

// TestHalfHeaders holds how a stream ends: between frames, or within one.
func TestHalfHeaders(t *testing.T) {
	for text, want := range map[string]error{
		"": io.EOF, "\n": io.EOF, " ": io.EOF, "C": io.ErrUnexpectedEOF, "Content-Length: 1\r\n": io.ErrUnexpectedEOF,
		"Content-Length: 1\r\n\r": io.ErrUnexpectedEOF,
	} {
		_, err := readHeader(bufio.NewReader(strings.NewReader(text)), 10)
		require.Equal(t, want, err, "%q", text)
	}
}

// TestRequestIDs: a request has a UUID, or is refused under the id that it has.
func TestRequestIDs(t *testing.T) {
	const uuid = "3D0C2f7e-5b1a-4c6d-9e8f-000000000001"
	for _, lax := range []bool{false, true} {
		t.Run(fmt.Sprint("lax ", lax), func(t *testing.T) {
			s := start(t, func(c *ServerConfig) { c.Lax = lax })
			for _, id := range []string{
				uuid, "1", uuid + "0", uuid[1:], strings.Replace(uuid, "-", "0", 1), strings.Replace(uuid, "f", "g", 1),
			} {
				p := dial(t, s.addr)
				ask := func(method, params string) (code int) {
					p.send(`{"v":"gabp/1","id":"` + id + `","type":"request","method":"` + method + `","params":` + params + `}`)
					var m struct {
						ID    string
						Error struct{ Code int }
					}
					require.NoError(t, json.Unmarshal(p.text(), &m))
					require.Equal(t, id, m.ID)
					return m.Error.Code
				}
				want := 0
				if id != uuid && !lax {
					want = codeInvalidField
				}
				require.Equal(t, want, ask(methodHello, helloText(token)), id)
				if want != 0 {
					p.hello()
				}
				require.Equal(t, want, ask(methodPing, `{}`), id)
			}
		})
	}
}
