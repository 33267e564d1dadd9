//go:build unix

package live

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestHistoryForms: what is printed follows the schemas, which describe every field and stand in docs/reference.md.
func TestHistoryForms(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.db")
	require.NoError(t, fillHistory(file, ""))
	page := testkit.Must(os.ReadFile("../../../../docs/reference.md"))
	for name, args := range map[string]string{
		"heed-history": "", "heed-history-show": "show 10", "heed-history-group": "group 6a9e85b89ab77698",
		"heed-history-mods": "mods", "heed-history-forget": "forget 13",
	} {
		text := printed(t, name)
		testkit.Shows(t, "docs/reference.md", string(page), "\n| `"+name+"` | `heed history ")
		words := append([]string{"history"}, strings.Fields(args)...)
		out, code := runCommand(t, append(words, "--format", "json", "--history", file)...)
		require.Equal(t, exitOK, code)
		testkit.RequireValid(t, testkit.Schema(t, text), out)
		var schema any
		require.NoError(t, json.Unmarshal(text, &schema))
		requireDescribed(t, name, schema)
	}
	testkit.Shows(t, "docs/reference.md", string(page), "\n| `heed-session` | `heed history export` ")
	lines, code := runCommand(t, "history", "export", "--history", file)
	require.Equal(t, exitOK, code)
	for line := range strings.Lines(lines) {
		testkit.RequireValid(t, testkit.Schema(t, printed(t, "heed-session")), line)
	}
	none := filepath.Join(t.TempDir(), "history.db")
	for name, args := range map[string]string{"heed-history": "", "heed-history-mods": "mods"} {
		words := append([]string{"history"}, strings.Fields(args)...)
		out, code := runCommand(t, append(words, "--format", "json", "--history", none)...)
		require.Equal(t, exitOK, code)
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
			require.NotEmpty(t, f.(map[string]any)["description"], "%s: %s", name, field)
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
		out, code := runCommand(t, append(strings.Fields(m[1]), "--history", file)...)
		require.Equal(t, exitOK, code)
		return "<!-- shown: heed " + m[1] + " -->\n```text\n" + out + "```"
	})
	testkit.Golden(t, path, fresh)
}
