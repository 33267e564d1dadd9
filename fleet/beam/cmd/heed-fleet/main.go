// Command heed-fleet makes one report of the logs of many players; docs/fleet.md has how to run it, here and on a
// cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/heedlog/heed/fleet/beam/pipeline"
	"github.com/heedlog/heed/fleet/beam/prism"
	"github.com/heedlog/heed/fleet/intake"
)

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
	c.Flags(flag.CommandLine)
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
	pipeline.EndWithBoot()
	beam.Init() // a worker stays here
	if err := c.Prepare(patterns); err != nil {
		return err
	}
	prisms := *runners.Runner == "" || strings.Contains(strings.ToLower(*runners.Runner), "prism")
	if prisms {
		c.Branches = runtime.NumCPU()
	}
	here := prisms && *jobopts.Endpoint == ""
	if !here {
		return runJob(&c)
	}
	if err := c.Here(); err != nil { // a runner would report it at length, and late
		return err
	}
	dir, err := os.MkdirTemp("", "heed-fleet-") // Beam leaves files on disk
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
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the error has the details
	warning, err := prism.Start(context.Background())
	if err != nil {
		return err
	}
	if warning != nil {
		fmt.Fprintln(os.Stderr, "heed-fleet:", warning)
	}
	stop := intake.Progress(func(line string) { fmt.Fprintln(os.Stderr, "heed-fleet:", line) })
	err = runJob(&c)
	stop()
	if err != nil {
		return err
	}
	report := pipeline.Written()
	if report == nil { // by a worker in another process, or not yet
		return nil
	}
	fmt.Fprintln(os.Stderr, "heed-fleet:", c.Outcome(report))
	if report.Logs == 0 {
		return intake.ErrNoLog
	}
	return nil
}

func runJob(c *pipeline.Config) error {
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, *c)
	if err := beamx.Run(context.Background(), p); err != nil {
		return errors.New(cause(err))
	}
	return nil
}

// cause returns the last line of an error of Beam, after the plan of the job.
func cause(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
