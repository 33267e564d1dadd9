package layout

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// mapLines and pageLines are the most rows of the map and lines of ARCHITECTURE.md.
const mapLines, pageLines = 25, 150

var (
	quoted   = regexp.MustCompile("`([^`]+)`")
	fileName = regexp.MustCompile(`^[\w./-]*(?:/[\w.-]+|\.(?:go|yaml|json|txt|md|html|js|cs|hex|tsv|sql))$`)
	goName   = regexp.MustCompile(`^(?:[A-Za-z]\w*\.)?([A-Za-z]\w*)$`)
	testFunc = regexp.MustCompile(`(?m)^func (\w+)\(`)
	testName = regexp.MustCompile(`^(?:Test|Fuzz|Example)[A-Z]\w*$`)
)

// TestPlaces: ARCHITECTURE.md is short, has each task once, and names files, functions and tests that exist.
func TestPlaces(t *testing.T) {
	page := string(testkit.Must(os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))))
	require.LessOrEqual(t, strings.Count(page, "\n"), pageLines)
	require.LessOrEqual(t, len(areas(t)), mapLines)
	_, table, found := strings.Cut(page, "\n## Where to change what\n")
	require.True(t, found)
	tests := map[string]bool{}
	for _, name := range tracked(t, "_test.go") {
		src := testkit.Must(os.ReadFile(filepath.Join(root, name)))
		for _, found := range testFunc.FindAllSubmatch(src, -1) {
			tests[string(found[1])] = true
		}
	}
	tasks := map[string]bool{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		if len(cells) != 3 || strings.HasPrefix(row, "| task") {
			continue
		}
		require.False(t, tasks[cells[0]], "%s: twice", cells[0])
		tasks[cells[0]] = true
		dirs, names := placesOf(t, cells[0], cells[1])
		for _, name := range names {
			if !slices.ContainsFunc(dirs, func(dir string) bool { return declares(t, dir, name) }) {
				t.Errorf("%s: no %s in %v", cells[0], name, dirs)
			}
		}
		for _, name := range quotes(cells[2]) {
			switch {
			case testName.MatchString(name):
				require.True(t, tests[name], "%s: no test %s", cells[0], name)
			case fileName.MatchString(name) && !exists(append(dirs, "."), name):
				t.Errorf("%s: no file %s", cells[0], name)
			}
		}
	}
	require.NotEmpty(t, tasks)
}

// placesOf returns the folders of the files and the names that a cell quotes.
func placesOf(t *testing.T, task, cell string) (dirs, names []string) {
	for _, name := range quotes(cell) {
		switch {
		case fileName.MatchString(name):
			if !exists(append(dirs, "."), name) {
				t.Errorf("%s: no file %s", task, name)
			}
			if strings.Contains(name, "/") {
				if path.Ext(name) != "" {
					name = path.Dir(name)
				}
				dirs = append(dirs, name)
			}
		case goName.MatchString(name):
			names = append(names, goName.FindStringSubmatch(name)[1])
		}
	}
	return dirs, names
}

func quotes(cell string) (all []string) {
	for _, found := range quoted.FindAllStringSubmatch(cell, -1) {
		all = append(all, found[1])
	}
	return all
}

// exists reports whether a pattern matches a file in one of the folders.
func exists(dirs []string, pattern string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		found, err := filepath.Glob(filepath.Join(root, dir, pattern))
		return err == nil && len(found) > 0
	})
}

// declares reports whether a Go file of the folder declares the name.
func declares(t *testing.T, dir, name string) bool {
	files := testkit.Must(filepath.Glob(filepath.Join(root, dir, "*.go")))
	return slices.ContainsFunc(files, func(file string) bool {
		return declared(t, testkit.Must(filepath.Rel(root, file)))[name]
	})
}

// parsed holds the results of declared by file.
var parsed = map[string]map[string]bool{}

// declared returns the functions, methods, types, fields, variables and constants of a file.
func declared(t *testing.T, name string) map[string]bool {
	t.Helper()
	if names := parsed[name]; names != nil {
		return names
	}
	file := testkit.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution))
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names[n.Name.Name] = true
		case *ast.TypeSpec:
			names[n.Name.Name] = true
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.Field:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		}
		return true
	})
	parsed[name] = names
	return names
}

