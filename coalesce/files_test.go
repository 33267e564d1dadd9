package coalesce

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// files are those of the package, from the top down: a file uses names of the files below it.
var files = strings.Fields(`state state_check carry digest ack consumer escalate stats verdict render lifecycle policy
	load variant group fold member window coalescer operation time config item transitions index`)

// TestFilesPointDown counts the pairs of files of which one uses a function, method, type, constant or variable of the
// other. At most a third of them point up in the order of files.
func TestFilesPointDown(t *testing.T) {
	set := token.NewFileSet()
	var all []*ast.File
	for _, name := range files {
		f, err := parser.ParseFile(set, name+".go", nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		all = append(all, f)
	}
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	names = slices.DeleteFunc(names, func(name string) bool {
		return strings.HasSuffix(name, "_test.go") || name == "doc.go"
	})
	require.Len(t, names, len(files), "a file that has no place in the order")
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: nothing{}, Error: func(error) {}} // names of other packages are not known
	pkg, _ := config.Check("coalesce", set, all, &info)
	place := func(at token.Pos) int {
		return slices.Index(files, strings.TrimSuffix(set.File(at).Name(), ".go"))
	}
	pairs := map[[2]int]string{}
	for use, o := range info.Uses {
		if _, method := o.(*types.Func); o.Pkg() != pkg || !method && o.Parent() != pkg.Scope() {
			continue
		}
		if from, to := place(use.Pos()), place(o.Pos()); from != to {
			pairs[[2]int{from, to}] = o.Name()
		}
	}
	up := 0
	for p, name := range pairs {
		if p[1] < p[0] {
			up++
			t.Logf("%s uses %s of %s", files[p[0]], name, files[p[1]])
		}
	}
	t.Logf("%d of %d point up", up, len(pairs))
	require.Greater(t, len(pairs), 100)
	require.LessOrEqual(t, 3*up, len(pairs))
}

// nothing imports packages without names.
type nothing struct{}

func (nothing) Import(path string) (*types.Package, error) {
	p := types.NewPackage(path, filepath.Base(path))
	p.MarkComplete()
	return p, nil
}
