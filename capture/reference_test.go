package capture

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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

// TestRefTable holds the bounds of the table: an evicted trace is the least recently used.
func TestRefTable(t *testing.T) {
	tab := newRefTable(3, 10)
	for ref, trace := range []string{"", "aaaa", "bbbb", "cc", "longer than all"} {
		tab.put(uint64(ref), []byte(trace))
	}
	get := func(ref uint64) string {
		trace, _ := tab.get(ref)
		return string(trace)
	}
	require.Equal(t, []string{"", "aaaa", "bbbb", "cc", ""}, []string{get(0), get(1), get(2), get(3), get(4)})
	tab.put(5, []byte("d"))
	require.Equal(t, []string{"", "bbbb", "cc", "d"}, []string{get(1), get(2), get(3), get(5)}, "by number")
	tab.put(2, []byte("bbbbbbbb"))
	require.Equal(t, []string{"bbbbbbbb", "", "d"}, []string{get(2), get(3), get(5)}, "by bytes")
	tab.put(5, []byte("dd"))
	require.Equal(t, []string{"bbbbbbbb", "dd"}, []string{get(2), get(5)}, "in place of itself")
}

func TestRefEviction(t *testing.T) {
	const all = maxRefs + 2
	var b strings.Builder
	b.WriteString(unity2022_3)
	for i := 1; i <= all; i++ {
		fmt.Fprintf(&b, "oh: System.Exception: x\n[Ref %X]\n  at Gadget.M%d () [0x0] in <1>:0 \n", i, i)
	}
	for i := 1; i <= all; i++ {
		fmt.Fprintf(&b, "oh: System.Exception: x\n[Ref %X] Duplicate stacktrace, see ref for original\n", i)
	}
	recs := records(t, b.String())
	for i, r := range recs[len(recs)-all:] {
		if i < 2 {
			require.Equal(t, refUnresolved, r.RefState)
			require.Contains(t, r.Message, "Duplicate stacktrace", "it stays visible")
			require.Empty(t, r.Stack)
			continue
		}
		require.Equal(t, refResolved, r.RefState)
		require.Equal(t, fmt.Sprintf("  at Gadget.M%d () [0x0] in <1>:0 ", i+1), r.Stack)
		require.Equal(t, "oh: System.Exception: x", r.Message)
	}
}

// TestRefBelowFrameWithSpace holds that the space before a footer, which ends a trace, is none of the reference's.
func TestRefBelowFrameWithSpace(t *testing.T) {
	for _, frame := range []string{"  at Gadget.M1 () [0x0] in <1>:0 ", "Gadget:M1 () "} {
		recs := records(t, unity2019_4+"oh: System.Exception: x\n"+frame+"\n[Ref A1]\n(Filename: a Line: 1)\n\non\n")
		require.NotEmpty(t, recs)
	}
}

// TestLookAtTextOfLines holds that lines in one text of a container are not taken for the first of them.
func TestLookAtTextOfLines(t *testing.T) {
	recs := records(t, strings.Repeat(`{"log":"Gadget.Mill:Turn ()\n\nStarted 10 jobs jobList=","stream":"stdout"}`+"\n", 3))
	require.Len(t, recs, 3)
	require.Empty(t, recs[2].Stack)
}
