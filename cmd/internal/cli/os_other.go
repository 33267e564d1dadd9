//go:build !windows

package cli

import (
	"errors"
	"os"
	"syscall"
)

// readerGone reports whether an error of a write is that the other end of a pipe is closed.
func readerGone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// enableEscapes has nothing to do where terminals obey escape sequences anyhow.
func enableEscapes(*os.File) bool { return true }

// Language returns the language of the system, such as "de-DE"; "" if only the environment names it.
func Language() string { return "" }
