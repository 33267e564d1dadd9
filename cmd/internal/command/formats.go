package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
)

// The formats of output.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatJSONL    = "jsonl"
	formatMarkdown = "markdown"
	formatJUnit    = "junit"
	formatSARIF    = "sarif"
	formatPage     = "html" // of the command report
)

// replayFormats are the formats of a replay, in the order of the help.
var replayFormats = []string{formatText, formatJSON, formatJSONL, formatMarkdown, formatJUnit, formatSARIF}

// documentFormats are the formats of one document. A command can also write them to files of their own.
var documentFormats = []string{formatJSON, formatMarkdown, formatJUnit, formatSARIF}

// shared reports whether output in a format is meant for others: an issue, a CI server, a collector. Such output is
// scrubbed unless --no-scrub is given. Text and JSON are for the person who ran the program and needs to find the lines
// again.
func shared(format string) bool {
	return slices.Contains([]string{formatMarkdown, formatJUnit, formatSARIF, formatPage}, format)
}

// maxFindings bounds the findings of each disposition that JUnit and SARIF list
// where --top is not given. They are compared from run to run, so that a few at
// the top would come and go.
const maxFindings = 1000

// form is how reports are written in one format. Each function appends to out and
// may be nil.
type form struct {
	update updateWriter // as it comes
	// for each log, as it ends; shown counts the logs before
	report func(out []byte, d *report.Document, shown int) []byte
	all    func(out []byte, docs ...*report.Document) []byte // of all logs, in the end
	top    int                                               // rows of each disposition, 0 for all
}

// whole returns the reports of all logs in one document.
func (f *form) whole(docs []*report.Document) (out []byte) {
	if f.all != nil {
		return f.all(nil, docs...)
	}
	for i, d := range docs {
		out = f.report(out, d, i)
	}
	return out
}

// form returns the form for a format and the other flags.
func (f *replayFlags) form(format string, layout report.TextOptions) form {
	findings := f.top
	if !f.topSet {
		findings = maxFindings
	}
	separated := func(render func(out []byte, d *report.Document) []byte) form {
		return form{top: f.top, report: func(out []byte, d *report.Document, shown int) []byte {
			if shown > 0 {
				out = append(out, '\n')
			}
			return render(out, d)
		}}
	}
	switch format {
	case formatJSON:
		return form{all: report.JSON[*report.Document], top: f.top}
	case formatJSONL:
		return form{
			update: report.AppendUpdate,
			report: func(out []byte, d *report.Document, _ int) []byte { return report.AppendSummary(out, d) },
			top:    f.top,
		}
	case formatMarkdown:
		return separated(report.Markdown)
	case formatJUnit:
		return form{all: report.JUnit[*report.Document], top: findings}
	case formatSARIF:
		return form{all: report.SARIF[*report.Document], top: findings}
	}
	return separated(func(out []byte, d *report.Document) []byte { return report.Text(out, d, layout) })
}

// scrubFlags report whether output is scrubbed, and at which level.
type scrubFlags struct {
	level string // a level, "" for scrubAuto
	keep  bool
}

// The levels of scrubbing.
const (
	scrubAuto   = "auto" // by the format
	scrubOn     = "on"
	scrubStrict = "strict"
)

func (f *scrubFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.level, "scrub", scrubAuto,
		"the `LEVEL`: remove names of users and computers, accounts, ids of devices, network addresses, secrets, e-mail "+
			"addresses and numbers of cards from the output; the default for output to share: markdown, junit, sarif and the page of "+
			"report; --scrub=strict keeps only common words, counts, names of mods, versions and frames")
	flags.Lookup("scrub").NoOptDefVal = scrubOn
	cli.Choice(cmd, "scrub", scrubAuto, scrubOn, scrubStrict)
	flags.BoolVar(&f.keep, "no-scrub", false, "do not remove private data from the output")
	cli.Exclusive(cmd, "scrub", "no-scrub")
}

// scrubber returns the scrubber of output in these formats, nil if none is to be scrubbed.
func (p *program) scrubber(f *scrubFlags, formats ...string) *report.Scrubber {
	explicit := f.level == scrubOn || f.level == scrubStrict
	if f.keep || !explicit && !slices.ContainsFunc(formats, shared) {
		return nil
	}
	return OwnScrubber(p.Getenv, f.level == scrubStrict)
}

// OwnScrubber returns a scrubber that knows the home of the user who runs the program.
func OwnScrubber(getenv func(string) string, strict bool) *report.Scrubber {
	s := &report.Scrubber{Strict: strict}
	s.Home(getenv("HOME"))
	s.Home(getenv("USERPROFILE"))
	return s
}

// removed prints on standard error which kinds a scrubber took out.
func (p *program) removed(s *report.Scrubber) {
	if removed := s.Removed(); len(removed) > 0 {
		level := ""
		if s.Strict {
			level = ", and all that a person may have typed (strict)"
		}
		p.Note("removed from the output: %s%s; --no-scrub keeps it", strings.Join(removed, ", "), level)
	}
}

// fileName returns how a report names a file: SARIF, whose readers look for it in a
// repository, from the working directory where it is below that.
func fileName(formats []string, name string) string {
	if !slices.Contains(formats, formatSARIF) || name == standardInput || files.IsAddress(name) {
		return name
	}
	path, err := filepath.Abs(name)
	dir, _ := os.Getwd() // Abs has the error
	if below, ok := relative(dir, path); ok && err == nil {
		return below
	}
	// A path may have a link.
	dir, err = filepath.EvalSymlinks(dir)
	folder, broken := filepath.EvalSymlinks(filepath.Dir(path))
	if below, ok := relative(dir, filepath.Join(folder, filepath.Base(name))); ok && err == nil && broken == nil {
		return below
	}
	return name
}

// relative returns the path from a directory to a path below it.
func relative(dir, path string) (string, bool) {
	below, err := filepath.Rel(dir, path)
	return below, err == nil && filepath.IsLocal(below)
}
