package main

import (
	"io"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/report"
)

// terminalWidth returns the columns of the terminal that w is, 0 if it is none.
func terminalWidth(w io.Writer) int {
	columns, _ := cli.Size(w)
	return columns
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
