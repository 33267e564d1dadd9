package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// TestCompleting is the table of what a shell is told that completes a command line. The number is cobra's
// directive: 0 for files, 4 for none, 8 for those with an ending, 16 for folders.
func TestCompleting(t *testing.T) {
	run := func(*cobra.Command, []string) {}
	for args, want := range map[string]string{
		"-":         "a\tthe first|help\tHelp about any command|list|of|:0",
		"Pl":        ":0",
		"a -":       ":0",
		"list -":    ":4",
		"list x -":  ":4",
		"of -":      "one|two|:4",
		"of one -":  ":4",
		"--rules -": "yaml|yml|:8",
		"--out -":   ":0",
		"--dir -":   ":16",
		"--top -":   ":4",
		"a --top":   "--top\tshow the N best|:4",
		"--color -": "auto|always|never|:4",
	} {
		var out bytes.Buffer
		p := &Program{Name: "x", Getenv: os.Getenv, Stdin: &bytes.Buffer{}, Stdout: &out, Stderr: &bytes.Buffer{}}
		root := &cobra.Command{Use: "x FILE...", Run: run}
		root.AddCommand(&cobra.Command{Use: "a OLD NEW...", Short: "the first", Run: run}, &cobra.Command{Use: "list [ID]", Run: run},
			&cobra.Command{Use: "of", Run: run, ValidArgs: []string{"one", "two"}})
		flags := root.PersistentFlags()
		flags.String("rules", "", "rules from `FILE`")
		flags.String("out", "", "write to `FILE`")
		flags.String("dir", "", "look in `DIR`")
		flags.Int("top", 1, "show the `N` best")
		root.CompletionOptions.DisableDefaultCmd = true
		p.Flags(root, "more")
		Completes(root, "color", Colors()...)
		words := append([]string{cobra.ShellCompRequestCmd}, strings.Fields(args)...)
		if words[len(words)-1] == "-" { // a word that has not begun
			words[len(words)-1] = ""
		}
		require.Equal(t, ExitOK, p.Run(t.Context(), root, words), args)
		require.Equal(t, want, strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "|"), args)
	}
}
