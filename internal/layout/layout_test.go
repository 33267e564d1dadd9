package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// root is the module's root, seen from this directory.
const root = "../.."

// sourceFile is one Go file of the module with what the tests ask about it.
type sourceFile struct {
	path       string // from the root, with slashes
	imports    []string
	packageDoc bool
}

func (f sourceFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// sources parses every Go file of the module, by directory.
func sources(t *testing.T) map[string][]sourceFile {
	t.Helper()
	dirs := map[string][]sourceFile{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			base := d.Name()
			if rel != "." && (base == "testdata" || strings.HasPrefix(base, ".") || isModule(name)) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		src := sourceFile{path: rel, packageDoc: hasText(file.Doc)}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			src.imports = append(src.imports, imported)
		}
		dirs[path.Dir(rel)] = append(dirs[path.Dir(rel)], src)
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	return dirs
}

// isModule reports whether dir is the root of another module, such as tools.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func hasText(doc *ast.CommentGroup) bool { return doc != nil && strings.TrimSpace(doc.Text()) != "" }

// TestOnePackageDoc holds that each directory explains itself exactly once:
// two package comments are shown glued together, in file order.
func TestOnePackageDoc(t *testing.T) {
	for dir, files := range sources(t) {
		var docs []string
		code := false
		for _, f := range files {
			if f.isTest() {
				continue
			}
			code = true
			if f.packageDoc {
				docs = append(docs, f.path)
			}
		}
		if code && len(docs) != 1 {
			t.Errorf("%s: want exactly one package comment, found %d %v", dir, len(docs), docs)
		}
	}
}

// importRule is one list of the linter depguard, in its strict mode.
type importRule struct {
	Mode  string   `yaml:"list-mode"`
	Files []string `yaml:"files"`
	Allow []string `yaml:"allow"`
	Deny  []struct {
		Pkg  string `yaml:"pkg"`
		Desc string `yaml:"desc"`
	} `yaml:"deny"`
}

func importRules(t *testing.T) map[string]importRule {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, ".golangci.yml"))
	require.NoError(t, err)
	var config struct {
		Linters struct {
			Settings struct {
				Depguard struct {
					Rules map[string]importRule `yaml:"rules"`
				} `yaml:"depguard"`
			} `yaml:"settings"`
		} `yaml:"linters"`
	}
	require.NoError(t, yaml.Unmarshal(data, &config))
	rules := config.Linters.Settings.Depguard.Rules
	require.NotEmpty(t, rules)
	return rules
}

// covers reports whether the rule speaks about a file of the module. Patterns
// are those that .golangci.yml uses: "${config-path}/dir/*.go" and "!$test".
func (r importRule) covers(f sourceFile) bool {
	covered := false
	for _, pattern := range r.Files {
		if pattern == "!$test" {
			if f.isTest() {
				return false
			}
			continue
		}
		ok, err := path.Match(strings.TrimPrefix(pattern, "${config-path}/"), f.path)
		if err != nil {
			panic("BUG: pattern " + pattern + ": " + err.Error())
		}
		covered = covered || ok
	}
	return covered
}

// refuses returns why the rule does not let a package be imported.
func (r importRule) refuses(imported string) (reason string, refused bool) {
	allowed, denied := -1, -1
	for _, pattern := range r.Allow {
		if pattern == "$gostd" {
			if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
				allowed = max(allowed, len(first)) // depguard expands it to the top folders
			}
		} else if matches(pattern, imported) {
			allowed = max(allowed, len(pattern))
		}
	}
	reason = "not in its list"
	for _, d := range r.Deny {
		if matches(d.Pkg, imported) && len(d.Pkg) > denied {
			denied, reason = len(d.Pkg), d.Desc
		}
	}
	return reason, allowed <= denied
}

// matches follows depguard: a prefix, or the whole path where it ends in "$".
func matches(pattern, imported string) bool {
	if whole, ok := strings.CutSuffix(pattern, "$"); ok {
		return imported == whole
	}
	return strings.HasPrefix(imported, pattern)
}

// TestImportDirection holds every package to the table of imports.
func TestImportDirection(t *testing.T) {
	rules := importRules(t)
	names := slices.Sorted(maps.Keys(rules))
	for _, name := range names {
		require.Equal(t, "strict", rules[name].Mode, "list %s", name)
	}
	for _, files := range sources(t) {
		for _, f := range files {
			covered := f.isTest()
			for _, name := range names {
				if !rules[name].covers(f) {
					continue
				}
				covered = true
				for _, imported := range f.imports {
					if reason, refused := rules[name].refuses(imported); refused {
						t.Errorf("%s imports %s: refused by the list %q of .golangci.yml: %s", f.path, imported, name, reason)
					}
				}
			}
			if !covered {
				t.Errorf("%s: no import list of .golangci.yml covers it; add one, and a line to the table of rooms in ARCHITECTURE.md", f.path)
			}
		}
	}
}

// TestImportRulesBite proves that the lists refuse what they are there for.
func TestImportRulesBite(t *testing.T) {
	const module = "github.com/heedlog/heed"
	cases := []struct {
		list, imported string
		refused        bool
	}{
		{"event", "time", false},
		{"event", module + "/signature", true},
		{"event", "github.com/spf13/cobra", true},
		{"signature", "github.com/cespare/xxhash/v2", false},
		{"signature", module + "/event", true},
		{"rules", "embed", false},
		{"rules", "os", true},
		{"rules", module + "/classify", true},
		{"classify", module + "/rules", false},
		{"classify", "math/rand/v2", true},
		{"journal", "sync/atomic", true},
		{"journal", "log/slog", false},
		{"root", "sync", false},
		{"root", "log", true},
		{"root", "log/slog", false},
		{"root", module + "/capture", true},
		{"capture", module + "/event", false},
		{"capture", module, true},
		{"store", "os", false},
		{"store", module + "/journal", false},
		{"store", module + "/coalesce", true},
		{"gabp", module, false},
		{"gabp", "net", false},
		{"gabp", module + "/journal", true},
		{"diag", module + "/live", false},
		{"diag", module + "/gate", true},
		{"diag", module + "/coalesce", true},
		{"report", module, false},
		{"report", module + "/rules", true},
		{"classify-replay", module + "/coalesce", true},
		{"sim", module + "/coalesce", false},
		{"sim", module + "/capture", true},
	}
	rules := importRules(t)
	for _, c := range cases {
		rule, ok := rules[c.list]
		require.True(t, ok, "no list %s", c.list)
		reason, refused := rule.refuses(c.imported)
		require.Equal(t, c.refused, refused, "%s imports %s: %s", c.list, c.imported, reason)
	}
}
