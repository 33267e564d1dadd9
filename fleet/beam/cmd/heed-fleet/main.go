// Command heed-fleet makes one report of the logs of many players; docs/fleet.md has how to run it, here and on a
// cluster.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3" // beamx has the local one and gs
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/heedlog/heed/fleet/beam/pipeline"
	"github.com/heedlog/heed/fleet/beam/prism"
	"github.com/heedlog/heed/fleet/population"
	"github.com/heedlog/heed/internal/files"
)

type list []string

func (l *list) String() string { return fmt.Sprint(*l) }

func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "heed-fleet:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	beams := flag.NewFlagSet("", flag.ContinueOnError)
	flag.VisitAll(func(f *flag.Flag) { beams.Var(f.Value, f.Name, f.Usage) })
	var c pipeline.Config
	var ruleFiles, before, after list
	flag.Var(&ruleFiles, "rules", "add the rules of a `FILE` or folder, again for more")
	flag.Var(&before, "before", "compare the logs of a `PATTERN`, again for more, with those of --after")
	flag.Var(&after, "after", "the other population: a `PATTERN`, again for more")
	flag.StringVar(&c.Split, "split-version", "", "compare logs of versions of their game before `V` with those since")
	flag.StringVar(&c.Player, "player", "",
		"find the player in a path by the one group of a regular `EXPRESSION`, all logs without one being of one player; "+
			"without it, the first folder below the one in which all that is named is")
	flag.IntVar(&c.K, "k", 5, "show a text only if `N` players have it")
	salt := flag.String("salt", "",
		"hash the names of players, and paths, with a `TEXT`, to compare runs; random without it")
	flag.StringVar(&c.JSON, "json", "fleet.json", "write the report as JSON to a `FILE`, \"\" for none")
	flag.StringVar(&c.HTML, "html", "fleet.html", "write the report as a page to a `FILE`, \"\" for none")
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(), `heed-fleet makes one report of the logs of many players.

usage: heed-fleet [flags] PATTERN...

A pattern names files of any file system that Beam knows (a path, gs://, s3://), or a
local folder.

`)
		own := flag.NewFlagSet("", flag.ContinueOnError)
		own.SetOutput(flag.CommandLine.Output())
		flag.VisitAll(func(f *flag.Flag) {
			if beams.Lookup(f.Name) == nil {
				own.Var(f.Value, f.Name, f.Usage)
			}
		})
		own.PrintDefaults()
		_, _ = fmt.Fprint(flag.CommandLine.Output(), "\nThe flags of Beam, which choose and set up the runner:\n\n")
		beams.SetOutput(flag.CommandLine.Output())
		beams.PrintDefaults()
	}
	log.LogLevel = "warn"
	flag.Parse()
	var patterns []string
	for rest := flag.Args(); len(rest) > 0; rest = flag.Args() { // flags may follow patterns
		patterns = append(patterns, rest[0])
		_ = flag.CommandLine.Parse(rest[1:]) // exits on an error
	}
	beam.Init() // a worker stays here
	c.Salt = []byte(*salt)
	if *salt == "" {
		c.Salt = make([]byte, 32)
		_, _ = rand.Read(c.Salt) // never fails
	}
	if c.Rules, err = files.AllRules(ruleFiles, time.Now()); err != nil {
		return err
	}
	c.Patterns = [3][]string{population.Neither: patterns, population.Before: before, population.After: after}
	prisms := *runners.Runner == "" || strings.Contains(strings.ToLower(*runners.Runner), "prism")
	if prisms {
		c.Branches = runtime.NumCPU()
	}
	if err := c.Validate(); err != nil {
		return err
	}
	here := prisms && *jobopts.Endpoint == ""
	if !here {
		return runJob(&c)
	}
	for _, patterns := range c.Patterns {
		for i, pattern := range patterns {
			if abs, err := filepath.Abs(pattern); err == nil && !strings.Contains(pattern, "://") {
				patterns[i] = abs // so that all have a root in common
			}
		}
	}
	// A runner would report these at length, and late. Elsewhere a path is one of the workers' machines.
	for _, pattern := range slices.Concat(c.Patterns[:]...) {
		if !strings.Contains(pattern, "://") {
			if err := pipeline.Find(context.Background(), pattern); err != nil {
				return err
			}
		}
	}
	if err := c.Writable(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "heed-fleet-") // Beam leaves files behind
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // of no further use
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	go func() {
		<-ended
		_ = os.RemoveAll(dir) // of no further use
		os.Exit(130)
	}()
	for _, name := range []string{"TMPDIR", "TMP"} {
		_ = os.Setenv(name, dir) // a valid name
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // what is wrong is in the error too
	warning, err := prism.Start(context.Background())
	if err != nil {
		return err
	}
	if warning != nil {
		fmt.Fprintln(os.Stderr, "heed-fleet:", warning)
	}
	ticks := time.NewTicker(progressEvery)
	go func() {
		for range ticks.C {
			fmt.Fprintln(os.Stderr, "heed-fleet:", progress(pipeline.Read()))
		}
	}()
	err = runJob(&c)
	ticks.Stop()
	if err != nil {
		return err
	}
	report := pipeline.Written()
	if report == nil { // by a worker in another process, or not yet
		return nil
	}
	fmt.Fprintln(os.Stderr, "heed-fleet:", outcome(&c, report))
	if report.Logs == 0 {
		return errors.New("no log was read: see the failures in the report")
	}
	return nil
}

// progressEvery is how often a line says how far the reading has come.
const progressEvery = 10 * time.Second

// progress is the line about logs that are read so far, and their bytes.
func progress(logs, bytes uint64) string {
	return fmt.Sprintf("%d logs with %d MB read so far", logs, bytes/1_000_000)
}

func runJob(c *pipeline.Config) error {
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, *c)
	if err := beamx.Run(context.Background(), p); err != nil {
		return errors.New(cause(err))
	}
	return nil
}

// cause returns the last line of an error of Beam: what is before it is the plan of the job.
func cause(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// outcome is the line about a report that was written in this process.
func outcome(c *pipeline.Config, r *population.Report) string {
	line := fmt.Sprintf("%d logs of %d players read, %d failures; the report is in %s; ", r.Logs, r.Players,
		uint64(len(r.Failures))+r.MoreFailures, strings.Trim(c.JSON+", "+c.HTML, ", "))
	switch {
	case c.Player != "":
		line += "players are by --player"
	default:
		var roots []string
		for _, patterns := range c.Patterns {
			if len(patterns) > 0 {
				roots = append(roots, cmp.Or(pipeline.Root(patterns), "."))
			}
		}
		line += "a player is a folder in " + strings.Join(slices.Compact(roots), ", ")
	}
	if r.Players == 1 && r.Logs > 1 {
		line += ", so that all logs are of one: name the folder above, or use --player"
	}
	if d := r.Compared; d != nil && c.Split == "" && min(d.BeforePlayers, d.AfterPlayers) == 1 &&
		max(d.BeforePlayers, d.AfterPlayers) > 1 {
		line += fmt.Sprintf("; of %d players before and %d after: name both folders in the same way, or use --player",
			d.BeforePlayers, d.AfterPlayers)
	}
	return line
}
