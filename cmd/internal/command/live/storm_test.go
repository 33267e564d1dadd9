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

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

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

// TestStorm has a heed process follow a log into which lines are written at a size that any machine bears, while one
// client asks, one reads slowly, and one asks for pages of the journal and reads nothing. Each line is received, and is
// either held or said to be lost.
func TestStorm(t *testing.T) {
	n, over := 1_500, 50*time.Millisecond
	if testkit.IsFull() {
		n, over = 30_000, time.Second
	}
	dir, path, _, state := folder(t)
	addr, token := reserve(t), gabp.NewToken()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte(token+"\n"), 0o600))
	log := testkit.Must(os.Create(path))
	defer log.Close() //nolint:errcheck // a test's
	spawn(t, dir, "serve", path, "--state", state, "--addr", addr, "--token-file", filepath.Join(dir, "token"))
	asker := come(t, addr, token)

	var wg sync.WaitGroup
	stop := make(chan struct{})
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
	every(5*time.Millisecond, func() bool {
		_ = silent.SetWriteDeadline(time.Now().Add(10 * time.Millisecond))
		put(silent, "e", "tools/call", `{"name":"heed/entries","arguments":{"limit":500,"chars":4000}}`)
		return true
	})
	asked := 0
	every(2*time.Millisecond, func() bool {
		asked++
		return asker.call("attention/current", `{}`).Error == nil
	})
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
	require.Positive(t, asked)

	tool := func(name, arguments string, into any) {
		a := asker.call("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
		require.Nil(t, a.Error)
		require.NoError(t, json.Unmarshal(a.Result, into))
	}
	var status bridge.Status
	tool("heed/status", `{}`, &status)
	require.EqualValues(t, n, status.Log.Lines)
	require.EqualValues(t, n, status.Log.Records, "each line is a record")
	require.Zero(t, status.Log.LostBytes)
	counts := status.Counts
	require.EqualValues(t, n, counts.Logs)
	require.Equal(t, counts.Received, counts.Logs+counts.Operations+counts.States+counts.Notices+counts.Host)
	var held, lost, latest uint64
	for next, more := status.Epoch+"/0", true; more; {
		var page bridge.Page
		tool("heed/entries", fmt.Sprintf(`{"after":%q,"limit":500,"chars":40}`, next), &page)
		held += uint64(len(page.Entries))
		lost += page.Lost
		next, more, latest = page.Next, page.More, page.Latest
	}
	require.Equal(t, latest, held+lost, "what is not held is counted")
}
