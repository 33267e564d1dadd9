package signature

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// specification returns the blocks of the specification, by the heading that
// they stand under.
func specification(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "docs", "signatures.md"))
	require.NoError(t, err)
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	testkit.Shows(t, "docs/signatures.md", text, fmt.Sprintf("# Signatures, version %d\n", Version))
	blocks := map[string][]string{}
	heading, block, inside := "", "", false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "```") && inside:
			blocks[heading] = append(blocks[heading], block)
			inside = false
		case strings.HasPrefix(line, "```"):
			block, inside = "", true
		case inside:
			block += line
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
	}
	require.False(t, inside, "a block of the specification has no end")
	return blocks
}

// cases returns the strings in the case clauses of a function of this package,
// clause by clause.
func cases(t *testing.T, file, function string) [][]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var clauses [][]string
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			c, ok := n.(*ast.CaseClause)
			if !ok {
				return true
			}
			var words []string
			for _, e := range c.List {
				if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
					w, err := strconv.Unquote(l.Value)
					require.NoError(t, err)
					words = append(words, w)
				}
			}
			if words != nil {
				clauses = append(clauses, words)
			}
			return true
		})
	}
	require.NotEmpty(t, clauses, "%s has no function %s with words in its cases", file, function)
	return clauses
}

// TestSpecificationLists holds the lists of the specification to those of the
// code.
func TestSpecificationLists(t *testing.T) {
	blocks := specification(t)
	calendar := cases(t, "masks.go", "isCalendar")
	require.Equal(t, []string{"May", "March"}, calendar[1], "the specification names them in rule 1.7")
	for heading, want := range map[string][]string{
		"Well-known words":  wellKnown,
		"Units":             unitWords,
		"Months":            calendar[0],
		"Top-level domains": cases(t, "masks.go", "isHostName")[0],
		"Words before user": cases(t, "masks.go", "accountAfter")[0],
		"Constants":         constantWords,
		"Connectives":       cases(t, "paths.go", "isConnective")[0],
		"Logger frames":     DefaultLoggerFrames(),
		"Words for codes":   codeWords,
		"Fields":            fieldWords,
		"Texts":             textWords,
		"Requests":          append(requestWords, protocols...),
	} {
		require.Len(t, blocks[heading], 1, "lists under %q", heading)
		got := strings.Fields(blocks[heading][0])
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
		require.Equal(t, want, got, "list under %q", heading)
	}
}

// TestSpecificationExample computes the worked example.
func TestSpecificationExample(t *testing.T) {
	blocks := specification(t)["Worked example"]
	require.Len(t, blocks, 3, "message, template, id with check")
	n := newDefault(t)
	tpl := n.AppendTemplate(nil, strings.TrimSuffix(blocks[0], "\n"), "")
	require.Equal(t, blocks[1], string(tpl)+"\n")
	s := Of(tpl)
	require.Equal(t, blocks[2], fmt.Sprintf("%v %08x\n", s.ID, s.Check))
}
