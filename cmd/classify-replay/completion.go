package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
)

// The shells that there is completion for.
const (
	shellBash       = "bash"
	shellZsh        = "zsh"
	shellFish       = "fish"
	shellPowerShell = "powershell"
)

// completes names the values of a flag, for the completion of shells.
func completes(cmd *cobra.Command, flag string, values ...string) {
	all := make([]cobra.Completion, len(values))
	copy(all, values)
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic("BUG: " + err.Error())
	}
}

// completesAll names the values of a flag to each command that defines it.
func completesAll(root *cobra.Command, flag string, values []string) {
	for _, cmd := range cli.Commands(root) {
		if cmd.LocalNonPersistentFlags().Lookup(flag) != nil || cmd == root && cmd.PersistentFlags().Lookup(flag) != nil {
			if _, ok := cmd.GetFlagCompletionFunc(flag); !ok {
				completes(cmd, flag, values...)
			}
		}
	}
}

func (p *program) completionCommand() *cobra.Command {
	shells := []string{shellBash, shellZsh, shellFish, shellPowerShell}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `completion prints a script with which a shell completes commands, flags and the
values of flags. Load it in each new shell, from the shell's own start-up file, as
the examples do, in this order: bash (with the package bash-completion), zsh, fish
and PowerShell.`,
		Example: `  classify-replay completion bash > ~/.local/share/bash-completion/completions/classify-replay
  classify-replay completion zsh > "${fpath[1]}/_classify-replay"
  classify-replay completion fish > ~/.config/fish/completions/classify-replay.fish
  classify-replay completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(cmd, "name one shell: bash, zsh, fish or powershell")
			}
			if slices.Contains(shells, args[0]) {
				return nil
			}
			return usage(cmd, "no completion for %q: use bash, zsh, fish or powershell", args[0])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			var err error
			switch args[0] {
			case shellBash:
				err = root.GenBashCompletionV2(p.stdout, true)
			case shellZsh:
				err = root.GenZshCompletion(p.stdout)
			case shellFish:
				err = root.GenFishCompletion(p.stdout, true)
			default:
				err = root.GenPowerShellCompletionWithDesc(p.stdout)
			}
			if err != nil {
				return inputError(fmt.Errorf("cannot write the script: %w", err))
			}
			return nil
		},
	}
}
