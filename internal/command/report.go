package command

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// reportFlags are the flags of report.
type reportFlags struct {
	rules  ruleFlags
	inputs inputFlags
	scrub  scrubFlags
	output string
}

func (p *program) reportCommand() *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report FILE... -o report.html",
		Short: "Write an HTML page about logs, to look at and to share",
		Long: `report replays logs and writes a page about them: whether the game is healthy, broken or
blind (a part of the log is missing), since when, and which mod is suspected; the
timeline; each group of entries with a sample, its mods and the rule that decided; and
the lines around it.

The page is one file. It loads nothing, sends nothing, and works without scripts.
Several logs become one page with a section each. The file stays below 5 MB for a log
of any length; what is left out is counted.

A page is meant to be shared, so names of users and computers, accounts, ids of
devices, network addresses, secrets and e-mail addresses are removed, if their form or
another line of the log shows what they are. --no-scrub keeps them.`,
		Example: `  heed report Player.log -o report.html
  heed report before.log after.log -o compare.html
  heed report --game rimworld -o report.html
  zcat old.log.gz | heed report - > report.html`,
		Args: f.inputs.atLeastOne(`a log to report on, or "-" for standard input, or --game`),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.output == standardInput && cli.IsTerminal(p.Stdout) {
				return cli.Usage(cmd, "a terminal cannot show a page: name a file, such as -o report.html")
			}
			names, err := p.inputs(&f.inputs, args)
			if err != nil {
				return err
			}
			if err := checkOutput(cmd, f.output, names); err != nil {
				return err
			}
			return p.report(cmd, f, names)
		},
	}
	f.rules.register(cmd)
	f.inputs.register(cmd)
	cmd.Flags().StringVarP(&f.output, "output", "o", standardInput, "write the page to `FILE`, - for standard output")
	f.scrub.register(cmd)
	return cmd
}

// report replays the logs and writes the page.
func (p *program) report(cmd *cobra.Command, f *reportFlags, names []string) error {
	files, err := f.rules.sources()
	if err != nil {
		return err
	}
	set, err := rules.Compile(files...)
	if err != nil {
		return err
	}
	normalizer, err := signature.New(set.Masking())
	if err != nil {
		return err
	}
	ev := set.NewEvaluator()
	var docs []*report.Document
	scrubber := f.scrub.scrubber(formatPage)
	replay := &replayFlags{ack: ackNever, prepare: func(s *source, c *report.Config) {
		c.Details = true
		c.Reason = func() []string { return s.reason(ev, normalizer) }
	}}
	ctx := cmd.Context()
	for _, name := range names {
		if ctx.Err() != nil {
			p.Raise(exitInterrupted)
			break
		}
		rep, err := p.replay(ctx, replay, set, name, &output{w: p.Stdout}, nil, scrubber)
		if err != nil {
			p.Fail(err)
		}
		if rep != nil {
			docs = append(docs, rep.Document(0))
		}
	}
	if docs == nil {
		return nil // reported already, log by log
	}
	data := report.HTML(nil, docs...)
	p.removed(scrubber)
	if f.output == standardInput {
		return p.print("the report", data)
	}
	if err := replaceFile(f.output, data); err != nil {
		return ioError(fmt.Errorf("cannot write the report: %w", err))
	}
	return nil
}

// reason returns the conditions by which the rule that decided s.record matched.
func (s *source) reason(ev *rules.Evaluator, n *signature.Normalizer) []string {
	f := &found{rec: s.record, entry: s.record.Entry, outcome: s.outcome}
	head, frames, _ := bytes.Cut(n.AppendTemplate(nil, f.entry.Message, f.entry.Stack), []byte("\n"))
	in := inputOf(f, string(head), string(frames))
	x := ev.Explain(&in, false)
	if x.Without == nil {
		return nil
	}
	clauses := x.Trials[len(x.Trials)-1].Clauses // of the rule that decided
	var out []string
	for i := range clauses {
		out = append(out, strings.TrimSpace(safe(clauses[i].Text, widthClause)+reason(&clauses[i])))
	}
	return out
}
