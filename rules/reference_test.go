package rules_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/rules"
)

var update = flag.Bool("update", false, "write docs/rule-reference.md anew")

const referencePage = "../docs/rule-reference.md"

// TestReference holds the page of all keys to the JSON Schema that it is made
// from.
func TestReference(t *testing.T) {
	want := reference(t)
	if *update {
		require.NoError(t, os.WriteFile(referencePage, []byte(want), 0o600))
	}
	got, err := os.ReadFile(referencePage)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "docs/rule-reference.md differs from rules/schema.json: go test ./rules -run TestReference -update")
}

// TestGuideForMods holds that the rule files in the guide for authors of mods
// load before the default rules, and pass their own tests.
func TestGuideForMods(t *testing.T) {
	page, err := os.ReadFile("../docs/mod-authors.md")
	require.NoError(t, err)
	files := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	require.NotEmpty(t, files)
	for _, m := range files {
		set, err := rules.Compile(append([]rules.File{{Name: "guide.yaml", Data: []byte(m[1])}}, rules.Defaults()...)...)
		require.NoError(t, err)
		for _, r := range set.Test(nil) {
			require.True(t, r.Passed, r.String())
		}
	}
}

// schemaNode is what the page tells of a schema. Conditions between keys (if,
// not) are left to docs/rules.md, which says them in words.
type schemaNode struct {
	Ref         string          `json:"$ref"`
	Description string          `json:"description"`
	Type        string          `json:"type"`
	Const       json.RawMessage `json:"const"`
	Enum        []string        `json:"enum"`
	Pattern     string          `json:"pattern"`
	MinLength   int             `json:"minLength"`
	MaxLength   int             `json:"maxLength"`
	Minimum     *int            `json:"minimum"`
	Maximum     *int            `json:"maximum"`
	MinItems    int             `json:"minItems"`
	MaxItems    int             `json:"maxItems"`
	Unique      bool            `json:"uniqueItems"`
	Items       *schemaNode     `json:"items"`
	Properties  keys            `json:"properties"`
	Required    []string        `json:"required"`
	OneOf       []schemaNode    `json:"oneOf"`
	AllOf       []schemaNode    `json:"allOf"`
	Additional  json.RawMessage `json:"additionalProperties"`
	Definitions keys            `json:"definitions"`
}

// keys are the members of an object in the order of the file.
type keys []key

type key struct {
	name string
	node schemaNode
}

func (k *keys) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var node schemaNode
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if raw[0] == '{' { // false forbids a key under a condition
			if err := json.Unmarshal(raw, &node); err != nil {
				return err
			}
		}
		*k = append(*k, key{fmt.Sprint(name), node})
	}
	return nil
}

// reference is the page.
func reference(t *testing.T) string {
	t.Helper()
	var schema schemaNode
	require.NoError(t, json.Unmarshal(rules.Schema(), &schema))
	b := &strings.Builder{}
	b.WriteString("# Reference of rule files\n\n" +
		"<!-- Made from rules/schema.json: go test ./rules -run TestReference -update -->\n\n" +
		"All keys, as the JSON Schema has them (`classify-replay rules schema`). What they mean together, what a condition may say, and what the\n" +
		"loader checks beyond this page is in [rules.md](rules.md).\n\n" +
		"## A file\n\n")
	writeKeys(b, schema)
	for _, d := range schema.Definitions {
		fmt.Fprintf(b, "\n## %s\n\n", d.name)
		writeDefinition(b, d.node)
	}
	return b.String()
}

func writeDefinition(b *strings.Builder, n schemaNode) {
	if len(n.Properties) > 0 {
		writeKeys(b, n)
		return
	}
	var mapping *schemaNode
	var forms []string
	for i, form := range n.OneOf {
		if len(form.Properties) > 0 {
			mapping = &n.OneOf[i]
			forms = append(forms, "a mapping")
			continue
		}
		forms = append(forms, value(form))
	}
	if mapping == nil {
		fmt.Fprintf(b, "%s.\n", upperFirst(value(n)))
		return
	}
	fmt.Fprintf(b, "%s:\n\n", upperFirst(strings.Join(forms, ", or ")))
	writeKeys(b, *mapping)
}

// writeKeys writes the table of a mapping's keys, and after it those of the
// mappings that are spelled out inside of it.
func writeKeys(b *strings.Builder, n schemaNode) {
	b.WriteString("| key | value | meaning |\n|---|---|---|\n")
	for _, k := range n.Properties {
		meaning := k.node.Description
		if slices.Contains(n.Required, k.name) {
			meaning = strings.TrimSpace(meaning + " Required.")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", k.name, cell(value(k.node)), cell(meaning))
	}
	for _, k := range n.Properties {
		for _, form := range append([]schemaNode{k.node}, k.node.OneOf...) {
			if len(form.Properties) > 0 {
				fmt.Fprintf(b, "\n`%s` as a mapping:\n\n", k.name)
				writeKeys(b, form)
			}
		}
	}
}

// value says in a few words what may stand there.
func value(n schemaNode) string {
	switch {
	case n.Ref != "":
		name := strings.TrimPrefix(n.Ref, "#/definitions/")
		return fmt.Sprintf("[%s](#%s)", name, name)
	case len(n.AllOf) == 1:
		return value(n.AllOf[0])
	case len(n.Const) > 0:
		return "`" + string(n.Const) + "`"
	case len(n.Enum) > 0:
		return "`" + strings.Join(n.Enum, "`, `") + "`"
	case len(n.OneOf) > 0:
		var forms []string
		for _, form := range n.OneOf {
			forms = append(forms, value(form))
		}
		return strings.Join(forms, ", or ")
	case n.Type == "array":
		text := "list of " + value(*n.Items)
		if n.MinItems > 0 {
			text += fmt.Sprintf(", at least %d", n.MinItems)
		}
		if n.MaxItems > 0 {
			text += fmt.Sprintf(", at most %d", n.MaxItems)
		}
		if n.Unique {
			text += ", each once"
		}
		return text
	case n.Type == "object":
		var additional schemaNode
		if len(n.Additional) > 0 && n.Additional[0] == '{' && json.Unmarshal(n.Additional, &additional) == nil {
			return "mapping of names to " + value(additional)
		}
		return "a mapping"
	case n.Type == "boolean":
		return "`true` or `false`"
	case n.Type == "integer":
		if n.Minimum != nil && n.Maximum != nil {
			return fmt.Sprintf("number, %d to %d", *n.Minimum, *n.Maximum)
		}
		return "number"
	}
	text := "text"
	if n.MaxLength > 0 {
		text += fmt.Sprintf(", %d to %d characters", n.MinLength, n.MaxLength)
	} else if n.MinLength > 0 {
		text += ", not empty"
	}
	if n.Pattern != "" {
		text += ", `" + n.Pattern + "`"
	}
	return text
}

// cell is text that does not end a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
