//go:build unix

package live

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// printed is the schema of a form of output, as "heed schema" prints it.
func printed(t *testing.T, name string) []byte {
	t.Helper()
	text := done(t, exitOK, "schema", name)
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
	open := done(t, exitFinding, "current", "--format", "json", "--state", state)
	follows("heed-current", open)
	require.NoError(t, json.Unmarshal([]byte(open), new(gabp.CurrentResult)))
	answer := done(t, exitFinding, "ack", "nothing", "--format", "json", "--state", state)
	follows("heed-ack", answer)
	require.NoError(t, json.Unmarshal([]byte(answer), new(gabp.AckResult)))
	answer = done(t, exitOK, "ack", "--format", "json", "--state", state)
	follows("heed-ack", answer)
	acked := decoded[bridge.Acknowledgement](t, answer)
	require.Len(t, acked.Covered, 1)
	brief := done(t, exitOK, "brief", "--format", "json", "--state", state)
	follows("brief", brief)
	status := done(t, exitOK, "status", "--format", "json", "--state", state)
	follows("heed-status", status)
	tail := done(t, exitOK, "tail", "--format", "jsonl", "--last", "0", "--state", state)
	require.NotEmpty(t, tail)
	for line := range strings.Lines(tail) {
		follows("heed-tail", line)
	}

	config := done(t, exitOK, "config", "show", "--format", "json", "--grace", "2s")
	follows("config", config)

	dir := t.TempDir()
	log, rules := filepath.Join(dir, "Player.log"), filepath.Join(dir, "rules.yaml")
	write(t, rules, testRules)
	write(t, log, "FAULT\n")
	out, _ := background(t, "follow", log, "--rules", rules, "--no-default-rules", "--format", "jsonl", "--state", dir)
	await(t, func() bool { return strings.HasSuffix(out.String(), "\n") })
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
