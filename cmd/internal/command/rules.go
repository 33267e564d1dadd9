package command

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/rules/lint"
)

func (p *program) rulesCommand() *cobra.Command {
	return cli.Group(&cobra.Command{Use: "rules"}, p.ofRuleFiles("check [FILE...]", p.checkRules), p.rulesDiffCommand(),
		p.ofRuleFiles("lint [FILE...]", p.lintRules), p.rulesProposeCommand(), p.rulesSchemaCommand())
}

// ofRuleFiles makes a command that reads rule files, followed by the default rules: run gets all of them.
func (p *program) ofRuleFiles(use string, run func(files []rules.File) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && p.noDefaultRules {
				return cli.Usage(cmd, "nothing to check: name a rule file, or leave --no-default-rules out")
			}
			files, err := p.ruleFiles(args...)
			if err != nil {
				return err
			}
			return run(files)
		},
	}
	p.registerNoDefaults(cmd, noDefaultsHelp)
	return cmd
}

func (p *program) checkRules(files []rules.File) error {
	set, err := compiled(files, p.Message)
	if err != nil {
		return err
	}
	own := map[string]int{} // rules, by file
	for _, r := range set.Rules() {
		own[r.File]++
	}
	results := set.Test()
	type outcomes struct{ passed, failed, overridden int }
	of := map[string]outcomes{} // by file
	failed := 0
	for i := range results {
		res := &results[i]
		n := of[res.File]
		switch {
		case res.Failed:
			n.failed++
			failed++
			p.Message("%s", res)
		case res.Overridden:
			n.overridden++
			if !set.Rule(res.Got.Rule).MatchesAll { // lint says that once
				p.Message("%s", res)
			}
		default:
			n.passed++
		}
		of[res.File] = n
	}
	var out []byte
	for _, f := range files {
		out = fmt.Appendf(out, "%s: %s, ", safe(f.Name, 0), text.Count(own[f.Name], "rule"))
		n := of[f.Name]
		if total := n.passed + n.failed + n.overridden; total > 0 {
			out = fmt.Appendf(out, "%s: %s\n", text.Count(total, "test"), joinParts(
				part{n.passed, "passed"}, part{n.failed, "FAILED"}, part{n.overridden, "overridden by an earlier file"}))
		} else {
			out = append(out, "no tests\n"...)
		}
	}
	out = fmt.Appendf(out, "%s in %s: ", text.Count(len(set.Rules()), "rule"), text.Count(len(files), "file"))
	if failed > 0 {
		out = fmt.Appendf(out, "%d of %s failed\n", failed, text.Count(len(results), "test"))
	} else {
		out = fmt.Appendf(out, "ok, none of %s failed\n", text.Count(len(results), "test"))
	}
	if err := p.print("the report", out); err != nil {
		return err
	}
	if failed > 0 {
		return errors.New("rules: tests failed: change the rule, or the test")
	}
	return nil
}

func (p *program) lintRules(files []rules.File) error {
	found := lint.Lint(files...)
	_, _ = compiled(files, p.Message) // its errors are findings
	var out []byte
	for i := range found {
		out = text.AppendSafe(out, found[i].String(), 0)
		out = append(out, '\n')
		if found[i].Severity == event.SeverityError {
			p.Raise(exitUsage)
		}
	}
	if len(found) == 0 {
		read := text.Count(len(files), "file")
		if own := len(files) - len(rules.Defaults()); own > 0 && !p.noDefaultRules {
			read = text.Count(own, "file") + " and the default rules"
		}
		out = fmt.Appendf(out, "%s: nothing found\n", read)
	} else {
		p.Raise(exitFinding)
	}
	return p.print("the findings", out)
}
