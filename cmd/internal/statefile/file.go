package statefile

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/heedlog/heed/internal/files"
)

// MaxFile bounds a file that is read, in bytes: far above the snapshot of an engine with default bounds.
const MaxFile = 256 << 20

// tempSuffix marks an incomplete file. The next WriteFile replaces a file that a kill left.
const tempSuffix = ".tmp"

// WriteFile replaces the file at path, or makes it. When it returns nil the new file is durable; after an error or a
// kill, either the old file is unchanged or the new one is whole.
//
// It writes to a name that ends in ".tmp", in the folder of path, and allocates nothing of the data's size. Two calls
// for one path must not run at the same time. The file's permissions are 0600.
func WriteFile(path string, data []byte) error { return writeFile(osFS{}, path, data) }

func writeFile(fs filesystem, path string, data []byte) error {
	temp := path + tempSuffix
	err := writeWhole(fs, temp, data)
	if err == nil {
		err = fs.rename(temp, path)
	}
	if err != nil {
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
	_ = fs.remove(name) // left by a kill; if it cannot be removed, create fails
	f, err := fs.create(name)
	if err != nil {
		return err
	}
	if _, err = f.Write(data); err == nil {
		err = f.Sync()
	}
	return cmp.Or(err, f.Close())
}

// ReadFile returns the file at path, which must be a regular file. An error wraps the error of the file system, such as
// [io/fs.ErrNotExist].
func ReadFile(path string) ([]byte, error) {
	data, err := files.ReadRegular(path, MaxFile)
	if err != nil {
		return nil, fmt.Errorf("statefile: %w", err)
	}
	return data, nil
}
