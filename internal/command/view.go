package command

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/text/width"
	"github.com/heedlog/heed/report"
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
	cli.WidthFlag(cmd, &f.width)
	f.scrub.register(cmd)
}

func (f *viewFlags) validate(cmd *cobra.Command) error {
	if err := cli.OneOf(cmd, "format", f.format, formatText, formatJSON); err != nil {
		return err
	}
	return checkLayout(cmd, f.width, f.top)
}

// layout returns how text is laid out: in the width that was asked for, or in that
// of the terminal.
func (p *program) layout(width, top int) report.TextOptions {
	columns, rows := cli.Size(p.Stdout)
	if width == 0 {
		width = columns
	}
	return report.TextOptions{Width: width, Top: top, Color: p.Color, Rows: rows}
}

// checkLayout refuses a width in which no text can be read, and fewer rows than none.
func checkLayout(cmd *cobra.Command, columns, top int) error {
	if top < 0 {
		return cli.Usage(cmd, "--top %d: must not be negative; 0 shows all", top)
	}
	return cli.CheckWidth(cmd, columns, width.Min)
}
