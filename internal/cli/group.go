package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/text"
)

// Group makes cmd a command that does nothing but hold others: called without the name
// of one of them, or with a name that none has, it is wrong usage.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(commands...)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usage(cmd, "name a command: %s", strings.Join(shown(cmd), ", "))
		}
		return noCommand(cmd, args[0])
	}
	// What cannot be run prints its help instead, and ends as if all were well.
	cmd.RunE = func(*cobra.Command, []string) error { return errors.New("BUG: a group of commands was run") }
	return cmd
}

// shown returns the names of the commands below cmd that its users are shown, but for
// help, which is no command of theirs.
func shown(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return names
}

// noCommand says that word names no command below cmd, and which does.
func noCommand(cmd *cobra.Command, word string) error {
	what := fmt.Sprintf("there is no command %q", word)
	if cmd.HasParent() {
		what = fmt.Sprintf("%s has no command %q", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), word)
	}
	names := shown(cmd)
	switch near := Command(cmd, word); {
	case near != "":
		return Usage(cmd, "%s; did you mean %q?", what, near)
	case len(names) > 0:
		return Usage(cmd, "%s: use %s", what, strings.Join(names, ", "))
	}
	return Usage(cmd, "%s", what)
}

// Command returns the name of the command below cmd that was likely meant by a word that
// names none; "" for none.
func Command(cmd *cobra.Command, word string) string {
	names := shown(cmd)
	if !cmd.HasParent() {
		names = append(names, "help")
	}
	return text.Nearest(word, names)
}
