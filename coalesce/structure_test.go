package coalesce

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// openItems returns all open items.
func openItems(c *Coalescer) []Item {
	var all []Item
	for _, id := range c.OpenIDs() {
		a, _ := c.Item(id)
		all = append(all, a)
	}
	return all
}

// updates drains all pending updates.
func updates(c *Coalescer) []Update {
	var all []Update
	for u, ok := c.NextUpdate(); ok; u, ok = c.NextUpdate() {
		all = append(all, u)
	}
	return all
}

// checkIndex compares the index with the items.
func checkIndex(t require.TestingT, c *Coalescer) {
	groups, frames := 0, 0
	for i := range c.Items {
		it := &c.Items[i]
		for _, row := range it.Counters.Rows {
			require.Same(t, it, row.of)
			groups++
			require.Contains(t, c.index.groups[row.Sig], row)
			if row.Frame != 0 {
				frames++
				require.Contains(t, c.index.frames[row.Frame], row)
			}
		}
	}
	for _, rows := range c.index.groups {
		require.NotEmpty(t, rows)
		groups -= len(rows)
	}
	for _, rows := range c.index.frames {
		require.NotEmpty(t, rows)
		frames -= len(rows)
	}
	require.Zero(t, groups)
	require.Zero(t, frames)
}

// checkStructure checks what always holds inside a coalescer.
func checkStructure(t require.TestingT, c *Coalescer) {
	numbers := map[uint64]bool{}
	queued := map[uint64]bool{}
	for _, number := range c.Queue {
		require.False(t, queued[number], "queued twice")
		queued[number] = true
	}
	for i := range c.Items {
		it := &c.Items[i]
		require.Equal(t, it.Pending != "", queued[it.Number])
		require.NotEqual(t, itemFree, it.State)
		require.NotNil(t, it.causeRow(), "a merge looks for a cause where its group is")
		require.False(t, numbers[it.Number])
		numbers[it.Number] = true
		require.Equal(t, c.id(it.Number), it.id)
		require.Equal(t, it.Scope == scopeOperation, it.Root != nil)
		if it.open() {
			require.Zero(t, it.AckedAt)
			require.Empty(t, it.ClearedBy)
		}
		sum, groups := it.Untracked, map[string]bool{}
		for _, row := range it.Counters.Rows {
			sum += row.Count
			groups[fmt.Sprint(row.Rule, row.Sig)] = true
			require.NotZero(t, row.Count)
			require.Same(t, row, it.Counters.find(row.Rule, row.Sig, row.Variant))
			if it.open() {
				require.LessOrEqual(t, row.Severity, it.Severity)
				require.LessOrEqual(t, row.Disposition, it.Disposition)
				require.True(t, it.Invalidates || !row.Invalidates)
				require.True(t, slices.IsSorted([]uint64{
					row.First.Seq, row.Raised.At.Seq, row.Last.seq,
				}))
			}
		}
		require.EqualValues(t, len(groups), it.Counters.groups())
		require.Equal(t, it.Total, sum, "every entry is in one group or untracked")
		if it.open() && it.Disposition == event.Advisory {
			require.False(t, c.Config.AdvisoryTTL.passed(it.Alive, c.Now), "expired")
			soonest := alarm{}
			soonest.add(&c.Config.AdvisoryTTL, it.Alive, c.Now)
			requireNotLater(t, c.alarm, soonest)
		}
	}
	checkIndex(t, c)
	require.True(t, c.alarm.seq == 1 || !c.alarm.due(c.Now), "an alarm that stays due would sweep at each entry")
	for _, o := range c.Operations.Order {
		live := o.Begun && (o.running() || o.lingers(&c.Config.Linger, c.Now))
		require.Equal(t, live, slices.Contains(c.Operations.live, o), o.ID)
	}
	for _, o := range c.Operations.live {
		require.Same(t, o, c.Operations.byID[o.ID])
		if !o.running() {
			soonest := alarm{}
			soonest.add(&c.Config.Linger, o.Ended, c.Now)
			requireNotLater(t, c.alarm, soonest)
		}
	}
	require.Len(t, c.Operations.byID, len(c.Operations.Order))
	for _, o := range c.Operations.Order {
		require.Same(t, o, c.Operations.byID[o.ID])
		if o.running() {
			require.False(t, c.Config.OperationMax.passed(o.Started, c.Now), "given up")
			soonest := alarm{}
			soonest.add(&c.Config.OperationMax, o.Started, c.Now)
			requireNotLater(t, c.alarm, soonest)
		}
		root := c.Operations.root(o)
		require.True(t, root.Parent == "" || c.Operations.get(root.Parent) == nil, "no loops")
	}
	only := c.Operations.only
	c.survey()
	require.Same(t, only, c.Operations.only, "the inference is up to date")
}

// requireNotLater checks that alarm a goes off when b does, or earlier.
func requireNotLater(t require.TestingT, a, b alarm) {
	if a.seq == 1 { // it goes off at once, as after a restore
		return
	}
	if b.seq != 0 {
		require.True(t, a.seq != 0 && a.seq <= b.seq, "%v is later than %v", a, b)
	}
	if b.generation != 0 {
		require.True(t, a.generation == b.generation && a.at <= b.at, "%v is later than %v", a, b)
	}
}

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
