package command

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/cli"
	"github.com/heedlog/heed/report"
	"github.com/heedlog/heed/report/compare"
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
	cli.WidthFlag(cmd, &f.width)
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
	if err := checkFailOn(cmd, f.failOn, failNew, failBlocking, failAdvisory, failBlind); err != nil {
		return err
	}
	switch {
	case !(f.factor >= 1 && f.factor <= 1e6):
		return cli.Usage(cmd, "--factor %v: want 1 to 1000000, such as 2 for twice as frequent", f.factor)
	case !(f.confidence > 0.5 && f.confidence < 1):
		return cli.Usage(cmd, "--confidence %v: want more than 0.5 and less than 1, such as 0.99", f.confidence)
	}
	return checkLayout(cmd, f.width, f.top)
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
		return p.print("the report", c.AppendJSON(nil))
	case formatMarkdown:
		return p.print("the report", c.AppendMarkdown(nil, f.top))
	}
	return p.print("the report", c.AppendText(nil, p.layout(f.width, f.top)))
}

// comparing is logs that are being compared.
type comparing struct {
	set        *rules.Set
	normalizer *signature.Normalizer
	collector  *compare.Collector
	scrubber   *report.Scrubber // of what is shown
	silent     []string         // logs that say nothing at all
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
	return &comparing{set: set, normalizer: normalizer, collector: collector, scrubber: f.scrub.scrubber(f.format)}, nil
}

// comparer shows what was compared.
func (c *comparing) comparer() *report.Comparer {
	return &report.Comparer{Scrub: c.scrubber, Rule: ruleTexts(c.set)}
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
	var run *compare.Run
	var blind *compare.Gap // the stretch of blindness that goes on
	last := 0
	var mods []compare.Mod
	spoke, header, headless := false, false, false
	err := p.observe(ctx, c.set, name, func(s *source, o *heed.Outcome) bool {
		if run == nil {
			run = c.run(side, name, s)
		}
		rec := s.record
		headless = s.began.Headless()
		line := rec.Line()
		last = max(last, line, rec.EndLine)
		switch {
		case o.Blind && blind == nil:
			blind = &compare.Gap{Kind: compare.GapBlind, From: line, Rule: strings.Clone(o.Decision.Rule)}
		case !o.Blind && blind != nil:
			blind.To = line
			run.Incomplete(*blind)
			blind = nil
		}
		if rec.Mods != nil {
			mods = append(mods, listedMods(rec.Mods)...)
		}
		switch {
		case rec.Context:
			run.Skip()
			header = true
			return true
		case rec.Kind == event.KindNotice:
			if rec.Status == event.StatusRestarted {
				mods = nil // those of the last run count
			} else {
				run.Incomplete(compare.Gap{Kind: rec.Status.String(), From: line, To: line})
			}
			return true
		}
		spoke = true
		own := o.Decision.Disposition
		if o.Escalated {
			if r := c.set.Rule(o.Decision.Rule); r != nil {
				own = r.Disposition
			}
		}
		run.Observe(rec, o, own)
		return true
	})
	if run == nil && err == nil { // a log without a line
		run = c.collector.Run(side, compare.RunConfig{File: name, Template: func(signature.Signature) (string, bool) { return "", false }})
	}
	if run == nil {
		return false, err
	}
	if blind != nil {
		run.Incomplete(*blind)
	}
	if mods != nil {
		run.Mods(mods)
	}
	switch {
	case err != nil:
		run.Incomplete(compare.Gap{Kind: compare.GapUnread, From: last})
	case !spoke && header:
		run.Incomplete(compare.Gap{Kind: compare.GapHeader})
		c.silent = append(c.silent, name+": only the header of an upload")
	case !spoke:
		run.Incomplete(compare.Gap{Kind: compare.GapEmpty})
		c.silent = append(c.silent, name+": empty")
	}
	if headless {
		run.Incomplete(compare.Gap{Kind: compare.GapBeginning, From: 1, To: 1})
	}
	return true, err
}

// run begins a log on one side, which is asked about the last record of src.
func (c *comparing) run(side compare.Side, name string, src *source) *compare.Run {
	return c.collector.Run(side, compare.RunConfig{
		File: name,
		Template: func(sig signature.Signature) (string, bool) {
			learnNames(c.scrubber, src.record) // of each text the first record, as a replay does
			if t, ok := src.engine.Template(sig); ok {
				return t, true
			}
			e := &src.record.Entry
			return string(c.normalizer.AppendTemplate(nil, e.Message, e.Stack)), true
		},
		Blame: func() []heed.Suspect {
			if !src.record.IsLog() {
				return nil
			}
			return src.blame()
		},
		Sample: func() string {
			return sampleOf(&src.record.Entry)
		},
	})
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
			p.Fail(withCommand(cmd, name, err))
			if errors.Is(err, context.Canceled) {
				break
			}
		}
	}
	return some
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
