package cli

import (
	"errors"
	"fmt"
	"strings"
)

// ErrReaderGone ends a command whose output nobody reads any more, such as before "head",
// without a word and as if all were well: the reader has had enough. Where the system ends
// such a process by a signal there is nobody to get it.
var ErrReaderGone = errors.New("nobody reads the output any more")

// CannotWrite makes the error of standard output that did not take all of what, such as
// "the report", or "" for what needs no name: [ErrReaderGone], or one with an exit status.
func CannotWrite(status int, what string, err error) error {
	if readerGone(err) {
		return ErrReaderGone
	}
	return Failed(status, fmt.Errorf("%s: %w", strings.TrimSpace("cannot write "+what), err))
}
