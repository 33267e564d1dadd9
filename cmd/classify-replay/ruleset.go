package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/rules"
)

// ruleFlags say which rules judge.
type ruleFlags struct {
	files      []string
	noDefaults bool
}

func (f *ruleFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "rules", nil, "read rules from `FILE`; they match before the defaults, in order (repeatable)")
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

// readRules reads rule files.
func readRules(names []string) ([]rules.File, error) {
	files := make([]rules.File, 0, len(names)+1)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("rules: %w", err)
		}
		files = append(files, rules.File{Name: name, Data: data})
	}
	return files, nil
}
