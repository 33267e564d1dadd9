package report

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestFamilies holds groups to what people found to be one family of entries in real captures. Precision is the share
// of pairs of entries in one group that are of one family, recall the share of pairs of one family that are in one
// group.
func TestFamilies(t *testing.T) {
	dir := testkit.Dir(t, "rimworld")
	n := testkit.Must(signature.New(testkit.Must(rules.Compile(rules.Defaults()...)).Masking()))
	g := testkit.Must(signature.NewGrouper(signature.GrouperConfig{}))
	type entry struct {
		family string
		group  signature.Signature
	}
	labels := testkit.Must(os.Open(filepath.Join(dir, "labels.csv")))
	rows := testkit.Must(csv.NewReader(labels).ReadAll())
	require.NoError(t, labels.Close())
	starts := map[string]map[int]string{} // the families of records, by file and line
	for _, row := range rows[1:] {
		if starts[row[0]] == nil {
			starts[row[0]] = map[int]string{}
		}
		starts[row[0]][testkit.Must(strconv.Atoi(row[1]))] = row[4]
	}
	var entries []entry
	for file, starts := range starts {
		f := testkit.Must(os.Open(filepath.Join(dir, file)))
		r := testkit.Must(capture.NewReader(f, capture.Options{}))
		for {
			var rec capture.Record
			if err := r.Next(&rec); errors.Is(err, io.EOF) {
				break
			}
			template := n.AppendTemplate(nil, rec.Message, rec.Stack)
			s := signature.Of(template)
			g.Learn(s, template)
			if family, ok := starts[rec.StartLine]; ok {
				entries = append(entries, entry{family, s})
			}
		}
		require.NoError(t, f.Close())
	}
	both, groups, families := map[any]int{}, map[any]int{}, map[any]int{}
	for _, e := range entries {
		e.group = g.Group(e.group)
		both[e]++
		groups[e.group]++
		families[e.family]++
	}
	pairs := func(counts map[any]int) (all float64) {
		for _, n := range counts {
			all += float64(n * (n - 1) / 2)
		}
		return all
	}
	precision, recall := pairs(both)/pairs(groups), pairs(both)/pairs(families)
	t.Logf("%d entries of %d families: precision %.4f, recall %.4f", len(entries), len(families), precision, recall)
	require.InDelta(t, 1, precision, 0.0005)
	require.Greater(t, recall, 0.80)
}
