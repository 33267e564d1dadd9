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

// Read reads a file of any kind that a person named. A file with more than limit bytes, such as a device without end,
// is an error that names it.
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

// ReadRegular is [Read] for a file that must be regular, or a link to a regular file. It refuses another kind, such as
// a named pipe, without opening it: opening may wait for ever.
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

// maxBeside bounds the names of a folder that are compared with a wrong name.
const maxBeside = 4096

// Missing returns the file or folder that was likely meant by the name of a file that is not
// there, as the end of a message; "" for none.
func Missing(name string) string {
	f, err := os.Open(filepath.Dir(name))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()      // only read from
	names, _ := f.Readdirnames(maxBeside) // unreadable names are not suggested
	slices.Sort(names)
	base := filepath.Base(name)
	near := text.Nearest(base, names)
	if near == "" {
		return ""
	}
	return "; did you mean " + strings.TrimSuffix(name, base) + near + "?"
}
