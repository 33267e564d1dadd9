package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/text"
)

// defaultBaseline is the file of a baseline where none is named.
const defaultBaseline = "heed-baseline.yaml"

func (p *program) baselineCommand() *cobra.Command {
	return cli.Group(&cobra.Command{Use: "baseline"}, p.baselineWriteCommand(), p.baselineCheckCommand())
}

// dayFlag adds the flag that names the day, which is today without it.
func (p *program) dayFlag(cmd *cobra.Command, day *time.Time) {
	date := cmd.Flags().String("date", "", "use `DAY` as the date, such as 2026-01-31 (default: today, in UTC)")
	cli.Checked(cmd, func(cmd *cobra.Command) (err error) {
		*day = p.Now()
		if *date != "" {
			*day, err = time.Parse(time.DateOnly, *date)
		}
		if err != nil {
			return cli.Usage(cmd, "--date %q: give it a day, such as 2026-01-31", *date)
		}
		return nil
	})
}

// readBaseline reads a baseline.
func readBaseline(name string) (*compare.Baseline, error) {
	data, err := files.Read(name, compare.MaxBaselineBytes)
	if err != nil {
		return nil, err
	}
	return compare.ParseBaseline(name, data)
}

func (p *program) baselineWriteCommand() *cobra.Command {
	var out string
	var today time.Time
	var expire int
	var renew bool
	cmd := p.logCommand("write FILE...", func(cmd *cobra.Command, names []string) error {
		var previous *compare.Baseline
		if info, err := os.Stat(out); out != standardInput && (err != nil || info.Mode().IsRegular()) { // a pipe has none
			previous, err = readBaseline(out)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		p.scrub = scrubOn // there is no flag
		c, err := p.newComparing()
		if err != nil {
			return err
		}
		if !p.readAll(cmd, c, compare.New, names) || p.Status != exitOK {
			p.Message("%s was not written: a log could not be read to its end", out)
			return nil
		}
		if len(c.silent) > 0 {
			return ioError(fmt.Errorf("%s, so it is no evidence of known noise: %s was not written", c.silent[0], out))
		}
		w := c.collector.Write(compare.WriteOptions{Today: today, Expiry: expire, Previous: previous, Renew: renew})
		text := w.Baseline.Append(nil)
		if out == standardInput {
			return p.Print("the baseline", text)
		}
		if err := ReplaceFile(out, text); err != nil {
			return ioError(err)
		}
		p.noteWritten(out, w)
		return nil
	})
	p.registerRules(cmd)
	p.registerLastLine(cmd)
	flags := cmd.Flags()
	flags.StringVarP(&out, "output", "o", defaultBaseline, "write the baseline to `FILE`, - for standard output")
	p.dayFlag(cmd, &today)
	cli.Checked(cmd, func(cmd *cobra.Command) error { return cli.Within(cmd, "expire", expire, 1, 3650) })
	flags.IntVar(&expire, "expire", compare.DefaultExpiry, "let groups expire after `DAYS` days")
	flags.BoolVar(&renew, "renew", false, "give groups that occur again a new day of expiry")
	return cmd
}

// noteWritten prints the groups in a written baseline, and the entries to review.
func (p *program) noteWritten(file string, w *compare.Written) {
	note := file + ": " + text.Count(len(w.Baseline.Entries), "group")
	parts := joinParts(part{w.Added, "new"}, part{w.Kept, "as before"}, part{w.Unseen, "not seen, kept"},
		part{w.Dropped, "expired, dropped"})
	if parts != "" && w.Updated {
		note += " (" + parts + ")"
	}
	p.Note("%s", note)
	if w.Expired > 0 {
		p.Note("%s expired and still occur: fix the cause, or give them a new day with --renew",
			text.Count(w.Expired, "group"))
	}
	// A template must match its id, so it cannot be scrubbed.
	private := OwnScrubber(p.Getenv, false)
	for i := range w.Baseline.Entries {
		for _, template := range w.Baseline.Entries[i].Templates {
			private.Text(template)
		}
	}
	if found := private.Removed(); len(found) > 0 {
		p.Note("%s: templates may hold %s: read them before you share the file", file, strings.Join(found, ", "))
	}
	if w.Baseline.Incomplete {
		p.Note("a log went blind or is cut: rates may be too low, and groups may be missing")
	}
}

func (p *program) baselineCheckCommand() *cobra.Command {
	var name string
	var mods []string
	var today time.Time
	cmd := p.logCommand("check FILE...", func(cmd *cobra.Command, names []string) error {
		if p.failOn == nil { // the default of this command alone: it is asked about new groups
			p.failOn = []string{failNew}
		}
		b, err := readBaseline(name)
		if errors.Is(err, fs.ErrNotExist) {
			return &cli.StatusError{
				Status: exitUsage, Err: fmt.Errorf("%s: no such file", name),
				Next: "write one first: " + strconv.Quote(p.Name+" baseline write -o "+name+" good.log"),
			}
		}
		if err != nil {
			return err
		}
		c, err := p.newComparing(mods...)
		if err != nil {
			return err
		}
		if !p.readAll(cmd, c, compare.New, names) {
			return nil // the error was reported
		}
		d := c.collector.Check(b, today)
		for _, mod := range d.UnknownMods {
			p.Note("--fail-on-mod %q: no list of mods and no problem in the logs has this name", mod)
		}
		found := slices.Concat(d.Added, d.More, d.Worse, d.Expired)
		p.findings(&d.New, slices.DeleteFunc(found, func(g compare.Group) bool { return g.OtherMod }))
		return p.compared(cmd, c, report.Comparison{Found: d})
	})
	p.registerCompare(cmd, formatJUnit, formatSARIF)
	p.registerFailOn(cmd, "new, blocking, advisory, blind", failNew, failBlocking, failAdvisory, failBlind)
	cmd.Flags().StringArrayVar(&mods, "fail-on-mod", nil, "fail only on problems that name the mod `NAME`, name no mod, or break play (repeatable)")
	cli.Checked(cmd, func(cmd *cobra.Command) error {
		for _, mod := range mods {
			if blame.Key(mod) == "" {
				return cli.Usage(cmd, "--fail-on-mod %q: give it the name of a mod", mod)
			}
		}
		return nil
	})
	cmd.Flags().StringVar(&name, "baseline", defaultBaseline, "check the logs against `FILE`")
	p.dayFlag(cmd, &today)
	return cmd
}
