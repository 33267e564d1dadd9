package briefing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// binaryBytes bounds the part of a file in which a NUL shows that it is no text.
const binaryBytes = 8000

// byteOrderMark may begin a file in UTF-8.
const byteOrderMark = "\ufeff"

// readFiles returns each file as a fragment of its lines, up to the size that the query allows: the file below the
// first of roots that has one of the name. Nothing outside of the roots is read, whatever names and symbolic links say.
// A file that is missing, or no text, is a warning.
func readFiles(ctx context.Context, roots []*os.Root, q *FileRead) (Found, error) {
	var found Found
	for _, name := range q.Paths {
		if err := ctx.Err(); err != nil {
			return found, err
		}
		f, more, err := readFile(roots, name, q.MaxSizeBytes)
		if err != nil {
			found.Warnings = append(found.Warnings, fmt.Sprintf("file %s: %v", text.Safe(name, maxIDRunes), err))
			continue
		}
		found.Fragments = append(found.Fragments, f)
		found.More = found.More || more
	}
	return found, nil
}

// readFile returns a file, and whether there is more of it.
func readFile(roots []*os.Root, name string, limit int64) (f Fragment, more bool, err error) {
	file, size, err := open(roots, name)
	if err != nil {
		return f, false, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return f, false, err
	}
	content := string(data)
	if more = int64(len(content)) > limit; more {
		lines := strings.LastIndexByte(content[:limit], '\n') + 1
		content = content[:cmp.Or(lines, text.Prefix(content, int(limit)))]
	}
	if strings.IndexByte(content[:min(len(content), binaryBytes)], 0) >= 0 {
		return f, false, errors.New("is no text")
	}
	f = Fragment{Source: SourceFile, SourceID: name, Title: "empty"}
	for line := range strings.Lines(strings.TrimPrefix(content, byteOrderMark)) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		f.Lines = append(f.Lines, Line{Text: line, Data: true, Kind: Stack})
	}
	if n := len(f.Lines); n > 0 {
		f.SourceID += "#1-" + strconv.Itoa(n)
		f.Title = fmt.Sprintf("lines of a file, %d bytes", len(content))
	}
	if more {
		f.Title = fmt.Sprintf("the first lines of a file, %d of %d bytes", len(content), max(size, limit+1))
	}
	return f, more, nil
}

// open opens a regular file below the first root that has one of the name.
func open(roots []*os.Root, name string) (*os.File, int64, error) {
	for _, root := range roots {
		info, err := root.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.Mode().IsRegular() { // to open a pipe would wait for its writer
			err = errors.New("is no regular file")
		}
		if err != nil {
			return nil, 0, err
		}
		f, err := root.Open(name)
		return f, info.Size(), err
	}
	return nil, 0, errors.New("not found below the folders that may be read")
}
