package population

import (
	"cmp"
	"maps"
	"slices"
)

// Tally counts by name. See [Tally.trim] for its bound.
type Tally map[string]uint64

// add adds another, and trims.
func (t *Tally) add(other Tally, limit int) {
	if *t == nil && len(other) > 0 {
		*t = make(Tally, len(other))
	}
	for key, n := range other {
		(*t)[key] += n
	}
	t.trim(limit)
}

// trim keeps the keys with the least hashes. A key that stays in the end was never left out on the way, since fewer
// than limit keys go before it: its count is exact in any order of additions.
func (t *Tally) trim(limit int) {
	if len(*t) <= limit {
		return
	}
	for _, key := range slices.SortedFunc(maps.Keys(*t), compareByHash)[limit:] {
		delete(*t, key)
	}
}

// once makes each count one: from how often a player saw something to how many players did.
func (t Tally) once() {
	for key := range t {
		t[key] = 1
	}
}

// ranked returns the keys, the most frequent first.
func (t Tally) ranked() []string {
	return slices.SortedFunc(maps.Keys(t), func(a, b string) int {
		return cmp.Or(cmp.Compare(t[b], t[a]), cmp.Compare(a, b))
	})
}

// first returns the n most frequent.
func (t Tally) first(n int) Tally {
	some := Tally{}
	for _, key := range t.ranked()[:min(n, len(t))] {
		some[key] = t[key]
	}
	return some
}

// Distinct counts different hashes: exactly up to maxDistinct, and above that to a few percent. It has the least of
// them, and one more than maxDistinct at most, in order.
type Distinct []uint64

const maxDistinct = 1024

func (d *Distinct) add(other Distinct) {
	if len(other) == 0 {
		return
	}
	*d = least(maxDistinct+1, append(slices.Clone(*d), other...))
}

// Count returns how many there are.
func (d Distinct) Count() uint64 {
	if len(d) <= maxDistinct {
		return uint64(len(d))
	}
	return max(estimate(maxDistinct, d[maxDistinct]), uint64(len(d)))
}

// estimate returns how many different hashes there are if n of them are less than one, by how close together those are.
// Its standard error is one part in √n.
func estimate(n int, next uint64) uint64 { return uint64(float64(n) / (float64(next) / (1 << 64))) }
