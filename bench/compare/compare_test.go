package compare

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/internal/testkit"
)

// TestBenchmarks runs every benchmark once, and reads what was printed.
func TestBenchmarks(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for a second, and for many with the race detector")
	}
	t.Chdir("../..")
	var out bytes.Buffer
	require.NoError(t, printHeader(&out))
	allocs := testkit.Must(benchmarks(&out, 1))
	read := testkit.Must(readAllocs(&out))
	require.Equal(t, allocs, read)
	for _, name := range []string{"Key/ids", "Log/same", "Log/ids", "Log/distinct", "Log/mixed"} {
		require.Contains(t, allocs, name)
		require.Zero(t, allocs[name], name)
	}
}

// TestBaseline holds the committed baseline to the benchmarks there are: one
// that it lacks would not be guarded.
func TestBaseline(t *testing.T) {
	f := testkit.Must(os.Open("baseline.txt"))
	base := testkit.Must(readAllocs(f))
	require.NoError(t, f.Close())
	t.Chdir("../..")
	list := testkit.Must(cases())
	require.Len(t, base, len(list))
	for _, b := range list {
		require.Contains(t, base, b.name)
	}
}

func TestReadAllocsErrors(t *testing.T) {
	for _, text := range []string{"", "goos: linux\n", "BenchmarkX 1 2 ns/op\n", "BenchmarkX 1 many allocs/op\n"} {
		_, err := readAllocs(bytes.NewBufferString(text))
		require.Error(t, err, text)
	}
}

func TestCompareAllocs(t *testing.T) {
	base := map[string]float64{"none": 0, "few": 10, "many": 100, "gone": 1}
	now := map[string]float64{"none": 0, "few": 10, "many": 105, "new": 7}
	require.Empty(t, compareAllocs(base, now))
	now = map[string]float64{"none": 1, "few": 11, "many": 106}
	require.Len(t, compareAllocs(base, now), 3)
}

// TestGrowths holds that one good measurement is enough, and that only bad ones are told.
func TestGrowths(t *testing.T) {
	tried := 0
	list := []growth{{"disturbed", 1.5, func() (float64, error) {
		tried++
		return tries + 1.5 - float64(tried), nil
	}}}
	grown := testkit.Must(growths(io.Discard, list))
	require.Len(t, grown, 0)
	require.Equal(t, tries, tried)

	tried = 3
	testkit.Must(growths(io.Discard, list))
	require.Equal(t, tries, tried, "and no more than that")

	list[0].limit = 0.5
	list[0].ratio = func() (float64, error) { return 0.6, nil }
	grown = testkit.Must(growths(io.Discard, list))
	require.Len(t, grown, 1)
	require.EqualError(t, grown[0], "disturbed: the cost grows to 0.60 times, the limit is 0.5")
}

// TestSize: one operation that was held up is not taken for a measurement.
func TestSize(t *testing.T) {
	held := false
	b := benchmark{run: func(int) {
		for start := workload.Now(); !held && workload.Now()-start < minRun; {
		}
		held = true
	}}
	b.size()
	require.Equal(t, most, b.n)
}

func TestMedian(t *testing.T) {
	require.InDelta(t, 2, median([]float64{3, 1, 2}), 0)
	require.InDelta(t, 1.5, median([]float64{2, 1}), 0)
}
