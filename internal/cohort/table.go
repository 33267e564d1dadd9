package cohort

import (
	"cmp"
	"math"
	"slices"
)

// Table counts sessions, or players, with and without a factor, and those with a fault among each.
type Table struct {
	With         uint64 `json:"with" jsonschema:"With the factor."`
	WithFault    uint64 `json:"withFault" jsonschema:"Of these, those with the fault."`
	Without      uint64 `json:"without" jsonschema:"Without the factor."`
	WithoutFault uint64 `json:"withoutFault" jsonschema:"Of these, those with the fault."`
}

// logChoose is the logarithm of the binomial coefficient.
func logChoose(n, k uint64) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}

// P returns the chance of at least as many faults with the factor, if it had no effect: Fisher's exact test, one-sided.
// Its cost grows with the smaller of With and the number of faults. More faults than sessions count as a fault in each
// session.
func (t Table) P() float64 {
	t.WithFault, t.WithoutFault = min(t.WithFault, t.With), min(t.WithoutFault, t.Without)
	faults := t.WithFault + t.WithoutFault
	all := logChoose(t.With+t.Without, faults)
	p := 0.0
	for k := t.WithFault; k <= min(t.With, faults); k++ {
		if faults-k > t.Without {
			continue
		}
		term := math.Exp(logChoose(t.With, k) + logChoose(t.Without, faults-k) - all)
		p += term
		if term < p*1e-17 && k > t.WithFault {
			break
		}
	}
	return min(p, 1)
}

// least is the smallest P that a table with the same sums can have.
func (t Table) least() float64 {
	faults := t.WithFault + t.WithoutFault
	k := min(t.With, faults)
	return Table{t.With, k, t.Without, faults - k}.P()
}

// Interval is a value with its bounds.
type Interval struct {
	Value float64 `json:"value" jsonschema:"The value."`
	Low   float64 `json:"low" jsonschema:"Its lower bound."`
	High  float64 `json:"high" jsonschema:"Its upper bound; -1 for none."`
}

// Lift returns how many times as frequent the fault is with the factor as without it, with bounds at z standard errors:
// the ratio of the shares, each with half a fault more (Walter, "The distribution of Levin's measure of attributable
// risk", Biometrika 62, 1975), and Katz's interval of its logarithm.
func (t Table) Lift(z float64) Interval {
	a, n := float64(t.WithFault)+0.5, float64(t.With)+0.5
	b, m := float64(t.WithoutFault)+0.5, float64(t.Without)+0.5
	r := math.Log(a/n) - math.Log(b/m)
	e := z * math.Sqrt(max(0, 1/a-1/n+1/b-1/m))
	return Interval{math.Exp(r), math.Exp(r - e), math.Exp(r + e)}
}

// likelihood is the logarithm of the largest likelihood of the table, with a rate of faults for each side.
func (t Table) likelihood() float64 {
	side := func(k, n uint64) float64 {
		if k == 0 || k >= n {
			return 0
		}
		p := float64(k) / float64(n)
		return float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p)
	}
	return side(t.WithFault, t.With) + side(t.WithoutFault, t.Without)
}

// Holm corrects chances for the number of tests (Holm, "A simple sequentially rejective multiple test procedure",
// Scandinavian Journal of Statistics 6, 1979): if one is at most a level, it is significant at that level for all
// together. Tests whose chances are not given count as larger ones. It puts the pointers in order.
func Holm(chances []*float64, tests int) {
	slices.SortFunc(chances, func(a, b *float64) int { return cmp.Compare(*a, *b) })
	largest := 0.0
	for rank, p := range chances {
		largest = max(largest, min(1, *p*float64(tests-rank)))
		*p = largest
	}
}

// Wilson returns the bounds of Wilson's score interval of a share, k of n, at z standard deviations. n is above 0.
func Wilson(k, n, z float64) (low, high float64) {
	p := k / n
	zz := z * z
	center := p + zz/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+zz/(4*n*n))
	bound := func(x float64) float64 { return min(max(x/(1+zz/n), 0), 1) }
	return bound(center - half), bound(center + half)
}

// Quantile returns the quantile at which all of so many intervals together have the
// given confidence, by Bonferroni: of a hundred groups that come at constant rates,
// at 99 % each, one would be called more or less frequent in most comparisons.
func Quantile(confidence float64, intervals int) float64 {
	return math.Sqrt2 * math.Erfinv(1-(1-confidence)/float64(max(1, intervals)))
}
