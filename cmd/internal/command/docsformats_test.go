package command

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/internal/testkit"
)

// namedSchema is the schema of a form of output.
type namedSchema struct {
	name   string
	schema []byte
}

// allSchemas returns those of both programs, by name.
func allSchemas() (all []namedSchema) {
	p := &program{host: Host{Forms: bridge.Forms}}
	for _, f := range p.allForms() {
		all = append(all, namedSchema{f.Name, f.JSON()})
	}
	slices.SortFunc(all, func(a, b namedSchema) int { return strings.Compare(a.name, b.name) })
	return all
}

// formatNode is as much of a JSON Schema as describes fields.
type formatNode struct {
	Title       string                 `json:"title"`
	Description string                 `json:"description"`
	Ref         string                 `json:"$ref"`
	Items       *formatNode            `json:"items"`
	Properties  map[string]*formatNode `json:"properties"`
	Defs        map[string]*formatNode `json:"$defs"`
}

// described holds each field of an object, and of the objects in it, to a description.
func (n *formatNode) described(t *testing.T, name string) {
	t.Helper()
	for field, node := range n.Properties {
		require.NotEmpty(t, node.Description+node.Ref, "describe %s.%s in the tag of its field", name, field)
		node.described(t, name+"."+field)
	}
	if n.Items != nil {
		n.Items.described(t, name+"[]")
	}
}

// TestDocsFormats: docs/reference.md lists every form of JSON, and the schema of each, which the page
// refers to, describes every field.
func TestDocsFormats(t *testing.T) {
	page := testkit.Must(os.ReadFile("../../../docs/reference.md"))
	for _, s := range allSchemas() {
		testkit.Shows(t, "docs/reference.md", string(page), "\n| `"+s.name+"` | `heed ")
		var n formatNode
		require.NoError(t, json.Unmarshal(s.schema, &n))
		require.NotEmpty(t, n.Title, s.name)
		n.described(t, s.name)
		for name, def := range n.Defs {
			def.described(t, name)
		}
	}
}
