package pipeline

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/fleet/population"
)

func init() {
	register.Combiner1[intake.Source](&mergeSources{})
	register.Combiner1[population.Links](&mergeLinks{})
	register.Combiner1[population.Group](&mergeGroups{})
	register.Combiner1[population.Set](&mergeSets{})
	register.Combiner1[population.Parts](&mergeParts{})
}

// Each begins with a value of its own, since AddInput must not change its input.

type mergeSources struct{}

func (*mergeSources) MergeAccumulators(a, b intake.Source) intake.Source {
	return a.Join(b)
}

type mergeLinks struct{}

func (*mergeLinks) CreateAccumulator() population.Links { return population.Links{} }

func (f *mergeLinks) AddInput(a, b population.Links) population.Links {
	return f.MergeAccumulators(a, b)
}

func (*mergeLinks) MergeAccumulators(a, b population.Links) population.Links {
	a.Merge(&b)
	return a
}

type mergeGroups struct{}

func (*mergeGroups) CreateAccumulator() population.Group { return population.Group{} }

func (f *mergeGroups) AddInput(a, b population.Group) population.Group {
	return f.MergeAccumulators(a, b)
}

func (*mergeGroups) MergeAccumulators(a, b population.Group) population.Group {
	a.Merge(&b)
	return a
}

type mergeSets struct{}

func (*mergeSets) CreateAccumulator() population.Set { return population.Set{} }

func (f *mergeSets) AddInput(a, b population.Set) population.Set { return f.MergeAccumulators(a, b) }

func (*mergeSets) MergeAccumulators(a, b population.Set) population.Set {
	a.Merge(&b)
	return a
}

type mergeParts struct{}

func (*mergeParts) CreateAccumulator() population.Parts { return population.Parts{} }

func (f *mergeParts) AddInput(a, b population.Parts) population.Parts {
	return f.MergeAccumulators(a, b)
}

func (*mergeParts) MergeAccumulators(a, b population.Parts) population.Parts {
	a.Merge(&b)
	return a
}
