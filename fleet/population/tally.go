package population

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"
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
	keys := make([]string, 0, len(*t))
	for key := range *t {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(cmp.Compare(xxhash.Sum64String(a), xxhash.Sum64String(b)), cmp.Compare(a, b))
	})
	for _, key := range keys[limit:] {
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
	keys := make([]string, 0, len(t))
	for key := range t {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(t[b], t[a]), cmp.Compare(a, b)) })
	return keys
}

// Distinct counts different hashes: exactly up to maxDistinct, and above that to a few percent by how close together
// the least of them are. In order.
type Distinct []uint64

const maxDistinct = 1024

func (d *Distinct) add(other Distinct) {
	if len(other) == 0 {
		return
	}
	all := append(slices.Clone(*d), other...)
	slices.Sort(all)
	all = slices.Compact(all)
	*d = all[:min(len(all), maxDistinct)]
}

// Count returns how many there are.
func (d Distinct) Count() uint64 {
	if len(d) < maxDistinct {
		return uint64(len(d))
	}
	return uint64((maxDistinct - 1) / (float64(d[maxDistinct-1]) / (1 << 64)))
}
