package bridge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/internal/testkit"
)

// node is what is shown of a schema.
type node struct {
	Type        any
	Description string
	Enum        []string
	Minimum     *int64
	Maximum     *int64
	Default     *int64
	Items       *node
	Properties  map[string]*node
	Required    []string
}

func (n *node) form() string {
	what := fmt.Sprint(n.Type)
	if list, ok := n.Type.([]any); ok {
		what = fmt.Sprintf("%v or %v", list[0], list[1])
	}
	if n.Items != nil {
		what = n.Items.form() + " list"
		if n.Items.Enum != nil {
			what = "list of " + strings.Join(n.Items.Enum, ", ")
		}
	}
	if n.Enum != nil {
		what = strings.Join(n.Enum, ", ")
	}
	if n.Minimum != nil && n.Maximum != nil && *n.Maximum < 1<<53-1 {
		what += fmt.Sprintf(" %d to %d", *n.Minimum, *n.Maximum)
	}
	if n.Default != nil {
		what += fmt.Sprintf(", default %d", *n.Default)
	}
	return what
}

func parse(t *testing.T, schema json.RawMessage) *node {
	var n node
	require.NoError(t, json.Unmarshal(schema, &n))
	return &n
}

func names(n *node) []string {
	var all []string
	for name := range n.Properties {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// fill breaks text into lines of at most 120 bytes.
func fill(text string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case width == 0:
		case width+1+len(word) > 120:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}

// rendered is the generated part of the page.
func rendered(t *testing.T) string {
	var b strings.Builder
	for _, tool := range bridge.Tools() {
		fmt.Fprintf(&b, "### `%s`\n\n%s\n\n", tool.Name, fill(tool.Description))
		if in := parse(t, tool.InputSchema); len(in.Properties) > 0 {
			b.WriteString("| argument | type | meaning |\n|---|---|---|\n")
			for _, name := range names(in) {
				must := ""
				if slices.Contains(in.Required, name) {
					must = " (required)"
				}
				fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", name, must, in.Properties[name].form(), in.Properties[name].Description)
			}
			b.WriteString("\n")
		}
		var members []string
		for _, name := range names(parse(t, tool.OutputSchema)) {
			members = append(members, "`"+name+"`")
		}
		fmt.Fprintf(&b, "%s\n\n", fill("Returns "+strings.Join(members, ", ")+"."))
	}
	b.WriteString("## Resources\n\n| URI | content |\n|---|---|\n")
	for _, r := range bridge.Resources() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.URI, r.Description)
	}
	return b.String()
}

const (
	generated = "<!-- generated from the definitions of the tools -->\n"
	page      = "../../../docs/agents.md"
)

// TestDocs holds the page to the tools.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	own, _, ok := strings.Cut(string(text), generated)
	require.True(t, ok)
	testkit.Golden(t, page, own+generated+"\n"+rendered(t))
}
