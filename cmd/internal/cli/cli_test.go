package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// TestTerminal: a terminal has colors unless it is dumb, and a size.
func TestTerminal(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer func() { _, _ = master.Close(), tty.Close() }()
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}))
	require.True(t, Color(ColorAuto, func(string) string { return "" }, tty))
	require.False(t, Color(ColorAuto, func(n string) string { return map[string]string{"TERM": "dumb"}[n] }, tty))
	columns, rows := Size(tty)
	require.Equal(t, []int{80, 24}, []int{columns, rows})
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{}))
	columns, rows = Size(tty)
	require.Zero(t, columns+rows)
	require.True(t, IsTerminal(tty))
	columns, rows = Size(&bytes.Buffer{})
	require.Zero(t, columns+rows)
	require.False(t, IsTerminal(&bytes.Buffer{}))
}

func TestFlagError(t *testing.T) {
	root := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}, SilenceErrors: true, SilenceUsage: true}
	root.Flags().Int("top", 1, "show the `N` best")
	root.Flags().Bool("all", false, "all")
	root.Flags().Float64("factor", 1, "times")
	root.Flags().Duration("wait", 1, "so long")
	root.Flags().StringSlice("of", nil, "of these")
	sub := &cobra.Command{Use: "sub", Run: func(*cobra.Command, []string) {}}
	sub.Flags().Int("deep", 1, "deep")
	root.AddCommand(sub)
	root.SetFlagErrorFunc(FlagError)
	t.Chdir(t.TempDir())
	for _, name := range []string{"-x.log", "--tpo.log", "-"} {
		require.NoError(t, os.WriteFile(name, nil, 0o600))
	}
	for args, want := range map[string]string{
		"--top x":                    `--top "x": give it a whole number`,
		"--top 99999999999999999999": `--top "99999999999999999999": give it a smaller number`,
		"--factor x":                 `--factor "x": give it a number, such as 2 or 0.5`,
		"--wait 5":                   `--wait "5": give it a duration, such as 500ms, 20s or 1m30s`,
		"--all=perhaps":              `--all "perhaps": give it true or false, or nothing`,
		`--of "`:                     `--of "\"": give it words with commas between them`,
		"--top":                      "--top needs a value: show the N best",
		"--tpo 3":                    "unknown flag: --tpo; did you mean --top?",
		"--deep 3":                   `unknown flag: --deep; it is a flag of "x sub"`,
		"--nothing-like-it":          "unknown flag: --nothing-like-it",
		"-z":                         "unknown flag: -z",
		"-x.log": "unknown flag: -x; a word that begins with a dash is a flag: write ./-x.log for the " +
			"file",
		"--tpo.log": "unknown flag: --tpo.log; a word that begins with a dash is a flag: write ./--tpo.log " +
			"for the file",
		"-xy.log":     "unknown flag: -x",
		"sub --top 3": `unknown flag: --top; it is a flag of "x"`,
	} {
		root.SetArgs(strings.Fields(args))
		require.EqualError(t, root.Execute(), want, args)
	}
	require.Equal(t, root, commands(root)[0])
	require.Contains(t, commands(root), sub)
}

func TestExclusive(t *testing.T) {
	p := &Program{Name: "x", Getenv: os.Getenv, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
	root := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	for _, name := range []string{"open", "shut", "left", "right"} {
		root.Flags().Bool(name, false, "")
	}
	Exclusive(root, "open", "shut")
	Exclusive(root, "left", "right")
	p.Flags(root, "more")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return p.Appearance(cmd) }
	for args, want := range map[string]string{
		"":                    "",
		"--open --left":       "",
		"--open --shut=false": "--open and --shut: choose one",
		"--right --left":      "--left and --right: choose one",
	} {
		root.Flags().VisitAll(func(f *pflag.Flag) { f.Changed = false })
		root.SetArgs(strings.Fields(args))
		if err := root.Execute(); want == "" {
			require.NoError(t, err, args)
		} else {
			require.EqualError(t, err, want, args)
		}
	}
}

