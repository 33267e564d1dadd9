//go:build unix

package live

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

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
