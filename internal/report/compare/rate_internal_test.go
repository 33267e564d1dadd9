package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"pgregory.net/rapid"

	"github.com/heedlog/heed/internal/cohort"
)

// TestWilson holds the bounds to published values: 95 % of Wilson's interval for
// 81 of 263 is 0.2553 to 0.3662, for 15 of 148 0.0624 to 0.1605 (Newcombe, 1998).
func TestWilson(t *testing.T) {
	z := cohort.Quantile(0.95, 1)
	require.InDelta(t, 1.959964, z, 1e-6)
	for _, test := range []struct{ n, of, low, high float64 }{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}} {
		r := ratioOf(test.of-test.n, test.n, &exposure{perRun, 1, 1}, z)
		require.InDelta(t, test.low/(1-test.low), r.Low, 1e-3)
		require.InDelta(t, test.high/(1-test.high), r.High, 1e-3)
	}
}

// TestRatioIsSymmetric: seen from the other side, a ratio is its reciprocal.
func TestRatioIsSymmetric(t *testing.T) {
	z := cohort.Quantile(0.99, 1)
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Float64Range(1, 1e6)
		a, b := math.Round(count.Draw(t, "a")), math.Round(count.Draw(t, "b"))
		e := exposure{perRecord, count.Draw(t, "old"), count.Draw(t, "new")}
		r, s := ratioOf(a, b, &e, z), ratioOf(b, a, &exposure{perRecord, e.new, e.old}, z)
		require.InEpsilon(t, 1, r.Value*s.Value, 1e-9)
		require.InEpsilon(t, 1, r.Low*s.High, 1e-6)
		require.Less(t, r.Low, r.Value)
		require.Less(t, r.Value, r.High)
		more0, _ := differs(uint64(a), uint64(b), []exposure{e}, z)
		less0, _ := differs(uint64(b), uint64(a), []exposure{{perRecord, e.new, e.old}}, z)
		require.Equal(t, [...]change{same, less, more}[more0], less0, "more is less from the other side")
	})
}

func TestIncreasing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.Permutation([]int{0, 1, 2, 3, 4, 5, 6, 7}).Draw(t, "values")
		last, n := -1, 0
		for i, in := range increasing(values) {
			if in {
				require.Greater(t, values[i], last)
				last = values[i]
				n++
			}
		}
		best := 0
		for set := range 1 << len(values) { // all subsequences
			last, n := -1, 0
			for i, v := range values {
				if set>>i&1 == 1 {
					if v < last {
						n = -1
						break
					}
					last = v
					n++
				}
			}
			best = max(best, n)
		}
		require.Equal(t, best, n)
	})
}
