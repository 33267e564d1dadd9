package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/heedlog/heed/fleet/population"
	"github.com/heedlog/heed/rules"
)

// Config is what a report is made of.
type Config struct {
	// Patterns name files, by the population that they belong to. A local folder stands for the logs and archives in it,
	// at any depth.
	Patterns [3][]string
	// Split divides the population at a version of the game, "" for not at all.
	Split string
	// Rules are those beside the default rules.
	Rules []rules.File
	// Player finds the player in a path: the group of the expression; paths without one are of one player. "" takes the
	// first folder below [Root].
	Player string
	// Salt makes the names of players, and paths, unknown; never empty.
	Salt []byte
	// K is how many players must have a text for it to be shown.
	K int
	// JSON and HTML are the paths of the reports, in any file system; "" for none.
	JSON, HTML string
	// Branches is how many files are read at a time where the runner does not spread them: Prism works on what waits for
	// a function as one bundle. 0 leaves it to the runner.
	Branches int
}

// Validate returns an error that names what is wrong.
func (c *Config) Validate() error {
	if slices.IndexFunc(c.Patterns[:], func(p []string) bool { return len(p) > 0 }) < 0 {
		return errors.New("no logs named: give a folder or a pattern")
	}
	if (len(c.Patterns[population.Before]) > 0) != (len(c.Patterns[population.After]) > 0) {
		return errors.New("--before and --after go together")
	}
	if c.Split != "" && len(c.Patterns[population.Before]) > 0 {
		return errors.New("--split-version and --before divide the logs twice: use one of them")
	}
	if _, version := population.SplitVersion(c.Split); c.Split != "" && version == "" {
		return fmt.Errorf("--split-version %s: want a version, such as 1.6.4566, or a game and a version", c.Split)
	}
	if c.K < 1 {
		return fmt.Errorf("--k %d: want 1 or more", c.K)
	}
	if len(c.Salt) == 0 {
		return errors.New("no salt for the names of players")
	}
	if c.JSON == "" && c.HTML == "" {
		return errors.New("no report to write: give --json or --html")
	}
	if c.JSON != "" && c.HTML != "" && clean(c.JSON) == clean(c.HTML) {
		return fmt.Errorf("--json and --html are the same file: %s", c.JSON)
	}
	if _, err := rules.Compile(slices.Concat(rules.Defaults(), c.Rules)...); err != nil {
		return err
	}
	_, err := playerExpression(c.Player)
	return err
}

// Writable returns an error if a report cannot be written to this machine. What is in its file stays.
func (c *Config) Writable() error { return cmp.Or(writable(c.JSON), writable(c.HTML)) }

func writable(name string) error {
	if name == "" || strings.Contains(name, "://") {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a pipe would be ended by opening it
	}
	_, missing := os.Lstat(name) // a link to what is not there stays
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err = f.Close(); missing != nil {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

func playerExpression(expression string) (*regexp.Regexp, error) {
	if expression == "" {
		return nil, nil
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("--player: %w", err)
	}
	if re.NumSubexp() != 1 {
		return nil, fmt.Errorf("--player %s: has %d groups, want one, which is the player", expression, re.NumSubexp())
	}
	return re, nil
}

func init() {
	register.DoFn3x1[context.Context, string, func(string, Source), error](&matchFiles{})
	register.Emitter2[string, Source]()
	register.DoFn3x0[string, Source, func(string, Source)](&ofBranch{})
	register.DoFn5x0[context.Context, string, Source, func(string, population.Log), func(population.Parts)](&readLogs{})
	register.Emitter2[string, population.Log]()
	register.Emitter1[population.Parts]()
	register.DoFn1x1[population.Log, population.Links](&linkLog{})
	register.Function2x1(firstCopy)
	register.Function1x2(playerOf)
	register.Function1x2(extentOf)
	register.Function2x1(shorterOf)
	register.Iter1[population.Extent]()
	register.Emitter2[string, population.Set]()
	register.Iter1[population.Log]()
	register.Function3x0(setOf)
	register.Function5x0(countPlayer)
	register.Emitter2[string, population.Group]()
	register.Function3x0(resolve)
	register.Emitter1[population.Names]()
	register.Function1x1(groupParts)
	register.Function1x1(setParts)
	register.DoFn2x1[context.Context, population.Parts, error](&writeReport{})
}

// Build adds the pipeline to a scope.
func Build(s beam.Scope, c Config) {
	var found []beam.PCollection
	for part, names := range c.Patterns {
		if len(names) > 0 {
			found = append(found, beam.ParDo(s.Scope("match"), &matchFiles{part, Root(names)}, beam.CreateList(s, names)))
		}
	}
	files := beam.Flatten(s, found...)
	read := &readLogs{Rules: c.Rules, Player: c.Player, Salt: c.Salt, Split: c.Split}
	var inCopies, inFailures []beam.PCollection
	for i := range max(c.Branches, 1) {
		s := s.Scope("read")
		branch := beam.ParDo(s, &ofBranch{i, max(c.Branches, 1)}, files)
		// Each file once, which also spreads them over workers.
		copies, failures := beam.ParDo2(s, read, beam.CombinePerKey(s, &mergeSources{}, branch))
		inCopies, inFailures = append(inCopies, copies), append(inFailures, failures)
	}
	copies, failures := beam.Flatten(s, inCopies...), beam.Flatten(s, inFailures...)
	// Not by CombinePerKey, which would hold thousands before it passes them on, with little to merge.
	logs := beam.ParDo(s, firstCopy, beam.GroupByKey(s, copies))
	shorter := beam.ParDo(s, shorterOf, beam.GroupByKey(s, beam.ParDo(s, extentOf, logs)))

	alone := beam.Create(s, population.Links{}) // where there is no log at all
	links := beam.Combine(s, &mergeLinks{}, beam.Flatten(s, alone, beam.ParDo(s, &linkLog{c.K}, logs), shorter))
	names, lost := beam.ParDo2(s, resolve, links)
	aside := beam.SideInput{Input: names}

	players := beam.GroupByKey(s, beam.ParDo(s, playerOf, logs))
	totals, seen := beam.ParDo2(s, countPlayer, players, aside)
	groups := beam.ParDo(s, groupParts, beam.DropKey(s, beam.CombinePerKey(s, &mergeGroups{}, seen)))
	alike := beam.DropKey(s, beam.CombinePerKey(s, &mergeSets{}, beam.ParDo(s, setOf, logs, aside)))
	sets := beam.ParDo(s, setParts, alike)

	none := beam.Create(s, population.Parts{})
	parts := beam.Combine(s, &mergeParts{}, beam.Flatten(s, none, failures, lost, totals, groups, sets))
	beam.ParDo0(s.Scope("report"), &writeReport{K: c.K, JSON: c.JSON, HTML: c.HTML}, parts)
}
