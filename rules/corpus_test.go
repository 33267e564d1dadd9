package rules

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// corpus returns what a set sees of the records of captures, each in the phase
// that the set thinks it came in, and only the first of those that have one
// plan.
func corpus(tb testing.TB, set *Set, files []string) []Input {
	tb.Helper()
	seen := map[Input]bool{}
	var out []Input
	for _, file := range files {
		for _, in := range readRecords(tb, set, file).inputs {
			key := in.Input
			key.Message, key.Stack, key.Operation = "", "", ""
			if !seen[key] {
				seen[key] = true
				out = append(out, in.Input)
			}
		}
	}
	return out
}

// ownCaptures returns the captures that were written for the project.
func ownCaptures(tb testing.TB) []string {
	tb.Helper()
	var files []string
	for _, pattern := range []string{"*.log", "*.txt", "*.jsonl"} {
		found := testkit.Must(filepath.Glob(filepath.Join("..", "testdata", "captures", pattern)))
		files = append(files, found...)
	}
	require.NotEmpty(tb, files)
	slices.Sort(files)
	return files
}

// referenceCaptures returns those of the reference data, where it is at hand.
func referenceCaptures(tb testing.TB) []string {
	tb.Helper()
	files := testkit.Must(filepath.Glob(filepath.Join(testkit.Dir(tb, "rimworld"), "rw*")))
	require.NotEmpty(tb, files)
	return files
}

// BenchmarkPlanCaptures is what the first entry of each signature of the
// captures costs, by the default rules.
func BenchmarkPlanCaptures(b *testing.B) {
	set := defaultSet()
	for _, bc := range []struct {
		name  string
		files func(testing.TB) []string
	}{{"own", ownCaptures}, {"reference", referenceCaptures}} {
		b.Run(bc.name, func(b *testing.B) {
			inputs := corpus(b, set, bc.files(b))
			ev := set.NewEvaluator()
			b.Run("plan", func(b *testing.B) {
				benchmarkEach(b, inputs, func(in *Input) bool { p := ev.Plan(in); return p.Known() != nil })
			})
			b.Run("evaluate", func(b *testing.B) {
				benchmarkEach(b, inputs, func(in *Input) bool { return ev.Evaluate(in).Decision.Rule != "" })
			})
		})
	}
}

// benchmarkEach measures f for inputs in turn.
func benchmarkEach(b *testing.B, inputs []Input, f func(*Input) bool) {
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if !f(&inputs[i]) {
			b.Fatalf("%+v", inputs[i])
		}
		if i++; i == len(inputs) {
			i = 0
		}
	}
	b.ReportMetric(float64(len(inputs)), "inputs")
}
