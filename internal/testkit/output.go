package testkit

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// Inert fails for text that acts on the terminal that prints it: it is not UTF-8, or has control
// characters other than those allowed, separators of lines, or marks of direction.
func Inert(t testing.TB, text, allowed string) {
	t.Helper()
	require.True(t, utf8.ValidString(text), "%q", text)
	for _, r := range text {
		if !strings.ContainsRune(allowed, r) && unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) {
			require.Failf(t, "not inert", "%U in %q", r, text)
		}
	}
}

// InertJSON fails for a JSON text with a string that acts once it is decoded and printed. A decoded string may have
// line feeds.
func InertJSON(t testing.TB, text []byte) {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(text, &v), "%s", text)
	inertValue(t, v)
}

func inertValue(t testing.TB, v any) {
	t.Helper()
	switch v := v.(type) {
	case string:
		Inert(t, v, "\n")
	case []any:
		for _, e := range v {
			inertValue(t, e)
		}
	case map[string]any:
		for name, e := range v {
			Inert(t, name, "\n")
			inertValue(t, e)
		}
	}
}

var colors = regexp.MustCompile("\x1b\\[[^m]*m")

// WithoutColors is a text without the escapes that color it.
func WithoutColors(s string) string { return colors.ReplaceAllString(s, "") }

// Schema compiles a JSON Schema with every object closed. The schemas of the project are open, since new fields may
// appear within a version; documents of today have no unlisted field.
func Schema(t testing.TB, text []byte) *jsonschema.Schema {
	t.Helper()
	doc := Must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))
	shut(doc)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mem:schema", doc))
	return Must(c.Compile("mem:schema"))
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
