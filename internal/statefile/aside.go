package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// maxAside bounds the names that SetAside tries.
const maxAside = 1000

// SetAside keeps the file at path under a name of its own, which it returns: path with the suffix, and a number where
// that is another file's. Until [WriteFile] replaces it, it stays at path, too, where the file system can have it under
// two names; so it is never lost, and doing it again after a kill changes nothing. Nothing is overwritten.
func SetAside(path, suffix string) (aside string, err error) { return setAside(os.Link, path, suffix) }

func setAside(link func(from, to string) error, path, suffix string) (aside string, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", fmt.Errorf("statefile: %w", err)
	}
	for n := 1; n <= maxAside; n++ {
		aside = path + suffix
		if n > 1 {
			aside += "." + strconv.Itoa(n)
		}
		there, err := os.Lstat(aside)
		if err == nil && !os.SameFile(there, info) {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			if err = link(path, aside); errors.Is(err, fs.ErrExist) {
				continue
			}
			if err != nil {
				err = os.Rename(path, aside)
			}
		}
		if err == nil {
			err = osFS{}.syncDir(filepath.Dir(path))
		}
		if err != nil {
			return "", fmt.Errorf("statefile: %w", err)
		}
		return aside, nil
	}
	return "", fmt.Errorf("statefile: %s%s and %d more exist: remove what nobody needs", path, suffix, maxAside-1)
}
