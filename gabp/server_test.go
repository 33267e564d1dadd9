package gabp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/loopback"
	"github.com/heedlog/heed/internal/testkit"
)

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

// TestAnswersWhatItCan: a message that is none is answered and counted once, and the session
// goes on.
func TestAnswersWhatItCan(t *testing.T) {
	s := start(t, nil)
	p := dial(t, s.addr)
	p.hello()
	for i, c := range []struct {
		text, id string
		code     int
	}{
		{`[]`, nilID, codeInvalidRequest},
		{`{"v":"gabp/1","id":"3d0c2f7e-5b1a-4c6d-9e8f-000000000005","type":"request","method":"A b"}`, "3d0c2f7e-5b1a-4c6d-9e8f-000000000005", codeInvalidField},
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
		{`{"v":"gabp/1","id":"3d0c2f7e-5b1a-4c6d-9e8f-000000000004","type":"event","channel":"attention/opened","seq":1,"payload":{}}`, "3d0c2f7e-5b1a-4c6d-9e8f-000000000004", codeInvalidRequest},
	} {
		p.send(c.text)
		m := p.recv("")
		require.Equal(t, c.id, m.ID, c.text)
		requireCode(t, c.code, m.Error, c.text)
		require.EqualValues(t, i+1, s.Stats().Malformed)
	}
	p.send(`{"v":"gabp/1","id":"any form","type":"response","result":1}`) // an answer to no request is not answered
	require.Nil(t, p.call("session/ping", `{}`).Error)
	require.EqualValues(t, 10, s.Stats().Malformed)
	_, err := io.WriteString(p, "Content-Length: -1\r\n\r\n")
	require.NoError(t, err)
	require.NotNil(t, p.recv("").Error)
	p.ends()
	require.EqualValues(t, 11, s.Stats().Malformed)
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

func TestPanic(t *testing.T) {
	s := start(t, func(c *ServerConfig) {
		c.Mux = serving(func(context.Context, *Request) (any, error) { panic("bug") })
	})
	p := dial(t, s.addr)
	p.hello()
	requireCode(t, codeInternal, p.call("a/panic", `{}`).Error)
	require.EqualValues(t, 1, s.Stats().Panics)
}

func TestRefusesOtherMachines(t *testing.T) {
	ctx := context.Background()
	_, err := Listen(ctx, "0.0.0.0:0")
	require.Error(t, err)
	s := newServer(t, ServerConfig{})
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
			if ss.Client == "heed" {
				return Errorf(CodeToolFailed, "too old")
			}
			w.AgentID = "mod"
			w.Capabilities.Methods = append(w.Capabilities.Methods, "farm/plow", "farm/plow", "Not A Name")
			w.Capabilities.Events = append(w.Capabilities.Events, "mod/said")
			return nil
		}
		c.Closed = func(ss *ServerSession) { closed <- ss.Consumer }
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
		s := newServer(t, ServerConfig{
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

// FuzzServer sends arbitrary bytes to a server, before and after a hello.
func FuzzServer(f *testing.F) {
	for _, path := range []string{"valid/hello", "valid/subscribe", "invalid/batch"} {
		f.Add(read(f, "conformance/"+path+".json"), true, true)
		f.Add(read(f, "conformance/"+path+".json"), false, true)
	}
	f.Add([]byte("Content-Length: 2\r\n\r\n{}Content-Length: -2\r\n\r\n"), true, false)
	s := newServer(f, ServerConfig{
		Mux:          serving(func(_ context.Context, r *Request) (any, error) { return r.Params, nil }),
		Capabilities: func() Capabilities { return Capabilities{Events: []string{"a/b"}} },
	})
	f.Fuzz(func(t *testing.T, data []byte, greeted, framed bool) {
		var in bytes.Buffer
		if greeted {
			in.WriteString(frame(helloMessage))
		}
		if framed {
			fmt.Fprintf(&in, "Content-Length: %d\r\n\r\n", len(data))
		}
		in.Write(data)
		out := &script{in: &in}
		_ = s.ServeConn(context.Background(), out)
		p := &peer{TB: t, r: bufio.NewReader(strings.NewReader(out.String()))}
		for text, err := p.tryText(); err == nil; text, err = p.tryText() {
			_, refused := decodeWithin(text, Limits{MessageSize: 64 << 20})
			require.NoError(t, refused, "%s", text)
		}
	})
}

// script is a stream that says what it was given, and keeps what it is told.
type script struct {
	testkit.Buffer
	in *bytes.Buffer
}

func (s *script) Read(p []byte) (int, error) { return s.in.Read(p) }
func (s *script) Close() error               { return nil }

const bridgeToken = "0123456789abcdef0123456789abcdef"

func environ(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// TestBridgeFileText holds what is written for readers of either form, and what an error leaves behind.
func TestBridgeFileText(t *testing.T) {
	now := time.Date(2026, 1, 31, 10, 0, 0, 0, time.FixedZone("", 3600))
	dir := t.TempDir()
	path := filepath.Join(dir, "bridge.json")
	for address, want := range map[string]string{
		"127.0.0.1:4711":   `"port":4711,"transport":{"type":"tcp","address":"4711"}`,
		"unix:/tmp/x.sock": `"transport":{"type":"pipe","address":"/tmp/x.sock"}`,
	} {
		data := Bridge{Address: address, Token: bridgeToken, GameID: "farm", LaunchID: "l"}.File(now)
		require.Equal(t, byte('\n'), data[len(data)-1])
		require.JSONEq(t, fmt.Sprintf(`{%s,"token":"%s","gameId":"farm","metadata":{"pid":%d,"startTime":"2026-01-31T09:00:00Z",`+
			`"launchId":"l"}}`, want, bridgeToken, os.Getpid()), string(data))
	}
	for address, port := range map[string]int{
		"127.0.0.1:65535": 65535, "127.0.0.1:65536": 0, "127.0.0.1:x": 0, "127.0.0.1": 0, "unix:/tmp/a:7": 0, "": 0,
	} {
		at := Bridge{Address: address}
		require.Equal(t, port, at.Port(), address)
	}
	_, err := readBridgeFile(dir)
	require.ErrorContains(t, err, "gabp: bridge file: ")
	text := `{"port":1,"token":"secret-secret"}`
	for size, fits := range map[int]bool{64 << 10: true, 64<<10 + 1: false} {
		require.NoError(t, os.WriteFile(path, append([]byte(text), bytes.Repeat([]byte(" "), size-len(text))...), 0o600))
		_, err := readBridgeFile(path)
		require.Equal(t, fits, err == nil)
	}
	for n, fits := range map[int]bool{maxNameBytes: true, maxNameBytes + 1: false} {
		_, err := bridgePath(environ(map[string]string{"HOME": "/h"}), string(bytes.Repeat([]byte("g"), n)))
		require.Equal(t, fits, err == nil)
		if !fits {
			require.EqualError(t, err, `gabp: game id "`+string(bytes.Repeat([]byte("g"), 59))+`…" cannot be the name of a folder`)
		}
	}
}

func TestReadBridgeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridge.json")
	for text, want := range map[string]string{
		`{"port":4711,"token":"secret-secret","gameId":"farm"}`:                                          "127.0.0.1:4711",
		"\xef\xbb\xbf" + `{"token":"secret-secret","transport":{"type":"tcp","address":"4711"}}`:         "127.0.0.1:4711",
		`{"token":"secret-secret","transport":{"type":"pipe","address":"/tmp/s"},"metadata":{"pid":12}}`: "unix:/tmp/s",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		b, err := readBridgeFile(path)
		require.NoError(t, err)
		require.Equal(t, want, b.Address)
	}
	for _, text := range []string{
		``, `[]`, `{}`, `{"token":"secret-secret"}`, `{"port":4711}`, `{"port":70000,"token":"secret-secret"}`,
		`{"port":-1,"token":"secret-secret"}`,
		`{"token":"secret-secret","transport":{"type":"tcp","address":"evil:1"}}`,
		`{"token":"secret-secret","transport":{"type":"stdio"}}`,
		`{"token":"secret-secret","port":"4711"}`, string(bytes.Repeat([]byte(" "), 100_000)),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := readBridgeFile(path)
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestFindBridge(t *testing.T) {
	home := t.TempDir()
	file := Bridge{Address: "127.0.0.1:4712", Token: bridgeToken, GameID: "farm"}
	gamePath, err := bridgePath(environ(map[string]string{"HOME": home}), "farm")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(home, ".gabs", "farm", "bridge.json"), gamePath)
	_, err = FindBridge(environ(map[string]string{"HOME": home}), "farm")
	require.ErrorContains(t, err, EnvPort)
	require.NoError(t, os.MkdirAll(filepath.Dir(gamePath), 0o700))
	require.NoError(t, os.WriteFile(gamePath, file.File(time.Time{}), 0o600))

	env := map[string]string{"HOME": home, EnvPort: "4711", EnvToken: bridgeToken, EnvGame: "farm", EnvBridge: gamePath}
	b, err := FindBridge(environ(env), "")
	require.NoError(t, err)
	require.Equal(t, Bridge{Address: "127.0.0.1:4711", Token: bridgeToken, GameID: "farm", Path: gamePath}, b,
		"environment before file")
	require.Equal(t, 4711, b.Port())

	delete(env, EnvPort)
	for _, drop := range []string{"", EnvBridge, EnvGame} {
		delete(env, drop)
		b, err = FindBridge(environ(env), "farm")
		require.NoError(t, err)
		require.Equal(t, "127.0.0.1:4712", b.Address)
	}
	env[EnvPort] = "4711"
	delete(env, EnvToken)
	_, err = FindBridge(environ(env), "")
	require.ErrorContains(t, err, EnvToken, "half an environment is a mistake, and not passed over")
	env[EnvToken] = "abc"
	_, err = FindBridge(environ(env), "")
	require.ErrorContains(t, err, EnvToken+" has 3 bytes")
	_, found, err := BridgeFromEnv(environ(map[string]string{EnvPort: "1", EnvToken: "abc"}))
	require.ErrorContains(t, err, "want at least 32")
	require.False(t, found)
	for _, port := range []string{"0", "-1", "65536", "x", "1e3"} {
		_, found, err := BridgeFromEnv(environ(map[string]string{EnvPort: port, EnvToken: bridgeToken}))
		require.ErrorContains(t, err, EnvPort, port)
		require.False(t, found)
	}
}

func TestBridgePath(t *testing.T) {
	home := environ(map[string]string{"HOME": "/h", "APPDATA": `C:\A`})
	for goos, want := range map[string]string{
		"windows": filepath.Join(`C:\A`, "gabp", "bridge.json"),
		"darwin":  filepath.Join("/h", "Library", "Application Support", "gabp", "bridge.json"),
		"linux":   filepath.Join("/h", ".config", "gabp", "bridge.json"),
	} {
		path, err := protocolPath(goos, home)
		require.NoError(t, err)
		require.Equal(t, want, path)
	}
	path, err := protocolPath("windows", environ(map[string]string{"USERPROFILE": "/h"}))
	require.NoError(t, err)
	require.Equal(t, filepath.Join("/h", "AppData", "Roaming", "gabp", "bridge.json"), path)
	path, err = bridgePath(environ(map[string]string{envConfig: "/c"}), "farm")
	require.NoError(t, err)
	require.Equal(t, filepath.Join("/c", "farm", "bridge.json"), path)
	for _, id := range []string{"..", ".", "a/b", `a\b`, "C:", "a\x00"} {
		_, err := bridgePath(home, id)
		require.Error(t, err, id)
	}
	_, err = bridgePath(environ(nil), "farm")
	require.ErrorContains(t, err, "HOME")
}

// TestTokensAreNotShown: what prints a Bridge does not print its token.
func TestTokensAreNotShown(t *testing.T) {
	var out bytes.Buffer
	b := Bridge{Address: "127.0.0.1:1", Token: bridgeToken}
	fmt.Fprintf(&out, "%v %+v %#v %s", b, b, b, b)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "bridge", b)
	require.NotContains(t, out.String(), bridgeToken)
}

func TestIsLoopback(t *testing.T) {
	for _, host := range []string{
		"localhost", "LOCALHOST:80", "127.0.0.1", "127.8.9.1:0", "::1", "[::1]", "[::1]:80", "::ffff:127.0.0.1",
	} {
		require.True(t, loopback.Is(host), host)
	}
	for _, host := range []string{
		"", ":80", "0.0.0.0", "0.0.0.0:80", "[::]:80", "10.0.0.1:80", "localhost.example", "127.0.0.1.example:80", "127.1",
	} {
		require.False(t, loopback.Is(host), host)
	}
}
