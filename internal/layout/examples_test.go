package layout

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

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
