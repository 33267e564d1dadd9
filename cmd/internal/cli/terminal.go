package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// terminal returns the terminal that w is.
func terminal(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	_, ok := terminal(w)
	return ok
}

// Size returns the columns and rows of the terminal that w is, zeros if it is
// none or they are not known.
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

// The values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// Colors are the values of --color.
func Colors() []string { return []string{ColorAuto, ColorAlways, ColorNever} }

// Color reports whether what is written to w should be colored, by the mode and, if that is auto, by the environment:
// NO_COLOR (https://no-color.org) prevails over CLICOLOR_FORCE, both prevail over the kind of w; a dumb terminal has no
// colors. It turns on the escapes of a console of Windows; a console without escapes gets no colors.
func Color(mode string, getenv func(string) string, w io.Writer) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case mode == ColorNever, mode == ColorAuto && getenv("NO_COLOR") != "":
		return false
	case mode == ColorAlways, force != "" && force != "0":
		if f, ok := terminal(w); ok {
			enableEscapes(f) // asked for by name: where this fails there is nothing better to do
		}
		return true
	}
	f, ok := terminal(w)
	return ok && getenv("TERM") != "dumb" && enableEscapes(f)
}

// ErrReaderGone ends a command whose output has no reader any more, such as before "head", without
// a message and with the status of success. Where the system ends such a process by a signal it
// does not occur.
var ErrReaderGone = errors.New("the reader of the output is gone")

// CannotWrite returns the error of a write to standard output, called what, such as "the report", or "":
// [ErrReaderGone], an error with an exit status, or nil.
func CannotWrite(status int, what string, err error) error {
	switch {
	case err == nil:
		return nil
	case readerGone(err):
		return ErrReaderGone
	}
	return Failed(status, fmt.Errorf("%s: %w", strings.TrimSpace("cannot write "+what), err))
}

// Bytes returns an amount of bytes for people: "12 B", "1.5 MiB".
func Bytes(n float64) string {
	if n < 1024 {
		return fmt.Sprintf("%.0f B", n)
	}
	unit := ""
	for _, u := range []string{"KiB", "MiB", "GiB"} {
		if n < 1024 {
			break
		}
		n, unit = n/1024, u
	}
	return fmt.Sprintf("%.1f %s", n, unit)
}

// CommandLine returns a command as a person types it: each argument is quoted for the shell where it must be, for a
// POSIX shell, or on Windows for its own.
func CommandLine(args ...string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = quote(arg, runtime.GOOS == "windows")
	}
	return strings.Join(quoted, " ")
}

// quote returns an argument in quotes, unless it consists of bytes that mean nothing to a shell.
func quote(arg string, windows bool) string {
	plain := "_-./:,@%+="
	if windows {
		plain = `_-./:,+=\`
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(plain, r)
	}) < 0 {
		return arg
	}
	if windows {
		return `"` + arg + `"` // no file's name has a quote there
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
