package cohort

import "math"

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
