package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// terminal returns the terminal that w is, or is [Screen.Over].
func terminal(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*over); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// IsTerminal says whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	_, ok := terminal(w)
	return ok
}

// Size returns the columns and rows of the terminal that w is, zeros if it is
// none or does not say.
func Size(w io.Writer) (columns, rows int) {
	f, ok := terminal(w)
	if !ok {
		return 0, 0
	}
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}
