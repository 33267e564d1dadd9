package cli

import (
	"cmp"
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
	flags := fmt.Sprintf(".FlagUsagesWrapped %d ", cmp.Or(columns, unwrapped))
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", flags))
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = filled(cmd.Long, columns)
		help(cmd, args)
	})
}

// Describe gives cmd and the commands below it their help, from the sections of a text. "== NAME" begins the section of
// the command with that path: its short help, its long one, and below "Example:" its examples. A section is a template
// of data if it has braces.
func Describe(cmd *cobra.Command, help string, data any) {
	sections := map[string]string{}
	for section := range strings.SplitSeq("\n"+help, "\n== ") {
		name, rest, _ := strings.Cut(section, "\n")
		sections[name] = rest
	}
	for _, c := range commands(cmd) {
		section, found := sections[c.CommandPath()]
		if !found {
			continue
		}
		if strings.Contains(section, "{{") {
			section = string(text.Rendered(template.Must(template.New("").Parse(section)), data))
		}
		section, c.Example, _ = strings.Cut(strings.TrimRight(section, "\n"), "\n\nExample:\n")
		c.Short, c.Long, _ = strings.Cut(section, "\n\n")
	}
}

// unwrapped is how wide help is where its reader has no terminal.
const unwrapped = 100

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

// Completes names the values of a flag, for the completion of shells. A flag that takes several values with commas
// between them is not offered a value twice.
func Completes(cmd *cobra.Command, flag string, values ...string) {
	complete := cobra.FixedCompletions(slices.Clone(values), cobra.ShellCompDirectiveNoFileComp)
	if f := cmd.Flag(flag); f != nil && f.Value.Type() == "stringSlice" {
		complete = func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return listed(begun, values), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic("BUG: " + err.Error())
	}
}

// listed completes a list that has begun: the text up to its last comma, and after that each missing value.
func listed(begun string, values []string) []cobra.Completion {
	before := begun[:strings.LastIndexByte(begun, ',')+1]
	given := strings.Split(before, ",")
	var all []cobra.Completion
	for _, v := range values {
		if !slices.Contains(given, v) {
			all = append(all, before+v)
		}
	}
	return all
}

// VersionCommand makes the command that prints the version, as --version does.
func (p *Program) VersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "version prints the version, and the Go release and system of the build.",
		Example: "  " + p.Name + " version",
		Args:    NoArgs("version"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.Print("the version", fmt.Appendln(nil, p.Name, cmd.Root().Version))
		},
	}
}

// completionCommand adds cobra's command that prints the completion script of a shell.
func (p *Program) completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == CompletionName {
			cmd.Example = fmt.Sprintf("  %[1]s completion bash > ~/.local/share/bash-completion/completions/%[1]s", p.Name)
			Group(cmd)
		}
	}
}

// CompletionName is the name of cobra's command for the completion of shells.
const CompletionName = "completion"
