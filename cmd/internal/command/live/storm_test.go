//go:build unix

package live

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/internal/testkit"
)

// storm is a flood into a followed log, and what clients saw of it meanwhile.
type storm struct {
	lines  int
	asked  int // questions that were answered
	called int // calls to a talking mod

	status bridge.Status
	held   uint64 // entries that were read after it
	lost   uint64 // and those of which pages said that they are held no more
	latest uint64
}

// deaf connects a client that reads nothing by itself: what it is sent stays in small
// buffers of the sockets, and then in heed.
func deaf(t testing.TB, addr, token string) net.Conn {
	t.Helper()
	conn := testkit.Must(net.Dial("tcp", addr))
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
	t.Cleanup(func() { _ = conn.Close() })
	put(conn, "h", "session/hello", fmt.Sprintf(`{"token":%q,"bridgeVersion":"1.0","platform":"darwin","launchId":"deaf"}`, token))
	put(conn, "s", "events/subscribe", `{"channels":["attention/opened","attention/updated","attention/cleared"]}`)
	return conn
}

// put sends a request and asks nothing of what becomes of it.
func put(conn net.Conn, id, method, params string) {
	text := fmt.Sprintf(`{"v":"gabp/1","id":%q,"type":"request","method":%q,"params":%s}`, id, method, params)
	_, _ = fmt.Fprintf(conn, "Content-Length: %d\r\n\r\n%s", len(text), text)
}

// spawn starts a heed process, which is killed when the test ends.
func spawn(t testing.TB, args ...string) {
	t.Helper()
	cmd := heedProcess(args...)
	var errs buffer
	cmd.Stderr = &errs
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(errs.String())
		}
	})
}

// flooded is a heed process that follows a log.
type flooded struct {
	path, addr, token string
	mod               bool // there is one
}

// serveLog serves the log of a game.
func serveLog(t testing.TB) flooded {
	t.Helper()
	s := flooded{path: filepath.Join(t.TempDir(), "Player.log"), addr: reserve(t), token: gabp.NewToken()}
	dir := filepath.Dir(s.path)
	require.NoError(t, os.WriteFile(s.path, nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(s.token+"\n"), 0o600))
	spawn(t, "serve", s.path, "--state", filepath.Join(dir, "state"), "--addr", s.addr, "--token-file",
		filepath.Join(dir, "token"))
	return s
}

// wrapTalking wraps a game whose mod talks while it answers.
func wrapTalking(t testing.TB) flooded {
	t.Helper()
	cfg, err := json.Marshal(standin.ModConfig{
		Channels: []string{"colony/ticks"}, Unlocked: true, Nagle: true, Characters: true, Storm: 1000,
	})
	require.NoError(t, err)
	w := start(t, nil, "talks", string(cfg))
	w.read("pid", new(int)) // its first line is written
	return flooded{filepath.Join(w.dir, "Player.log"), w.addr, w.token, true}
}

// runStorm has a heed process follow a log into which n lines are written in the given
// time, while one client asks, one reads slowly, and one asks for pages of the
// journal and reads nothing; where there is a mod, one calls a tool of it.
func runStorm(t testing.TB, n int, over time.Duration, begin func(testing.TB) flooded) storm {
	t.Helper()
	heed := begin(t)
	addr, token := heed.addr, heed.token
	log := testkit.Must(os.OpenFile(heed.path, os.O_WRONLY|os.O_APPEND, 0o600))
	defer log.Close() //nolint:errcheck // a test's

	asker, welcome := dial(t, addr, token)
	require.Nil(t, welcome.Error)
	require.Nil(t, asker.call("attention/current", `{}`).Error) // takes in what the game has written
	var before bridge.Status
	a := asker.call("tools/call", `{"name":"heed/status","arguments":{}}`)
	require.NoError(t, json.Unmarshal(a.Result, &before))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	s := storm{lines: n}
	every := func(d time.Duration, f func() bool) {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(d):
				}
				if !f() {
					return
				}
			}
		})
	}
	slow := deaf(t, addr, token)
	chunk := make([]byte, 1<<10)
	every(20*time.Millisecond, func() bool {
		_ = slow.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		_, _ = slow.Read(chunk)
		return true
	})
	silent := deaf(t, addr, token)
	every(time.Millisecond, func() bool {
		_ = silent.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		put(silent, "e", "tools/call", `{"name":"heed/entries","arguments":{"limit":500,"chars":4000}}`)
		return true
	})
	every(2*time.Millisecond, func() bool {
		s.asked++
		return asker.call("attention/current", `{}`).Error == nil
	})
	if heed.mod {
		caller, _ := dial(t, addr, token)
		every(5*time.Millisecond, func() bool {
			s.called++
			a := caller.call("tools/call", `{"name":"colony/look","arguments":{"where":"Köln 😀"}}`)
			return assert.Contains(t, string(a.Result), `"done":true`)
		})
	}
	began := time.Now()
	lines := workload.NewStorm(workload.Mixed, 1)
	var batch []byte
	for done := 0; done < n; {
		due := min(n, 1+int(float64(n)*float64(time.Since(began))/float64(over)))
		for batch = batch[:0]; done < due; done++ {
			batch = append(append(batch, lines.Next()...), '\n')
		}
		testkit.Must(log.Write(batch))
		time.Sleep(500 * time.Microsecond) // a flood comes in bursts
	}
	require.Nil(t, asker.call("attention/current", `{}`).Error) // takes in all that is there
	close(stop)
	wg.Wait()

	s.count(t, asker)
	s.lines += int(before.Counts.Logs)
	return s
}

// count asks for what has become of the lines.
func (s *storm) count(t testing.TB, b *fakeBridge) {
	t.Helper()
	tool := func(name, arguments string, into any) {
		a := b.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
		require.Nil(t, a.Error)
		require.NoError(t, json.Unmarshal(a.Result, into))
	}
	tool("heed/status", `{}`, &s.status)
	var page bridge.Page
	for next, more := s.status.Epoch+"/0", true; more; next, more = page.Next, page.More {
		page = bridge.Page{}
		tool("heed/entries", fmt.Sprintf(`{"after":%q,"limit":500,"chars":40}`, next), &page)
		s.held += uint64(len(page.Entries))
		s.lost += page.Lost
		s.latest = page.Latest
	}
}

// requireAccounted checks that every line that was written has been received, and is
// either held or said to be lost.
func (s *storm) requireAccounted(t testing.TB) {
	t.Helper()
	require.EqualValues(t, s.lines, s.status.Log.Lines)
	require.EqualValues(t, s.lines, s.status.Log.Records, "each line is a record")
	require.EqualValues(t, s.lines, s.status.Counts.Logs)
	require.Zero(t, s.status.Log.LostBytes)
	require.Equal(t, s.latest, s.held+s.lost, "what is not held is counted")
	counts := s.status.Counts
	require.Equal(t, counts.Received, counts.Logs+counts.Operations+counts.States+counts.Notices+counts.Host)
}

// TestStorm is a storm of a size that any machine bears.
func TestStorm(t *testing.T) {
	lines, during := 3_000, 100*time.Millisecond
	if testkit.IsFull() {
		lines, during = 30_000, time.Second
	}
	s := runStorm(t, lines, during, serveLog)
	s.requireAccounted(t)
	require.Positive(t, s.asked)
}

// TestStormBesideTalkingMod: nothing is lost, and no call fails.
func TestStormBesideTalkingMod(t *testing.T) {
	testkit.Full(t, "floods a log for a second")
	s := runStorm(t, 30_000, time.Second, wrapTalking)
	s.requireAccounted(t)
	require.Positive(t, s.called)
}
