package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ErrNoMatch says that a pattern or a directory stands for no file.
var ErrNoMatch = errors.New("no log found")

// Taken is what an argument that names no single file stood for.
type Taken struct {
	Argument string
	Files    []string // at least one
}

// Inputs returns the files that arguments stand for, in their order, and what was
// made of those that stood for several:
//
//   - what exists and is no directory, "-", and what names nothing stand for
//     themselves, so that a name with a bracket in it can be given as it is;
//   - a directory stands for the logs in it, by name, not those below it;
//   - a pattern with *, ?, [, {, or ** for directories of any depth, stands for
//     the files that it matches, by name: not every shell expands one. ** does not
//     follow links to directories, of which some lead back.
//
// A file that was named before is left out of the latter two. An argument that
// stands for nothing gives an error, and does not keep the others from being read.
func Inputs(args []string) (files []string, taken []Taken, wrong []error) {
	seen := map[string]bool{}
	for _, arg := range args {
		found, several, err := expand(arg)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if several {
			found = slices.DeleteFunc(found, func(name string) bool { return seen[filepath.Clean(name)] })
			if len(found) > 0 {
				taken = append(taken, Taken{arg, found})
			}
		}
		for _, name := range found {
			seen[filepath.Clean(name)] = true
		}
		files = append(files, found...)
	}
	return files, taken, wrong
}

// expand returns what one argument stands for, and whether that may be several.
func expand(arg string) (files []string, several bool, err error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		files, err = logsIn(arg)
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("%s: %w in this directory by its name (such as Player.log, *.log, *.log.gz or *.jsonl); name the file, or a pattern such as %s",
				arg, ErrNoMatch, filepath.Join(arg, "*.txt"))
		}
		return files, true, err
	case err == nil || !strings.ContainsAny(arg, "*?[{"):
		return []string{arg}, false, nil
	}
	files, err = doublestar.FilepathGlob(arg, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	switch {
	case errors.Is(err, doublestar.ErrBadPattern):
		return nil, false, fmt.Errorf("%s: no such file, and not a pattern that can be read: a bracket or a brace is not closed", arg)
	case err != nil:
		return nil, false, fmt.Errorf("%s: %w", arg, err)
	case len(files) == 0:
		return nil, false, fmt.Errorf("%s: %w: no file matches this pattern", arg, ErrNoMatch)
	}
	slices.Sort(files)
	return files, true, nil
}

// logsIn returns the files in a directory that are logs by their names.
func logsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir) // by name
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if e.IsDir() || !isLog(e.Name()) {
			continue
		}
		// What is neither a file nor a link to one, such as a pipe, would keep
		// everything waiting.
		if e.Type()&fs.ModeType&^fs.ModeSymlink != 0 {
			continue
		}
		files = append(files, filepath.Join(dir, e.Name()))
	}
	return files, nil
}

// isLog says whether a file is a log by its name, compressed or not.
func isLog(name string) bool {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch ext := filepath.Ext(name); ext {
	case ".log", ".jsonl", ".ndjson":
		return true
	case ".txt": // Unity before 2019 on Windows, and what is saved of an upload
		return strings.HasPrefix(name, "output_log") || strings.HasPrefix(name, "player") || strings.HasPrefix(name, "hugslib")
	default: // a log that was rotated: server.log.1
		return len(ext) > 1 && strings.Trim(ext[1:], "0123456789") == "" && strings.HasSuffix(strings.TrimSuffix(name, ext), ".log")
	}
}
