package report

import (
	"embed"
	"slices"
	"strings"
)

//go:embed schema/*.json
var schemas embed.FS

// Schema returns the JSON Schema (draft 2020-12) of one of the JSON forms: "replay"
// for the object with documents, "replay-lines" for each line of updates and
// summaries, "records" for each line of records; "diff", "baseline-check" and
// "suspects" for the documents of a [Comparer]. Those of what the programs write
// themselves stand with them, under the names of the commands, such as "explain", and
// "heed-status" for one of heed. It returns nil for another name. Schemas are open, since new fields may appear within a [SchemaVersion].
func Schema(name string) []byte {
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
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".json")
	}
	slices.Sort(names)
	return names
}
