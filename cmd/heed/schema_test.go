//go:build unix

package main

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/report"
)

// TestJSONFollowsSchemas: what is printed as JSON is what the schemas say that others read
// it by.
func TestJSONFollowsSchemas(t *testing.T) {
	const base, updates = "https://github.com/heedlog/heed/gabp/schema/", "mem:updates"
	c := jsonschema.NewCompiler()
	add := func(id string, data []byte) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		require.NoError(t, err)
		require.NoError(t, c.AddResource(id, doc))
	}
	files, err := fs.Glob(gabp.Schemas(), "*.json")
	require.NoError(t, err)
	for _, name := range files {
		data, err := fs.ReadFile(gabp.Schemas(), name)
		require.NoError(t, err)
		add(base+name, data)
	}
	add(updates, report.Schema("replay-lines"))
	follows := func(schema, text string) {
		t.Helper()
		s, err := c.Compile(schema)
		require.NoError(t, err)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err, text)
		require.NoError(t, s.Validate(doc), text)
	}

	state := faulty(t)
	open, code := command(t, "current", "--format", "json", "--state", state)
	require.Equal(t, exitFinding, code)
	follows(base+"methods.json#/$defs/attention~1current.result", open)
	answer, code := command(t, "ack", "nothing", "--format", "json", "--state", state)
	require.Equal(t, exitFinding, code)
	follows(base+"methods.json#/$defs/attention~1ack.result", answer)

	dir := t.TempDir()
	log, rules := filepath.Join(dir, "Player.log"), filepath.Join(dir, "rules.yaml")
	write(t, rules, testRules)
	write(t, log, "FAULT\n")
	out, _ := background(t, "follow", log, "--rules", rules, "--format", "jsonl", "--state", dir)
	require.Eventually(t, func() bool { return strings.HasSuffix(out.String(), "\n") }, patience, 5*time.Millisecond)
	for line := range strings.Lines(out.String()) {
		follows(updates, line)
	}
}
