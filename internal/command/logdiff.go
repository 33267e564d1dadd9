package command

import (
	"github.com/spf13/cobra"

	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/report/compare"
)

func (p *program) logDiffCommand() *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW...",
		Short: "Show what is new, gone, more or less frequent in logs",
		Long: `diff compares logs by group: what is new, gone, more or less frequent in NEW, with
counts, rates, first lines, and the mods that the first urgent entry points at.
What matters comes first: blocking before advisory before what is ignored.

One set of groups is learned from all logs, so that ids, coordinates, names, the
order of lines and of files do not matter. A group is more or less frequent only if
it is by every measure of a log's length: per run, per record, and per hour where
all logs have a clock; by --factor at least, and beyond chance (a binomial test of
two rates with Wilson's bounds). CHANCE tells how likely it is that the other side
has none of a group that is new or gone, though it comes at the same rate. Where a
log went blind, or was cut, what seems gone may just be unseen, which is said. The
last record of a log counts as the longer one that it is the beginning of: the game
was killed while it wrote.

Where both sides list their mods, those that were added, updated or removed are
named; the load order alone is no difference.

As JSON, "new", "gone", "more" and "less" are arrays of groups; "worse" has those of
both sides that are judged more urgent than before.

Exit status as of heed replay. --fail-on new: an urgent group is new; blocking or
advisory (or blocking): one of that disposition is new, more frequent or worse;
blind: evidence of NEW is missing, or all
of it, as in an empty log.`,
		Example: `  heed diff good.log Player.log
  heed diff --format json yesterday.log today.log | jq '.new[] | {disposition, template}'
  heed diff --fail-on new,blind before.log after/*.log
  heed diff --format markdown old.log new.log > difference.md`,
		Args: twoSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(cmd); err != nil {
				return err
			}
			c, err := p.readSides(cmd, f, args)
			if c == nil {
				return err
			}
			d := c.collector.Diff()
			p.findings(f, &d.New, d.Added, d.More, d.Worse)
			return compared(p, f, c.scrubber, d)
		},
	}
	f.register(cmd)
	f.registerFailOn(cmd, "exit with 1 on `WHAT`: new, blocking, advisory, blind; several separated by commas")
	return cmd
}

// twoSides refuses a command line without an old and a new log.
func twoSides(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return cli.Usage(cmd, "name a log of before and one of now: OLD NEW")
	}
	return atLeastOne("a log")(cmd, args)
}

// readSides reads the log of before and those of now. Where it returns neither, what went
// wrong was told.
func (p *program) readSides(cmd *cobra.Command, f *compareFlags, args []string) (*comparing, error) {
	c, err := newComparing(f)
	if err != nil || !p.readAll(cmd, c, compare.Old, p.logs(args[:1])) || !p.readAll(cmd, c, compare.New, p.logs(args[1:])) {
		return nil, err
	}
	return c, nil
}

// logs returns the logs that the arguments of one side stand for. Where that is
// none, what is wrong was told.
func (p *program) logs(args []string) []string {
	names, err := p.inputs(&inputFlags{}, args)
	if err != nil {
		panic("BUG: without --game nothing is looked for: " + err.Error())
	}
	return names
}
