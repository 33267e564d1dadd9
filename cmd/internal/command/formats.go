package command

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/capture"
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
	return isFindings(format) || format == formatMarkdown || format == formatPage
}

// isFindings reports whether a format lists findings, for a CI server.
func isFindings(format string) bool { return format == formatJUnit || format == formatSARIF }

// maxFindings bounds the findings of each disposition that JUnit and SARIF list
// where --top is not given. They are compared from run to run, so that a few at
// the top would come and go.
const maxFindings = 1000

// The levels of scrubbing.
const (
	scrubAuto   = "auto" // by the format
	scrubOn     = "on"
	scrubStrict = "strict"
)

func (p *program) registerScrub(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&p.scrub, "scrub", scrubAuto,
		"the `LEVEL`: remove names of users and computers, accounts, ids of devices, network addresses, secrets, e-mail "+
			"addresses and numbers of cards from the output; the default for output to share: markdown, junit, sarif and the page of "+
			"report; --scrub=strict keeps only common words, counts, names of mods, versions and frames")
	flags.Lookup("scrub").NoOptDefVal = scrubOn
	cli.Choice(cmd, "scrub", scrubAuto, scrubOn, scrubStrict)
	flags.BoolVar(&p.noScrub, "no-scrub", false, "do not remove private data from the output")
	cli.Exclusive(cmd, "scrub", "no-scrub")
}

// newScrubber returns the scrubber of the output, nil if the output is not to be scrubbed.
func (p *program) newScrubber() *report.Scrubber {
	explicit := p.scrub == scrubOn || p.scrub == scrubStrict
	if p.noScrub || !explicit && !slices.ContainsFunc(p.formats, shared) {
		return nil
	}
	return OwnScrubber(p.Getenv, p.scrub == scrubStrict)
}

// learnNames reads the logs for their private names, if there is a scrubber: output that is written while a log is read
// has no later chance. A pipe can be read only once, so that its names are learned as they come.
func (p *program) learnNames(ctx context.Context, s *report.Scrubber, logs ...string) {
	for _, log := range logs {
		info, err := os.Stat(log)
		if s == nil || !files.IsAddress(log) && (err != nil || !info.Mode().IsRegular()) {
			continue
		}
		in, err := p.openAny(ctx, log)
		if err != nil {
			continue // reading it again returns the error
		}
		if r, err := capture.NewReader(in, capture.Options{}); err == nil {
			for rec := (capture.Record{}); r.Next(&rec) == nil; {
				s.Learn(rec.Message, rec.Stack)
			}
		}
		_ = in.Close() // only read from
	}
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
func (p *program) fileName(name string) string {
	if !slices.Contains(p.formats, formatSARIF) || name == standardInput || files.IsAddress(name) {
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
