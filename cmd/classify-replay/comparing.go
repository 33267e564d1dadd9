package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/compare"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// failNew asks for 1 when something is new, or speaks against a baseline.
const failNew = "new"

// compareFlags are those of the commands that compare logs.
type compareFlags struct {
	rules      ruleFlags
	format     string
	top        int
	width      int
	failOn     []string
	factor     float64
	confidence float64
	scrub      scrubFlags
}

func (f *compareFlags) register(cmd *cobra.Command) {
	f.rules.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", formatText, "write the `FORMAT` text, json or markdown")
	cli.Completes(cmd, "format", formatText, formatJSON, formatMarkdown)
	flags.IntVar(&f.top, "top", defaultTop, "show the first `N` groups of each section of text or markdown, 0 for all")
	widthFlag(cmd, &f.width)
	flags.Float64Var(&f.factor, "factor", compare.DefaultFactor, "call a group more or less frequent from this `RATIO` of rates on")
	flags.Float64Var(&f.confidence, "confidence", compare.DefaultConfidence, "hold the bounds of all ratios with this `PROBABILITY`")
	f.scrub.register(cmd)
}

// registerFailOn adds --fail-on, for the commands that judge.
func (f *compareFlags) registerFailOn(cmd *cobra.Command, what string) {
	cmd.Flags().StringSliceVar(&f.failOn, "fail-on", nil, what)
}

func (f *compareFlags) validate(cmd *cobra.Command) error {
	if err := cli.OneOf(cmd, "format", f.format, formatText, formatJSON, formatMarkdown); err != nil {
		return err
	}
	if flag := cmd.Flags().Lookup("fail-on"); flag != nil && flag.Changed && len(f.failOn) == 0 {
		f.failOn = []string{""} // a variable that is not set would ask for nothing, unnoticed
	}
	for _, what := range f.failOn {
		if err := cli.OneOf(cmd, "fail-on", what, failNew, failBlocking, failAdvisory, failBlind); err != nil {
			return err
		}
	}
	switch {
	case f.top < 0:
		return cli.Usage(cmd, "--top %d: must not be negative; 0 shows all", f.top)
	case !(f.factor >= 1 && f.factor <= 1e6):
		return cli.Usage(cmd, "--factor %v: want 1 to 1000000, such as 2 for twice as frequent", f.factor)
	case !(f.confidence > 0.5 && f.confidence < 1):
		return cli.Usage(cmd, "--confidence %v: want more than 0.5 and less than 1, such as 0.99", f.confidence)
	}
	return checkWidth(cmd, f.width)
}

// comparer shows what was compared, by the flags.
func (f *compareFlags) comparer(set *rules.Set) *report.Comparer {
	return &report.Comparer{Scrub: f.scrub.scrubber(f.format), Rule: func(id string) (summary, why string) {
		if r := set.Rule(id); r != nil {
			return r.Summary, r.Why
		}
		return "", ""
	}}
}

// comparison is what a [report.Comparer] makes.
type comparison interface {
	AppendJSON(dst []byte) []byte
	AppendText(dst []byte, o report.TextOptions) []byte
	AppendMarkdown(dst []byte, top int) []byte
}

// compared writes what was compared in the format that is asked for.
func (p *program) compared(f *compareFlags, by *report.Comparer, c comparison) error {
	p.removed(by.Scrub)
	p.incomplete()
	switch f.format {
	case formatJSON:
		return p.write(c.AppendJSON(nil))
	case formatMarkdown:
		return p.write(c.AppendMarkdown(nil, f.top))
	}
	return p.write(c.AppendText(nil, p.layout(f.width, f.top)))
}

// comparing is logs that are being compared.
type comparing struct {
	set        *rules.Set
	normalizer *signature.Normalizer
	collector  *compare.Collector
}

func newComparing(f *compareFlags) (*comparing, error) {
	set, err := f.rules.compile()
	if err != nil {
		return nil, err
	}
	normalizer, err := signature.New(set.Masking())
	if err != nil {
		return nil, err
	}
	collector, err := compare.NewCollector(compare.Config{Factor: f.factor, Confidence: f.confidence})
	if err != nil {
		return nil, err
	}
	return &comparing{set, normalizer, collector}, nil
}

// versions returns what a baseline depends on.
func (c *comparing) versions() compare.Versions {
	return compare.Versions{Signatures: signature.Version, Masking: c.normalizer.Version(), Rules: c.set.Hash()}
}

// mask returns the canonical template of a template.
func (c *comparing) mask(template string) string {
	return string(c.normalizer.AppendTemplate(nil, template, ""))
}