// TestGroup: a command that only holds others says so, whatever it is called with.
func TestGroup(t *testing.T) {
	run := func(*cobra.Command, []string) {}
	p := &Program{Name: "x", Getenv: os.Getenv, Stdin: &bytes.Buffer{}}
	for args, want := range map[string]string{
		"":              "name a command: keep, show",
		"hlep":          `there is no command "hlep"; did you mean "help"?`,
		"kepe":          `there is no command "kepe"; did you mean "keep"?`,
		"banana":        `there is no command "banana": use keep, show`,
		"keep":          "name a command: check, write",
		"keep chek":     `keep has no command "chek"; did you mean "check"?`,
		"keep banana":   `keep has no command "banana": use check, write`,
		"help kepe":     `there is no command "kepe"; did you mean "keep"?`,
		"help keep rit": `keep has no command "rit": use check, write`,
		"help show it":  `show has no command "it"`,
	} {
		var out, said bytes.Buffer
		p.Stdout, p.Stderr, p.Status = &out, &said, ExitOK
		root := Group(&cobra.Command{Use: "x"},
			Group(&cobra.Command{Use: "keep"}, &cobra.Command{Use: "write", Run: run}, &cobra.Command{Use: "check", Run: run}),
			&cobra.Command{Use: "show", Run: run}, &cobra.Command{Use: "own", Run: run, Hidden: true})
		root.CompletionOptions.DisableDefaultCmd = true
		p.Flags(root, "more")
		require.Equal(t, ExitUsage, p.Run(t.Context(), root, strings.Fields(args)), args)
		first, next, _ := strings.Cut(said.String(), "\n")
		require.Equal(t, "x: "+want, first, args)
		require.Contains(t, next, "--help", args)
		require.Empty(t, out.String(), args)
	}
}

// TestHelpIsWrapped: no line about a flag is wider than what it is read on.
func TestHelpIsWrapped(t *testing.T) {
	var out bytes.Buffer
	p := &Program{Name: "x", Getenv: os.Getenv, Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &bytes.Buffer{}}
	root := &cobra.Command{Use: "x", Run: func(*cobra.Command, []string) {}}
	root.Flags().Bool("long", false, strings.Repeat("many words ", 40)+"end")
	p.Flags(root, strings.Repeat("more ", 40))
	require.Equal(t, ExitOK, p.Run(t.Context(), root, []string{"--help"}))
	require.Contains(t, out.String(), "end")
	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, len(line)-1, unwrapped, line)
	}
	require.Contains(t, root.UsageTemplate(), "FlagUsagesWrapped 100")
}

func TestFilled(t *testing.T) {
	const text = "one two three four five\nsix\n\n  a table   is left as it is\n\nshort\nlines"
	require.Equal(t, text, filled(text, 0))
	require.Equal(t, text, filled(text, 30))
	require.Equal(t, "one two\nthree four\nfive six\n\n  a table   is left as it is\n\nshort\nlines", filled(text, 10))
	require.Equal(t, "one\ntwo\nthree\nfour\nfive\nsix\n\n  a table   is left as it is\n\nshort\nlines", filled(text, 5))
}

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 B", 0.4: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 1536: "1.5 KiB", 1 << 20: "1.0 MiB", 1 << 30: "1.0 GiB",
		1 << 41: "2048.0 GiB",
	} {
		require.Equal(t, want, Bytes(n))
	}
}

// TestReaderGone: a pipe that nobody reads any more is told to nobody, on any system; any
// other error of an output is.
func TestReaderGone(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, err = w.WriteString("to nobody")
	require.NoError(t, w.Close())
	require.ErrorIs(t, CannotWrite(3, "the report", err), ErrReaderGone)

	var said bytes.Buffer
	p := &Program{Name: "p", Stderr: &said}
	p.Fail(CannotWrite(3, "the report", err))
	require.Equal(t, ExitOK, p.Status)
	require.Empty(t, said.String())
	p.Fail(CannotWrite(3, "the report", errors.New("no room")))
	p.Fail(CannotWrite(3, "", io.ErrShortWrite))
	require.Equal(t, 3, p.Status)
	require.Equal(t, "p: cannot write the report: no room\np: cannot write: short write\n", said.String())
}

// TestCompleting is the table of what a shell is told that completes a command line. The number is cobra's
// directive: 0 for files, 4 for none.
func TestCompleting(t *testing.T) {
	run := func(*cobra.Command, []string) {}
	for args, want := range map[string]string{
		"-":         "a\tthe first|help\tHelp about any command|list|of|:0",
		"Pl":        ":0",
		"a -":       ":0",
		"of -":      "one|two|:4",
		"--out -":   ":0",
		"--color -": "auto|always|never|:4",
	} {
		var out bytes.Buffer
		p := &Program{Name: "x", Getenv: os.Getenv, Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &bytes.Buffer{}}
		root := &cobra.Command{Use: "x FILE...", Run: run}
		root.AddCommand(&cobra.Command{Use: "a OLD NEW...", Short: "the first", Run: run},
			&cobra.Command{Use: "list [ID]", Run: run},
			&cobra.Command{Use: "of", Run: run, ValidArgs: []string{"one", "two"}})
		root.PersistentFlags().String("out", "", "write to `FILE`")
		root.CompletionOptions.DisableDefaultCmd = true
		p.Flags(root, "more")
		words := append([]string{cobra.ShellCompRequestCmd}, strings.Fields(args)...)
		if words[len(words)-1] == "-" { // a word that has not begun
			words[len(words)-1] = ""
		}
		require.Equal(t, ExitOK, p.Run(t.Context(), root, words), args)
		require.Equal(t, want, strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "|"), args)
	}
}
