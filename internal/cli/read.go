package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile reads a file that a person named, of any kind, and no more of it than limit
// bytes: a device may have no end. The error of one that has more names it.
func ReadFile(name string, limit int64) ([]byte, error) {
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
		return nil, refused(name, fmt.Sprintf("has more than the %d bytes that are read of such a file: is it the right one?", limit))
	}
	return data, nil
}

// ReadRegular is [ReadFile] for what must be a regular file, or a link to one: another,
// such as a named pipe, is refused unopened, for opening it may wait for ever.
func ReadRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refused(name, "is no regular file")
	}
	return ReadFile(name, limit)
}

func refused(name, why string) error {
	return &fs.PathError{Op: "read", Path: name, Err: errors.New(why)}
}
