package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// Read reads a file that a person named, of any kind, and no more of it than limit
// bytes: a device may have no end. The error of one that has more names it.
func Read(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, refused(name, fmt.Errorf("has more than %d bytes, %w", limit, errTooLong))
	}
	return data, nil
}

// ReadRegular is [Read] for what must be a regular file, or a link to one: another,
// such as a named pipe, is refused unopened, for opening it may wait for ever.
func ReadRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refused(name, errNotRegular)
	}
	return Read(name, limit)
}

var (
	errTooLong    = errors.New("the limit for such a file: is it the right one?")
	errNotRegular = errors.New("is not a regular file")
)

func refused(name string, why error) error { return &fs.PathError{Op: "read", Path: name, Err: why} }

// maxBeside bounds how many names of a folder are looked at for one that was meant.
const maxBeside = 4096

// Missing returns the file or folder that was likely meant by the name of a file that is not
// there, as the end of a message; "" for none.
func Missing(name string) string {
	f, err := os.Open(filepath.Dir(name))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()      // only read from
	names, _ := f.Readdirnames(maxBeside) // what cannot be read is not suggested
	slices.Sort(names)
	base := filepath.Base(name)
	near := text.Nearest(base, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + strings.TrimSuffix(name, base) + near + "?"
}
