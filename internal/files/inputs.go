package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Taken is what an argument that names no single file stood for.
type Taken struct {
	Argument string
	Files    []string // at least one
	Left     []string // texts in a directory that were not taken: they are no logs by what is in them
}

// Inputs returns the files that arguments stand for, in their order, and what was
// made of those that stood for several:
//
//   - what exists and is no directory, "-", and what names nothing stand for
//     themselves, so that a name with a bracket in it can be given as it is; so does an
//     address ([IsAddress]);
//   - a directory stands for the logs in it, by name, and those of the folders in it that
//     Unity makes for crashes (Crash_2031-04-05_101112), not others below it. Any text may
//     be called *.txt: of those, isLog is asked;
//   - a pattern with *, ?, [, {, or ** for directories of any depth, stands for
//     the files that it matches, by name: not every shell expands one. ** does not
//     follow links to directories: some lead back.
//
// A file that was named before is left out of the latter two. An argument that
// stands for nothing gives an error, and does not keep the others from being read.
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

// Same reports whether two names are those of one file, also of one that is not there yet. Names on other machines,
// with "://", are compared as texts.
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

// expand returns what one argument stands for, what of it is no log, and whether that may
// be several.
func expand(arg string, isLog func(string) bool) (files, left []string, several bool, err error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		files, left, err = logsIn(arg, false, isLog)
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("%s: no log found in this directory: no file is named like one (Player.log, *.log, *.log.gz, "+
				"*.jsonl), and no *.txt looks like one; name the file, or a pattern such as %s",
				arg, filepath.Join(arg, "*.txt"))
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
		return nil, nil, false, fmt.Errorf("%s: no log found: no file matches this pattern", arg)
	}
	slices.Sort(files)
	return files, nil, true, nil
}

// crashFolder begins the names of the folders in which Unity keeps the report of a crash and the log up to it.
const crashFolder = "Crash_"

// logsIn returns the files in a directory that are logs, by name, and the texts that are
// none; then those of its folders of crashes, unless the directory is within another.
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
		// What is neither a file nor a link to one, such as a pipe, would keep
		// everything waiting.
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

// What a file is by its name.
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
