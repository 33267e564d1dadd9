// Command heed-fleet makes one report of the logs of many players; docs/fleet.md has how to run it, here and on a
// cluster.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3" // beamx has the local one and gs
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/heedlog/heed/fleet/pipeline"
	"github.com/heedlog/heed/fleet/population"
	"github.com/heedlog/heed/fleet/prism"
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
	var c pipeline.Config
	var ruleFiles, before, after list
	flag.Var(&ruleFiles, "rules", "add the rules of a `FILE` or folder, again for more")
	flag.Var(&before, "before", "compare the logs of a `PATTERN`, again for more, with those of --after")
	flag.Var(&after, "after", "the other population: a `PATTERN`, again for more")
	flag.StringVar(&c.Split, "split-version", "", "compare logs of versions of their game before `V` with those since")
	flag.StringVar(&c.Player, "player", "",
		"find the player in a path by the one group of a regular `EXPRESSION`, all logs without one being of one player; "+
			"without it, the folder of a log is the player")
	flag.IntVar(&c.K, "k", 5, "show a text only if `N` players have it")
	salt := flag.String("salt", "",
		"hash the names of players, and paths, with a `TEXT`, to compare runs; random without it")
	flag.StringVar(&c.JSON, "json", "fleet.json", "write the report as JSON to a `FILE`, \"\" for none")
	flag.StringVar(&c.HTML, "html", "fleet.html", "write the report as a page to a `FILE`, \"\" for none")
	flag.Usage = func() {
		_, _ = fmt.Fprint(flag.CommandLine.Output(), `heed-fleet makes one report of the logs of many players.

usage: heed-fleet [flags] PATTERN...

A pattern names files of any file system that Beam knows (a path, gs://, s3://), or a
local folder. Flags that are not of heed-fleet are those of Beam, such as --runner.

`)
		flag.PrintDefaults()
	}
	log.LogLevel = "warn"
	flag.Parse()
	beam.Init() // a worker stays here
	c.Salt = []byte(*salt)
	if *salt == "" {
		c.Salt = make([]byte, 32)
		_, _ = rand.Read(c.Salt) // never fails
	}
	if c.Rules, err = files.AllRules(ruleFiles); err != nil {
		return err
	}
	c.Patterns = [3][]string{population.Neither: flag.Args(), population.Before: before, population.After: after}
	if *runners.Runner == "" || strings.Contains(strings.ToLower(*runners.Runner), "prism") {
		c.Branches = runtime.NumCPU()
	}
	if err := c.Validate(); err != nil {
		return err
	}
	for _, pattern := range slices.Concat(c.Patterns[:]...) {
		// A runner would report it at length. Elsewhere a path is one of the workers' machines.
		if c.Branches > 0 && !strings.Contains(pattern, "://") {
			if err := pipeline.Find(context.Background(), pattern); err != nil {
				return err
			}
		}
	}
	if c.Branches > 0 && *jobopts.Endpoint == "" {
		// Beam leaves files behind.
		dir, err := os.MkdirTemp("", "heed-fleet-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }() // of no further use
		for _, name := range []string{"TMPDIR", "TMP"} {
			_ = os.Setenv(name, dir) // a valid name
		}
		warning, err := prism.Start(context.Background())
		if err != nil {
			return err
		}
		if warning != nil {
			fmt.Fprintln(os.Stderr, "heed-fleet:", warning)
		}
	}
	p, s := beam.NewPipelineWithRoot()
	pipeline.Build(s, c)
	return beamx.Run(context.Background(), p)
}
