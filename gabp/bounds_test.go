package gabp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/standin"
)

// inTime runs f with a stream to a server, in the time of a test, and with what waits for
// the end of its session.
func inTime(t *testing.T, lim Limits, timed bool, f func(conn net.Conn, ended func() time.Duration)) (answers string) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, ServerConfig{Limits: lim})
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
		var heard strings.Builder
		go func() { _, _ = io.Copy(&heard, near) }()
		f(near, func() time.Duration {
			<-done
			return time.Since(start)
		})
		cancel()
		_ = near.Close()
		<-done
		synctest.Wait()
		answers = heard.String()
	})
	return answers
}

// TestDeadlines holds when exactly a peer is disconnected that sends nothing, or a part of a
// message: before its hello at the time-out of that, whatever else it sends, and after it
// only while a message is under way.
func TestDeadlines(t *testing.T) {
	hello := frame(helloMessage)
	ping := frame(`{"v":"gabp/1","id":"00000000-0000-4000-8000-000000000002","type":"request","method":"session/ping"}`)
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
		{"a refused message", 10 * s, 30 * s, []write{{9 * s, ping}}, 10 * s},
		{"a byte, and messages may take less", 10 * s, 2 * s, []write{{3 * s, "C"}}, 5 * s},
		{"a byte after another", 10 * s, 2 * s, []write{{3 * s, "C"}, {1 * s, "o"}}, 5 * s},
		{"headers, and no message", 10 * s, 2 * s, []write{{3 * s, hello[:40]}}, 5 * s},
		{
			"a part of a message after the hello", 10 * s, 2 * s,
			[]write{{9 * s, hello}, {time.Hour, ping}, {time.Hour, ping[:50]}},
			2*time.Hour + 11*s,
		},
	} {
		for _, timed := range []bool{true, false} {
			t.Run(fmt.Sprint(c.name, timed), func(t *testing.T) {
				answers := inTime(t, Limits{HelloTimeout: c.hello, FrameTimeout: c.frame}, timed,
					func(conn net.Conn, ended func() time.Duration) {
						for _, w := range c.writes {
							time.Sleep(w.after)
							_, err := io.WriteString(conn, w.text)
							require.NoError(t, err)
						}
						require.Equal(t, c.ends, ended())
					})
				require.Equal(t, timed, strings.Contains(answers, "the message did not arrive in time"), "it is said where that is possible")
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
		c, _ := pair(t, ServerConfig{
			Limits: Limits{RequestTimeout: time.Hour},
			Mux: serving(func(ctx context.Context, r *Request) (any, error) {
				if r.Method == "a/slow" {
					select {
					case <-ctx.Done():
					case <-release:
					}
				}
				return nil, nil
			}),
		}, ClientConfig{Limits: Limits{ConcurrentRequests: 2, RequestTimeout: time.Minute}})
		for range 5 {
			start := time.Now()
			require.ErrorIs(t, c.Call(t.Context(), "a/slow", nil, nil), context.DeadlineExceeded)
			require.Equal(t, time.Minute, time.Since(start))
			require.NoError(t, c.Call(t.Context(), "a/quick", nil, nil))
		}
		require.Empty(t, c.pending)
		close(release) // late answers
		synctest.Wait()

		answer := make(chan message, 1)
		require.NoError(t, c.enter("x", answer))
		c.resolve(message{ID: "x"})
		c.resolve(message{ID: "x"}) // does not wait
		require.Len(t, answer, 1)
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

// TestIntegers holds which numbers of JSON are integers that every reader takes for the same.
func TestIntegers(t *testing.T) {
	for text, want := range map[string]int64{ // -1: refused
		"0": 0, "7": 7, "7.0": 7, "7e0": 7, "1.5e1": 15, "-0": 0, "0.5": -1, "-1": -1, "-0.5": -1,
		"9007199254740991": 1<<53 - 1, "9007199254740991.0": 1<<53 - 1, "9007199254740992": -1, "9007199254740992.0": -1,
		"9007199254740993": -1, "18446744073709551615": -1, "18446744073709551616": -1, "1e400": -1, "true": -1,
	} {
		n, ok := parseInteger([]byte(text), 0, maxInteger)
		require.Equal(t, want >= 0, ok, text)
		require.EqualValues(t, max(0, want), n, text)
		m, err := decodeWithin([]byte(`{"v":"gabp/1","id":"x","type":"event","channel":"a","seq":`+text+`,"payload":{}}`), Limits{})
		require.Equal(t, want >= 0, err == nil, text)
		require.EqualValues(t, max(0, want), m.Seq, text)
	}
	for text, want := range map[string]int{ // 0: refused
		"1": 1, "-32601": -32601, "-1.0": -1, "2147483647": 1<<31 - 1, "-2147483647": -(1<<31 - 1), "2147483648": 0,
		"-2147483648": 0, "1.5": 0, "1e400": 0, "null": 0,
	} {
		n, ok := parseInteger([]byte(text), -math.MaxInt32, math.MaxInt32)
		require.Equal(t, want != 0, ok, text)
		require.EqualValues(t, want, n, text)
	}
}

// TestLoopback holds which addresses and peers are of this machine.
func TestLoopback(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:1": "", "127.9.9.9:1": "", "[::1]:1": "", "localhost:1": "", "unix:/tmp/s": "",
		"192.0.2.1:1": "not on the loopback", "0.0.0.0:1": "not on the loopback", ":1": "not on the loopback",
		"example.com:1": "not on the loopback", "127.0.0.1": "missing port", "unix:": "no socket path",
	} {
		_, _, err := splitAddr(addr)
		if want == "" {
			require.NoError(t, err, addr)
			continue
		}
		require.ErrorContains(t, err, want, addr)
		_, dialed := Dial(t.Context(), addr, ClientConfig{Token: token})
		require.Equal(t, err, dialed, "refused before it connects")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Dial(gone, "127.0.0.1:1", ClientConfig{Token: token})
	require.ErrorContains(t, err, "operation was canceled")
}

// TestGoodbye holds that a client says goodbye once, and does not wait for an answer, or for a server that does not
// read.
func TestGoodbye(t *testing.T) {
	heard := make(chan []string, 1)
	addr := mod(t, func(conn net.Conn, r *bufio.Reader) {
		id, _ := request(r)
		respond(conn, `{"v":"gabp/1","id":"`+id+`","type":"response","result":{}}`)
		var methods []string
		for {
			_, method := request(r)
			if method == "" {
				break
			}
			methods = append(methods, method)
		}
		heard <- methods
	})
	c := connect(t, addr, nil)
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	require.Equal(t, []string{methodGoodbye}, <-heard)

	synctest.Test(t, func(t *testing.T) {
		for _, timed := range []bool{true, false} {
			near, far := net.Pipe()
			var stream io.ReadWriteCloser = near
			if !timed {
				stream = plain{near}
			}
			go func() {
				id, _ := request(bufio.NewReader(far))
				respond(far, `{"v":"gabp/1","id":"`+id+`","type":"response","result":{}}`)
			}()
			c, err := NewClient(t.Context(), stream, ClientConfig{Token: token})
			require.NoError(t, err)
			start := time.Now()
			require.NoError(t, c.Close())
			require.Equal(t, goodbyeTimeout, time.Since(start))
			<-c.Done()
		}
	})
}

// TestCharacters: a mod that counts characters waits for more after a request that is not ASCII.
func TestCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go standin.NewMod(standin.ModConfig{Characters: true}).ServeConn(theirs)
		t.Cleanup(func() { _ = ours.Close() })
		r := bufio.NewReader(ours)
		call := func(tool string) {
			text := fmt.Sprintf(`{"id":"7","method":"tools/call","params":{"name":%q}}`, tool)
			_, err := fmt.Fprintf(ours, "Content-Length: %d\r\n\r\n%s", len(text), text)
			require.NoError(t, err)
		}
		call("colony/build")
		_, err := r.ReadString('{')
		require.NoError(t, err)
		_, _ = r.Discard(r.Buffered()) // the rest of the frame
		call("colony/köln")
		require.NoError(t, ours.SetReadDeadline(time.Now().Add(time.Hour)))
		_, err = r.ReadByte()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	})
}
