package coalesce

import (
	"math/bits"
	"slices"

	"github.com/heedlog/heed/signature"
)

// index reports which items hold a group or a frame. It is exact: a row is entered when it is made, and leaves with it.
type index struct {
	size   int        // most rows of an item
	heads  []*counter // lists of the rows, by id of the signature; a power of two
	frames map[frame][]*counter
}

func newIndex(items, size int) *index {
	return &index{
		size: size, heads: make([]*counter, 1<<bits.Len(uint(items*size))>>1), frames: map[frame][]*counter{},
	}
}

// list returns where the first row is of the list of a signature, which other signatures may share.
func (x *index) list(sig signature.Signature) **counter {
	return &x.heads[uint64(sig.ID)&uint64(len(x.heads)-1)]
}

// rows returns the rows of a signature, of any rule.
func (x *index) rows(sig signature.Signature) (all []*counter) {
	for r := *x.list(sig); r != nil; r = r.next {
		if r.Sig == sig {
			all = append(all, r)
		}
	}
	return all
}

// enter makes a row known.
func (x *index) enter(r *counter) {
	list := x.list(r.Sig)
	r.next, *list = *list, r
	if r.Frame != 0 {
		x.frames[r.Frame] = append(x.frames[r.Frame], r)
	}
}

// leave undoes enter.
func (x *index) leave(r *counter) {
	at := x.list(r.Sig)
	for *at != r {
		at = &(*at).next
	}
	*at = r.next
	if r.Frame == 0 {
		return
	}
	rows := slices.DeleteFunc(x.frames[r.Frame], func(o *counter) bool { return o == r })
	if x.frames[r.Frame] = rows; len(rows) == 0 {
		delete(x.frames, r.Frame)
	}
}

// each calls f for each row of the group (rule, sig).
func (x *index) each(rule string, sig signature.Signature, f func(row *counter)) {
	for r := *x.list(sig); r != nil; r = r.next {
		if r.Sig == sig && r.Rule == rule {
			f(r)
		}
	}
}

// has reports whether any item has the group (rule, sig), and whether one has the variant.
func (x *index) has(rule string, sig signature.Signature, variant string) (group, exact bool) {
	x.each(rule, sig, func(r *counter) { group, exact = true, exact || r.Variant == variant })
	return group, exact
}
