package cli

import (
	"errors"

	"golang.org/x/sys/windows"
)

// readerGone says whether an error of a write is that the other end of a pipe is closed, or
// is about to be. Windows has a number for each of its ways, and a signal for none.
func readerGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) || errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
}
