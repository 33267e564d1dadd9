package coalesce

import (
	"slices"

	"github.com/heedlog/heed/signature"
)

// index reports which items hold a group or a frame. It is exact: a row is entered when it is made, and leaves with it.
type index struct {
	size   int // most rows of an item
	groups map[signature.Signature][]*counter
	frames map[frame][]*counter
}

// enter makes a row known.
func (x *index) enter(r *counter) {
	x.groups[r.Sig] = append(x.groups[r.Sig], r)
	if r.Frame != 0 {
		x.frames[r.Frame] = append(x.frames[r.Frame], r)
	}
}

// leave undoes enter.
func (x *index) leave(r *counter) {
	remove(x.groups, r.Sig, r)
	if r.Frame != 0 {
		remove(x.frames, r.Frame, r)
	}
}

func remove[K comparable](from map[K][]*counter, key K, r *counter) {
	rows := slices.DeleteFunc(from[key], func(o *counter) bool { return o == r })
	if from[key] = rows; len(rows) == 0 {
		delete(from, key)
	}
}

// each calls f for each row of the group (rule, sig).
func (x *index) each(rule string, sig signature.Signature, f func(row *counter)) {
	for _, r := range x.groups[sig] {
		if r.Rule == rule {
			f(r)
		}
	}
}

// has reports whether any item has the group (rule, sig), and whether one has the variant.
func (x *index) has(rule string, sig signature.Signature, variant string) (group, exact bool) {
	x.each(rule, sig, func(r *counter) { group, exact = true, exact || r.Variant == variant })
	return group, exact
}
