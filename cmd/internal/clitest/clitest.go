// Package clitest tests the common rules for command lines: help with correct examples, manual pages of the same text,
// settings that are flags, text that acts on no terminal. It also runs scripts.
//
// It is for tests. It writes only to the folder of pages and to folders of its own, and holds no state.
package clitest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/settings"
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
		cmd, rest, err := root.Find(words[1:])
		require.NoError(t, err, line)
		cmd.InheritedFlags() // which adds the flags of all commands
		require.NoError(t, cmd.Flags().ParseAll(rest, func(*pflag.Flag, string) error { return nil }), line)
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
			flag := cmd.Flag(key.Name)
			if flag == nil {
				continue
			}
			found = found || cmd.CommandPath() != root.Name()+" config show"
			require.Equal(t, key.Default, strings.Trim(flag.DefValue, "[]"), "%s --%s", cmd.CommandPath(), key.Name)
		}
		require.True(t, found, "no command has --%s", key.Name)
	}
}

// Man makes the manual page of each command from its help, in the folder MAN_FOLDER if that is set. Where the program
// other has all commands below root, too, root alone has a page, which refers to the pages of other.
func Man(t *testing.T, root *cobra.Command, other string) {
	t.Helper()
	commands := Commands(root)
	if other != "" {
		commands = commands[:1]
	}
	for _, cmd := range commands {
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		var page strings.Builder
		fmt.Fprintf(&page, ".TH %s 1 \"\" heed heed\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), name, literal(cmd.Short))
		section := func(title, text string) {
			page.WriteString(".SH " + title + "\n")
			for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
				if strings.HasPrefix(paragraph, " ") || strings.Contains(paragraph, "\n ") { // such as a table
					page.WriteString(".PP\n.nf\n" + literal(paragraph) + "\n.fi\n")
				} else {
					page.WriteString(".PP\n" + literal(paragraph) + "\n")
				}
			}
		}
		section("SYNOPSIS", cmd.UseLine())
		section("DESCRIPTION", cmd.Long)
		section("OPTIONS", cmd.LocalFlags().FlagUsagesWrapped(TerminalColumns-8))
		section("EXAMPLE", cmd.Example)
		var also []string
		for _, c := range Commands(cmd)[1:] {
			also = append(also, strings.ReplaceAll(c.CommandPath(), " ", "-")+"(1)")
		}
		if also != nil {
			section("SEE ALSO", strings.ReplaceAll(strings.Join(also, "\n"), name+"-", cmp.Or(other, name)+"-"))
		}
		if dir := os.Getenv("MAN_FOLDER"); dir != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name+".1"), []byte(page.String()), 0o600))
		}
	}
}

// TerminalColumns is the width of a usual terminal.
const TerminalColumns = 80

// literal returns a text of a manual page in which no character acts.
func literal(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	return `\&` + strings.ReplaceAll(text, "\n", "\n\\&")
}
