package testkit

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/websocket"
)

// Tab is a page in a browser without a window.
type Tab struct {
	t    *testing.T
	ws   *websocket.Conn
	id   int
	wait time.Duration
}

// OpenTab opens an address in a browser of the Chromium family, on the screen of a phone. Wait bounds each wait of the
// tab.
func OpenTab(t *testing.T, browser, address string, wait time.Duration, flags ...string) *Tab {
	profile := Must(os.MkdirTemp("", "heed-browser"))
	t.Cleanup(func() { _ = os.RemoveAll(profile) }) // a process of the browser may still write there
	cmd := exec.CommandContext(t.Context(), browser, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--remote-debugging-port=0", "--remote-allow-origins=*", "--window-size=390,844", "--user-data-dir=" + profile,
	}, append(flags, address)...)...)
	errs := Must(cmd.StderrPipe())
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	port := ""
	for lines := bufio.NewScanner(errs); port == "" && lines.Scan(); {
		if _, after, ok := strings.Cut(lines.Text(), "DevTools listening on ws://"); ok {
			port, _, _ = strings.Cut(after, "/")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, errs) }()
	var targets []struct{ Type, URL, WebSocketDebuggerURL string }
	require.Eventually(t, func() bool {
		resp, err := http.Get("http://" + port + "/json/list")
		if err != nil {
			return false
		}
		defer resp.Body.Close() //nolint:errcheck // read to its end
		return json.NewDecoder(resp.Body).Decode(&targets) == nil && len(targets) > 0 && targets[0].URL == address
	}, wait, 10*time.Millisecond)
	ws := Must(websocket.Dial(targets[0].WebSocketDebuggerURL, "", "http://"+port))
	t.Cleanup(func() { _ = ws.Close() })
	return &Tab{t: t, ws: ws, wait: wait}
}

// Call calls a method of the DevTools protocol and returns its result, nil where it fails.
func (b *Tab) Call(method string, params map[string]any) json.RawMessage {
	b.id++
	err := websocket.JSON.Send(b.ws, map[string]any{"id": b.id, "method": method, "params": params})
	for err == nil {
		var m struct {
			ID     int
			Result json.RawMessage
		}
		if err = websocket.JSON.Receive(b.ws, &m); err == nil && m.ID == b.id {
			return m.Result
		}
	}
	b.t.Error(err)
	return nil
}

// Eval returns the value of an expression in the page, as JSON; "" where it fails, as while the page loads.
func (b *Tab) Eval(expression string) string {
	var r struct {
		Result struct{ Value json.RawMessage }
	}
	_ = json.Unmarshal(b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}), &r)
	return string(r.Result.Value)
}

// Eventually waits until an expression is true.
func (b *Tab) Eventually(expression string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return b.Eval(expression) == "true" }, b.wait, 20*time.Millisecond,
		"%s\n%s", expression, b.Eval("document.body.innerText"))
}
