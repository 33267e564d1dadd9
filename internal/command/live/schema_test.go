//go:build unix

package live

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/bridge"
	"github.com/heedlog/heed/internal/clitest"
	"github.com/heedlog/heed/report"
)

// TestJSONFollowsSchemas: what is printed as JSON is what the schemas say that others read
// it by.
func TestJSONFollowsSchemas(t *testing.T) {
	state := faulty(t)
	follows := func(schema, text string) {
		t.Helper()
		clitest.RequireValid(t, clitest.Schema(t, report.Schema(schema)), text)
	}
	open, code := runCommand(t, "current", "--format", "json", "--state", state)
	require.Equal(t, exitFinding, code)
	follows("heed-current", open)
	require.NoError(t, json.Unmarshal([]byte(open), new(gabp.CurrentResult)))
	answer, code := runCommand(t, "ack", "nothing", "--format", "json", "--state", state)
	require.Equal(t, exitFinding, code)
	follows("heed-ack", answer)
	require.NoError(t, json.Unmarshal([]byte(answer), new(gabp.AckResult)))
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

// TestSchemasOfTools: the schemas of what status and tail print are those of the tools
// that answer, opened and with a version. What diag leaves without words has some of its
// own there.
func TestSchemasOfTools(t *testing.T) {
	type object = map[string]any
	decode := func(text []byte) (doc object) {
		require.NoError(t, json.Unmarshal(text, &doc))
		return doc
	}
	var same func(path string, tool, printed object)
	same = func(path string, tool, printed object) {
		said, _ := tool["description"].(string)
		says, _ := printed["description"].(string)
		if said != "" {
			require.True(t, strings.EqualFold(strings.TrimSuffix(said, "."), strings.TrimSuffix(says, ".")), "%s: %q, %q", path, said, says)
		}
		for _, doc := range []object{tool, printed} {
			delete(doc, "description")
			delete(doc, "additionalProperties")
		}
		fields, _ := tool["properties"].(object)
		shown, _ := printed["properties"].(object)
		for name, field := range fields {
			require.Contains(t, shown, name, path)
			same(path+"."+name, field.(object), shown[name].(object))
		}
		if items, ok := tool["items"].(object); ok {
			same(path+"[]", items, printed["items"].(object))
		}
	}
	for _, tool := range bridge.Tools() {
		name, answer := "", decode(tool.OutputSchema)
		switch tool.Name {
		case bridge.ToolStatus:
			name = "heed-status"
		case bridge.ToolEntries:
			name, answer = "heed-tail", answer["properties"].(object)["entries"].(object)["items"].(object)
		default:
			continue
		}
		printed := decode(report.Schema(name))
		require.Contains(t, printed["properties"], "schemaVersion")
		delete(printed["properties"].(object), "schemaVersion")
		required := printed["required"].([]any)
		require.Equal(t, "schemaVersion", required[0])
		printed["required"] = required[1:]
		for _, own := range []string{"$schema", "title", "description"} {
			delete(printed, own)
		}
		delete(answer, "description")
		same(name, answer, printed)
		require.Equal(t, answer, printed)
	}
}

// TestVersioned: whatever a server answers, what is printed is JSON.
func TestVersioned(t *testing.T) {
	for answer, want := range map[string]string{
		`{"a":1}`:       `{"schemaVersion":2,"a":1}`,
		"{ }":           `{"schemaVersion":2 }`,
		" {\n\"a\":{}}": "{\"schemaVersion\":2,\n\"a\":{}}",
		"null":          "null",
		`["a"]`:         `["a"]`,
	} {
		require.Equal(t, want, string(versioned([]byte(answer))))
	}
}
