package population

import (
	"cmp"
	"math"
	"slices"
)

// table counts players by two marks.
type table struct {
	with, withFault, without, withoutFault uint64
}

// ratio returns how much more often the fault is with the mark than without it, and the interval that holds the true
// ratio 95 times of 100 (Katz, with a half added to each count, so that none is zero).
func (t table) ratio() (ratio, low, high float64) {
	a, n := float64(t.withFault)+0.5, float64(t.with)+1
	b, m := float64(t.withoutFault)+0.5, float64(t.without)+1
	ratio = (a / n) / (b / m)
	const z = 1.959963984540054
	spread := math.Exp(z * math.Sqrt(1/a-1/n+1/b-1/m))
	return ratio, ratio / spread, ratio * spread
}

// fisher returns the probability of so many faults with the mark, or more, if the mark means nothing: Fisher's exact
// test, one-sided.
func (t table) fisher(f factorials) float64 {
	faults := t.withFault + t.withoutFault
	total := t.with + t.without
	sum := 0.0
	for k := t.withFault; k <= min(faults, t.with); k++ {
		p := math.Exp(f.choose(t.with, k) + f.choose(t.without, faults-k) - f.choose(total, faults))
		sum += p
		if p < sum*1e-12 {
			break
		}
	}
	return min(sum, 1)
}

// other is the table of the absence of the mark.
func (t table) other() table { return table{t.without, t.withoutFault, t.with, t.withFault} }

// factorials has the logarithms of the factorials of 0 to n, which tests need again and again.
type factorials []float64

func newFactorials(n uint64) factorials {
	f := make(factorials, n+1)
	for i := range f {
		f[i], _ = math.Lgamma(float64(i) + 1)
	}
	return f
}

// choose returns the logarithm of n over k.
func (f factorials) choose(n, k uint64) float64 {
	if k > n {
		return math.Inf(-1)
	}
	return f[n] - f[k] - f[n-k]
}

// holm corrects probabilities for their number, in place: each becomes the level at which it would stand out among all.
func holm(p []float64) {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, p[i]*float64(len(p)-rank)))
		p[i] = least
	}
}
