package live

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestMCPOverHTTP: a game that serves MCP over HTTP, and an agent that comes over HTTP. A fault holds the agent's next
// call, which goes on after its acknowledgement. The session is recorded.
func TestMCPOverHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, recorded := filepath.Join(dir, "Player.log"), filepath.Join(dir, "played.jsonl")
	require.NoError(t, os.WriteFile(log, []byte("Initialize engine version: 2022.3.35f1\n"), 0o600))
	game := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{"content":[{"type":"text","text":"built"}]}`
		if m.Method == "initialize" {
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}))
	defer game.Close()
	self := testkit.Must(os.Executable())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	heed := exec.CommandContext(ctx, self, "mcp", "--url", game.URL, "--log", log, "--listen", "127.0.0.1:0",
		"--token-file", filepath.Join(dir, "token"), "--record", recorded)
	heed.Env = append(os.Environ(), helperEnv+"=1", "XDG_STATE_HOME="+dir)
	heed.Cancel, heed.WaitDelay = func() error { return heed.Process.Signal(os.Interrupt) }, 5*time.Second
	stderr := testkit.Must(heed.StderrPipe())
	require.NoError(t, heed.Start())
	served := testkit.Must(bufio.NewReader(stderr).ReadString('\n'))
	url := regexp.MustCompile(`http://\S+/mcp`).FindString(served)
	require.NotEmpty(t, url, served)
	token := testkit.Must(os.ReadFile(filepath.Join(dir, "token")))
	session, transcript := "", []string{}
	ask := func(line string) string {
		req := testkit.Must(http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(line)))
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
		req.Header.Set("Mcp-Session-Id", session)
		resp := testkit.Must(http.DefaultClient.Do(req))
		defer resp.Body.Close() //nolint:errcheck // it is read
		body := testkit.Must(io.ReadAll(resp.Body))
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		transcript = append(transcript, "client: "+line)
		for answer := range strings.Lines(string(body)) { // a log message may come before the answer or after it
			if strings.Contains(answer, `"id":`) {
				transcript = append(transcript, "heed:   "+strings.TrimSpace(strings.TrimPrefix(answer, "data: ")))
			}
		}
		return string(body)
	}
	call := func(tool, arguments string) string {
		return ask(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`)
	}
	require.Contains(t, ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`), "heed_ack")
	require.Contains(t, call("build", "{}"), `"text":"built"`)
	file := testkit.Must(os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0))
	testkit.Must(io.WriteString(file, "NullReferenceException: no object\n  at Harbor.Thing.Tick () [0x00012] in <2f>:0\n\n"))
	require.NoError(t, file.Close())
	require.Contains(t, call("build", "{}"), "Not executed: ")
	require.Contains(t, call("heed_ack", `{"id":"1"}`), `\"acknowledged\":true`)
	require.Contains(t, call("build", "{}"), `"text":"built"`)
	cancel()
	_, _ = io.Copy(io.Discard, stderr)
	_ = heed.Wait()
	require.Equal(t, 0, heed.ProcessState.ExitCode(), "it was asked to end")
	played := testkit.Must(os.ReadFile(recorded))
	require.Contains(t, string(played), "Harbor.Thing.Tick")
	said := strings.Join(append(transcript, "", string(played)), "\n")
	for form, mark := range map[string]string{
		`\d{8}T\d{6}\.[0-9a-f]{8}`: "EPOCH", `call-[0-9a-f]+-`: "call-N-", `\d\d:\d\d:\d\d`: "CLOCK", `"time":"[^"]*",`: "",
		`(?m)^\{"kind":"advance".*\n`:               "", // of a machine that takes its time
		`(?m)^\{"kind":"delivered","attention".*\n`: "", // to the host, when it drains updates
	} {
		said = regexp.MustCompile(form).ReplaceAllString(said, mark)
	}
	testkit.Golden(t, "testdata/mcp/http-game.txt", said)
}
