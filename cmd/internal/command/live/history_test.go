//go:build unix

package live

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/testkit"
)

// TestForms: docs/reference.md lists every form of JSON, and the schema of each, which the page refers to, describes every
// field. What two schemas define under one name is one thing.
func TestForms(t *testing.T) {
	page := testkit.Must(os.ReadFile("../../../../docs/reference.md"))
	cmd, _, err := testRoot().Find([]string{"schema"})
	require.NoError(t, err)
	seen := map[string]string{}
	for _, name := range cmd.ValidArgs {
		if name == "template" {
			continue
		}
		text := printed(t, name)
		testkit.Shows(t, "docs/reference.md", string(page), "\n| `"+name+"` | `heed ")
		var s struct {
			Title string
			Defs  map[string]json.RawMessage `json:"$defs"`
		}
		require.NoError(t, json.Unmarshal(text, &s))
		require.NotEmpty(t, s.Title, name)
		for def, raw := range s.Defs {
			if other, ok := seen[def]; ok && !strings.HasPrefix(name, "heed-history") && name != "heed-session" {
				require.JSONEq(t, other, string(raw), "%s of %s", def, name)
			}
			seen[def] = cmp.Or(seen[def], string(raw))
		}
		schema := decoded[any](t, text)
		requireDescribed(t, name, schema)
	}
	require.NotEmpty(t, seen)
}

// TestHistoryForms: what is printed follows the schemas.
func TestHistoryForms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.db")
	require.NoError(t, fillHistory(file, ""))
	for name, args := range map[string]string{
		"heed-history": "", "heed-history-show": "show 10", "heed-history-group": "group 6a9e85b89ab77698",
		"heed-history-mods": "mods", "heed-history-forget": "forget 13",
	} {
		text := printed(t, name)
		words := append([]string{"history"}, strings.Fields(args)...)
		out := done(t, exitOK, append(words, "--format", "json", "--history", file)...)
		testkit.RequireValid(t, testkit.Schema(t, text), out)
	}
	lines := done(t, exitOK, "history", "export", "--history", file)
	for line := range strings.Lines(lines) {
		testkit.RequireValid(t, testkit.Schema(t, printed(t, "heed-session")), line)
	}
	none := filepath.Join(t.TempDir(), "history.db")
	for name, args := range map[string]string{"heed-history": "", "heed-history-mods": "mods"} {
		words := append([]string{"history"}, strings.Fields(args)...)
		out := done(t, exitOK, append(words, "--format", "json", "--history", none)...)
		testkit.RequireValid(t, testkit.Schema(t, printed(t, name)), out)
	}
}

func requireDescribed(t *testing.T, name string, node any) {
	t.Helper()
	object, ok := node.(map[string]any)
	if !ok {
		return
	}
	if fields, ok := object["properties"].(map[string]any); ok {
		for field, f := range fields {
			described := f.(map[string]any)
			require.True(t, described["description"] != nil || described["$ref"] != nil, "describe %s.%s", name, field)
		}
	}
	for key, child := range object {
		requireDescribed(t, name+"."+key, child)
	}
}

// TestHistoryDocs holds docs/history.md to what the commands print. Run it with -update to write the page again.
func TestHistoryDocs(t *testing.T) {
	const path = "../../../../docs/history.md"
	file := filepath.Join(t.TempDir(), "history.db")
	require.NoError(t, fillHistory(file, ""))
	page := testkit.Must(os.ReadFile(path))
	fresh := shownMarker.ReplaceAllStringFunc(string(page), func(block string) string {
		m := shownMarker.FindStringSubmatch(block)
		out := done(t, exitOK, append(strings.Fields(m[1]), "--history", file)...)
		return "<!-- shown: heed " + m[1] + " -->\n```text\n" + out + "```"
	})
	testkit.Golden(t, path, fresh)
}

// shownMarker says, above a fenced block, what prints it.
var shownMarker = regexp.MustCompile("(?m)^<!-- shown: heed (.+) -->\n```text\n((?:[^`].*\n)*)```$")

// steady replaces what differs from run to run.
var steady = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\d{8}T\d{6}\.[0-9a-f]{8}-`), "20260102T140317.3a7c90d1-"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "14:03:22"},
	{regexp.MustCompile(`\d+s ago`), "8s ago"},
	{regexp.MustCompile(`process \d+, up \d+s`), "process 4242, up 13s"},
}

// TestDocs holds what docs/watching.md says that this program prints to what it prints,
// about a capture that is written while it is followed. Run it with -update to write the
// page again.
func TestDocs(t *testing.T) {
	const pagePath = "../../../../docs/watching.md"
	capture := testkit.Must(os.ReadFile("../../../../testdata/captures/burst-1.4.log"))
	pageFile := testkit.Must(filepath.Abs(pagePath))
	page := testkit.Must(os.ReadFile(pageFile))

	t.Chdir(t.TempDir())
	state := t.TempDir()
	const before = 3000 // bytes that were there already
	write(t, "Player.log", string(capture[:before]))
	background(t, "serve", "--state", state, "--quiet", "Player.log")
	run := func(args string) (string, int) {
		return runCommand(t, append(strings.Fields(args), "--quiet", "--state", state)...)
	}
	await(t, func() bool { _, code := run("status"); return code == exitOK })
	write(t, "Player.log", string(capture[before:]))
	await(t, func() bool {
		out, _ := run("status")
		return strings.Contains(out, "; 1,216 lines, 98.2 KiB read") && strings.Contains(out, " 275 × ")
	})

	lines := strings.SplitAfter(string(capture), "\n")
	write(t, "menu.log", strings.Join(lines[:53],
		"")) // with one fault, so that what is told of it does not depend on when

	shown := 0
	fresh := shownMarker.ReplaceAllStringFunc(string(page), func(block string) string {
		shown++
		m := shownMarker.FindStringSubmatch(block)
		out := ""
		if strings.HasPrefix(m[1], "follow ") { // it goes on
			stdout, _ := background(t, append(strings.Fields(m[1]), "--quiet")...)
			await(t, func() bool { return strings.Contains(stdout.String(), "opened") })
			out = stdout.String()
		} else {
			out, _ = run(m[1])
		}
		for _, s := range steady {
			out = s.from.ReplaceAllString(out, s.to)
		}
		return "<!-- shown: heed " + m[1] + " -->\n```text\n" + out + "```"
	})
	require.Equal(t, strings.Count(string(page), "<!-- shown:"), shown, "a marker has its block in the next line")
	testkit.Golden(t, pageFile, fresh)
}

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
