package testkit

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
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
	Inert(t, fmt.Sprint(v), "\n")
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

var update = flag.Bool("update", false, "write golden files; read the difference before a commit")

const toUpdate = "run this test with -update, or all tests with HEED_UPDATE=1"

// Updating reports whether tests write golden files: with -update, which one package takes, or if HEED_UPDATE is 1,
// which "go test ./..." passes to all.
func Updating() bool { return *update || os.Getenv("HEED_UPDATE") == "1" }

// Golden compares a text with the text of a file, or writes the file if [Updating].
func Golden(tb testing.TB, file, got string) {
	tb.Helper()
	want, err := os.ReadFile(file)
	if Updating() {
		if err == nil && string(want) == got {
			return // which leaves alone a page that another test writes at the same time
		}
		require.NoError(tb, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(tb, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	require.NoError(tb, err, toUpdate)
	SameText(tb, file, string(want), got)
}

// SameText fails if texts differ, and prints the lines that differ.
func SameText(tb testing.TB, name, want, got string) {
	tb.Helper()
	if lines := diff.Diff(name, []byte(want), "output", []byte(got)); lines != nil {
		tb.Fatalf("%sif the change is wanted, %s", lines, toUpdate)
	}
}

// Shows fails unless a page holds a text. It names the page and prints the text.
func Shows(tb testing.TB, file, page, text string) {
	tb.Helper()
	if !strings.Contains(page, text) {
		tb.Fatalf("%s does not show: %s", file, text)
	}
}
