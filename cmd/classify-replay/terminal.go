package main

import (
	"io"

	"github.com/heedlog/heed/internal/cli"
)

// terminalWidth returns the columns of the terminal that w is, 0 if it is none.
func terminalWidth(w io.Writer) int {
	columns, _ := cli.Size(w)
	return columns
}
