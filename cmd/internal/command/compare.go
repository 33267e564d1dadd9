package command

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/rules"
)

// registerCompare adds the flags of all commands that compare logs, with more formats.
func (p *program) registerCompare(cmd *cobra.Command, more ...string) {
	p.registerRules(cmd)
	p.registerMods(cmd)
	help := "write the `FORMAT` text, json or markdown"
	if more != nil {
		help = "write the `FORMAT` text, json, markdown, junit or sarif (findings, for CI)"
	}
	p.registerView(cmd, help, "show the first `N` groups of each section of text or markdown, 0 for all",
		append([]string{formatText, formatJSON, formatMarkdown}, more...)...)
}

// compared writes the comparison in the formats of the flags.
func (p *program) compared(cmd *cobra.Command, c *comparing, found report.Comparison) error {
	found.Top, found.Rule, found.Scrub = p.top, c.rule, c.scrubber
	document := func(i int) []byte { return render(p, p.formats[i], 0, &found) }
	p.removed(c.scrubber)
	p.incomplete()
	if err := p.Print("the report", document(0)); err != nil {
		return err
	}
	return p.writeMore(cmd, document)
}

// comparing is logs that are being compared.
type comparing struct {
	set       *rules.Set
	collector *compare.Collector
	scrubber  *report.Scrubber // of the output
	silent    []string         // logs without evidence
	rule      func(id string) report.RuleText
}

// newComparing begins a comparison, in which findings that name other mods than some do not fail.
func (p *program) newComparing(mods ...string) (*comparing, error) {
	set, err := p.compile()
	if err != nil {
		return nil, err
	}
	scrubber := p.newScrubber()
	collector := compare.NewCollector(compare.Config{Rules: set, Scrub: scrubber, Mods: mods})
	return &comparing{set: set, collector: collector, scrubber: scrubber}, nil
}

// read replays a log into one side. A log that cannot be read to its end is compared up to there, with a gap. It
// returns false if nothing of the log could be read.
func (p *program) read(ctx context.Context, c *comparing, side compare.Side, name string) (bool, error) {
	var run *compare.Run
	log := &capture.Environment{}
	err := p.observe(ctx, c.set, name, func(s *source, o *heed.Outcome) bool {
		if run == nil {
			run = c.collector.Run(side, p.fileName(name), s.Engine)
			c.rule = s.Report(name, nil).Rule
		}
		log = &s.Began
		run.Observe(s.Record, o)
		return true
	})
	if run == nil && err == nil { // a log without a line
		run = c.collector.Run(side, p.fileName(name), nil)
	}
	if run == nil {
		return false, err
	}
	if silence := run.End(err, log); silence != "" {
		c.silent = append(c.silent, name+": "+silence)
	}
	return true, err
}

// readAll replays logs into one side, in order. It reports whether there is
// anything to compare: at least one log of the side was read.
func (p *program) readAll(cmd *cobra.Command, c *comparing, side compare.Side, names []string) bool {
	some := false
	p.eachLog(cmd.Context(), names, func(name string) error {
		ok, err := p.read(cmd.Context(), c, side, name)
		some = some || ok
		return err
	})
	return some
}

// findings raises the exit status that results from --fail-on: rows are the findings, fresh the
// new ones.
func (p *program) findings(side *compare.Totals, fresh []compare.Group, rows ...[]compare.Group) {
	worst := func(groups []compare.Group) (d event.Disposition) {
		for i := range groups {
			d = max(d, groups[i].Disposition)
		}
		return d
	}
	blind := slices.ContainsFunc(side.Files, func(f compare.File) bool { return len(f.Gaps) > 0 })
	p.fails(worst(fresh), worst(slices.Concat(append(rows, fresh)...)), blind)
}

// readSides reads the old logs and the new logs. It returns nil and nil if the error was already reported.
func (p *program) readSides(cmd *cobra.Command, args []string) (*comparing, error) {
	c, err := p.newComparing()
	if err != nil {
		return nil, err
	}
	before, now, err := p.sides(args)
	if err != nil || !p.readAll(cmd, c, compare.Old, before) || !p.readAll(cmd, c, compare.New, now) {
		return nil, err
	}
	return c, nil
}

func (p *program) logDiffCommand() *cobra.Command {
	cmd := p.sidesCommand("diff", func(cmd *cobra.Command, c *comparing) error {
		d := c.collector.Diff()
		p.findings(&d.New, d.Added, d.More, d.Worse)
		return p.compared(cmd, c, report.Comparison{Found: d})
	})
	p.registerFailOn(cmd, "new, blocking, advisory, blind", failNew, failBlocking, failAdvisory, failBlind)
	return cmd
}

func (p *program) suspectsCommand() *cobra.Command {
	var lists [2]string // files with lists of mods, by side
	var mods [2][]capture.ListedMod
	cmd := p.sidesCommand("suspects", func(cmd *cobra.Command, c *comparing) error {
		for side, name := range lists {
			if name != "" {
				c.collector.Mods(compare.Side(side), mods[side])
			}
		}
		return p.compared(cmd, c, report.Comparison{Found: c.collector.Suspects()})
	})
	cli.Checked(cmd, func(*cobra.Command) (err error) { // before the logs, which take longer to read
		for side, name := range lists {
			if name != "" && err == nil {
				mods[side], err = readMods(name)
			}
		}
		return err
	})
	cmd.Flags().StringVar(&lists[compare.Old], "old-mods", "", "read the mods of the old log from `FILE`, a ModsConfig.xml")
	cmd.Flags().StringVar(&lists[compare.New], "new-mods", "", "read the mods of the new logs from `FILE`, a ModsConfig.xml")
	return cmd
}

// maxModsConfig bounds, in bytes, a list of mods in a file of its own.
const maxModsConfig = 4 << 20

// readMods reads the list of mods of a ModsConfig.xml.
func readMods(name string) ([]capture.ListedMod, error) {
	data, err := files.Read(name, maxModsConfig)
	if err != nil {
		return nil, ioError(err)
	}
	listed, err := files.ModsConfig(data)
	if err != nil {
		return nil, ioError(fmt.Errorf("%s: %w", name, err))
	}
	mods := make([]capture.ListedMod, len(listed))
	for i, id := range listed {
		mods[i].Name, mods[i].PackageID = id, id
	}
	return mods, nil
}
