package main

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
)

// viewFlags say how the commands that hold rules to captures show what they found.
type viewFlags struct {
	format     string
	top, width int
	scrub      scrubFlags
}

// register adds the flags; what is what --top says of the rows.
func (f *viewFlags) register(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formatText, "write the `FORMAT` text or json")
	cli.Completes(cmd, "format", formatText, formatJSON)
	flags.IntVar(&f.top, "top", defaultTop, "show the `N` most frequent "+what+", 0 for all")
	widthFlag(cmd, &f.width)
	f.scrub.register(cmd)
}

func (f *viewFlags) validate(cmd *cobra.Command) error {
	if err := cli.OneOf(cmd, "format", f.format, formatText, formatJSON); err != nil {
		return err
	}
	if f.top < 0 {
		return cli.Usage(cmd, "--top %d: must not be negative; 0 shows all", f.top)
	}
	return checkWidth(cmd, f.width)
}
