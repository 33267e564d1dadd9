package clitest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// Schema compiles a JSON Schema with every object closed. Those of the project are
// open, since new fields may appear within a version; what is written today has no field
// that they do not list.
func Schema(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	shut(doc)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mem:schema", doc))
	s, err := c.Compile("mem:schema")
	require.NoError(t, err)
	return s
}

func shut(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"].(map[string]any); ok && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, e := range v {
			shut(e)
		}
	case []any:
		for _, e := range v {
			shut(e)
		}
	}
}

// RequireValid holds a document to a schema.
func RequireValid(t testing.TB, s *jsonschema.Schema, document string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	require.NoError(t, err, document)
	require.NoError(t, s.Validate(doc), document)
}

// RequireInvalid holds that a document does not follow a schema.
func RequireInvalid(t testing.TB, s *jsonschema.Schema, document string) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	require.NoError(t, err, document)
	require.Error(t, s.Validate(doc), document)
}
