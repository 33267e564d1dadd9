//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// background runs a command of heed's in this process until the test ends.
func background(t *testing.T, args ...string) (stdout, stderr *testkit.Buffer) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, stderr = &testkit.Buffer{}, &testkit.Buffer{}
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, strings.NewReader(""), stdout, stderr) }()
	t.Cleanup(func() {
		cancel()
		select {
		case code := <-done:
			require.Zero(t, code, stderr.String())
		case <-time.After(patience):
			require.Fail(t, "it does not end")
		}
	})
	return stdout, stderr
}

func write(t *testing.T, path, text string) {
	t.Helper()
	f := testkit.Must(os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))
	testkit.Must(f.WriteString(text))
	require.NoError(t, f.Close())
}

func TestServe(t *testing.T) {
	dir := t.TempDir()
	log, rules, state := filepath.Join(dir, "Player.log"), filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "state")
	write(t, rules, "version: 1\nrules: []\n")
	addr := reserve(t)
	metrics := reserve(t)
	token := filepath.Join(dir, "token")
	write(t, token, strings.Repeat("ab", 32)+"\n")
	_, errs := background(t, "serve", log, "--rules", rules, "--no-default-rules", "--state", state, "--addr", addr,
		"--token-file", token, "--metrics", metrics, "--record", filepath.Join(dir, "recorded.jsonl"))
	b := come(t, addr, strings.Repeat("ab", 32))
	require.Nil(t, b.current())

	// Rules change while it runs; bad ones do not count.
	write(t, rules, "rules: [\n")
	await(t, func() bool { return strings.Contains(errs.String(), "the rules have errors") })
	// In place of the file, as an editor does: one that is cut off and then written is refused in between.
	write(t, rules+".new", testRules)
	require.NoError(t, os.Rename(rules+".new", rules))
	await(t, func() bool { return strings.Contains(errs.String(), "new rules are in use") })
	write(t, log, "FAULT one\n")
	open := b.blocked()
	out := done(t, exitFinding, "current", "--state", state)
	require.Contains(t, out, "item "+open.AttentionID[strings.LastIndexByte(open.AttentionID, '-')+1:]+"\n")
	require.Contains(t, out, "BLOCKING")
	out = done(t, exitOK, "ack", open.AttentionID, "--state", state)
	require.Contains(t, out, "is acknowledged, by a person\n  covered   1 entry in 1 group: a planted fault\nnothing is open")
	require.Nil(t, b.current())
	require.NotContains(t, errs.String(), "abab")

	resp := testkit.Must(http.Get("http://" + metrics + "/metrics"))
	text := testkit.Must(io.ReadAll(resp.Body))
	require.NoError(t, resp.Body.Close())
	require.Contains(t, string(text), "heed_rules_swaps_total 1\n")
	require.Contains(t, string(text), "heed_rules_refused_total 1\n")
	require.Contains(t, string(text), "heed_bridge_sessions_total 3\n")
	require.Equal(t, 11, strings.Count(string(text), "# TYPE heed_bridge_"))
	require.Contains(t, string(text), "# TYPE heed_items_open gauge\nheed_items_open{blocking=\"false\",severity=\"info\"} 0\n")

	recorded := testkit.Must(os.ReadFile(filepath.Join(dir, "recorded.jsonl")))
	require.Contains(t, string(recorded), "FAULT one")
	run := testkit.Must(os.Stat(stateDir(state).runPath(os.Getpid())))
	require.Equal(t, os.FileMode(0o600), run.Mode().Perm(), "it holds the token")
}

// TestServeRotated: a log that its program renames, and goes on with in another file, is of the same run. What another
// process begins is of another run.
func TestServeRotated(t *testing.T) {
	t.Parallel()
	needs(t, "/proc/self/fdinfo", "the system does not say who has a file open")
	dir, log, rules, state := folder(t)
	recorded := filepath.Join(dir, "recorded.jsonl")
	step := func() func(line string) { // a program that does the next thing for each line of its input
		cmd := exec.Command("sh", "-c", `rotate() { mv "$0" "$0.1"; exec 3>>"$0"; }
			while read -r line; do case "$line" in rotate) rotate;; empty) : > "$0";; close) exec 3>&-;; *) echo "$line" >&3;; esac; done`, log)
		in := testkit.Must(cmd.StdinPipe())
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = in.Close()
			_ = cmd.Wait() // it ends by the end of its input
		})
		return func(line string) {
			testkit.Must(io.WriteString(in, line+"\n"))
		}
	}
	seen := func(text string) string {
		var data []byte
		require.Eventually(t, func() bool {
			data, _ = os.ReadFile(recorded)
			return strings.Contains(string(data), text)
		}, patience, time.Millisecond, text)
		return string(data)
	}
	write(t, log, "")
	first := step()
	first("rotate")
	first("all is well")
	background(t, "serve", log, "--rules", rules, "--no-default-rules", "--state", state, "--record", recorded)
	first("FAULT of the first")
	seen("FAULT of the first")
	for i, how := range []string{"rotate", "empty", "rotate"} {
		first(how)
		line := fmt.Sprintf("all is well after %s %d", how, i)
		first(line)
		require.NotContains(t, seen(line), "restarted")
	}
	out, _ := runCommand(t, "current", "--state", state)
	require.Contains(t, out, "planted fault")

	next := step()
	next("rotate")
	next("FAULT of the next")
	first("close") // until then its file is the log, under its new name
	require.Contains(t, seen("FAULT of the next"), `"restarted"`)
}

