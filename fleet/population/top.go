package population

import (
	"cmp"
	"slices"
)

// Top keeps the first of all, and counts the others. An added element must be complete: it is never merged again.
// Compare orders the first elements first, and never returns 0 for two elements of a population.
type Top[T interface{ Compare(other T) int }] struct {
	Kept   []T    `json:"kept,omitempty"`
	Others uint64 `json:"others,omitempty"`
}

// The most that are kept.
const (
	maxGroups   = 1000
	maxSets     = 1000
	maxFailures = 1000
)

// Merge adds another.
func (t *Top[T]) Merge(o *Top[T], limit int) {
	for _, more := range o.Kept {
		i, _ := slices.BinarySearchFunc(t.Kept, more, T.Compare)
		t.Kept = slices.Insert(t.Kept, i, more)
		if len(t.Kept) > limit {
			t.Others++
			t.Kept = t.Kept[:limit]
		}
	}
	t.Others += o.Others
}

// Compare orders groups: the group of most players first.
func (g *Group) Compare(o *Group) int {
	return cmp.Or(cmp.Compare(o.Players, g.Players), cmp.Compare(o.Disposition, g.Disposition),
		cmp.Compare(o.Logs, g.Logs), cmp.Compare(o.Entries, g.Entries), cmp.Compare(g.Signature, o.Signature),
		cmp.Compare(g.Game, o.Game))
}

// Compare orders failures by path.
func (f Failure) Compare(o Failure) int {
	return cmp.Or(cmp.Compare(f.Path, o.Path), cmp.Compare(f.Error, o.Error))
}
