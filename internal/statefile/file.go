package statefile

import (
	"errors"
	"fmt"
	"path/filepath"
)

// ErrTooLarge is the error of a file larger than [MaxFile].
var ErrTooLarge = errors.New("too large")

// MaxFile bounds a file, in bytes: far above the snapshot of an engine with default bounds.
const MaxFile = 256 << 20

// tempSuffix marks an incomplete file. One that a kill left behind is replaced by the next WriteFile.
const tempSuffix = ".tmp"

// WriteFile replaces the file at path, or makes it. When it returns nil the new file is durable; after an error or a
// kill, either the old file is unchanged or the new one is whole.
//
// It writes to a name that ends in ".tmp", in the folder of path, and allocates nothing of the data's size. Two calls
// for one path must not run at the same time. The file's permissions are 0600.
func WriteFile(path string, data []byte) error { return writeFile(osFS{}, path, data) }

func writeFile(fs filesystem, path string, data []byte) error {
	if len(data) > MaxFile {
		return fmt.Errorf("statefile: %s: %w: %d bytes, the most is %d", path, ErrTooLarge, len(data), MaxFile)
	}
	temp := path + tempSuffix
	if err := writeWhole(fs, temp, data); err != nil {
		_ = fs.remove(temp)
		return fmt.Errorf("statefile: %w", err)
	}
	if err := fs.rename(temp, path); err != nil {
		_ = fs.remove(temp)
		return fmt.Errorf("statefile: %w", err)
	}
	if err := fs.syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("statefile: %w", err)
	}
	return nil
}

// writeWhole makes a new file, durable but for its name.
func writeWhole(fs filesystem, name string, data []byte) error {
	_ = fs.remove(name) // left by a kill; where it cannot be removed, create fails
	f, err := fs.create(name)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// ReadFile returns the file at path. An error wraps [ErrTooLarge] or the error of the file system, such as
// [io/fs.ErrNotExist]. It allocates no more than the file's size.
func ReadFile(path string) ([]byte, error) { return readFile(osFS{}, path) }

func readFile(fs filesystem, path string) ([]byte, error) {
	f, size, err := fs.open(path)
	if err != nil {
		return nil, fmt.Errorf("statefile: %w", err)
	}
	defer func() { _ = f.Close() }()
	if size > MaxFile {
		return nil, fmt.Errorf("statefile: %s: %w: %d bytes, the most is %d", path, ErrTooLarge, size, MaxFile)
	}
	data := make([]byte, size)
	if n, err := f.ReadAt(data, 0); n < len(data) {
		return nil, fmt.Errorf("statefile: %s: %w", path, err)
	}
	return data, nil
}
