package pipeline

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/fleet/population"
)

// Config configures a report. Its patterns and its reports may be in any file system that Beam knows.
type Config struct {
	intake.Config
	// Branches is how many files are read at a time if the runner does not spread them: Prism passes all waiting files of
	// a function as one bundle. 0 leaves it to the runner.
	Branches int
}

func init() {
	register.DoFn3x1[context.Context, string, func(string, intake.Source), error](&matchFiles{})
	register.Emitter2[string, intake.Source]()
	register.DoFn3x0[string, intake.Source, func(string, intake.Source)](&ofBranch{})
	register.DoFn5x0[context.Context, string, intake.Source, func(string, population.Log), func(population.Parts)](
		&readLogs{})
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
			found = append(found, beam.ParDo(s.Scope("match"), &matchFiles{part, intake.Root(names)}, beam.CreateList(s, names)))
		}
	}
	files := beam.Flatten(s, found...)
	read := &readLogs{intake.Reader{Rules: c.Rules, Player: c.Player, Salt: c.Salt, Split: c.Split}}
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
