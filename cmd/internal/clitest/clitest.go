// Package clitest tests the common rules for command lines: help with correct examples, manual pages of the same text,
// settings that are flags, text that acts on no terminal. It also runs scripts.
//
// It is for tests. It writes only to the folder of pages and to folders of its own, and holds no state.
package clitest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/internal/testkit"
)

// Commands returns the commands that users are shown, the root first.
func Commands(root *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{root}
	if root.Name() == cli.CompletionName {
		return all // those of shells are cobra's
	}
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" {
			all = append(all, Commands(c)...)
		}
	}
	return all
}

// Help checks that each command has a description, an example that names it, a usage text for each flag, and a name for
// the value of a flag; and that examples use existing commands and flags.
func Help(t *testing.T, root *cobra.Command) {
	t.Helper()
	for _, cmd := range Commands(root) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			require.NotEmpty(t, cmd.Short)
			require.NotEmpty(t, cmd.Long, "what help says at length")
			require.Contains(t, cmd.Example, cmd.CommandPath(), "an example")
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				value, usage := pflag.UnquoteUsage(f)
				require.NotEmpty(t, usage, "--%s", f.Name)
				require.Equal(t, strings.ToUpper(value), value, "--%s: what it takes has no `NAME`", f.Name)
			})
			for line := range strings.Lines(cmd.Long) {
				require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 100, line)
			}
			for line := range strings.Lines(cmd.Example) {
				require.True(t, strings.HasPrefix(line, "  "), "an example is indented: %q", line)
				checkExample(t, root, strings.TrimSpace(line))
			}
		})
	}
}

// checkExample checks the commands and flags in the parts of a pipeline that call the program.
func checkExample(t *testing.T, root *cobra.Command, line string) {
	t.Helper()
	called := false
	for part := range strings.SplitSeq(line, " | ") {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") { // variables
			words = words[1:]
		}
		if len(words) == 0 || words[0] != root.Name() {
			continue
		}
		called = true
		cmd, _, err := root.Find(words[1:])
		require.NoError(t, err, line)
		for _, w := range words[1:] {
			if w == "--" || w == ">" {
				break
			}
			flag, isFlag := strings.CutPrefix(w, "--")
			flag, _, _ = strings.Cut(flag, "=")
			if isFlag {
				require.True(t, cmd.Flags().Lookup(flag) != nil || cmd.InheritedFlags().Lookup(flag) != nil, "%s: no flag --%s",
					line, flag)
			}
		}
	}
	require.True(t, called, "the example does not call %s: %s", root.Name(), line)
}

// Settings checks that each setting of a program is a flag of some command, with the same default everywhere.
func Settings(t *testing.T, root *cobra.Command) {
	t.Helper()
	for _, key := range settings.Keys() {
		if !key.Of(root.Name()) {
			continue
		}
		found := false
		for _, cmd := range Commands(root) {
			flag := cmd.Flags().Lookup(key.Name)
			if flag == nil {
				flag = cmd.PersistentFlags().Lookup(key.Name)
			}
			if flag == nil {
				continue
			}
			found = found || cmd.CommandPath() != root.Name()+" config show"
			want := key.Default
			if want == "" && (key.Kind == settings.Words || key.Kind == settings.Texts || key.Kind == settings.Paths) {
				want = "[]"
			}
			require.Equal(t, want, flag.DefValue, "%s --%s", cmd.CommandPath(), key.Name)
		}
		require.True(t, found, "no command has --%s", key.Name)
	}
}

// Man makes the manual page of each command, in the folder MAN_FOLDER if that is set. Where the program other has all
// commands below root, too, root alone has a page, which refers to the pages of other.
func Man(t *testing.T, root *cobra.Command, other string) {
	t.Helper()
	dir := os.Getenv("MAN_FOLDER")
	root.DisableAutoGenTag = true
	date := time.Unix(0, 0).UTC() // a date would drift by itself
	escapedFlags := map[*pflag.Flag]bool{}
	commands := Commands(root)
	if other != "" {
		commands = commands[:1]
	}
	for _, cmd := range commands {
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		cmd.Long = markdown(cmd.Long)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !escapedFlags[f] { // a flag of the root is one of each command
				inPage(f)
				escapedFlags[f] = true
			}
		})
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		header := &doc.GenManHeader{
			Title: strings.ToUpper(strings.TrimSuffix(name, ".1")), Section: "1", Date: &date,
			Source: "heed", Manual: "heed",
		}
		var page bytes.Buffer
		require.NoError(t, doc.GenMan(cmd, header, &page))
		text := bytes.ReplaceAll(page.Bytes(), []byte(` "Jan 1970"`), []byte(` ""`))
		text = bytes.ReplaceAll(text, []byte("\\fP=\n"), []byte("\\fP\n")) // a flag that takes nothing
		if other != "" {
			text = bytes.ReplaceAll(text, []byte(`\fB`+root.Name()+"-"), []byte(`\fB`+other+"-"))
		}
		text = flagText.ReplaceAll(text, []byte(".TP\n$1\n"))
		require.Contains(t, string(text), "\n.SH EXAMPLE")
		if dir != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
	}
}

// generatedReference precedes the generated end of the reference.
const generatedReference = "<!-- generated from the commands -->\n"

// Reference holds the end of the page in a file to the help of each command. If [testkit.Updating], it writes the page.
func Reference(t *testing.T, root *cobra.Command, file string) {
	t.Helper()
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	byHand, _, found := strings.Cut(string(page), generatedReference)
	require.True(t, found)
	var b strings.Builder
	b.WriteString(byHand + generatedReference)
	for _, cmd := range Commands(root) {
		cmd.InitDefaultHelpFlag()
		fmt.Fprintf(&b, "\n### %s\n\n```text\n%s\n\nUsage: %s\n\n%s\n", cmd.CommandPath(), strings.TrimSpace(cmd.Long),
			cmd.UseLine(), cmd.Example)
		if flags := cmd.LocalFlags().FlagUsagesWrapped(116); flags != "" {
			fmt.Fprintf(&b, "\n%s", flags)
		}
		b.WriteString("```\n")
	}
	testkit.Golden(t, file, b.String())
}

// flagText matches the generator's text of a flag: a paragraph whose second line is the help of the flag.
var flagText = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*)\n\t`)

// inPage makes a page show the same as the help of a flag: the name of the value, and the default. The generator would
// write the default as the value, and "[=false]" of a switch.
func inPage(f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	usage = literal.Replace(usage)
	switch f.DefValue {
	case "", "0", "0s", "false", "[]": // as help, which shows none
	default:
		usage += " (default " + literal.Replace(f.DefValue) + ")"
	}
	if value != "" {
		value = "_" + value + "_" // in italics
	}
	f.Usage, f.DefValue, f.NoOptDefVal, f.Value = usage, value, "", unquoted{f.Value}
}

// unquoted is a value that the generator does not put in quotes.
type unquoted struct{ pflag.Value }

func (unquoted) Type() string { return "" }

// literal escapes the special characters of Markdown, the source of the pages.
var literal = strings.NewReplacer(`*`, `\*`, `_`, `\_`, `<`, `\<`, `[`, `\[`)

// markdown makes a help text one of Markdown: lines that are indented, such as a
// table, stay as they are.
func markdown(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") {
			b.WriteString("  " + line)
		} else {
			b.WriteString(literal.Replace(line))
		}
	}
	return b.String()
}
