package capture

import (
	"bytes"
	"encoding/csv"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// referenceCaptures are the reference captures, by their names.
func referenceCaptures(tb testing.TB) map[string][]byte {
	tb.Helper()
	dir := testkit.Dir(tb, "rimworld")
	all := files(tb, filepath.Join(dir, "*.log"))
	maps.Copy(all, files(tb, filepath.Join(dir, "*.txt")))
	if len(all) == 0 {
		tb.Skipf("reference data: no captures in %s", dir)
	}
	return all
}

func TestReferenceCapturesAreCovered(t *testing.T) {
	for name, data := range referenceCaptures(t) {
		t.Run(name, func(t *testing.T) {
			recs, r := read(t, bytes.NewReader(data), Options{})
			requireCovers(t, string(data), recs)
			require.True(t, r.At().Layout.unity() || r.At().Layout == layoutHugsLib, "%v", r.At().Layout)
			for i := range recs {
				require.NotEqual(t, refUnresolved, recs[i].RefState, "line %d", recs[i].StartLine)
			}
			again, _ := read(t, iotest.HalfReader(bytes.NewReader(data)), Options{})
			require.Equal(t, recs, again)
		})
	}
}

// TestReferenceLabels holds the splitting to what annotators saw as one record.
func TestReferenceLabels(t *testing.T) {
	dir := testkit.Dir(t, "rimworld")
	f, err := os.Open(filepath.Join(dir, "labels.csv"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("reference data: %v", err)
	}
	require.NoError(t, err)
	rows := testkit.Must(csv.NewReader(f).ReadAll())
	require.NoError(t, f.Close())
	type score struct{ begin, both, total int }
	scores, ends := map[string]*score{}, map[string]map[int]int{}
	var all score
	for _, row := range rows[1:] {
		name := row[0]
		if scores[name] == nil {
			data := testkit.Must(os.ReadFile(filepath.Join(dir, name)))
			recs, _ := read(t, bytes.NewReader(data), Options{})
			scores[name], ends[name] = &score{}, map[int]int{}
			for _, r := range recs {
				ends[name][r.StartLine] = r.EndLine
			}
		}
		start := testkit.Must(strconv.Atoi(row[1]))
		end := testkit.Must(strconv.Atoi(row[2]))
		for _, s := range []*score{scores[name], &all} {
			s.total++
			if got, ok := ends[name][start]; ok {
				s.begin++
				if got == end {
					s.both++
				}
			}
		}
	}
	share := func(n, of int) float64 { return float64(n) / float64(of) }
	for name, s := range scores {
		t.Logf("%-40s %.4f begin and %.4f begin and end alike, of %d", name, share(s.begin, s.total), share(s.both,
			s.total), s.total)
		require.GreaterOrEqual(t, share(s.begin, s.total), 0.98, name)
		require.GreaterOrEqual(t, share(s.both, s.total), 0.95, name)
	}
	require.GreaterOrEqual(t, share(all.begin, all.total), 0.995)
	require.GreaterOrEqual(t, share(all.both, all.total), 0.98)
}
