package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

// completing adds completions that cobra lacks: for words that are files, folders or neither. args are the arguments of
// the process.
func (p *Program) completing(root *cobra.Command, args []string) {
	if len(args) == 0 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		return
	}
	for _, cmd := range commands(root) {
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = words(cmd)
			cmd.ValidArgs = nil // which would prevail
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			value, usage := pflag.UnquoteUsage(f)
			f.Usage = usage // it is shown as it is
			if _, ok := cmd.GetFlagCompletionFunc(f.Name); ok {
				return
			}
			if f.NoOptDefVal != "" {
				return
			}
			if err := cmd.RegisterFlagCompletionFunc(f.Name, values(f.Name, value)); err != nil {
				panic("BUG: " + err.Error())
			}
		})
	}
}

// words completes the arguments of a command: the named arguments, or else files, unless its usage has none. The files
// of a command with others below it are among them.
func words(cmd *cobra.Command) cobra.CompletionFunc {
	valid, directive := cmd.ValidArgs, cobra.ShellCompDirectiveNoFileComp
	for _, of := range []string{"FILE", "PATH", "OLD", "CAPTURE", "GAME"} {
		if strings.Contains(cmd.Use, of) {
			directive = cobra.ShellCompDirectiveDefault
		}
	}
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, directive
		}
		return valid, directive
	}
}

// values completes the value of a flag by its name in the help.
func values(flag, value string) cobra.CompletionFunc {
	switch {
	case flag == "rules":
		return cobra.FixedCompletions([]cobra.Completion{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
	case value == "FILE" || value == "PATH":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault)
	case value == "DIR":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	}
	return cobra.NoFileCompletions
}

// VersionCommand makes the command that prints the version, as --version does.
func (p *Program) VersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "version prints the version, the commit, and the Go release and system of the build.",
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
