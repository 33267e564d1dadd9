package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func none(string) string { return "" }

func TestDefaults(t *testing.T) {
	s := testkit.Must(Load(Sources{Getenv: none}))
	require.Empty(t, s.Files)
	require.Len(t, s.Values, len(Keys()))
	for _, v := range s.Values {
		require.Equal(t, Default, v.Origin)
		for _, item := range v.Items {
			_, wrong := v.Key.item(item, "", "")
			require.Empty(t, wrong, "the default of %s", v.Key.Name)
		}
		require.Equal(t, v.Key.Default, v.String())
	}
	require.True(t, slices.IsSorted(names(Keys())))
	require.Panics(t, func() { s.Value("nothing") })
}

// TestParse is the table of what a file may say, and of what is said about what it
// may not.
func TestParse(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ProjectFile)
	own := filepath.Join(dir, "mine.yaml")
	abs := filepath.Join(dir, "abs.yaml")
	for _, c := range []struct {
		name, text string
		key, want  string
		wrong      string // after the file's name
	}{
		{"nothing", "", "", "", ""},
		{"comments", "# top: 3\n\n", "", "", ""},
		{"a mark of byte order", "\ufefftop: 3\n", "top", "3", ""},
		{"an empty document", "---\n", "", "", ""},
		{"number", "top: 0\n", "top", "0", ""},
		{"number, quoted", "top: \"7\"\n", "top", "7", ""},
		{"bool", "quiet: True\n", "quiet", "true", ""},
		{"word", "color: never\n", "color", "never", ""},
		{"one of several", "fail-on: blind\n", "fail-on", "blind", ""},
		{"list", "fail-on:\n  - blind\n  - blocking\n", "fail-on", "blind,blocking", ""},
		{"empty list", "fail-on: []\n", "fail-on", "", ""},
		{"path", "rules: mine.yaml\n", "rules", own, ""},
		{"absolute path", "rules: ['" + abs + "']\n", "rules", abs, ""},

		{"duration", "mod-wait: 1m30s\n", "mod-wait", "1m30s", ""},
		{"text", "addr: unix:/run/heed\n", "addr", "unix:/run/heed", ""},
		{"texts", "allow: ['debug/**', look]\n", "allow", "debug/**,look", ""},
		{"one path", "state: abs.yaml\n", "state", abs, ""},

		{"duration without a unit", "grace: 5\n", "", "", `:1:8: grace is "5": use a duration from 0 on, such as 500ms`},
		{"negative duration", "grace: -5s\n", "", "", "use a duration from 0 on"},
		{"list for a path", "state: [a]\n", "", "", ":1:8: state needs a path"},
		{"empty text", "addr: ''\n", "", "", "addr is empty: leave it out"},
		{"token", "token: hunter2\n", "", "", `:1:1: there is no setting "token"; did you mean "token-file"?`},
		{"unknown", "tpo: 3\n", "", "", `:1:1: there is no setting "tpo"; did you mean "top"?`},
		{"underscore", "fail_on: blind\n", "", "", `did you mean "fail-on"?`},
		{"far off", "zzzzzz: 1\n", "", "", `"config show" lists all`},
		{"twice", "top: 1\ntop: 2\n", "", "", `:2:1: "top" is given twice, first in line 1: keep one of the two`},
		{"negative", "top: -1\n", "", "", `:1:6: top is "-1": use a whole number from 0 on`},
		{"fraction", "top: 1.5\n", "", "", `top is "1.5"`},
		{"no value", "top:\n", "", "", ":1:5: top needs a whole number"},
		{"map", "color: {a: b}\n", "", "", ":1:8: color needs one word"},
		{"list for a word", "color: [never]\n", "", "", "color needs one word"},
		{"list in a list", "fail-on:\n  - [blind]\n", "", "", ":2:5: fail-on needs a word or a list"},
		{"wrong word", "color: alway\n", "", "", `did you mean "always"?`},
		{"wrong word in a list", "fail-on: [blind, blnd]\n", "", "", `:1:18: fail-on is "blnd": use any number, each one of blocking, advisory, blind, new, never; did you mean "blind"?`},
		{"yes is no bool", "quiet: yes please\n", "", "", "use true or false"},
		{"empty path", "rules: ['']\n", "", "", "rules is empty: leave it out"},
		{"alias", "color: &a never\nack: *a\n", "", "", ":2:6: YAML alias *a"},
		{"no mapping", "- top\n", "", "", ":1:1: must be a mapping, not a list: write it as key: value"},
		{"only a word", "top\n", "", "", ":1:1: must be a mapping, not text: write it as key: value"},
		{"two documents", "top: 1\n---\ntop: 2\n", "", "", "a second YAML document"},
		{"a second document that is broken", "top: 1\n---\n[\n", "", "", ": YAML: "},
		{"broken", "top: 3\n width: 4\n", "", "", ":2:2: YAML: mapping values are not allowed"},
		{"tab", "\ttop: 3\n", "", "", ": YAML: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(c.text), 0o600))
			s, err := Load(Sources{File: file, Getenv: none})
			if c.wrong != "" {
				require.Nil(t, s)
				require.ErrorContains(t, err, c.wrong)
				require.True(t, strings.HasPrefix(err.Error(), file+":"), err)
				return
			}
			require.NoError(t, err)
			for _, v := range s.Values {
				if v.Key.Name == c.key {
					require.Equal(t, c.want, v.String())
					require.Equal(t, Named, v.Origin)
					require.True(t, strings.HasPrefix(v.Where, file+":"), v.Where)
				} else {
					require.Equal(t, Default, v.Origin, v.Key.Name)
				}
			}
		})
	}
}

