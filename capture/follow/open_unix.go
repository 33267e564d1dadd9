//go:build unix

package follow

import (
	"os"
	"syscall"
)

// openFile opens a file for reading. It does not wait for the other end of what
// has become a named pipe since it was looked at.
func openFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
