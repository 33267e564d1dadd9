package gabp

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// inTime runs f with a stream to a server, in the time of a test, and with what waits for
// the end of its session.
func inTime(t *testing.T, lim Limits, timed bool, f func(conn net.Conn, ended func() time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer(ServerConfig{Token: token, AgentID: "a", App: App{Name: "a", Version: "1"}, Mux: new(Mux), Limits: lim})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		near, far := net.Pipe()
		var stream io.ReadWriteCloser = far
		if !timed {
			stream = plain{far}
		}
		done := make(chan struct{})
		start := time.Now()
		go func() {
			defer close(done)
			_ = s.ServeConn(ctx, stream)
		}()
		go func() { _, _ = io.Copy(io.Discard, near) }()
		f(near, func() time.Duration {
			<-done
			return time.Since(start)
		})
		cancel()
		_ = near.Close()
		<-done
	})
}

// TestDeadlines holds when exactly a peer is disconnected that sends nothing, or a part of a
// message: before its hello at the time-out of that, whatever else it sends, and after it
// only while a message is under way.
func TestDeadlines(t *testing.T) {
	hello := `{"v":"gabp/1","id":"00000000-0000-4000-8000-000000000001","type":"request","method":"session/hello","params":` +
		helloText(token) + `}`
	frame := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(hello), hello)
	ping := `{"v":"gabp/1","id":"00000000-0000-4000-8000-000000000002","type":"request","method":"session/ping"}`
	pings := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(ping), ping)
	type write struct {
		after time.Duration
		text  string
	}
	const s = time.Second
	for _, c := range []struct {
		name         string
		hello, frame time.Duration
		writes       []write
		ends         time.Duration
	}{
		{"silent", 10 * s, 30 * s, nil, 10 * s},
		{"a byte", 10 * s, 30 * s, []write{{9 * s, "C"}}, 10 * s},
		{"a refused message", 10 * s, 30 * s, []write{{9 * s, pings}}, 10 * s},
		{"a byte, and messages may take less", 10 * s, 2 * s, []write{{3 * s, "C"}}, 5 * s},
		{"a byte after another", 10 * s, 2 * s, []write{{3 * s, "C"}, {1 * s, "o"}}, 5 * s},
		{"headers, and no message", 10 * s, 2 * s, []write{{3 * s, frame[:40]}}, 5 * s},
		{"a part of a message after the hello", 10 * s, 2 * s, []write{{9 * s, frame}, {time.Hour, pings}, {time.Hour, pings[:50]}}, 2*time.Hour + 11*s},
	} {
		for _, timed := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, timed), func(t *testing.T) {
				inTime(t, Limits{HelloTimeout: c.hello, FrameTimeout: c.frame}, timed, func(conn net.Conn, ended func() time.Duration) {
					for _, w := range c.writes {
						time.Sleep(w.after)
						_, err := io.WriteString(conn, w.text)
						require.NoError(t, err)
					}
					require.Equal(t, c.ends, ended())
				})
			})
		}
	}
}

// TestClientDeadline holds that a client gives up at the time-out of its hello.
func TestClientDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		start := time.Now()
		_, err := NewClient(t.Context(), near, ClientConfig{Token: token, Limits: Limits{HelloTimeout: 7 * time.Second}})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 7*time.Second, time.Since(start))
	})
}

// TestCallsAreForgotten holds that nothing is kept of a call that is over, answered or not,
// and that a second answer is nobody's.
func TestCallsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		s, err := NewServer(ServerConfig{
			Token: token, AgentID: "a", App: App{Name: "a", Version: "1"}, Limits: Limits{RequestTimeout: time.Hour},
			Mux: serving(func(ctx context.Context, r *Request) (any, error) {
				if r.Method == "a/slow" {
					select {
					case <-ctx.Done():
					case <-release:
					}
				}
				return nil, nil
			}),
		})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		near, far := net.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.ServeConn(ctx, far) }()
		c, err := NewClient(ctx, near, ClientConfig{Token: token, Limits: Limits{ConcurrentRequests: 2, RequestTimeout: time.Minute}})
		require.NoError(t, err)
		for range 5 {
			start := time.Now()
			require.ErrorIs(t, c.Call(ctx, "a/slow", nil, nil), context.DeadlineExceeded)
			require.Equal(t, time.Minute, time.Since(start))
			require.NoError(t, c.Call(ctx, "a/quick", nil, nil))
		}
		require.Empty(t, c.pending)
		require.Zero(t, c.ignored.Load())
		close(release)
		synctest.Wait()
		require.EqualValues(t, 5, c.ignored.Load(), "late answers")

		answer := make(chan message, 1)
		require.NoError(t, c.enter("x", answer))
		require.True(t, c.resolve(message{ID: "x"}))
		require.False(t, c.resolve(message{ID: "x"}))
		require.NoError(t, c.Close())
		cancel()
		require.NoError(t, <-served)
	})
}

// TestEventQueue holds what a queue drops, and what it counts.
func TestEventQueue(t *testing.T) {
	var q eventQueue
	q.init(&Limits{EventQueue: 3, MessageSize: 2}) // 3 events, 8 bytes
	push := func(payloads ...string) {
		for _, p := range payloads {
			q.push(Event{Channel: "a", Payload: []byte(p)})
		}
	}
	pop := func(payload string, lost uint64) {
		t.Helper()
		e, ok := q.pop()
		require.True(t, ok)
		require.Equal(t, payload, string(e.Payload))
		require.Equal(t, lost, e.Lost)
	}
	push("1", "2", "3", "4", "5")
	pop("3", 2)
	pop("4", 0)
	push("6", "1234567") // with 5 and 6 they are 9 bytes
	pop("6", 1)
	push("8") // exactly 8
	pop("1234567", 0)
	push("123456789") // too large, and alone after the others have gone
	pop("123456789", 1)
	require.Zero(t, q.bytes)
	push("1", "2")
	q.close()
	pop("1", 0)
	pop("2", 0)
	_, ok := q.pop()
	require.False(t, ok)
}
