package rules

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 7, which editors know best) of a rule
// file. Editors complete and check with it while a file is written; [Compile]
// checks more, and does not use it. No file that compiles is refused by it. The
// bytes are the caller's.
func Schema() []byte { return slices.Clone(schema) }
