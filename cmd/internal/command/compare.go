package command

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/rules"
)

// failNew is the value of --fail-on for groups that are new, or unknown to a baseline.
const failNew = "new"

// compareFlags are the flags of the commands that compare logs.
type compareFlags struct {
	viewFlags
	rules  ruleFlags
	failOn []string
	mods   []string // of --fail-on-mod
}

// register adds the flags of all of them, with more formats.
func (f *compareFlags) register(p *program, cmd *cobra.Command, more ...string) {
	f.rules.register(p, cmd)
	p.registerMods(cmd)
	help := "write the `FORMAT` text, json or markdown"
	if more != nil {
		help = "write the `FORMAT` text, json, markdown, junit or sarif (findings, for CI)"
	}
	f.viewFlags.register(cmd, help, "show the first `N` groups of each section of text or markdown, 0 for all",
		append([]string{formatText, formatJSON, formatMarkdown}, more...)...)
}

// registerFailOn adds --fail-on and --last-line, for the commands that have findings and fail on missing evidence.
func (f *compareFlags) registerFailOn(p *program, cmd *cobra.Command) {
	p.registerLastLine(cmd)
	cmd.Flags().StringSliceVar(&f.failOn, "fail-on", nil, "exit with 1 on `WHAT`: new, blocking, advisory, blind, several separated by commas; or never")
	what := []string{failNew, failBlocking, failAdvisory, failBlind, failNever}
	cli.Completes(cmd, "fail-on", what...)
	cli.Checked(cmd, func(cmd *cobra.Command) error { return checkFailOn(cmd, f.failOn, what...) })
}

// registerLastLine adds --last-line, for the commands that fail on missing evidence.
func (p *program) registerLastLine(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.lastLine, "last-line", "", "count a log as cut if no line of its last run contains `TEXT`, such as the last words of a test run")
}

// compared writes the comparison in the formats of the flags.
func (p *program) compared(f *compareFlags, c *comparing, found report.Comparison) error {
	shown := c.shows(found, f.top)
	write := func(format string) []byte {
		switch format {
		case formatJSON:
			return report.JSON(nil, shown)
		case formatMarkdown:
			return report.Markdown(nil, shown)
		case formatJUnit:
			return report.JUnit(nil, shown)
		case formatSARIF:
			return report.SARIF(nil, shown)
		}
		return report.Text(nil, shown, p.layout(f.width))
	}
	p.removed(c.scrubber)
	p.incomplete()
	formats := f.formats()
	err := p.print("the report", write(formats[0]))
	for _, format := range formats[1:] {
		err = cmp.Or(err, f.writeTo(format, write(format)))
	}
	return err
}

// comparing is logs that are being compared.
type comparing struct {
	set       *rules.Set
	collector *compare.Collector
	formats   []string
	scrubber  *report.Scrubber // of the output
	silent    []string         // logs without evidence
	rule      func(id string) report.RuleText
}

func (p *program) newComparing(f *compareFlags) (*comparing, error) {
	set, err := f.rules.compile()
	if err != nil {
		return nil, err
	}
	scrubber := p.scrubber(&f.scrub, f.formats()...)
	collector := compare.NewCollector(compare.Config{Rules: set, Scrub: scrubber, Mods: f.mods})
	return &comparing{set: set, collector: collector, formats: f.formats(), scrubber: scrubber}, nil
}

// shows adds to a comparison the values that its renderers need.
func (c *comparing) shows(found report.Comparison, top int) *report.Comparison {
	found.Top, found.Rule, found.Scrub = top, c.rule, c.scrubber
	return &found
}

// read replays a log into one side. A log that cannot be read to its end is compared up to there, with a gap. It
// returns false if nothing of the log could be read.
func (p *program) read(ctx context.Context, c *comparing, side compare.Side, name string) (bool, error) {
	var run *compare.Run
	log := &capture.Environment{}
	err := p.observe(ctx, c.set, name, func(s *source, o *heed.Outcome) bool {
		if run == nil {
			run = c.collector.Run(side, fileName(c.formats, name), s.Engine)
			c.rule = s.Report(name, nil).Rule
		}
		log = &s.Began
		run.Observe(s.Record, o)
		return true
	})
	if run == nil && err == nil { // a log without a line
		run = c.collector.Run(side, fileName(c.formats, name), nil)
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
func (p *program) findings(f *compareFlags, side *compare.Totals, fresh []compare.Group, rows ...[]compare.Group) {
	worst := func(groups []compare.Group) (d event.Disposition) {
		for i := range groups {
			d = max(d, groups[i].Disposition)
		}
		return d
	}
	all := worst(slices.Concat(append(rows, fresh)...))
	blind := slices.ContainsFunc(side.Files, func(f compare.File) bool { return len(f.Gaps) > 0 })
	if slices.Contains(f.failOn, failNew) && worst(fresh).Urgent() ||
		slices.Contains(f.failOn, failBlocking) && all == event.Blocking ||
		slices.Contains(f.failOn, failAdvisory) && all.Urgent() || slices.Contains(f.failOn, failBlind) && blind {
		p.Raise(exitFinding)
	}
}

// readSides reads the old logs and the new logs. It returns nil and nil if the error was already reported.
func (p *program) readSides(cmd *cobra.Command, f *compareFlags, from *inputFlags, args []string) (*comparing, error) {
	c, err := p.newComparing(f)
	if err != nil {
		return nil, err
	}
	before, now, err := p.sides(from, args)
	if err != nil || !p.readAll(cmd, c, compare.Old, before) || !p.readAll(cmd, c, compare.New, now) {
		return nil, err
	}
	return c, nil
}
