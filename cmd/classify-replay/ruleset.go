package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/rules"
)

// ruleFlags say which rules judge.
type ruleFlags struct {
	files      []string
	noDefaults bool
}

func (f *ruleFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "rules", nil, "read rules from `FILE`, or from the *.yaml and *.yml of a folder; they match before the defaults, in order (repeatable)")
	cmd.Flags().BoolVar(&f.noDefaults, "no-default-rules", false, "leave out the embedded rules for Unity and RimWorld")
}

// sources reads the rule files that the flags name, the defaults with them.
func (f *ruleFlags) sources() ([]rules.File, error) {
	files, err := readRules(f.files)
	if err == nil && !f.noDefaults {
		files = append(files, rules.Defaults()...)
	}
	return files, err
}

// compile reads and compiles the rules that the flags name.
func (f *ruleFlags) compile() (*rules.Set, error) {
	files, err := f.sources()
	if err != nil {
		return nil, err
	}
	return rules.Compile(files...)
}

// readRules reads rule files. A folder stands for the rule files in it, by name.
func readRules(names []string) ([]rules.File, error) {
	files := make([]rules.File, 0, len(names)+1)
	for _, name := range names {
		inside, err := ruleFiles(name)
		if err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		for _, file := range inside {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("rules: %w", err)
			}
			files = append(files, rules.File{Name: file, Data: data})
		}
	}
	return files, nil
}

// ruleFiles returns the files that a name of a file or a folder stands for.
func ruleFiles(name string) ([]string, error) {
	info, err := os.Stat(name)
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
			names = append(names, filepath.Join(name, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s holds no *.yaml or *.yml", name)
	}
	return names, nil
}