// read replays a log into one side. What could be read of one that has no end is
// compared, and the gap told. It returns false for a log of which nothing could.
func (p *program) read(ctx context.Context, c *comparing, side compare.Side, name string) (bool, error) {
	var (
		src    *source
		run    *compare.Run
		blind  compare.Gap
		within bool // a stretch of blindness
		last   int
	)
	begin := func(s *source) {
		src = s
		run = c.collector.Run(side, compare.RunConfig{
			File: name,
			Template: func(sig signature.Signature) (string, bool) {
				if t, ok := src.engine.Template(sig); ok {
					return t, true
				}
				e := entryOf(src.record)
				return string(c.normalizer.AppendTemplate(nil, e.Message, e.Stack)), true
			},
			Blame: func() []heed.Suspect {
				if src.record.Kind != capture.KindLog {
					return nil
				}
				return src.engine.Blame(&src.record.Log)
			},
			Sample: func() string {
				e := entryOf(src.record)
				return sampleOf(&e)
			},
		})
	}
	err := p.observe(ctx, c.set, name, func(s *source, o *heed.Outcome) bool {
		if run == nil {
			begin(s)
		}
		rec := s.record
		line := placeOf(name, rec).line
		last = max(last, line, rec.EndLine)
		switch {
		case o.Blind && !within:
			within, blind = true, compare.Gap{Kind: failBlind, From: line, Rule: strings.Clone(o.Decision.Rule)}
		case !o.Blind && within:
			within, blind.To = false, line
			run.Incomplete(blind)
		}
		if rec.Mods != nil {
			run.Mods(listedMods(rec.Mods))
		}
		switch rec.Kind {
		case capture.KindContext:
			return true
		case capture.KindNotice:
			if rec.Notice.Status != event.StatusRestarted {
				run.Incomplete(compare.Gap{Kind: rec.Notice.Status.String(), From: line, To: line})
			}
			return true
		}
		own := o.Decision.Disposition
		if o.Escalated {
			if r := c.set.Rule(o.Decision.Rule); r != nil {
				own = r.Disposition
			}
		}
		run.Observe(&compare.Entry{
			Signature: o.Signature, Disposition: o.Decision.Disposition, Own: own, Severity: o.Decision.Severity,
			Rule: o.Decision.Rule, Line: line, Time: entryOf(rec).Time,
		})
		return true
	})
	if run == nil && err == nil { // a log without a line
		run = c.collector.Run(side, compare.RunConfig{File: name, Template: func(signature.Signature) (string, bool) { return "", false }})
	}
	if run == nil {
		return false, err
	}
	if within {
		run.Incomplete(blind)
	}
	if err != nil {
		run.Incomplete(compare.Gap{Kind: compare.GapUnread, From: last})
	}
	return true, err
}

// listedMods returns the mods that a record lists.
func listedMods(list *capture.ModList) []compare.Mod {
	mods := make([]compare.Mod, len(list.Mods))
	for i, m := range list.Mods {
		mods[i] = compare.Mod{Name: cmp.Or(m.Name, m.PackageID), PackageID: m.PackageID, Version: m.Versions, Assemblies: m.Assemblies}
	}
	return mods
}

// readAll replays logs into one side, in order. It reports whether there is
// anything to compare: a side of which no log could be read says nothing.
func (p *program) readAll(cmd *cobra.Command, c *comparing, side compare.Side, names []string) bool {
	some := false
	for _, name := range names {
		ok, err := p.read(cmd.Context(), c, side, name)
		some = some || ok
		if err != nil {
			p.Fail(p.explain(cmd, name, err))
			if errors.Is(err, context.Canceled) {
				break
			}
		}
	}
	return some
}

// write writes what was compared.
func (p *program) write(out []byte) error {
	o := &output{w: p.Stdout, buf: out}
	if !o.flush() {
		return inputError(fmt.Errorf("cannot write the report: %w", o.err))
	}
	return nil
}

