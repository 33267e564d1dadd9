package command

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/rules"

	"github.com/heedlog/heed/internal/files"
)

// ruleFlags say which rules judge.
type ruleFlags struct {
	files      []string
	noDefaults bool
}

func (f *ruleFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "rules", nil, "read rules from `FILE`, or from the *.yaml and *.yml of a folder; they match before the defaults, in order (repeatable)")
	noDefaultRules(cmd, &f.noDefaults)
}

func noDefaultRules(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "no-default-rules", false, "leave out the embedded rules for Unity and RimWorld")
}

// sources reads the rule files that the flags name, the defaults with them.
func (f *ruleFlags) sources() ([]rules.File, error) {
	files, err := files.AllRules(f.files)
	if err == nil && !f.noDefaults {
		files = append(files, rules.Defaults()...)
	}
	return files, err
}

// ruleTexts returns what a report asks for the texts of a rule: none for a default.
func ruleTexts(set *rules.Set) func(id string) (summary, why string) {
	return func(id string) (summary, why string) {
		if r := set.Rule(id); r != nil {
			return r.Summary, r.Why
		}
		return "", ""
	}
}

// compile reads and compiles the rules that the flags name.
func (f *ruleFlags) compile() (*rules.Set, error) {
	files, err := f.sources()
	if err != nil {
		return nil, err
	}
	return rules.Compile(files...)
}
