package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/heedlog/heed/rules"
)

// RuleFiles returns the rule files of named files and folders, in their order: of a folder the *.yaml and *.yml in it,
// by name.
func RuleFiles(names []string) ([]string, error) {
	files := make([]string, 0, len(names))
	for _, name := range names {
		inside, err := rulesIn(name)
		if err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		files = append(files, inside...)
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
		data, err := ReadRules(file)
		if err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		files = append(files, rules.File{Name: file, Data: data, Today: today.UTC().Format(time.DateOnly)})
	}
	return files, nil
}

// ReadRules reads one rule file of any kind, and no more of it than one may have.
func ReadRules(name string) ([]byte, error) {
	data, err := Read(name, rules.MaxFileBytes)
	if errors.Is(err, errTooLong) {
		return nil, fmt.Errorf("%s: has more than %d bytes, the limit: split it into several files",
			name, rules.MaxFileBytes)
	}
	return data, err
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
