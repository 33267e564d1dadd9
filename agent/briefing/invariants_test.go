package briefing

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// randomTemplate returns a template of any stages, all of them with configurations that differ.
func randomTemplate(r *rand.Rand) string {
	var stages []string
	for i := range 1 + r.IntN(9) {
		n := 1 + r.IntN(30)
		stages = append(stages, []string{
			fmt.Sprintf("{stage: s%d, type: ledger_query, config: {max_entries: %d}}", i, n),
			fmt.Sprintf("{stage: s%d, type: ledger_query, share: 0.%d, config: {tier: gone, max_entries: %d}}", i,
				1+r.IntN(9), n),
			fmt.Sprintf("{stage: s%d, type: registry_query, config: {registry: mods, max_rows: %d}}", i, n),
			fmt.Sprintf("{stage: s%d, type: horizontal_search, config: {query: q, max_results: %d, relevance_threshold: 0.%d}}", i, n, r.IntN(9)),
			fmt.Sprintf("{stage: s%d, type: attention, share: 0.%d, config: {max_items: %d}}", i, 1+r.IntN(9), n),
			fmt.Sprintf("{stage: s%d, type: attention, enabled: false, config: {max_items: %d}}", i, n),
			fmt.Sprintf("{stage: s%d, type: file_read, config: {paths: [p%d]}}", i, n),
			fmt.Sprintf("{stage: s%d, type: tier_select, config: {tiers: [hot]}}", i),
			fmt.Sprintf("{stage: s%d, type: structuring, config: {strategy: %s, max_tokens: %d}}", i,
				structurings[r.IntN(len(structurings))], r.IntN(3)*n*9),
			fmt.Sprintf("{stage: s%d, type: halting, config: {min_fragments: %d, max_reruns: %d}}", i, n, r.IntN(3)),
		}[r.IntN(10)])
	}
	return pipeline(strings.Join(stages, ", "),
		fmt.Sprintf("budget: {max_context_tokens: %d, max_queries: %d, timeout: %ds}",
			r.IntN(4)*60, r.IntN(8), r.IntN(12)))
}

func randomWorld(r *rand.Rand) *world {
	some := func(source string, n int) (fs []Fragment) {
		for i := range r.IntN(n) {
			f := piece(source, fmt.Sprintf("%s-%d", source[:1], i), 8+r.IntN(30))
			f.Relevance, f.Seq = r.Float64(), uint64(r.IntN(50))
			fs = append(fs, f)
		}
		return fs
	}
	w := &world{
		entries: map[string][]Fragment{"hot": some(SourceLedger, 12)},
		rows:    map[string][]Fragment{"mods": some(SourceRegistry, 5)},
		hits:    map[string][]Fragment{"a": some(SourceSearch, 9), "b": some(SourceSearch, 9)}, items: some(SourceAttention,
			4),
		takes: time.Duration(r.IntN(2)) * time.Second,
	}
	if len(w.items) > 0 {
		w.items[0].Required, w.items[0].Short = true, []Line{{Text: "short"}}
		w.open = []Item{{w.items[0].SourceID, true}}
	}
	return w
}

