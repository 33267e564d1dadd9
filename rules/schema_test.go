package rules_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/rules"
)

var compiledSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(rules.Schema()))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:schema", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:schema")
})

// validate returns what the schema has against a rule file.
func validate(t require.TestingT, text string) error {
	s := testkit.Must(compiledSchema())
	var doc any
	require.NoError(t, yaml.Unmarshal([]byte(text), &doc))
	return s.Validate(doc)
}

// TestSchemaTakesDefaults: every file that compiles is valid. The helper
// compile holds all other tests to it too.
func TestSchemaTakesDefaults(t *testing.T) {
	for _, f := range rules.Defaults() {
		require.NoError(t, validate(t, string(f.Data)), f.Name)
	}
	require.NoError(t, validate(t, example))

	page := testkit.Must(os.ReadFile("../docs/rules.md"))
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, examples)
	for _, m := range examples {
		require.NoError(t, validate(t, m[1]), m[1])
	}
}

// TestSchemaRefuses lists what both the schema and the loader refuse.
func TestSchemaRefuses(t *testing.T) {
	with := func(fields ...string) string {
		return rule(append([]string{"id: x", `when: 'template == "x"'`}, fields...)...)
	}
	tested := func(test string) string { return with("disposition: ignore", "tests: ["+test+"]") }
	escalate := func(e string) string { return with("disposition: ignore", "escalate: "+e) }
	for _, text := range []string{
		"[]", "rules: []", "version: 2", "version: '1'", "version: 1\nrule: []", "version: 1\nrules: {}", "version: 1\nrules: [x]",
		"version: 1\nprotect: [a b]", "version: 1\nprotect: ['']", "version: 1\nprotect: [1]", "version: 1\nprotect: a", "version: 1\nlogger_frames: ['']",
		"version: 1\nlists: {a: []}", "version: 1\nlists: {a: [x, x]}", "version: 1\nlists: {a: [1]}", "version: 1\nlists: {a-b: [x]}", "version: 1\nlists: {a: x}",
		"version: 1\nlists: {a: {}}", "version: 1\nlists: {a: {items: [x], add: true}}", "version: 1\nlists: {a: {items: [x], override: true, append: true}}",
		"version: 1\nmacros: {a: ''}", "version: 1\nmacros: {a: 1}", "version: 1\nmacros: {a: {override: true}}", "version: 1\nmacros: {1: 'true'}",
		"version: 1\ndefaults: {logs: {}}", "version: 1\ndefaults: {log: {warn: ignore}}", "version: 1\ndefaults: {operation: {error: ignore}}",
		"version: 1\ndefaults: {log: {error: block}}", "version: 1\ndefaults: {log: {error: {severity: info}}}", "version: 1\ndefaults: {notice: {stall: ignore}}",
		rule(`when: 'template == "x"'`, "disposition: ignore"), rule("id: x", "disposition: ignore"), with(), with("disposition: block"),
		rule("id: X", `when: 'template == "x"'`, "disposition: ignore"), rule("id: default.x", `when: 'template == "x"'`, "disposition: ignore"),
		rule("id: x", "when: ' '", "disposition: ignore"), rule("id: x", "when: true", "disposition: ignore"),
		with("disposition: ignore", "severty: info"), with("disposition: ignore", "severity: critical"), with("disposition: ignore", "invalidates: 1"),
		with("disposition: ignore", "summary: ''"), with("disposition: ignore", `summary: "a\nb"`), with("disposition: ignore", "summary: "+strings.Repeat("x", 221)),
		with("disposition: ignore", "sets_phase: In Game"), with("disposition: ignore", "blinds: 1"), with("disposition: ignore", "resolves: ['*.x']"),
		with("disposition: ignore", "tags: [A]"), with("disposition: ignore", "tags: [a, a]"), with("disposition: ignore", "tags: a"),
		with("disposition: ignore", "enabled: 'no'"), with("disposition: ignore", "override: 1"), rule("id: x", "override: true", "dispose: ignore"),
		with("continue: true"), with("continue: true", "tags: [a]", "disposition: ignore"), with("continue: true", "tags: [a]", "blinds: true"), with("continue: true", "blinds: true"),
		with("disposition: ignore", "exceptions: x"), with("disposition: ignore", "exceptions: [{name: x}]"), with("disposition: ignore", "exceptions: [{name: X, when: 'true'}]"),
		with("disposition: ignore", "exceptions: ['']"), with("disposition: ignore", "exceptions: [{when: 'phase == \"x\"', if: x}]"),
		escalate("blocking"), escalate("{}"), escalate("{after: 3, within: 1s}"), escalate("{after: 1, within: 1s, to: blocking}"), escalate("{after: 1001, within: 1s, to: blocking}"),
		escalate("{after: 3, within: 1, to: blocking}"), escalate("{after: 3, within: soon, to: blocking}"), escalate("{after: 3, within: {}, to: blocking}"),
		escalate("{after: 3, within: {entries: 1}, to: blocking}"), escalate("{after: 3, within: 1s, to: ignore}"), escalate("{after: 3, within: 1s, to: blocking, level: error}"),
		with("disposition: blocking", "escalate: {after: 3, within: 1s, to: blocking}"), with("disposition: advisory", "escalate: {after: 3, within: 1s, to: advisory}"),
		tested("{level: info}"), tested("{match: a, no_match: b}"), tested("{match: a, lvl: info}"), tested("{match: a, level: warn}"), tested("{match: 404}"), tested("a"),
		tested("{match: a, kind: state, status: failed}"), tested("{match: a, kind: notice}"), tested("{match: a, status: failed, level: info}"),
		tested("{match: a, status: hole, method: m}"), tested("{match: a, method: m, source: s}"), tested("{match: a, kind: log, method: m}"),
	} {
		require.Error(t, validate(t, text), "the schema takes %s", text)
		_, err := rules.Compile(rules.File{Name: "f", Data: []byte(text)})
		require.Error(t, err, "the loader takes %s", text)
	}
}

// TestSchemaOfOverrides: what a rule may leave out when it overrides another.
func TestSchemaOfOverrides(t *testing.T) {
	for _, fields := range []string{"enabled: false", "tags: []", "continue: false, disposition: blocking", "exceptions: ['true']", "when: 'true'"} {
		require.NoError(t, validate(t, fmt.Sprintf("version: 1\nrules: [{id: x, override: true, %s}]", fields)), fields)
	}
}

func TestSchemaIsTheCallers(t *testing.T) {
	s := rules.Schema()
	s[0] = 'x'
	require.NotEqual(t, s, rules.Schema())
}

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
