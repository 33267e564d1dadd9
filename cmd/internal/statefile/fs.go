package statefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// filesystem holds the operations that the package needs. Tests substitute a file system that fails, tears writes and
// loses bytes that were not synced.
type filesystem interface {
	create(name string) (outFile, error) // fails if it is there
	rename(from, to string) error
	remove(name string) error
	syncDir(dir string) error // makes creates, renames and removes durable
}

type outFile interface {
	io.WriteCloser
	Sync() error
}

// filePerm excludes other users: a state holds text of a log, which may have names, paths and tokens.
const filePerm = 0o600

// osFS is the operating system's.
type osFS struct{}

func (osFS) create(name string) (outFile, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
}
func (osFS) rename(from, to string) error { return os.Rename(from, to) }
func (osFS) remove(name string) error     { return os.Remove(name) }

func (osFS) syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // which has no such call; its file systems log their metadata
	}
	f, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	err = f.Sync()
	_ = f.Close()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil // a network's or user's file system without such a call: it promises no more than it does
	}
	return err
}
