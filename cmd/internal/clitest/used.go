package clitest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heedlog/heed/internal/testkit"
)

// Used holds the scripts in testdata/script to the program: each command is run by
// one, with each of its flags, and each flag that all commands have is given to some. The
// commands of the group elsewhere, "" for none, have their scripts with another program.
func Used(t *testing.T, root *cobra.Command, elsewhere string) {
	t.Helper()
	files := testkit.Must(filepath.Glob("testdata/script/*.txtar"))
	used := map[*cobra.Command]map[*pflag.Flag]bool{root: {}}
	for _, name := range files {
		text := testkit.Must(os.ReadFile(name))
		script, _, _ := strings.Cut(string(text), "\n-- ")
		for _, words := range calls(script, root.Name()) {
			cmd, rest, err := root.Find(words)
			if err != nil {
				continue // it is refused, as the script may well expect
			}
			if used[cmd] == nil {
				used[cmd] = map[*pflag.Flag]bool{}
			}
			cmd.InheritedFlags() // which adds the flags of all commands
			_ = cmd.Flags().ParseAll(rest, func(flag *pflag.Flag, _ string) error {
				used[cmd][flag], used[root][flag] = true, true
				return nil
			}) // it may be wrong usage, as the script expects
		}
	}
	commands := slices.DeleteFunc(Commands(root), func(cmd *cobra.Command) bool {
		for cmd.HasParent() && cmd.Parent() != root {
			cmd = cmd.Parent()
		}
		return elsewhere != "" && cmd.GroupID == elsewhere
	})
	for _, cmd := range commands {
		if cmd.Runnable() && used[cmd] == nil {
			t.Errorf("no script runs %s", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !used[cmd][f] {
				t.Errorf("no script gives %s the flag --%s", cmd.CommandPath(), f.Name)
			}
		})
	}
}

// calls returns the words after the program's name wherever a script calls it, in a
// shell too.
func calls(script, program string) (all [][]string) {
	parts := strings.FieldsFunc(script, func(r rune) bool { return strings.ContainsRune("\n;|&()", r) })
	for _, part := range parts {
		words := strings.Fields(strings.NewReplacer("'", " ", `"`, " ").Replace(part))
		if i := slices.Index(words, program); i >= 0 && !strings.HasPrefix(words[0], "#") {
			all = append(all, words[i+1:])
		}
	}
	return all
}
