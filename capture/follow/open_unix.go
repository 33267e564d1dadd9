//go:build unix

package follow

import (
	"fmt"
	"os"
	"syscall"
)

// openFile opens a file for reading. It does not block on a named pipe that replaced the file since the last look.
func openFile(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// fileID returns the device, the inode and the creation of a file, "" where they are not known.
func fileID(file *os.File) string {
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x-%x%s", s.Dev, s.Ino, created(file))
}
