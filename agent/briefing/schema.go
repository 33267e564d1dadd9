package briefing

import (
	_ "embed"
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 7, which editors know best) of a template. Editors complete and check with it
// while a file is written; [Parse] checks more, and does not use it. No template that is read is refused by it. The
// bytes are the caller's.
func Schema() []byte { return slices.Clone(schema) }
