//go:build !windows

package cli

import (
	"errors"
	"syscall"
)

// readerGone says whether an error of a write is that the other end of a pipe is closed.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }
