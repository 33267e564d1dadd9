package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/yamlfile"
)

func TestDidYouMean(t *testing.T) {
	names := []string{"template", "frames", "level", "phase", "warning"}
	require.Equal(t, `did you mean "phase"?`, yamlfile.DidYouMean("phas", names))
	require.Equal(t, "known: template, frames, level, phase, warning", yamlfile.DidYouMean("zzz", names))
	require.Empty(t, yamlfile.DidYouMean("zzz", nil))
}

// TestReadYAML holds the problems of files that are no YAML, or too much of it.
func TestReadYAML(t *testing.T) {
	language := yamlfile.Language{Name: "a list", Begins: "a: 1", Instead: "repeat it", MaxBytes: 100, MaxDepth: 4}
	at := func(line, column int, msg, hint string) []yamlfile.Problem {
		return []yamlfile.Problem{{Line: line, Column: column, Msg: msg, Hint: hint}}
	}
	for in, want := range map[string][]yamlfile.Problem{
		"a: 1\n":                 nil,
		"\ufeffa: {b: [c]}\r\n":  nil,
		"":                       at(0, 0, "the file is empty", `a list begins with "a: 1"`),
		"# a\n":                  at(0, 0, "the file contains only comments", `a list begins with "a: 1"`),
		strings.Repeat("a", 101): at(0, 0, "the file has 101 bytes, more than the 100 allowed", "split it into several files"),
		"a: 1\n---\nb: 2":        at(2, 1, "a second YAML document", `a list is one document: remove the "---" or split the file`),
		"a: é\x01":               at(1, 5, "control character", `write it as an escape in double quotes, such as "\x1b"`),
		"a:\n \xff":              at(2, 2, "not valid UTF-8", "save the file as UTF-8"),
		"a: b: c\n":              at(0, 0, "YAML: mapping values are not allowed in this context", `put text that contains ": " in quotes`),
		"a: *b\n":                at(0, 0, "YAML: unknown anchor 'b' referenced", "repeat it"),
		"a: [[[[1]]]]\n":         at(1, 7, "nested more than 4 levels deep", ""),
		"a: &x !!str 1":          at(1, 4, "YAML anchor &x", "repeat it"),
		"a: !!str 1":             at(1, 4, "YAML tag !!str", "remove the tag; quote a value that must be text"),
	} {
		root, problems := language.Read([]byte(in))
		require.Equal(t, want, problems, in)
		require.Equal(t, want == nil, root != nil, in)
	}
}

func TestWordsOfProblemsAreSafe(t *testing.T) {
	require.Equal(t, `"a\x1b\n\u202e"`, yamlfile.Quote("a\x1b\n\u202e"))
	require.Equal(t, `a "b" \x1b\xff`, yamlfile.Clean("a \"b\" \x1b\xff"))
	long := strings.Repeat("é", 1000)
	require.Len(t, yamlfile.Clip(long), 80+len("…"))
	require.Len(t, yamlfile.Clean(long), 240+len("…"))
}
