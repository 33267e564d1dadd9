//go:build unix

package live

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
