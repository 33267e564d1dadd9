package layout

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

const module = "github.com/heedlog/heed"

// noEngine is why an engine package, which is the root or below it in the
// table, may not import a package of the standard library.
var noEngine = map[string]string{
	"crypto/rand": "randomness: the same calls must give the same updates, byte for byte",
	"math/rand":   "randomness: the same calls must give the same updates, byte for byte",
	"io/fs":       "I/O: files are read by the shells and handed in",
	"log":         "I/O: what is worth reporting is returned or counted",
	"net":         "I/O: connections belong to the shells",
	"os":          "I/O: files, environment and signals belong to the shells",
	"syscall":     "I/O",
}

// engineModules are what engine packages may import of others.
var engineModules = []string{
	"github.com/cespare/xxhash/v2", "github.com/expr-lang/expr", "github.com/hashicorp/golang-lru/v2", "gopkg.in/yaml.v3",
}

var layoutRow = regexp.MustCompile("(?m)^\\| `([\\w./-]+)` \\|")

// layers returns the packages of the table in ARCHITECTURE.md with their places
// from the top.
func layers(t *testing.T) map[string]int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	_, page, found := strings.Cut(string(data), "\n## Layout\n")
	require.True(t, found, "ARCHITECTURE.md has no section Layout")
	page, _, _ = strings.Cut(page, "\n## ")
	places := map[string]int{}
	for i, row := range layoutRow.FindAllStringSubmatch(page, -1) {
		require.NotContains(t, places, row[1])
		places[row[1]] = i + 1
	}
	return places
}

// refused returns why a file of the package at dir may not import a package,
// "" where it may.
func refused(places map[string]int, dir, imported string) string {
	below, ours := strings.CutPrefix(imported, module)
	below = cmp.Or(strings.TrimPrefix(below, "/"), ".")
	switch engine := strings.Count(dir, "/") == 0 && places[dir] >= places["."]; {
	case ours && places[below] == 0:
		return "it is not in the table"
	case ours && places[below] <= places[dir]:
		return "it does not stand below"
	case ours || !engine:
		return ""
	case !strings.Contains(strings.Split(imported, "/")[0], "."):
		if (imported == "sync" || strings.HasPrefix(imported, "sync/")) && dir != "." {
			return "the one lock is the root package's"
		}
		for name, reason := range noEngine {
			if imported == name || strings.HasPrefix(imported, name+"/") && name != "log" {
				return reason
			}
		}
		return ""
	case !slices.ContainsFunc(engineModules, func(m string) bool { return strings.HasPrefix(imported, m) }):
		return "the engine needs no more modules"
	}
	return ""
}

// TestImportDirection holds every package to the table in ARCHITECTURE.md.
func TestImportDirection(t *testing.T) {
	places := layers(t)
	dirs := sources(t)
	for dir, files := range dirs {
		if places[dir] == 0 && slices.ContainsFunc(files, func(f sourceFile) bool { return !f.isTest() }) {
			t.Errorf("%s: not in the table of ARCHITECTURE.md; add a row above all that it imports", dir)
			continue
		}
		for _, f := range files {
			if f.isTest() {
				continue
			}
			for _, imported := range f.imports {
				if reason := refused(places, dir, imported); reason != "" {
					t.Errorf("%s imports %s: %s", f.path, imported, reason)
				}
			}
		}
	}
	for dir := range places {
		if dirs[dir] == nil && !isModule(filepath.Join(root, dir)) {
			t.Errorf("ARCHITECTURE.md: no package %s", dir)
		}
	}
}

// TestOfflineProgramIsSmall: classify-replay links nothing of what stands beside a running game, and neither speaks
// HTTP nor starts programs.
func TestOfflineProgramIsSmall(t *testing.T) {
	dirs := sources(t)
	linked := map[string]bool{}
	var link func(dir string)
	link = func(dir string) {
		if linked[dir] {
			return
		}
		linked[dir] = true
		for _, f := range dirs[dir] {
			for _, imported := range f.imports {
				if f.isTest() {
					continue
				}
				require.NotContains(t, []string{"net/http", "os/exec"}, imported, dir)
				if below, own := strings.CutPrefix(imported, module+"/"); own {
					link(below)
				}
			}
		}
	}
	link("cmd/classify-replay")
	require.True(t, linked["capture"])
	for _, dir := range []string{
		"gabp", "gate", "capture/follow", "history", "cmd/internal/session", "cmd/internal/bridge", "cmd/internal/command/live", "cmd/internal/db",
	} {
		require.False(t, linked[dir], dir)
	}
}

// offlineModules are the modules that classify-replay may link, but those of its system alone.
var offlineModules = []string{
	"github.com/bmatcuk/doublestar/v4",
	"github.com/cespare/xxhash/v2",
	"github.com/clipperhouse/uax29/v2",
	"github.com/expr-lang/expr",
	"github.com/gofrs/flock",
	"github.com/hashicorp/golang-lru/v2",
	"github.com/klauspost/compress",
	"github.com/mattn/go-runewidth",
	"github.com/spf13/cobra",
	"github.com/spf13/pflag",
	"golang.org/x/sys",
	"golang.org/x/term",
	"gopkg.in/yaml.v3",
	module,
}

// TestOfflineProgramModules: classify-replay links no module beyond those listed.
func TestOfflineProgramModules(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/classify-replay")
	list.Dir, list.Env = root, append(os.Environ(), "GOOS=linux")
	out, err := list.Output()
	require.NoError(t, err)
	linked := strings.Fields(string(out))
	slices.Sort(linked)
	beyond := slices.DeleteFunc(slices.Compact(linked), func(m string) bool { return slices.Contains(offlineModules, m) })
	require.Empty(t, beyond, "classify-replay links modules that are not listed")
}

// TestImportTableBites proves that the table refuses what it is there for.
func TestImportTableBites(t *testing.T) {
	places := layers(t)
	for _, c := range []struct {
		dir, imported string
		refused       bool
	}{
		{"event", "time", false},
		{"event", module + "/signature", true},
		{"event", "github.com/spf13/cobra", true},
		{"signature", "github.com/cespare/xxhash/v2", false},
		{"rules", "embed", false},
		{"rules", "os", true},
		{"rules", module + "/classify", true},
		{"classify", module + "/rules", false},
		{"classify", "math/rand/v2", true},
		{"journal", "sync/atomic", true},
		{"journal", "log/slog", false},
		{".", "sync", false},
		{".", "log", true},
		{".", module + "/capture", true},
		{"capture", module + "/event", false},
		{"capture", module + "/report", true},
		{"gabp", module, false},
		{"gabp", "net", false},
		{"report", module, false},
		{"report", module + "/gabp", false},
		{"report", module + "/nowhere", true},
	} {
		require.Equal(t, c.refused, refused(places, c.dir, c.imported) != "", "%s imports %s", c.dir, c.imported)
	}
}
