package layout

import (
	"go/ast"
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