// What was open before an agent came stops it only where it still holds; an agent
// that comes again, or a person who looks on, changes nothing.
func TestArrival(t *testing.T) {
	dir := t.TempDir()
	log, rules, state := filepath.Join(dir, "Player.log"), filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "state")
	write(t, rules, testRules+`
  - id: test.trouble
    when: 'template contains "TROUBLE"'
    disposition: blocking
`)
	write(t, log, "TROUBLE with the audio device\nall is well\n")
	addr := reserve(t)
	token := filepath.Join(dir, "token")
	write(t, token, strings.Repeat("ab", 32)+"\n")
	background(t, "serve", log, "--rules", rules, "--no-default-rules", "--state", state, "--addr", addr, "--token-file", token)
	require.Eventually(t, func() bool {
		_, code := runCommand(t, "current", "--state", state)
		return code == exitFinding
	}, patience, time.Millisecond, "a person sees it as it is")

	b, _ := dial(t, addr, strings.Repeat("ab", 32))
	open := b.current()
	require.NotNil(t, open)
	require.False(t, open.Blocking, "from before the agent came")

	write(t, log, "TROUBLE with the network\n")
	open = b.blocked()
	again, _ := dial(t, addr, strings.Repeat("ab", 32))
	require.True(t, again.current().Blocking, "who comes again has missed nothing")
	ok, _ := again.ack(open.AttentionID)
	require.True(t, ok)
}

// pipes are the ends of a child's standard input and output.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
}

func (p pipes) Close() error { return errors.Join(p.WriteCloser.Close(), p.ReadCloser.Close()) }

// TestServeStdio: a program that starts heed as its child is its bridge, and heed ends with it, whichever way it leaves.
func TestServeStdio(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	write(t, rules, testRules)
	for name, c := range map[string]struct {
		leave  func(c *gabp.Client, in io.Closer, heed *os.Process) error
		status int
	}{
		"end of input": {leave: func(_ *gabp.Client, in io.Closer, _ *os.Process) error { return in.Close() }},
		"goodbye":      {leave: func(c *gabp.Client, _ io.Closer, _ *os.Process) error { return c.Close() }},
		"signal": {leave: func(_ *gabp.Client, _ io.Closer, heed *os.Process) error {
			return heed.Signal(syscall.SIGTERM)
		}},
		"no frame": {
			leave: func(_ *gabp.Client, in io.Closer, _ *os.Process) error {
				_, err := io.WriteString(in.(io.Writer), "no frame\n\n")
				return err
			},
			status: exitUsage,
		},
	} {
		t.Run(name, func(t *testing.T) {
			log, state, token := filepath.Join(t.TempDir(), "Player.log"), t.TempDir(), gabp.NewToken()
			heed := heedProcess("serve", "--stdio", "--rules", rules, "--state", state, log)
			heed.Env = append(heed.Env, gabp.EnvToken+"="+token)
			var errs strings.Builder
			heed.Stderr = &errs
			in := testkit.Must(heed.StdinPipe())
			out := testkit.Must(heed.StdoutPipe())
			require.NoError(t, heed.Start())
			t.Cleanup(func() { _ = heed.Process.Kill() })
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			client := testkit.Must(gabp.NewClient(ctx, pipes{out, in}, gabp.ClientConfig{
				Token: token, Name: "host", Limits: gabp.Limits{HelloTimeout: patience},
			}))
			testkit.Must(client.CallTool(ctx, bridge.ToolStatus, nil))
			write(t, log, "FAULT one\n")
			var current gabp.CurrentResult
			for current.Attention == nil {
				require.NoError(t, client.Call(ctx, gabp.MethodAttentionCurrent, nil, &current))
			}
			require.True(t, current.Attention.Blocking)
			runCommand(t, "current", "--state", state)
			answer, code := runCommand(t, "ack", "--state", state) // a person at the same heed
			require.Equal(t, exitOK, code, answer)

			require.NoError(t, c.leave(client, in, heed.Process))
			_ = heed.Wait() // of the exit status
			require.Equal(t, c.status, heed.ProcessState.ExitCode(), errs.String())
			require.Equal(t, c.status != 0, strings.Contains(errs.String(), "standard input: "))
		})
	}
	done(t, exitUsage, "serve", "--stdio", filepath.Join(t.TempDir(), "Player.log"))
}