// TestInvariants holds the service to what must be true of any template, on random ones.
func TestInvariants(t *testing.T) {
	each := func(t *testing.T, check func(t *testing.T, template *Template, w *world, c *Context)) {
		t.Helper()
		r := rand.New(rand.NewPCG(1, 2))
		made := 0
		for range 120 {
			text, w := randomTemplate(r), randomWorld(r)
			s := w.service(t, nil, text)
			c, err := s.Assemble(t.Context(), Request{})
			if err != nil {
				require.ErrorIs(t, err, ErrRequired, text)
				continue
			}
			made++
			check(t, s.config.Templates[0], w, c)
			require.False(t, t.Failed(), text)
		}
		require.Greater(t, made, 80)
	}

	t.Run("assembly follows the template's pipeline", func(t *testing.T) {
		each(t, func(t *testing.T, template *Template, _ *world, c *Context) {
			var want, got []string
			for _, s := range merged(template, &Contract{}) {
				want = append(want, s.Stage)
			}
			for _, s := range c.Trace {
				if !strings.Contains(s.Stage, "rerun") {
					got = append(got, s.Stage)
				}
			}
			require.Equal(t, want, got)
		})
	})
	t.Run("every stage is driven by its configuration", func(t *testing.T) {
		each(t, func(t *testing.T, template *Template, w *world, _ *Context) {
			known := map[string]bool{}
			for _, s := range merged(template, &Contract{}) {
				if !s.Disabled {
					switch c := s.Config.(type) {
					case *LedgerQuery:
						known[fmt.Sprintf("ledger hot %+v", *c)] = true
					case *RegistryQuery:
						known[fmt.Sprintf("registry %+v", *c)] = true
					case *AttentionQuery:
						known[fmt.Sprintf("attention %+v", *c)] = true
					case *horizontalSearch:
						for n, least := c.MaxResults, c.RelevanceThreshold; n < 1000; n, least = 2*n, least/2 {
							for name := range w.hits {
								known[fmt.Sprintf("search %s %q %d %v", name, c.Query, n, least)] = true
							}
						}
					}
				}
			}
			for _, asked := range w.asked {
				require.True(t, known[asked], asked)
			}
		})
	})
	t.Run("nothing is hard-coded", func(t *testing.T) {
		// Numbers in code that runs stages are 0 and 1. Named ones are limits of safety, or defaults that a template
		// replaces.
		for _, name := range sources(t) {
			if name == "parse.go" || name == "check.go" || name == "template.go" || name == "render.go" {
				continue // the language, its bounds and defaults, and the form of the text
			}
			fset := token.NewFileSet()
			f := testkit.Must(goparser.ParseFile(fset, name, nil, 0))
			ast.Inspect(f, func(n ast.Node) bool {
				if d, ok := n.(*ast.GenDecl); ok && (d.Tok == token.CONST || d.Tok == token.VAR) && name != "assembly.go" {
					return false
				}
				if l, ok := n.(*ast.BasicLit); ok && (l.Kind == token.INT || l.Kind == token.FLOAT) &&
					!slices.Contains([]string{"0", "0.0", "1"}, l.Value) {
					t.Errorf("%s: the number %s", fset.Position(l.Pos()), l.Value)
				}
				return true
			})
		}
	})
	t.Run("budgets are respected", func(t *testing.T) {
		each(t, func(t *testing.T, template *Template, _ *world, c *Context) {
			sum, text := 0, ""
			for _, f := range c.Fragments {
				lines := 0
				text += f.Content
				require.True(t, f.Relevance >= 0 && f.Relevance <= 1)
				for line := range strings.Lines(f.Content) {
					lines += template.Tokens.estimate(strings.TrimSuffix(line, "\n"), Prose)
				}
				require.Equal(t, lines, f.TokenEstimate)
				sum += f.TokenEstimate
			}
			require.Equal(t, sum, c.Used.Tokens)
			require.Equal(t, text, c.Text)
			if most := template.Budget.MaxContextTokens; most > 0 {
				require.LessOrEqual(t, sum, most)
			}
			if most := template.Budget.MaxQueries; most > 0 {
				require.LessOrEqual(t, c.Used.Queries, most)
			}
			queries := 0
			for _, s := range c.Trace {
				queries += s.Queries
			}
			require.Equal(t, queries, c.Used.Queries)
		})
	})
	t.Run("halting is explicit and in the trace", func(t *testing.T) {
		each(t, func(t *testing.T, _ *Template, _ *world, c *Context) {
			for _, s := range c.Trace {
				if s.Type != "halting" {
					continue
				}
				reasons := []string{"satisfied: ", "budget: ", "completed after ", "halted before"}
				require.True(t, slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(s.Detail, r) }),
					s.Detail)
			}
		})
	})
	t.Run("nothing is sent", func(t *testing.T) {
		// The package can reach no network, no other program, and no file to write to.
		may := []string{"OpenRoot", "Root", "O_RDONLY", "File"}
		for _, name := range sources(t) {
			f := testkit.Must(goparser.ParseFile(token.NewFileSet(), name, nil, 0))
			for _, imported := range f.Imports {
				path := testkit.Must(strconv.Unquote(imported.Path.Value))
				first, _, _ := strings.Cut(path, "/")
				require.NotContains(t, []string{"net", "log", "plugin"}, first, name)
				require.NotContains(t, []string{"os/exec", "io/ioutil", "github.com/heedlog/heed"}, path, name)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if of, ok := s.X.(*ast.Ident); ok && of.Name == "os" {
						require.Contains(t, may, s.Sel.Name, name)
					}
				}
				return true
			})
		}
	})
	t.Run("the same state gives the same bytes", func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 100 {
			text, w := randomTemplate(r), randomWorld(r)
			began := w.now
			first, err := w.service(t, nil, text).Assemble(t.Context(), Request{})
			w.now = began
			again, againErr := w.service(t, nil, text).Assemble(t.Context(), Request{})
			require.Equal(t, err, againErr)
			require.Equal(t, first, again)
		}
	})
}

// sources returns the files of the package, without tests.
func sources(t *testing.T) (names []string) {
	all := testkit.Must(filepath.Glob("*.go"))
	for _, name := range all {
		if !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
	}
	require.Contains(t, names, "assembly.go")
	return names
}
