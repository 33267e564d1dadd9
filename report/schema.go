package report

import (
	"embed"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/report/compare"
)

//go:embed schema/*.json
var schemas embed.FS

// forms are the JSON forms of this package.
var forms = []schema.Form{
	{
		Name: "replay", Values: []any{replayDocument{}},
		Title:       "classify-replay --format json",
		Description: "One object with a report for each log. New fields may appear within a version.",
	},
	{
		Name: "replay-lines", Values: []any{versionedUpdate{}, versionedSummary{}},
		Title:       "One line of classify-replay --format jsonl",
		Description: "An update of an attention item, or the summary that ends a log. New fields may appear within a version.",
	},
	{
		Name: "records", Values: []any{versionedRecord{}},
		Title:       "One line of classify-replay records --format jsonl",
		Description: "A record of a capture with what was decided about it. New fields may appear within a version.",
	},
	{
		Name: "diff", Values: []any{compare.Diff{}},
		Title:       "classify-replay diff --format json",
		Description: "One object. New fields may appear within a version.",
	},
	{
		Name: "baseline-check", Values: []any{compare.Check{}},
		Title:       "classify-replay baseline check --format json",
		Description: "One object. New fields may appear within a version.",
	},
	{
		Name: "suspects", Values: []any{compare.Suspects{}},
		Title:       "classify-replay suspects --format json",
		Description: "One object. New fields may appear within a version.",
	},
}

// Schema returns the JSON Schema (draft 2020-12) of one of the JSON forms: "replay"
// for the object with documents, "replay-lines" for each line of updates and
// summaries, "records" for each line of records; "diff", "baseline-check" and
// "suspects" for comparisons. Those of what the programs write
// themselves stand with them, under the names of the commands, such as "explain", and
// "heed-status" for one of heed. It returns nil for another name. Schemas are open, since new fields may appear
// within a [SchemaVersion].
func Schema(name string) []byte {
	if f := schema.Find(forms, name); f != nil {
		return f.JSON()
	}
	b, err := schemas.ReadFile("schema/" + name + ".json")
	if err != nil {
		return nil // there is no such file: what is embedded can be read
	}
	return b
}

// SchemaNames returns the names that [Schema] knows, in order.
func SchemaNames() []string {
	entries, err := schemas.ReadDir("schema")
	if err != nil {
		panic("BUG: report: " + err.Error())
	}
	names := make([]string, 0, len(entries)+len(forms))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	for i := range forms {
		names = append(names, forms[i].Name)
	}
	slices.Sort(names)
	return names
}
