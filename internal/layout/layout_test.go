package layout

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/scanner"
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

	"github.com/heedlog/heed/internal/testkit"
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

// code returns the files that are no tests.
func code(files []sourceFile) []sourceFile {
	return slices.DeleteFunc(slices.Clone(files), sourceFile.isTest)
}

// sources parses every Go file of the module, by directory.
func sources(t *testing.T) map[string][]sourceFile {
	t.Helper()
	dirs := map[string][]sourceFile{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(testkit.Must(filepath.Rel(root, name)))
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
		mode := parser.ImportsOnly | parser.ParseComments
		file := testkit.Must(parser.ParseFile(token.NewFileSet(), name, nil, mode))
		src := sourceFile{path: rel, packageDoc: hasText(file.Doc)}
		for _, spec := range file.Imports {
			src.imports = append(src.imports, testkit.Must(strconv.Unquote(spec.Path.Value)))
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
		for _, f := range code(files) {
			if f.packageDoc {
				docs = append(docs, f.path)
			}
		}
		if len(code(files)) > 0 && len(docs) != 1 {
			t.Errorf("%s: want exactly one package comment, found %d %v", dir, len(docs), docs)
		}
	}
}

const module = "github.com/heedlog/heed"

// noEngine is why an engine package may not import a package of the standard library.
var noEngine = map[string]string{
	"crypto/rand": "randomness: the same calls must give the same updates, byte for byte",
	"math/rand":   "randomness: the same calls must give the same updates, byte for byte",
	"io/fs":       "I/O: files are read by the shells and handed in",
	"log":         "I/O: what is worth reporting is returned or counted",
	"net":         "I/O: connections belong to the shells",
	"os":          "I/O: files, environment and signals belong to the shells",
	"syscall":     "I/O",
}

// engine lists the engine packages.
var engine = []string{".", "event", "signature", "rules", "classify", "coalesce", "journal", "internal/blame"}

// engineModules are the modules that engine packages may import.
var engineModules = []string{
	"github.com/cespare/xxhash/v2", "github.com/expr-lang/expr", "github.com/hashicorp/golang-lru/v2", "gopkg.in/yaml.v3",
}

// upward lists the imports that point up, each with its reason.
var upward = map[string]string{
	"internal/files capture": "finding a log needs to recognize one",
	"internal/files rules":   "rule files are compiled where they are read",
	"internal/logline event": "the level of a line is an event.Level",
}

// area is a row of the map in ARCHITECTURE.md. It owns the packages in dir that no longer row owns.
type area struct {
	dir     string
	ceiling int // lines of code, 0 if they are counted apart
}

var mapRow = regexp.MustCompile("(?m)^\\| `([\\w./-]+)` \\|.*\\| ([\\d,]+|apart) \\|$")

// areas returns the rows of the map, from the top.
func areas(t *testing.T) []area {
	t.Helper()
	data := testkit.Must(os.ReadFile(filepath.Join(root, "ARCHITECTURE.md")))
	_, page, found := strings.Cut(string(data), "\n## Layout\n")
	require.True(t, found, "ARCHITECTURE.md has no section Layout")
	page, _, _ = strings.Cut(page, "\n## ")
	var rows []area
	for _, row := range mapRow.FindAllStringSubmatch(page, -1) {
		ceiling, _ := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		rows = append(rows, area{dir: row[1], ceiling: ceiling})
	}
	require.NotEmpty(t, rows)
	return rows
}

// owner returns the index of the row that owns the package at dir, or -1.
func owner(rows []area, dir string) int {
	best := -1
	for i, row := range rows {
		if dir != row.dir && !strings.HasPrefix(dir, row.dir+"/") {
			continue
		}
		if best < 0 || len(row.dir) > len(rows[best].dir) {
			best = i
		}
	}
	return best
}

// place returns the position of the folder at the top that holds dir, or -1. A row of internal above the engine has its
// own.
func place(rows []area, dir string) int {
	top, _, _ := strings.Cut(dir, "/")
	last := -1
	for i, row := range rows {
		if row.dir == top || strings.HasPrefix(row.dir, top+"/") {
			last = i
		}
	}
	if at := owner(rows, dir); top == "internal" && at >= 0 && at < place(rows, ".") {
		return at
	}
	return last
}

// refused returns why a file of the package at dir may not import a package, or "" if it may.
func refused(rows []area, dir, imported string) string {
	below, ours := strings.CutPrefix(imported, module)
	below = cmp.Or(strings.TrimPrefix(below, "/"), ".")
	switch inEngine := slices.Contains(engine, dir); {
	case ours && place(rows, below) < 0:
		return "it is not in the map"
	case ours && place(rows, below) < place(rows, dir) && upward[dir+" "+below] == "":
		return "it is above in the map"
	case ours || !inEngine:
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

// TestImportDirection holds every package to the map in ARCHITECTURE.md.
func TestImportDirection(t *testing.T) {
	rows := areas(t)
	dirs := sources(t)
	used := map[string]bool{}
	for dir, files := range dirs {
		if len(code(files)) > 0 && owner(rows, dir) < 0 {
			t.Errorf("%s: no row of the map in ARCHITECTURE.md owns it", dir)
			continue
		}
		for _, f := range code(files) {
			for _, imported := range f.imports {
				if reason := refused(rows, dir, imported); reason != "" {
					t.Errorf("%s imports %s: %s", f.path, imported, reason)
				}
				used[dir+" "+strings.TrimPrefix(imported, module+"/")] = true
			}
		}
	}
	for exception := range upward {
		if !used[exception] {
			t.Errorf("the exception %q is not needed", exception)
		}
	}
}

// TestCeilings compares the lines of code below each row of the map with its ceiling.
func TestCeilings(t *testing.T) {
	rows := areas(t)
	lines := make([]int, len(rows))
	total := 0
	for dir, files := range sources(t) {
		i := owner(rows, dir)
		if i < 0 {
			continue
		}
		for _, f := range code(files) {
			lines[i] += codeLines(testkit.Must(os.ReadFile(filepath.Join(root, f.path))))
		}
	}
	for i, row := range rows {
		if row.ceiling == 0 {
			continue
		}
		total += lines[i]
		if lines[i] > row.ceiling {
			t.Errorf("%s: %d lines of code, the ceiling in ARCHITECTURE.md is %d: write less, or raise it with a reason in "+
				"docs/decisions/structure.md", row.dir, lines[i], row.ceiling)
		}
		if _, err := os.Stat(filepath.Join(root, row.dir)); err != nil {
			t.Errorf("ARCHITECTURE.md: no folder %s", row.dir)
		}
	}
	if total > maxCodeLines {
		t.Errorf("the tree: %d lines of code, the ceiling maxCodeLines is %d: write less, or raise it with a reason in "+
			"docs/decisions/structure.md", total, maxCodeLines)
	}
	t.Logf("%d lines of code", total)
}

// maxCodeLines, maxFolders and maxExported are the ceilings of the whole tree. docs/decisions/structure.md has the
// reason of each change.
const (
	maxCodeLines = 65750
	maxFolders   = 18
	maxExported  = 518
)

// codeLines returns the number of lines with a token that is no comment. Empty lines of a raw string do not count.
func codeLines(src []byte) int {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	counted := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		switch {
		case tok == token.EOF:
			return len(counted)
		case tok == token.SEMICOLON && literal == "\n": // the scanner inserts it
		case tok == token.STRING:
			for i, line := range strings.Split(literal, "\n") {
				if strings.TrimSpace(line) != "" {
					counted[file.Line(pos)+i] = true
				}
			}
		default:
			counted[file.Line(pos)] = true
		}
	}
}

func TestCodeLines(t *testing.T) {
	require.Equal(t, 6, codeLines([]byte("// c\npackage p\n\n/* a\nb */ var x = `1\n\n2\n3`; var y = 1 // z\n\nfunc f() {\n}\n")))
}

var exported = regexp.MustCompile(
	`(?m)^(?:func (?:\([a-z]\w* \*?[A-Z]\w*(?:\[[^\]]*\])?\) )?[A-Z]|type [A-Z]|\t?(?:const|var) [A-Z])`)

// TestFoldersAndNames holds the number of folders at the top, and of names that public packages export.
func TestFoldersAndNames(t *testing.T) {
	top, names := map[string]bool{}, 0
	for _, name := range tracked(t, "") {
		if folder, _, below := strings.Cut(name, "/"); below && !strings.HasPrefix(folder, ".") {
			top[folder] = true
		}
	}
	require.LessOrEqual(t, len(top), maxFolders)
	for dir, files := range sources(t) {
		first, _, _ := strings.Cut(dir, "/")
		if slices.Contains([]string{"cmd", "bench", "tools", "fleet", "embed", "testdata"}, first) ||
			slices.Contains(strings.Split(dir, "/"), "internal") {
			continue
		}
		for _, f := range code(files) {
			names += len(exported.FindAll(testkit.Must(os.ReadFile(filepath.Join(root, f.path))), -1))
		}
	}
	require.LessOrEqual(t, names, maxExported)
	t.Logf("%d folders, %d exported names", len(top), names)
}

// offlineModules are the modules that classify-replay may link, but those of its system alone.
var offlineModules = []string{
	"github.com/bmatcuk/doublestar/v4",
	"github.com/cespare/xxhash/v2",
	"github.com/clipperhouse/uax29/v2",
	"github.com/expr-lang/expr",
	"github.com/go-json-experiment/json",
	"github.com/gofrs/flock",
	"github.com/hashicorp/golang-lru/v2",
	"github.com/klauspost/compress",
	"github.com/mattn/go-runewidth",
	"github.com/santhosh-tekuri/jsonschema/v6",
	"github.com/spf13/cobra",
	"github.com/spf13/pflag",
	"golang.org/x/sys",
	"golang.org/x/term",
	"golang.org/x/text",
	"gopkg.in/yaml.v3",
	module,
}

// TestOfflineProgram: classify-replay links no module beyond those listed, nothing for a running game, and neither
// speaks HTTP nor starts programs.
func TestOfflineProgram(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "./cmd/classify-replay")
	list.Dir, list.Env = root, append(os.Environ(), "GOOS=linux")
	for line := range strings.Lines(string(testkit.Must(list.Output()))) {
		dir, of, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, module+"/")), " ")
		require.NotContains(t, []string{
			"net/http", "os/exec", "gabp", "gabp/gate", "capture/follow", "cmd/internal/history", "cmd/internal/session",
			"cmd/internal/bridge", "cmd/internal/command/live", "cmd/internal/db",
		}, dir)
		require.True(t, of == "" || slices.Contains(offlineModules, of), "%s of module %s, which is not listed", dir, of)
	}
}

// TestImportRulesBite proves that the map refuses the imports it exists for.
func TestImportRulesBite(t *testing.T) {
	rows := areas(t)
	for _, c := range []struct {
		dir, imported string
		refused       bool
	}{
		{"event", "time", false},
		{"event", module + "/signature", true},
		{"event", "github.com/spf13/cobra", true},
		{"rules", "os", true},
		{"classify", "math/rand/v2", true},
		{"journal", "sync/atomic", true},
		{".", "sync", false},
		{".", module + "/capture", false},
		{"capture", module + "/internal/report", true},
		{"capture/follow", module + "/event", false},
		{"gabp", "net", false},
		{"internal/report/compare", module + "/internal/report", false},
		{"internal/text", module + "/event", true},
		{"internal/report", module + "/nowhere", true},
	} {
		require.Equal(t, c.refused, refused(rows, c.dir, c.imported) != "", "%s imports %s", c.dir, c.imported)
	}
}
