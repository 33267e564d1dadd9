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
	"time"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
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
		return nil, tooLong(name, limit)
	}
	return data, nil
}

func tooLong(name string, limit int64) error {
	return refused(name, fmt.Errorf("has more than %d bytes, the limit for such a file: split it, or name the right one", limit))
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
	if info.Size() > limit {
		return nil, tooLong(name, limit)
	}
	return Read(name, limit)
}

var errNotRegular = errors.New("is not a regular file")

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

// RuleFiles returns the rule files of named files and folders, in their order: of a folder the *.yaml and *.yml in it,
// by name, and of a file that is named twice the first.
func RuleFiles(names []string) ([]string, error) {
	files := make([]string, 0, len(names))
	for _, name := range names {
		inside, err := rulesIn(name)
		if err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		before := files
		for _, file := range inside {
			if !slices.ContainsFunc(before, func(known string) bool { return Same(known, file) }) {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

// AllRules reads the rule files of named files and folders, to be used on a day.
func AllRules(names []string, today time.Time) ([]rules.File, error) {
	expanded, err := RuleFiles(names)
	if err != nil {
		return nil, err
	}
	files := make([]rules.File, 0, len(expanded)+1)
	for _, file := range expanded {
		data, err := Read(file, rules.MaxFileBytes)
		if err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		files = append(files, rules.File{Name: file, Data: data, Today: today.UTC().Format(time.DateOnly)})
	}
	return files, nil
}

// rulesIn returns the rule files of a named file or folder.
func rulesIn(name string) ([]string, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file or folder%s", name, Missing(name))
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	entries, err := os.ReadDir(name) // sorted by name
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml") {
			path := filepath.Join(name, e.Name())
			if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
				return nil, refused(path, errNotRegular)
			}
			names = append(names, path)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no *.yaml or *.yml", name)
	}
	return names, nil
}
