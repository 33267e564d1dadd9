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
	set, err := rules.Compile(rules.Defaults()...)
	require.NoError(t, err)
	n, err := signature.New(set.Masking())
	require.NoError(t, err)
	families := labeledFamilies(t)
	byFamily := map[string]map[signature.Signature]int{}
	byGroup := map[signature.Signature]map[string]int{}
	g, err := signature.NewGrouper(signature.GrouperConfig{})
	require.NoError(t, err)
	type entry struct {
		family string
		s      signature.Signature
	}
	var entries []entry
	for file, starts := range families {
		f, err := os.Open(filepath.Join(testkit.Dir(t, "rimworld"), file))
		require.NoError(t, err)
		r, err := capture.NewReader(f, capture.Options{})
		require.NoError(t, err)
		for {
			var rec capture.Record
			if err := r.Next(&rec); errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			template := n.AppendTemplate(nil, rec.Message, rec.Stack)
			s := signature.Of(template)
			g.Learn(s, template)
			if family, ok := starts[rec.StartLine]; ok {
				entries = append(entries, entry{family, s})
			}
		}
		require.NoError(t, f.Close())
	}
	for _, e := range entries {
		group := g.Group(e.s)
		tally(byFamily, e.family, group)
		tally(byGroup, group, e.family)
	}
	same, all := 0, 0
	for _, of := range byGroup {
		s, a := pairsWithin(of)
		same, all = same+s, all+a
	}
	precision := float64(same) / float64(all)
	same, all = 0, 0
	for family, of := range byFamily {
		s, a := pairsWithin(of)
		same, all = same+s, all+a
		if s < a {
			t.Logf("%8d pairs apart of %8d, %3d groups: %s", a-s, a, len(of), family)
		}
	}
	recall := float64(same) / float64(all)
	t.Logf("%d entries of %d families: precision %.4f, recall %.4f", len(entries), len(byFamily), precision, recall)
	require.InDelta(t, 1, precision, 0.0005)
	require.Greater(t, recall, 0.80)
}

func tally[A, B comparable](m map[A]map[B]int, a A, b B) {
	if m[a] == nil {
		m[a] = map[B]int{}
	}
	m[a][b]++
}

// pairsWithin returns how many pairs of all that is counted are of one kind, and how many pairs there are.
func pairsWithin[K comparable](of map[K]int) (same, all int) {
	total := 0
	for _, n := range of {
		total += n
		same += n * (n - 1) / 2
	}
	return same, total * (total - 1) / 2
}

// labeledFamilies returns the family of labeled entries, by file and first line.
func labeledFamilies(t *testing.T) map[string]map[int]string {
	f, err := os.Open(filepath.Join(testkit.Dir(t, "rimworld"), "labels.csv"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	out := map[string]map[int]string{}
	for _, row := range rows[1:] {
		if out[row[0]] == nil {
			out[row[0]] = map[int]string{}
		}
		line, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		out[row[0]][line] = row[4]
	}
	return out
}
