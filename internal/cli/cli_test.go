package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestColor(t *testing.T) {
	for _, c := range []struct {
		mode, env string
		want      bool
	}{
		{ColorAuto, "", false}, // no terminal
		{ColorAlways, "", true},
		{ColorNever, "", false},
		{ColorAuto, "CLICOLOR_FORCE=1", true},
		{ColorAuto, "CLICOLOR_FORCE=0", false},
		{ColorAuto, "CLICOLOR_FORCE=1 NO_COLOR=1", false},
		{ColorAlways, "NO_COLOR=1", true},
		{ColorNever, "CLICOLOR_FORCE=1", false},
	} {
		env := map[string]string{}
		for v := range strings.FieldsSeq(c.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		got := Color(c.mode, func(n string) string { return env[n] }, &bytes.Buffer{})
		require.Equal(t, c.want, got, "%s %s", c.mode, c.env)
	}
}

func TestNoTerminal(t *testing.T) {
	var b bytes.Buffer
	require.False(t, IsTerminal(&b))
	columns, rows := Size(&b)
	require.Zero(t, columns+rows)
	s := NewScreen(&b, os.Getenv)
	require.Nil(t, s)
	require.Equal(t, &b, s.Over(&b))
	p := s.Progress("x", 10)
	r := strings.NewReader("text")
	require.Equal(t, r, p.Reader(r))
	p.End()
	require.Empty(t, b.String())
}

func TestNearest(t *testing.T) {
	names := []string{"ack", "color", "fail-on", "format", "top", "width"}
	for word, want := range map[string]string{
		"":        "",
		"colr":    "color",
		"COLOR":   "color",
		"tpo":     "top",
		"widht":   "width",
		"formt":   "format",
		"failon":  "fail-on",
		"form":    "format", // the only one that begins so
		"f":       "",       // two begin so
		"banana":  "",
		"toppppp": "",
	} {
		require.Equal(t, want, Nearest(word, names), word)
	}
	require.Equal(t, 0, distance("same", "same"))
	require.Equal(t, 1, distance("ab", "ba"))
	require.Equal(t, 3, distance("", "abc"))
	require.Equal(t, 3, distance("kitten", "sitting"))
}

func TestVersion(t *testing.T) {
	system := runtime.GOOS + "/" + runtime.GOARCH
	require.Equal(t, "(devel) ("+runtime.Version()+", "+system+")", Version(nil))
	info := &debug.BuildInfo{GoVersion: "go1.99"}
	info.Main.Version = "v1.2.3"
	require.Equal(t, "v1.2.3 (go1.99, "+system+")", Version(info))
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "false"}}
	require.Equal(t, "v1.2.3 (commit 0123456789ab, 2026-01-02, go1.99, "+system+")", Version(info))
	info.Settings[2].Value = "true"
	require.Equal(t, "v1.2.3 (commit 0123456789ab, with changes, 2026-01-02, go1.99, "+system+")", Version(info))
}

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a.log", "B.LOG", "c.log.gz", "d.jsonl.zst", "e.log.2", "f.log.x", "notes.txt", "output_log.txt", "Player (1).txt", ".log", "x[1].log", "deep/er/z.log", "deep/y.log", "empty/readme"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	require.NoError(t, os.Mkdir("dir.log", 0o700))
	for _, c := range []struct {
		name  string
		args  string
		want  string
		wrong string
	}{
		{"names", "b a - absent", "b a - absent", ""},
		{"a directory", ".", ".log B.LOG Player (1).txt a.log c.log.gz d.jsonl.zst e.log.2 output_log.txt x[1].log", ""},
		{"a directory, not below", "deep", "deep/y.log", ""},
		{"any depth", "**/*.log", ".log a.log deep/er/z.log deep/y.log x[1].log", ""},
		{"any depth below", "deep/**", "deep/er/z.log deep/y.log", ""},
		{"a class", "[ae].log*", "a.log e.log.2", ""},
		{"one of", "{a,f}.log*", "a.log f.log.x", ""},
		{"a name that reads as a pattern", "x[1].log", "x[1].log", ""},
		{"once", "a.log ./a.log deep/y.log deep", "a.log ./a.log deep/y.log", ""},
		{"nothing in it", "empty a.log", "a.log", "empty: no log found in this directory"},
		{"nothing matches", "*.nope a.log", "a.log", "*.nope: no log found"},
		{"no pattern", "a[.log", "", "a[.log: no such file, and not a pattern"},
		{"directories do not match", "dir*", "", "no log found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, taken, wrong := Inputs(strings.Fields(c.args))
			want := strings.ReplaceAll(c.want, "Player (1).txt", "Player_(1).txt")
			for i := range files {
				files[i] = strings.ReplaceAll(filepath.ToSlash(files[i]), "Player (1).txt", "Player_(1).txt")
			}
			require.Equal(t, strings.Fields(want), append([]string{}, files...))
			if c.wrong == "" {
				require.Empty(t, wrong)
			} else {
				require.ErrorContains(t, errors.Join(wrong...), c.wrong)
			}
			for _, tk := range taken {
				require.NotEmpty(t, tk.Files)
			}
		})
	}
}

func TestFlagError(t *testing.T) {
	root := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}, SilenceErrors: true, SilenceUsage: true}
	root.Flags().Int("top", 1, "show the `N` best")
	root.Flags().Bool("all", false, "all")
	root.Flags().StringSlice("of", nil, "of these")
	sub := &cobra.Command{Use: "sub", Run: func(*cobra.Command, []string) {}}
	sub.Flags().Int("deep", 1, "deep")
	root.AddCommand(sub)
	root.SetFlagErrorFunc(FlagError)
	for args, want := range map[string]string{
		"--top x":                    `--top "x": give it a whole number`,
		"--top 99999999999999999999": `--top "99999999999999999999": give it a smaller number`,
		"--all=perhaps":              `--all "perhaps": give it true or false, or nothing`,
		`--of "`:                     `--of "\"": give it words with commas between them`,
		"--top":                      "--top needs a value: show the N best",
		"--tpo 3":                    "unknown flag: --tpo; did you mean --top?",
		"--deep 3":                   `unknown flag: --deep; it is one of "x sub"`,
		"--nothing-like-it":          "unknown flag: --nothing-like-it",
		"-z":                         "unknown flag: -z",
		"sub --top 3":                `unknown flag: --top; it is one of "x"`,
	} {
		root.SetArgs(strings.Fields(args))
		require.EqualError(t, root.Execute(), want, args)
	}
	require.Len(t, Commands(root)[:2], 2)
}
