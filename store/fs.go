package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// filesystem is what the package asks of a disk. Tests put one in its place
// that fails, tears writes and forgets what was not synced.
type filesystem interface {
	mkdir(dir string) error              // with those above it, durable
	lock(name string) (io.Closer, error) // fails while somebody else has it
	list(dir string) ([]string, error)
	open(name string) (inFile, int64, error) // with its size
	create(name string) (outFile, error)     // fails if it is there
	truncate(name string, size int64) error
	sync(name string) error // of a file that nobody writes
	rename(from, to string) error
	remove(name string) error
	syncDir(dir string) error // makes creates, renames and removes durable
}

type inFile interface {
	io.ReaderAt
	io.Closer
}

type outFile interface {
	io.WriteCloser
	Sync() error
}

// Permissions: a log may hold names, paths and tokens of its user.
const (
	filePerm = 0o600
	dirPerm  = 0o700
)

// osFS is the operating system's.
type osFS struct{}

// mkdir makes a directory and those above it, and makes their names durable:
// with the name of a directory all that is in it would go.
func (f osFS) mkdir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		return &os.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := f.mkdir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, dirPerm); err != nil && !errors.Is(err, os.ErrExist) { // another process was first
		return err
	}
	return f.syncDir(parent)
}

func (osFS) list(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (osFS) open(name string) (inFile, int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func (osFS) create(name string) (outFile, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return nil, err // not f, which would be a nil pointer in an interface
	}
	return f, nil
}

func (osFS) truncate(name string, size int64) error { return os.Truncate(name, size) }
func (osFS) rename(from, to string) error           { return os.Rename(from, to) }
func (osFS) remove(name string) error               { return os.Remove(name) }

func (osFS) sync(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	_ = f.Close()
	return err
}

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
