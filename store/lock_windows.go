package store

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lock opens the file without sharing it: nobody else can open it until the
// handle is closed, which the system does when the process ends.
func (osFS) lock(name string) (io.Closer, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	h, err := syscall.CreateFile(path, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

func isLocked(err error) bool {
	const sharingViolation syscall.Errno = 32
	return errors.Is(err, sharingViolation)
}