// TestEveryPublicPackageHasAnExample holds that whoever imports a package finds
// a use of it that runs: an Example whose output "go test" compares.
func TestEveryPublicPackageHasAnExample(t *testing.T) {
	for dir, files := range sources(t) {
		runs := slices.ContainsFunc(files, func(f sourceFile) bool { return f.isTest() && runsExample(t, f.path) })
		if importable(t, dir, files) && !runs {
			t.Errorf("%s: no Example with output; add one to example_test.go", dir)
		}
	}
}

// importable reports whether hosts may import the package in dir: it is no
// program, and not ours alone.
func importable(t *testing.T, dir string, files []sourceFile) bool {
	t.Helper()
	if first, _, _ := strings.Cut(dir, "/"); slices.Contains([]string{"cmd", "bench", "fleet"}, first) ||
		slices.Contains(strings.Split(dir, "/"), "internal") {
		return false
	}
	for _, f := range code(files) {
		name := filepath.Join(root, f.path)
		parsed := testkit.Must(parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly))
		return parsed.Name.Name != "main"
	}
	return false
}

// runsExample reports whether the file has an Example that "go test" runs.
func runsExample(t *testing.T, name string) bool {
	t.Helper()
	parsed := testkit.Must(parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ParseComments))
	return slices.ContainsFunc(doc.Examples([]*ast.File{parsed}...), func(e *doc.Example) bool {
		return e.Output != "" || e.EmptyOutput
	})
}

var (
	goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")
	// programBlock is a block that is a whole program.
	programBlock = regexp.MustCompile("(?ms)^```go\n((?://[^\n]*\n)*package main\n.*?)^```$")
	exampleLink  = regexp.MustCompile("`(Example\\w*)`\\]\\(\\.\\./([\\w/]*_test\\.go)\\)")
)

// TestPageQuotesProgram holds that the page for Go hosts has the program in embed/go, every line of it.
func TestPageQuotesProgram(t *testing.T) {
	page := testkit.Must(os.ReadFile(filepath.Join(root, "docs", "embedding.md")))
	program := testkit.Must(os.ReadFile(filepath.Join(root, "embed", "go", "main.go")))
	quoted := string(programBlock.FindSubmatch(page)[1])
	testkit.SameText(t, "docs/embedding.md", quoted, string(program)) // which the page must copy
}

// TestPagesQuoteExamples holds that the code in the pages for hosts and bridges is
// code that runs: each other block stands, line by line, in the Example that is linked
// last before it. A line "…" stands for what is left out.
func TestPagesQuoteExamples(t *testing.T) {
	for _, name := range []string{"docs/embedding.md", "docs/bridges.md"} {
		t.Run(name, func(t *testing.T) { quotesExamples(t, name) })
	}
}

func quotesExamples(t *testing.T, pageName string) {
	data := testkit.Must(os.ReadFile(filepath.Join(root, filepath.FromSlash(pageName))))
	page := programBlock.ReplaceAllString(string(data), "")
	blocks := goBlock.FindAllStringSubmatchIndex(page, -1)
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		links := exampleLink.FindAllStringSubmatch(page[:b[0]], -1)
		require.NotEmpty(t, links, "a block of code without a link to its Example")
		name, file := links[len(links)-1][1], links[len(links)-1][2]
		source := testkit.Must(os.ReadFile(filepath.Join(root, filepath.FromSlash(file))))
		_, rest, found := strings.Cut(string(source), "\nfunc "+name+"() {\n")
		require.True(t, found, "%s has no %s", file, name)
		body, _, _ := strings.Cut(rest, "\n}\n")
		body = unindented(body)
		for part := range strings.SplitSeq(unindented(page[b[2]:b[3]]), "\n…\n") {
			part = strings.Trim(part, "\n")
			_, after, found := strings.Cut(body, part)
			if !found {
				t.Errorf("%s: not in %s of %s, or not in this order:\n%s", pageName, name, file, part)
				break
			}
			body = after
		}
	}
}

// TestReadmeLinksGuides holds that each page of docs is found from the README.
func TestReadmeLinksGuides(t *testing.T) {
	readme := testkit.Must(os.ReadFile(filepath.Join(root, "README.md")))
	pages := testkit.Must(filepath.Glob(filepath.Join(root, "docs", "*.md")))
	require.NotEmpty(t, pages)
	for _, page := range pages {
		testkit.Shows(t, "README.md", string(readme), "](docs/"+filepath.Base(page)+")")
	}
}

// unindented is the text with each line trimmed, so that a block may stand less
// deep than where it is quoted from.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