// findings raises the exit status that --fail-on asks for: rows are those that
// speak, fresh those of them that are new.
func (p *program) findings(f *compareFlags, side *report.CompareSide, fresh []report.CompareRow, rows ...[]report.CompareRow) {
	urgent := func(d event.Disposition) bool { return d.Urgent() }
	blocking := func(d event.Disposition) bool { return d == event.Blocking }
	holds := func(rows []report.CompareRow, f func(event.Disposition) bool) bool {
		return slices.ContainsFunc(rows, func(r report.CompareRow) bool { return f(r.Disposition) })
	}
	all := slices.Concat(append(rows, fresh)...)
	for _, what := range f.failOn {
		found := false
		switch what {
		case failNew:
			found = holds(fresh, urgent)
		case failBlocking:
			found = holds(all, blocking)
		case failAdvisory:
			found = holds(all, urgent)
		case failBlind:
			found = slices.ContainsFunc(side.Files, func(f report.CompareFile) bool { return len(f.Gaps) > 0 })
		}
		if found {
			p.Raise(exitFinding)
		}
	}
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

// twoSides refuses a command line without an old and a new log.
func twoSides(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return cli.Usage(cmd, "name a log of before and one of now: OLD NEW")
	}
	return atLeastOne("a log")(cmd, args)
}

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
all logs have a clock; by --factor at least, and beyond chance (a binomial test of two
rates with Wilson's bounds). CHANCE says of what is new or gone how likely the other
side would have none of it at the same rate. Where a log went blind, or was cut,
what seems gone may just be unseen, which is said. The last record of a log counts as
another that it is the beginning of: the game was killed while it wrote.

As JSON, "new", "gone", "more" and "less" are arrays of groups; "worse" has those of
both sides that are judged to be more urgent than before.

Exit status as of classify-replay. --fail-on new: an urgent group is new; blocking or
advisory (or blocking): one of that disposition is new, more frequent or worse;
blind: evidence of NEW is missing.`,
		Example: `  classify-replay diff good.log Player.log
  classify-replay diff --format json yesterday.log today.log | jq '.new[] | {disposition, template}'
  classify-replay diff --fail-on new,blind before.log after/*.log
  classify-replay diff --format markdown old.log new.log > difference.md`,
		Args: twoSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(cmd); err != nil {
				return err
			}
			c, err := p.readSides(cmd, f, args)
			if c == nil {
				return err
			}
			comparer := f.comparer(c.set)
			d := comparer.Diff(c.collector.Diff())
			p.findings(f, &d.New, d.Added, d.More, d.Worse)
			return p.compared(f, comparer, d)
		},
	}
	f.register(cmd)
	f.registerFailOn(cmd, "exit with 1 on `WHAT`: new, blocking, advisory, blind; several with commas")
	return cmd
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

// maxModsConfig bounds a list of mods that is read from a file of its own.
const maxModsConfig = 4 << 20

// readMods reads the list of mods of a ModsConfig.xml.
func readMods(name string) ([]compare.Mod, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, inputError(err)
	}
	defer func() { _ = f.Close() }() // only read from
	listed, err := capture.ReadModsConfig(io.LimitReader(f, maxModsConfig))
	if err != nil {
		return nil, inputError(fmt.Errorf("%s: %w", name, err))
	}
	mods := make([]compare.Mod, len(listed))
	for i, id := range listed {
		mods[i] = compare.Mod{Name: id, PackageID: id}
	}
	return mods, nil
}

func (p *program) suspectsCommand() *cobra.Command {
	f := &compareFlags{}
	var lists [2]string // files with lists of mods, by side
	cmd := &cobra.Command{
		Use:   "suspects OLD NEW...",
		Short: "Name the mods that may be the cause of what is new in a log",
		Long: `suspects compares logs as diff does and names, for each urgent group that is new or
more frequent, the mods that may be its cause, ordered by evidence: what points at a
mod (its code on the stack, a file, a name in the text) and what became of it between
the lists of mods (added, updated, removed, moved in the load order). Both are said.

A HugsLib upload has a list of mods with versions, and so have logs of some mod loaders;
a log of RimWorld has the package ids once a game was loaded. For other logs, --old-mods
and --new-mods name a ModsConfig.xml, which has the load order. Without lists on both
sides, only what points at a mod is known, and whether it was blamed for anything before.

The score is that of "blame" in records, or 30 for a name that stands in the text, plus
40 for a mod that was added, 30 for one updated, 15 removed, 10 moved; 15 for one that
no list has and that was blamed for nothing before. It orders, and is no probability.`,
		Example: `  classify-replay suspects good.txt broken.txt
  classify-replay suspects --old-mods ModsConfig.old.xml --new-mods ModsConfig.xml Player-prev.log Player.log
  classify-replay suspects --format json good.txt broken.txt | jq '.groups[0].suspects[0]'`,
		Args: twoSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.validate(cmd); err != nil {
				return err
			}
			c, err := p.readSides(cmd, f, args)
			if c == nil {
				return err
			}
			for side, name := range lists {
				if name == "" {
					continue
				}
				mods, err := readMods(name)
				if err != nil {
					return err
				}
				c.collector.Mods(compare.Side(side), mods)
			}
			diff := c.collector.Diff()
			comparer := f.comparer(c.set)
			d := comparer.Suspects(diff, c.collector.Investigate(diff))
			return p.compared(f, comparer, d)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&lists[compare.Old], "old-mods", "", "take the mods of the old log from `FILE`, a ModsConfig.xml")
	cmd.Flags().StringVar(&lists[compare.New], "new-mods", "", "take the mods of the new logs from `FILE`, a ModsConfig.xml")
	return cmd
}
