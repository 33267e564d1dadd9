package cli

import (
	"errors"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

// readerGone reports whether an error of a write is that the other end of a pipe is closed, or
// is about to be. Windows has a number for each of its ways, and a signal for none.
func readerGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
}

// enableEscapes makes a console obey escape sequences, which those before Windows
// 10 cannot and the classic one does only when asked.
func enableEscapes(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 ||
		windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// Language returns the language of the system, such as "de-DE"; "" if only the environment names it.
func Language() string {
	names, _ := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	return strings.Join(names[:min(len(names), 1)], "")
}
