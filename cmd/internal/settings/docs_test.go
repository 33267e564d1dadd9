package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestDocs holds the table of settings in docs/reference.md to the keys, and
// the file that it shows to what can be read.
func TestDocs(t *testing.T) {
	const path, head = "../../../docs/reference.md", "| key | program | in a project's file | value | default | what it " +
		"is |\n|---|---|---|---|---|---|\n"
	page := testkit.Must(os.ReadFile(path))
	byHand, rest, ok := strings.Cut(string(page), head)
	require.True(t, ok)
	_, rest, ok = strings.Cut(rest, "\n\n")
	require.True(t, ok)
	var want strings.Builder
	for _, key := range Keys() {
		program, value, byDefault, inProject := key.Program, wants[key.Kind], key.Default, "yes"
		if key.userOnly() {
			inProject = "no"
		}
		if program == "" {
			program = "both"
		}
		switch {
		case key.Kind == Path && len(key.Values) > 0:
			value += " or `" + strings.Join(key.Values, "`, `") + "`"
		case len(key.Values) > 0:
			value = "`" + strings.Join(key.Values, "`, `") + "`"
		}
		if key.Kind == Words {
			value = "any of " + value
		}
		switch {
		case byDefault != "":
			byDefault = "`" + byDefault + "`"
		default:
			byDefault = key.Unset
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s | %s | %s |\n", key.Name, program, inProject+": it "+string(key.Effect),
			value, byDefault, key.Help)
	}
	testkit.Golden(t, path, byHand+head+want.String()+"\n"+rest)

	_, example, ok := strings.Cut(byHand, "```yaml\n# "+ProjectFile+"\n")
	require.True(t, ok)
	example, _, _ = strings.Cut(example, "```")
	file := filepath.Join(t.TempDir(), ProjectFile)
	require.NoError(t, os.WriteFile(file, []byte(example), 0o600))
	s := testkit.Must(Load(Sources{Dir: filepath.Dir(file), Getenv: none}))
	require.Equal(t, Project, s.Value("mod-wait").Origin)
	require.Len(t, s.Files[0].Ignored, 2, "the others are used once the file is named, as the page shows")
}

func TestApply(t *testing.T) {
	env := map[string]string{"HEED_TOP": "3", "HEED_WIDTH": "30", "HEED_FAIL_ON": "blind,blocking", "HEED_QUIET": "true"}
	s := testkit.Must(Load(Sources{Getenv: func(n string) string { return env[n] }}))
	flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
	top, width := flags.Int("top", 10, ""), flags.Int("width", 0, "")
	failOn, rules := flags.StringSlice("fail-on", []string{"advisory"}, ""), flags.StringArray("rules", nil, "")
	flags.Int("other", 1, "")
	require.NoError(t, flags.Parse([]string{"--top", "5", "--rules", "a,b"}))
	require.NoError(t, s.Apply(flags))
	require.Equal(t, 5, *top)
	require.Equal(t, 30, *width)
	require.Equal(t, []string{"blind", "blocking"}, *failOn)
	require.Equal(t, []string{"a,b"}, *rules)
	require.False(t, flags.Changed("width"))
	require.Equal(t, Flag, s.Value("top").Origin)
	require.Equal(t, []string{"a,b"}, s.Value("rules").Items)
	require.Equal(t, Environment, s.Value("quiet").Origin, "there is no such flag here")

	wrong := pflag.NewFlagSet("x", pflag.ContinueOnError)
	wrong.Bool("top", false, "") // a flag of the same name that means something else
	require.ErrorContains(t, s2(t).Apply(wrong), "HEED_TOP: ")
}

func s2(t *testing.T) *Settings {
	t.Helper()
	s := testkit.Must(Load(Sources{Getenv: func(n string) string { return map[string]string{"HEED_TOP": "3"}[n] }}))
	return s
}
