//go:build unix

package live

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// printed is the schema of a form of output, as "heed schema" prints it.
func printed(t *testing.T, name string) []byte {
	t.Helper()
	text, code := runCommand(t, "schema", name)
	require.Equal(t, exitOK, code)
	return []byte(text)
}

// TestJSONFollowsSchemas: what is printed as JSON is what the schemas say that others read
// it by.
func TestJSONFollowsSchemas(t *testing.T) {
	state := faulty(t)
	follows := func(schema, text string) {
		t.Helper()
		testkit.RequireValid(t, testkit.Schema(t, printed(t, schema)), text)
	}
	open, code := runCommand(t, "current", "--format", "json", "--state", state)
	require.Equal(t, exitFinding, code)
	follows("heed-current", open)
	require.NoError(t, json.Unmarshal([]byte(open), new(gabp.CurrentResult)))
	answer, code := runCommand(t, "ack", "nothing", "--format", "json", "--state", state)
	require.Equal(t, exitFinding, code)
	follows("heed-ack", answer)
	require.NoError(t, json.Unmarshal([]byte(answer), new(gabp.AckResult)))
	answer, code = runCommand(t, "ack", "--format", "json", "--state", state)
	require.Equal(t, exitOK, code)
	follows("heed-ack", answer)
	var acked bridge.Acknowledgement
	require.NoError(t, json.Unmarshal([]byte(answer), &acked))
	require.Len(t, acked.Covered, 1)
	brief, code := runCommand(t, "brief", "--format", "json", "--state", state)
	require.Equal(t, exitOK, code)
	follows("brief", brief)
	status, code := runCommand(t, "status", "--format", "json", "--state", state)
	require.Equal(t, exitOK, code)
	follows("heed-status", status)
	tail, code := runCommand(t, "tail", "--format", "jsonl", "--last", "0", "--state", state)
	require.Equal(t, exitOK, code)
	require.NotEmpty(t, tail)
	for line := range strings.Lines(tail) {
		follows("heed-tail", line)
	}

	config, code := runCommand(t, "config", "show", "--format", "json", "--grace", "2s")
	require.Equal(t, exitOK, code)
	follows("config", config)

	dir := t.TempDir()
	log, rules := filepath.Join(dir, "Player.log"), filepath.Join(dir, "rules.yaml")
	write(t, rules, testRules)
	write(t, log, "FAULT\n")
	out, _ := background(t, "follow", log, "--rules", rules, "--format", "jsonl", "--state", dir)
	require.Eventually(t, func() bool { return strings.HasSuffix(out.String(), "\n") }, patience, 5*time.Millisecond)
	for line := range strings.Lines(out.String()) {
		follows("replay-lines", line)
	}
}

// TestVersioned: whatever a server answers, what is printed is JSON.
func TestVersioned(t *testing.T) {
	for answer, want := range map[string]string{
		`{"a":1}`:       `{"schemaVersion":3,"a":1}`,
		"{ }":           `{"schemaVersion":3 }`,
		" {\n\"a\":{}}": "{\"schemaVersion\":3,\n\"a\":{}}",
		"null":          "null",
		`["a"]`:         `["a"]`,
	} {
		require.Equal(t, want, string(versioned([]byte(answer))))
	}
}
