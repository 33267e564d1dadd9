//go:build unix && !aix && !solaris

package store

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lock takes an advisory lock that the kernel gives back when the process ends,
// so that a kill leaves nothing to clean up.
func (osFS) lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, filePerm)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return f, nil
}

func isLocked(err error) bool { return errors.Is(err, syscall.EWOULDBLOCK) }
