package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

func (p *program) rulesLintCommand() *cobra.Command {
	var noDefaults bool
	cmd := &cobra.Command{
		Use:   "lint [FILE...]",
		Short: "Find what is valid in rule files and yet unlikely to be meant",
		Long: `lint compiles rule files as a replay would, the embedded default rules after
them, and finds rules that can never match, rules with the same condition, rules
with too few tests, texts that masking hides from every template, rules that
have to be evaluated for each entry, phases that no rule sets, lists and macros
that nothing uses, and overrides that change nothing or keep blindness from
ending. Without a file it looks at the default rules alone.

It exits with 1 when it finds anything, and with 2 when a file does not compile.`,
		Example: `  heed rules lint mine.yaml
  heed rules lint --no-default-rules *.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && noDefaults {
				return cli.Usage(cmd, "nothing to look at: name a rule file, or leave --no-default-rules out")
			}
			return p.lintRules(args, noDefaults)
		},
	}
	noDefaultRules(cmd, &noDefaults)
	return cmd
}

func (p *program) lintRules(names []string, noDefaults bool) error {
	files, err := (&ruleFlags{names, noDefaults}).sources()
	if err != nil {
		return err
	}
	found := rules.Lint(files...)
	out := &output{w: p.Stdout}
	for i := range found {
		out.buf = text.AppendSafe(out.buf, found[i].String(), 0)
		out.buf = append(out.buf, '\n')
		if found[i].Severity == event.SeverityError {
			p.Raise(exitUsage)
		}
	}
	if len(found) == 0 {
		out.buf = fmt.Appendf(out.buf, "%s: nothing found\n", plural(len(files), "file"))
	} else {
		p.Raise(exitFinding)
	}
	return out.done("the findings")
}
