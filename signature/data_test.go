package signature

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestCaptures tries the laws on real logs, line by line, and as entries of
// some lines each.
func TestCaptures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Dir(t, "rimworld"), "rw*"))
	require.NoError(t, err)
	n, r := testNormalizer(t)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := strings.Split(string(data), "\n")
		for i := 0; i+8 < len(lines); i += 97 {
			entry := strings.Join(lines[i:i+8], "\n")
			if len(entry) < 2<<10 {
				checkLaws(t, n, r, entry, "")
			}
		}
		var tpl, again []byte
		for _, line := range lines {
			tpl = n.AppendTemplate(tpl[:0], line, "")
			again = n.AppendTemplate(again[:0], string(tpl), "")
			require.True(t, bytes.Equal(tpl, again), "template %q of the template %q of %q", again, tpl, line)
		}
	}
}

// TestGrouping holds the masking, alone and with one setting for all data, to
// what it reached on logs with labeled lines. GA is the share of lines whose
// group is exactly the true one, FGA the F1 over groups.
func TestGrouping(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testkit.Dir(t, "loghub"), "*.tsv"))
	require.NoError(t, err)
	n := newDefault(t)
	var ga, fga float64
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		truth, found := map[string][]int{}, map[string][]int{}
		rows := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		for i, row := range rows {
			fields := strings.SplitN(row, "\t", 3)
			truth[fields[1]] = append(truth[fields[1]], i)
			tpl := string(n.AppendTemplate(nil, fields[2], ""))
			found[tpl] = append(found[tpl], i)
		}
		lines, groups := 0, 0
		for _, want := range truth {
			for _, got := range found {
				if slices.Equal(want, got) {
					lines += len(got)
					groups++
				}
			}
		}
		a, f := float64(lines)/float64(len(rows)), 2*float64(groups)/float64(len(truth)+len(found))
		t.Logf("%-15s GA %.3f FGA %.3f", filepath.Base(file), a, f)
		ga += a / float64(len(files))
		fga += f / float64(len(files))
	}
	t.Logf("%-15s GA %.3f FGA %.3f", "average", ga, fga)
	require.Greater(t, ga, 0.92) // ids alone keep codes and states apart
	require.Greater(t, fga, 0.94)
}
