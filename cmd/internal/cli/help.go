package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/internal/text/width"
)

// fitHelp makes the help of root and of all commands below it fit a terminal of so many
// columns; 0 for none.
func fitHelp(root *cobra.Command, columns int) {
	root.SetUsageTemplate(wrapped(root.UsageTemplate(), columns))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = filled(cmd.Long, columns)
		help(cmd, args)
	})
}

// Describe gives cmd and the commands below it their help, from the sections of a text. "== NAME" begins the section of
// the command with that path: its short help, its long one, and below "Example:" its examples. A section is a template
// of data if it has braces.
func Describe(cmd *cobra.Command, text string, data any) {
	sections := map[string]string{}
	for section := range strings.SplitSeq("\n"+text, "\n== ") {
		name, rest, _ := strings.Cut(section, "\n")
		sections[name] = rest
	}
	for _, c := range commands(cmd) {
		section, found := sections[c.CommandPath()]
		if !found {
			continue
		}
		if strings.Contains(section, "{{") {
			var b strings.Builder
			if err := template.Must(template.New("").Parse(section)).Execute(&b, data); err != nil {
				panic("BUG: " + err.Error())
			}
			section = b.String()
		}
		section, c.Example, _ = strings.Cut(strings.TrimRight(section, "\n"), "\n\nExample:\n")
		c.Short, c.Long, _ = strings.Cut(section, "\n\n")
	}
}

// unwrapped is how wide help is where its reader has no terminal.
const unwrapped = 100

// wrapped makes a template of usage wrap the help of flags at the columns of a
// terminal, 0 for none.
func wrapped(template string, columns int) string {
	if columns == 0 {
		columns = unwrapped
	}
	return strings.ReplaceAll(template, ".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", columns))
}

// filled wraps the paragraphs of a text that have a line too long for so many columns, 0 for any
// number. One with a line that is indented, such as a table, stays.
func filled(text string, columns int) string {
	if columns == 0 {
		return text
	}
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		tooLong := func(line string) bool { return len(line) > columns } // help is ASCII
		if !slices.ContainsFunc(strings.Split(p, "\n"), tooLong) || strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
			continue
		}
		paragraphs[i] = strings.TrimSuffix(string(width.Measure{}.AppendWrapped(nil, p, columns, 0)), "\n")
	}
	return strings.Join(paragraphs, "\n\n")
}

// Group makes cmd a command that holds others: a name that none of them has is wrong usage, and so is no name, unless
// cmd runs.
func Group(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(commands...)
	runs := cmd.Runnable()
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return noCommand(cmd, args[0])
		case runs:
			return nil
		}
		return Usage(cmd, "name a command: %s", strings.Join(shown(cmd), ", "))
	}
	if runs {
		return cmd
	}
	// Without it cobra prints the help, with exit status 0.
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

// MostNamed bounds the names that a message lists.
const MostNamed = 10

// noCommand is the error of a word that names no command below cmd; it names the likely one.
func noCommand(cmd *cobra.Command, word string) error {
	what := fmt.Sprintf("there is no command %q", word)
	if cmd.HasParent() {
		what = fmt.Sprintf("%s has no command %q", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), word)
	}
	names := shown(cmd)
	switch near := Command(cmd, word); {
	case near != "":
		return Usage(cmd, "%s; did you mean %q?", what, near)
	case len(names) == 0, len(names) > MostNamed: // help lists them
		return Usage(cmd, "%s", what)
	}
	return Usage(cmd, "%s: use %s", what, strings.Join(names, ", "))
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
