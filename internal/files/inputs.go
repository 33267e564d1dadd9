package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/heedlog/heed/internal/text"
)

// Taken has the files of an argument that names no single file.
type Taken struct {
	Argument string
	Files    []string // at least one
	Left     []string // texts in a directory whose content is no log
}

// Inputs returns the files of arguments, in their order, and a Taken for each argument with several:
//
//   - an existing file, "-", an address ([IsAddress]) and a name without a file are returned as they are, so that the
//     name of a file may have a bracket;
//   - a directory means the logs in it, by name, and the logs in its folders of crashes (Crash_2031-04-05_101112). Any
//     text may be called *.txt: isLog decides about these;
//   - a pattern with *, ?, [, {, or ** for directories of any depth means the matching files, by name: not every shell
//     expands a pattern. ** does not follow links to directories: some lead back.
//
// The latter two leave out files that were named before. An argument without a file gives an error; the others are
// still read.
func Inputs(args []string, isLog func(file string) bool) (files []string, taken []Taken, wrong []error) {
	seen := map[string]bool{}
	for _, arg := range args {
		found, left, several, err := expand(arg, isLog)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if several {
			found = slices.DeleteFunc(found, func(name string) bool { return seen[filepath.Clean(name)] })
			if len(found) > 0 {
				taken = append(taken, Taken{arg, found, left})
			}
		}
		for _, name := range found {
			seen[filepath.Clean(name)] = true
		}
		files = append(files, found...)
	}
	return files, taken, wrong
}

// IsAddress reports whether an argument is the address of a log on a server.
func IsAddress(arg string) bool {
	scheme, _, ok := strings.Cut(arg, "://")
	return ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}

// Same reports whether two names are names of one file, also of a file that does not exist yet. Names on other
// machines, with "://", are compared as texts.
func Same(a, b string) bool {
	first, err := os.Stat(a)
	second, missing := os.Stat(b)
	if err == nil && missing == nil {
		return os.SameFile(first, second)
	}
	if strings.Contains(a, "://") || strings.Contains(b, "://") {
		return a == b
	}
	a, _ = filepath.Abs(a) // fails only without a working folder, and then nothing can be written
	b, _ = filepath.Abs(b)
	return a == b
}

// expand returns the files of one argument, the files that are no logs, and whether the argument may mean several.
func expand(arg string, isLog func(string) bool) (files, left []string, several bool, err error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		files, left, err = logsIn(arg, false, isLog)
		if err == nil && len(files) == 0 {
			err = text.Say("no log found in this directory (*.log, *.log.gz, *.jsonl): name a file, or %s",
				filepath.Join(arg, "*.txt"))
			err = fmt.Errorf("%s: %w", arg, err)
		}
		return files, left, true, err
	case err == nil || IsAddress(arg) || !strings.ContainsAny(arg, "*?[{"):
		return []string{arg}, nil, false, nil
	}
	files, err = doublestar.FilepathGlob(arg, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	switch {
	case errors.Is(err, doublestar.ErrBadPattern):
		return nil, nil, false, fmt.Errorf("%s: no such file, and no valid pattern: a bracket or a brace is "+
			"not closed", arg)
	case err != nil:
		return nil, nil, false, fmt.Errorf("%s: %w", arg, err)
	case len(files) == 0:
		return nil, nil, false, fmt.Errorf("%s: %w", arg, text.Say("no log found: no file matches this pattern"))
	}
	slices.Sort(files)
	return files, nil, true, nil
}

// crashFolder begins the names of the folders in which Unity keeps the report of a crash and the log up to it.
const crashFolder = "Crash_"

// logsIn returns the logs in a directory, by name, and the other texts; then the logs in its folders of crashes, unless
// the directory is within another.
func logsIn(dir string, within bool, isLog func(string) bool) (files, left []string, err error) {
	var crashes []string
	entries, err := os.ReadDir(dir) // by name
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		kind := kindOf(e.Name())
		if e.IsDir() && !within && strings.HasPrefix(e.Name(), crashFolder) {
			crashes = append(crashes, filepath.Join(dir, e.Name()))
		}
		if e.IsDir() || kind == notLog {
			continue
		}
		// An entry that is neither a file nor a link to a file, such as a pipe, would block the reading.
		name := filepath.Join(dir, e.Name())
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
			continue
		}
		if kind == maybeLog && !isLog(name) {
			left = append(left, name)
			continue
		}
		files = append(files, name)
	}
	for _, crash := range crashes {
		f, l, err := logsIn(crash, true, isLog)
		if err != nil {
			return nil, nil, err
		}
		files, left = append(files, f...), append(left, l...)
	}
	return files, left, nil
}

// The kind of a file by its name.
const (
	notLog = iota
	maybeLog
	aLog
)

// MayBeLog reports whether a file may be a log by its name, compressed or not.
func MayBeLog(name string) bool { return kindOf(name) != notLog }

// kindOf reports whether a file is a log by its name, compressed or not.
func kindOf(name string) int {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch ext := filepath.Ext(name); ext {
	case ".log", ".jsonl", ".ndjson":
		return aLog
	case ".ips", ".crash": // reports of macOS
		return maybeLog
	case ".txt": // Unity before 2019 on Windows, and what is saved of an upload
		for _, of := range []string{"output_log", "player", "hugslib"} {
			if strings.HasPrefix(name, of) {
				return aLog
			}
		}
		return maybeLog
	default: // a log that was rotated: server.log.1
		if len(ext) > 1 && strings.Trim(ext[1:], "0123456789") == "" &&
			strings.HasSuffix(strings.TrimSuffix(name, ext), ".log") {
			return aLog
		}
	}
	return notLog
}
