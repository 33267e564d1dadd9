package report

import (
	"slices"

	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/report/compare"
)

// forms are the JSON forms of this package.
var forms = []schema.Form{
	{
		Name: "replay", Values: []any{replayDocument{}},
		Title:       "replay --format json",
		Description: "One object with a report for each log. New fields may appear within a version.",
	},
	{
		Name: "replay-lines", Values: []any{versionedUpdate{}, versionedSummary{}},
		Title: "One line of replay --format jsonl",
		Description: "An update of an attention item, or the summary that ends a log. New fields may appear within a " +
			"version.",
	},
	{
		Name: "records", Values: []any{versionedRecord{}},
		Title:       "One line of records --format jsonl",
		Description: "A record of a capture with what was decided about it. New fields may appear within a version.",
	},
	{
		Name: "diff", Values: []any{compare.Diff{}},
		Title:       "diff --format json",
		Description: "One object. New fields may appear within a version.",
	},
	{
		Name: "baseline-check", Values: []any{compare.Check{}},
		Title:       "baseline check --format json",
		Description: "One object. New fields may appear within a version.",
	},
	{
		Name: "suspects", Values: []any{compare.Suspects{}},
		Title:       "suspects --format json",
		Description: "One object. New fields may appear within a version.",
	},
}

// Schema returns the JSON Schema (draft 2020-12) of one of the JSON forms: "replay"
// for the object with documents, "replay-lines" for each line of updates and
// summaries, "records" for each line of records; "diff", "baseline-check" and
// "suspects" for comparisons. It returns nil for another name. "schemaVersion" is one for all forms: it rises
// when a field is removed or changes its meaning. New fields may appear within a version, so schemas are open.
func Schema(name string) []byte {
	if f := schema.Find(forms, name); f != nil {
		return f.JSON()
	}
	return nil
}

// SchemaNames returns the names that [Schema] knows, in order.
func SchemaNames() []string {
	names := make([]string, len(forms))
	for i := range forms {
		names[i] = forms[i].Name
	}
	slices.Sort(names)
	return names
}
