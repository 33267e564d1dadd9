package coalesce

import (
	"math/bits"

	"github.com/heedlog/heed/signature"
)

// index reports which items hold a group. It owns the groups of all items, and is
// exact: a group is entered when its row is made, and leaves with it.
type index struct {
	rows []counter // item i has the rows from 1+i*size on; row 0 is unused
	size int       // rows of each item

	// Lists of the rows in use, by id of the signature, the latest first. Row 0 ends a list.
	heads []uint32 // a power of two
	next  []uint32 // of each row
}

func newIndex(items, size int) *index {
	rows := 1 + items*size
	x := &index{
		rows: make([]counter, rows), size: size,
		heads: make([]uint32, 1<<(bits.Len(uint(rows))-1)), next: make([]uint32, rows),
	}
	// Writing to the rows makes their memory resident now: a host then sees at once how much memory an engine takes,
	// and no storm waits for pages.
	clear(x.rows)
	return x
}

// counters returns the empty groups of item i.
func (x *index) counters(i int) counters {
	base := 1 + i*x.size
	return counters{index: x, base: uint32(base), Rows: x.rows[base : base : base+x.size]}
}

// list returns where the first row is of the list of a signature, which other signatures may share.
func (x *index) list(sig signature.Signature) *uint32 {
	return &x.heads[uint64(sig.ID)&uint64(len(x.heads)-1)]
}

// holds returns the number of an item that has a group of sig, of any rule.
func (x *index) holds(sig signature.Signature) (item int, ok bool) {
	for ref := *x.list(sig); ref != 0; ref = x.next[ref] {
		if x.rows[ref].Sig == sig {
			return (int(ref) - 1) / x.size, true
		}
	}
	return 0, false
}

// enter makes row ref, in use from now on, known.
func (x *index) enter(ref uint32) {
	list := x.list(x.rows[ref].Sig)
	x.next[ref], *list = *list, ref
}

// leave undoes enter.
func (x *index) leave(ref uint32) {
	at := x.list(x.rows[ref].Sig)
	for *at != ref {
		at = &x.next[*at]
	}
	*at = x.next[ref]
}

// each calls f for each row of the group (rule, sig), with its item.
func (x *index) each(rule string, sig signature.Signature, f func(item int, row *counter)) {
	for ref := *x.list(sig); ref != 0; ref = x.next[ref] {
		if r := &x.rows[ref]; r.Sig == sig && r.Rule == rule {
			f((int(ref)-1)/x.size, r)
		}
	}
}

// has reports whether any item has the group (rule, sig), and whether one has the variant.
func (x *index) has(rule string, sig signature.Signature, variant string) (group, exact bool) {
	x.each(rule, sig, func(_ int, r *counter) { group, exact = true, exact || r.Variant == variant })
	return group, exact
}
