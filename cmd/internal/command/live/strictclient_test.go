package live

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// strictClients are the packages of the released clients, by their names at npm: of MCP 2026-07-28, and of before.
var strictClients = []string{"@modelcontextprotocol/client@2", "@modelcontextprotocol/sdk@1"}

// TestStrictClient lets a released client of MCP be held, read the refusal, acknowledge and go on.
func TestStrictClient(t *testing.T) {
	t.Parallel()
	testkit.Full(t, "installs the released clients of MCP from npm")
	for _, name := range strictClients {
		t.Run(name, func(t *testing.T) { playStrict(t, name) })
	}
}

func playStrict(t *testing.T, strictClient string) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: no released client is tried")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed: no released client is tried")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx,
		npm, "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", strictClient)
	install.WaitDelay = time.Second
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("the package %s cannot be installed: %v: %s", strictClient, err, out)
	}
	script, log := filepath.Join(dir, "strict.mjs"), filepath.Join(dir, "Player.log")
	require.NoError(t, os.WriteFile(script, testkit.Must(os.ReadFile("testdata/mcp/strict.mjs")), 0o600))
	require.NoError(t, os.WriteFile(log, []byte("Initialize engine version: 2022.3.35f1\n"), 0o600))
	self := testkit.Must(os.Executable())
	client := exec.CommandContext(ctx, node, script, log,
		self, "mcp", "--log", log, "--log-file", filepath.Join(dir, "heed.log"), "--", node, script, "server")
	client.Env = append(os.Environ(), helperEnv+"=1", "XDG_STATE_HOME="+dir, "STRICT_CLIENT="+strictClient)
	var errs strings.Builder
	client.Stderr, client.WaitDelay = &errs, time.Second
	out, err := client.Output()
	require.NoError(t, err, "%s\n%s", out, &errs)

	type step struct {
		Step, Text string
		Failed     bool
	}
	steps := map[string]step{}
	for line := range strings.Lines(string(out)) {
		s := decoded[step](t, line)
		steps[s.Step] = s
	}
	require.Contains(t, steps["tools"].Text, "build ask heed_brief heed_ack heed_entries")
	require.Equal(t, "0", steps["templates"].Text)
	require.Contains(t, steps["read"].Text, "null")
	require.Equal(t, step{"first", "built", false}, steps["first"])
	require.True(t, steps["held"].Failed)
	require.Contains(t, steps["held"].Text, "Not executed: ")
	require.Contains(t, steps["held"].Text, "\n> at Crane.Thing.Tick")
	require.Contains(t, steps["acknowledged"].Text, `"acknowledged":true`)
	require.Equal(t, step{"again", "built", false}, steps["again"])
	if strings.Contains(strictClient, "/sdk@1") {
		return
	}
	require.Equal(t, "2026-07-28", steps["version"].Text)
	require.Contains(t, steps["listening"].Text, "gabp://mod/heed/")
	require.Equal(t, steps["listening"].Text, steps["updated"].Text)
	require.False(t, steps["asked"].Failed)
	require.Contains(t, steps["asked"].Text, "answered: accept")
	require.Contains(t, steps["asked"].Text, "\n> at Harbor.Thing.Tick")
	require.True(t, steps["held again"].Failed)
}