func TestOrder(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "a", "b")
	user := filepath.Join(top, "user")
	require.NoError(t, os.MkdirAll(below, 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(user, "heed"), 0o700))
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	write(filepath.Join(user, "heed", "config.yaml"), "top: 1\nwidth: 100\nack: auto\n")
	write(filepath.Join(top, ProjectFile), "top: 2\nwidth: 200\n")
	env := map[string]string{
		"HEED_TOP": "3", "HEED_RULES": "x" + string(os.PathListSeparator) + "y",
		"HEED_FAIL_ON": "blind,blocking", "HEED_COLOR": "",
	}
	s := testkit.Must(Load(Sources{Dir: below, UserDir: user, Getenv: func(n string) string { return env[n] }}))
	for name, want := range map[string]struct {
		value  string
		origin Origin
	}{
		"top":     {"3", Environment},
		"width":   {"200", Project},
		"ack":     {"auto", User},
		"color":   {"auto", Default},
		"rules":   {"x,y", Environment},
		"fail-on": {"blind,blocking", Environment},
	} {
		v := s.Value(name)
		require.Equal(t, want.value, v.String(), name)
		require.Equal(t, want.origin, v.Origin, name)
	}
	require.Equal(t, "HEED_TOP", s.Value("top").Where)
	require.Equal(t, []settingsFile{
		{Path: filepath.Join(user, "heed", "config.yaml"), Origin: User, Found: true},
		{Path: filepath.Join(top, ProjectFile), Origin: Project, Found: true},
	}, s.Files)

	// The nearest project's file is the only one.
	write(filepath.Join(below, ProjectFile), "ack: never\n")
	s = testkit.Must(Load(Sources{Dir: below, Getenv: none}))
	require.Equal(t, "never", s.Value("ack").String())
	require.Equal(t, Default, s.Value("top").Origin)

	// A folder of that name is no file of settings.
	require.NoError(t, os.Remove(filepath.Join(below, ProjectFile)))
	require.NoError(t, os.Mkdir(filepath.Join(below, ProjectFile), 0o700))
	_, err := Load(Sources{Dir: below, Getenv: none})
	require.ErrorContains(t, err, "cannot be read")
}

// FuzzParse: whatever a file holds, it is values that may be, or errors that name
// their place.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"top: 3\n", "rules: [a, b]\n", "a: &x [*x]\n", "? [a]\n: b\n", "!!binary x: y",
		"top: !!int x", "fail-on: [blind, {}]", "<<: {top: 1}", "\xff: 1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		values, wrong := parse("f.yaml", []byte(text), Keys(), "home")
		for _, v := range values {
			for _, item := range v.Items {
				_, bad := v.Key.item(item, "", "home")
				require.Empty(t, bad)
			}
		}
		for _, e := range wrong {
			if !strings.HasPrefix(e.Place, "f.yaml") || e.Text == "" {
				t.Fatalf("%+v", e)
			}
		}
	})
}

// TestHome: a path may begin with ~/, in a file and in a variable that no shell has read.
func TestHome(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, ProjectFile)
	require.NoError(t, os.WriteFile(file, []byte("rules: [~/mine.yaml, ~other/x.yaml, sub/~/y.yaml]\naddr: ~/text\n"),
		0o600))
	env := map[string]string{"HEED_STATE": "~/state/heed", "HEED_TOKEN_FILE": "here/token"}
	src := Sources{File: file, Home: home, Getenv: func(n string) string { return env[n] }}
	s := testkit.Must(Load(src))
	require.Equal(t, []string{
		filepath.Join(home, "mine.yaml"), filepath.Join(dir, "~other", "x.yaml"),
		filepath.Join(dir, "sub", "~", "y.yaml"),
	}, s.Value("rules").Items)
	require.Equal(t, "~/text", s.Value("addr").String(), "no path")
	require.Equal(t, filepath.Join(home, "state", "heed"), s.Value("state").String())
	require.Equal(t, "here/token", s.Value("token-file").String(), "from the working directory")

	src.Home = ""
	_, err := Load(src)
	require.ErrorContains(t, err, file+`:1:9: rules is "~/mine.yaml", but the home folder is not known: write the full path`)
	require.ErrorContains(t, err, `HEED_STATE: state is "~/state/heed", but the home`)
}

// TestSize: a file of settings is bounded.
func TestSize(t *testing.T) {
	file := filepath.Join(t.TempDir(), ProjectFile)
	require.NoError(t, os.WriteFile(file, []byte("#"+strings.Repeat("x", maxFile)), 0o600))
	_, err := Load(Sources{Dir: filepath.Dir(file), Getenv: none})
	require.EqualError(t, err,
		file+": cannot be read: has more than 1048576 bytes, the limit for such a file: split it, or name the right one")
}

// TestManyMistakes bounds the errors about a file, and the text of each.
func TestManyMistakes(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{
		strings.Repeat("x", maxFile-10) + ": 1\n", "color: " + strings.Repeat("x", maxFile-10),
		"fail-on: [" + strings.Repeat("x,", maxFile/2-10) + "x]",
	} {
		write(t, filepath.Join(dir, ProjectFile), text)
		_, err := Load(Sources{Dir: dir, Getenv: none})
		require.Error(t, err)
		require.Less(t, len(err.Error()), 1000)
	}
	var many strings.Builder
	for i := range maxFile / 16 {
		fmt.Fprintf(&many, "x%d: 1\n", i)
	}
	write(t, filepath.Join(dir, ProjectFile), many.String())
	_, err := Load(Sources{Dir: dir, Getenv: none})
	require.Equal(t, maxWrong, strings.Count(err.Error(), "\n"))
	require.True(t, strings.HasSuffix(err.Error(), "more is wrong: correct these first"))
}
