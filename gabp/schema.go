package gabp

import (
	"embed"
	"io/fs"
)

//go:embed schema/*.json
var schemaFiles embed.FS

// Schemas returns the JSON Schemas (2020-12) of all that this package writes:
// envelope.json for messages; methods.json with a definition for the params and
// the result of each method; attention.json, capabilities.json, tool.json and
// error.json, which these refer to; bridge.json for bridge files.
//
// What is read may be looser, and what is refused is more than a schema can
// say: names in another case, names that come twice, the bounds of [Limits].
func Schemas() fs.FS {
	dir, err := fs.Sub(schemaFiles, "schema")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return dir
}
