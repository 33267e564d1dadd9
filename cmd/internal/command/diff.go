package command

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/report"
)

func (p *program) logDiffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff OLD NEW... | OLD --game GAME | --game GAME --previous",
		Short: "Show what is new, gone, more or less frequent in logs",
		Long: `diff compares logs by group. It shows what is new, gone, more or less frequent in NEW,
with counts, rates, first lines, and the mods that the first urgent entry points at.
Blocking comes first, then advisory, then ignored.

Ids, coordinates, names, and the order of lines and files make no difference. A group
is more or less frequent only if every measure agrees: per run, per record, and per
hour where all logs have times; by at least twice, and beyond chance (a binomial
test of two rates with Wilson's bounds). If a log went blind or was cut, a group that
seems gone may only be missing from the log; the report names such logs. If the game was
killed while it wrote the last record, that record counts as the longer
one that begins with the same text.

With --game, NEW is the newest log of that game on this machine, or with --previous that
of the run before; if no OLD is named, --previous is OLD, the newest NEW.

If both sides list their mods, the report names the mods that were added, updated or
removed. A change of load order alone is not reported.

As JSON, "new", "gone", "more" and "less" are arrays of groups; "worse" has the groups
of both sides that are now classified as more urgent.

Exit status as of heed replay. --fail-on new: an urgent group is new; blocking or
advisory (or blocking): a group of that disposition is new, more frequent or worse;
blind: a part of NEW is missing, or a log is empty.`,
		Example: `  heed diff good.log Player.log
  heed diff --game rimworld --previous
  heed diff --format json yesterday.log today.log | jq '.new[] | {disposition, template}'
  heed diff --fail-on new,blind before.log after/*.log
  heed diff --format markdown old.log new.log > difference.md`,
		Args: p.twoSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.readSides(cmd, args)
			if c == nil {
				return err
			}
			d := c.collector.Diff()
			p.findings(&d.New, d.Added, d.More, d.Worse)
			return p.compared(cmd, c, report.Comparison{Found: d})
		},
	}
	p.registerCompare(cmd)
	p.registerFailOn(cmd, "new, blocking, advisory, blind", failNew, failBlocking, failAdvisory, failBlind)
	p.registerSides(cmd)
	return cmd
}
