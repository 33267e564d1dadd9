package statefile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/gofrs/flock"

	"github.com/heedlog/heed/internal/files"
)

// MaxFile bounds a file that is read, in bytes: far above the snapshot of an engine with default bounds.
const MaxFile = 256 << 20

// filePerm excludes other users: a state holds text of a log, which may have names, paths and tokens.
const filePerm = 0o600

// tempSuffix marks an incomplete file. The next WriteFile replaces a file that a kill left.
const tempSuffix = ".tmp"

// WriteFile replaces the file at path, or makes it. When it returns nil the new file is durable; after an error or a
// kill, either the old file is unchanged or the new one is whole.
//
// It writes to a name that ends in ".tmp", in the folder of path, and allocates nothing of the data's size. Two calls
// for one path must not run at the same time. The file's permissions are 0600.
func WriteFile(path string, data []byte) error {
	temp := path + tempSuffix
	err := writeWhole(temp, data)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return err
	}
	return syncDir(filepath.Dir(path))
}

// writeWhole makes a new file, durable but for its name.
func writeWhole(name string, data []byte) error {
	_ = os.Remove(name) // left by a kill; if it cannot be removed, it is in the way
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// syncDir makes the creation and the renaming of files in a folder durable.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // which has no such call; its file systems log their metadata
	}
	f, err := os.Open(dir)
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

// ReadFile returns the file at path, which must be a regular file. An error wraps the error of the file system, such as
// [io/fs.ErrNotExist].
func ReadFile(path string) ([]byte, error) { return files.ReadRegular(path, MaxFile) }

// ErrLocked is returned by [Lock] while another process, or this one, holds the lock.
var ErrLocked = errors.New("locked by another process")

// Lock takes the lock of the file called name, and makes the file if it is missing. It does not wait: while another
// process holds the lock, the error is [ErrLocked]. Close releases it, and so does the end of the process. The file
// stays, since removing it would let two processes lock one name. The lock is advisory.
func Lock(name string) (io.Closer, error) {
	l := flock.New(name)
	locked, err := l.TryLock()
	switch {
	case err != nil:
		return nil, err
	case !locked:
		return nil, fmt.Errorf("%w: %s", ErrLocked, name)
	}
	return l, nil
}
