package report

import (
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/schema"
)

// Forms are the JSON forms of this package by name: "replay" of the object with documents, "replay-lines" of each line
// of updates and summaries, "records" of each line of records; "diff", "baseline-check" and "suspects" of comparisons.
// JSON of a form returns its JSON Schema (draft 2020-12). "schemaVersion" is one for all forms: it rises
// when a field is removed or changes its meaning. New fields may appear within a version, so schemas are open.
var Forms = []schema.Form{
	{
		Name: "replay", Values: []any{replayDocument{}},
		Title:       "replay --format json",
		Description: "One object with a report for each log. New fields may appear within a version.",
	},
	{
		Name: "replay-lines", Values: []any{UpdateLine{}, versionedSummary{}},
		Title: "One line of replay --format jsonl",
		Description: "An update of an attention item, or the summary that ends a log. New fields may appear within a " +
			"version.",
	},
	{
		Name: "records", Values: []any{Record{}},
		Title:       "One line of records --format jsonl",
		Description: "A record of a capture with what was decided about it. New fields may appear within a version.",
	},
	schema.Object("diff", "diff", compare.Diff{}),
	schema.Object("baseline-check", "baseline check", compare.Check{}),
	schema.Object("suspects", "suspects", compare.Suspects{}),
}
