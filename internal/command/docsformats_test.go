package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/bridge"
)

// formatsPage says what each field of the program's JSON is.
const formatsPage = "../../docs/formats.md"

// docsTables is where the page's tables begin: what is above is written by hand.
const docsTables = "<!-- The rest is written from the Go types by: go test ./internal/command -run Docs -update -->\n"

// formatNode is as much of a JSON Schema as the schemas of package report use to
// describe fields.
type formatNode struct {
	Title       string       `json:"title"`
	Description string       `json:"description"`
	Type        string       `json:"type"`
	Ref         string       `json:"$ref"`
	Const       any          `json:"const"`
	Enum        []any        `json:"enum"`
	Items       *formatNode  `json:"items"`
	OneOf       []formatNode `json:"oneOf"`
	Properties  formatFields `json:"properties"`
	Required    []string     `json:"required"`

	Defs map[string]*formatNode `json:"$defs"`
}

// formatFields are the fields of an object, in the order of the schema.
type formatFields []formatField

type formatField struct {
	name string
	node *formatNode
}

func (f *formatFields) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		field := formatField{name.(string), new(formatNode)}
		if err := dec.Decode(field.node); err != nil {
			return err
		}
		*f = append(*f, field)
	}
	return nil
}

// formatTables writes the tables of a page. Definitions that schemas share are
// written once (TestSchemaDefinitionsAgree).
type formatTables struct {
	t *testing.T
	b strings.Builder
}

// defined is the name of what a node refers to, or "".
func (n *formatNode) defined() string { return strings.TrimPrefix(n.Ref, "#/$defs/") }

// kind says in a word or two what values a node has.
func (n *formatNode) kind(defs map[string]*formatNode) string {
	switch {
	case n.Ref != "":
		if def := defs[n.defined()]; len(def.Properties) == 0 {
			return def.kind(defs)
		}
		return "[" + n.defined() + "](#" + strings.ToLower(n.defined()) + ")"
	case n.Const != nil:
		return fmt.Sprintf("`%v`", n.Const)
	case n.Enum != nil:
		words := make([]string, len(n.Enum))
		for i, e := range n.Enum {
			words[i] = fmt.Sprintf("`%v`", e)
		}
		return strings.Join(words, ", ")
	case n.Items != nil:
		return "list of " + n.Items.kind(defs)
	case n.OneOf != nil:
		return n.either(defs)
	}
	return n.Type
}

// either says what values a node has that is one of several.
func (n *formatNode) either(defs map[string]*formatNode) string {
	kinds := make([]string, len(n.OneOf))
	for i := range n.OneOf {
		kinds[i] = n.OneOf[i].kind(defs)
	}
	return strings.Join(kinds, " or ")
}

// fields writes a row for each field of an object, and for those of the objects in it.
func (w *formatTables) fields(prefix string, n *formatNode, defs map[string]*formatNode) {
	for _, f := range n.Properties {
		what := f.node.Description
		if what == "" && f.node.Ref != "" {
			what = defs[f.node.defined()].Description
		}
		require.NotEmpty(w.t, what, "describe %s%s in the tag of its field", prefix, f.name)
		always := ""
		if slices.Contains(n.Required, f.name) {
			always = "yes"
		}
		fmt.Fprintf(&w.b, "| `%s%s` | %s | %s | %s |\n", prefix, f.name, f.node.kind(defs), always, strings.ReplaceAll(what, "|", `\|`))
		w.fields(prefix+f.name+".", f.node, defs)
		if f.node.Items != nil {
			w.fields(prefix+f.name+"[].", f.node.Items, defs)
		}
	}
}

func (w *formatTables) table(n *formatNode, defs map[string]*formatNode) {
	w.b.WriteString("\n| field | value | always | what it is |\n|---|---|---|---|\n")
	w.fields("", n, defs)
}

// namedSchema is the schema of a form of output.
type namedSchema struct {
	name   string
	schema []byte
}

// allSchemas returns those of both programs, by name.
func allSchemas() (all []namedSchema) {
	p := &program{forms: bridge.Forms}
	for _, name := range p.schemaNames() {
		all = append(all, namedSchema{name, p.schemaOf(name)})
	}
	return all
}

// TestDocsFormats holds the tables of docs/formats.md to the schemas, in which
// each field has a description. Run it with -update to write them again.
func TestDocsFormats(t *testing.T) {
	w := &formatTables{t: t}
	shared := map[string]*formatNode{}
	for _, text := range allSchemas() {
		name := text.name
		var s formatNode
		require.NoError(t, json.Unmarshal(text.schema, &s))
		require.NotEmpty(t, s.Title)
		fmt.Fprintf(&w.b, "\n## %s\n\n%s. %s\n", name, s.Title, s.Description)
		maps.Copy(shared, s.Defs)
		if len(s.Properties) > 0 {
			w.table(&s, s.Defs)
		}
		if len(s.OneOf) > 0 {
			fmt.Fprintf(&w.b, "\nEither %s.\n", s.either(s.Defs))
		}
	}
	w.b.WriteString("\n## Objects within\n")
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		if def := shared[name]; len(def.Properties) > 0 {
			fmt.Fprintf(&w.b, "\n### %s\n", name)
			if def.Description != "" {
				fmt.Fprintf(&w.b, "\n%s\n", def.Description)
			}
			w.table(def, shared)
		}
	}

	page, err := os.ReadFile(formatsPage)
	require.NoError(t, err)
	byHand, tables, ok := strings.Cut(string(page), docsTables)
	require.True(t, ok, "%s lacks the line %s", formatsPage, docsTables)
	if *update {
		require.NoError(t, os.WriteFile(formatsPage, []byte(byHand+docsTables+w.b.String()), 0o644))
		return
	}
	require.Equal(t, w.b.String(), tables, docsUpdate)
}
