package command

import (
	"bufio"
	"context"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/rules"
)

func (p *program) recordsCommand() *cobra.Command {
	cmd := p.logCommand("records FILE...", func(cmd *cobra.Command, names []string) error {
		set, err := p.compile()
		if err != nil {
			return err
		}
		out := p.buffered()
		scrubber := p.newScrubber()
		p.eachLog(cmd.Context(), names, func(name string) error {
			if out.Flush() != nil {
				return nil
			}
			return p.records(cmd.Context(), set, name, out, scrubber)
		})
		p.removed(scrubber)
		return written("the records", out.Flush())
	})
	p.registerRules(cmd)
	p.registerMods(cmd)
	cmd.Flags().String("format", formatText, "write the `FORMAT` text or jsonl (a JSON object per line)")
	cli.Choice(cmd, "format", formatText, formatJSONL)
	p.registerScrub(cmd)
	return cmd
}

// records prints the records of one capture.
func (p *program) records(ctx context.Context, set *rules.Set, name string, out *bufio.Writer,
	scrubber *report.Scrubber,
) error {
	format := p.formats[0]
	shownName := scrubber.Text(name)
	return p.observe(ctx, set, name, func(src *source, outcome *heed.Outcome) bool {
		rec := src.Record
		if rec.StartLine == 0 { // a notice of capture itself
			return true
		}
		scrubber.Learn(rec.Message, rec.Stack)
		template, _ := src.Engine.Template(outcome.Signature)
		r := report.Record{
			File: shownName, StartLine: rec.StartLine, EndLine: rec.EndLine, Kind: rec.KindName(),
			Layout: rec.Layout.String(), Split: rec.Split.String(), Level: rec.Level, LevelBy: rec.LevelBy.String(),
			Cut:       rec.Cut,
			Signature: outcome.Signature.ID, Template: scrubber.Text(template),
			Disposition: outcome.Decision.Disposition, Severity: outcome.Decision.Severity,
			Rule: outcome.Decision.Rule, Escalated: outcome.Escalated, Phase: outcome.Phase, RefState: rec.RefState,
		}
		if format != formatText && r.Disposition.Urgent() {
			r.Blame = scrubber.Suspects(src.Blame())
		}
		write := report.AppendRecord
		if format == formatText {
			write = report.AppendRecordText
		}
		_, err := out.Write(write(out.AvailableBuffer(), &r))
		return err == nil
	})
}
