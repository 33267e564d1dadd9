package main

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/report"
)

// layout returns how text is laid out: in the width that was asked for, or in that
// of the terminal.
func (p *program) layout(width, top int) report.TextOptions {
	columns, rows := cli.Size(p.Stdout)
	if width == 0 {
		width = columns
	}
	return report.TextOptions{Width: width, Top: top, Color: p.Color, Rows: rows}
}

// widthFlag adds the flag that says how wide text is.
func widthFlag(cmd *cobra.Command, width *int) {
	cmd.Flags().IntVar(width, "width", 0, "fill `N` columns of text (default: those of the terminal; else lines are not cut)")
}

// checkWidth refuses a width in which no text can be read.
func checkWidth(cmd *cobra.Command, width int) error {
	switch {
	case width < 0:
		return cli.Usage(cmd, "--width %d: must not be negative; 0 fills the terminal", width)
	case width > 0 && width < report.MinWidth:
		return cli.Usage(cmd, "--width %d: must be %d or more; 0 fills the terminal", width, report.MinWidth)
	}
	return nil
}
