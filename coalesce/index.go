package coalesce

import (
	"math/bits"

	"github.com/heedlog/heed/signature"
)

// index reports which items hold a group. It owns the groups of all items, and is
// exact: a group is entered when its row is made, and leaves with it.
type index struct {
	rows   []counter // item i has the rows from 1+i*size on; row 0 is unused
	size   int       // rows of each item
	groups chains    // by id of the signature, of all rows in use

	frames chains // by frame, of those rows that have one
}

func newIndex(items, size int) *index {
	x := &index{
		rows: make([]counter, 1+items*size), size: size,
		groups: newChains(1 + items*size), frames: newChains(1 + items*size),
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

// holds returns the number of an item that has a group of sig, of any rule.
func (x *index) holds(sig signature.Signature) (item int, ok bool) {
	for ref := x.groups.first(uint64(sig.ID)); ref != 0; ref = x.groups.next[ref] {
		if x.rows[ref].Sig == sig {
			return (int(ref) - 1) / x.size, true
		}
	}
	return 0, false
}

// enter makes row ref, in use from now on, known.
func (x *index) enter(ref uint32) {
	r := &x.rows[ref]
	x.groups.add(uint64(r.Sig.ID), ref)
	if r.Frame != 0 {
		x.frames.add(uint64(r.Frame), ref)
	}
}

// leave undoes enter.
func (x *index) leave(ref uint32) {
	r := &x.rows[ref]
	x.groups.remove(uint64(r.Sig.ID), ref)
	if r.Frame != 0 {
		x.frames.remove(uint64(r.Frame), ref)
	}
}

// each calls f for each row of the group (rule, sig), with its item.
func (x *index) each(rule string, sig signature.Signature, f func(item int, row *counter)) {
	for ref := x.groups.first(uint64(sig.ID)); ref != 0; ref = x.groups.next[ref] {
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

// eachFrame calls do for each row with a frame, with its item.
func (x *index) eachFrame(f frame, do func(item int, row *counter)) {
	for ref := x.frames.first(uint64(f)); ref != 0; ref = x.frames.next[ref] {
		if r := &x.rows[ref]; r.Frame == f {
			do((int(ref)-1)/x.size, r)
		}
	}
}

// chains are lists of references by hash, of fixed size. The latest reference of a
// list comes first. Reference 0 ends a list.
type chains struct {
	heads []uint32 // a power of two
	next  []uint32 // of each reference
}

func newChains(references int) chains {
	return chains{heads: make([]uint32, 1<<(bits.Len(uint(references))-1)), next: make([]uint32, references)}
}

func (t *chains) head(hash uint64) *uint32 { return &t.heads[hash&uint64(len(t.heads)-1)] }

// first returns the first reference in the list of the hash, which other hashes may share; chains.next has the next
// ones.
func (t *chains) first(hash uint64) uint32 { return *t.head(hash) }

func (t *chains) add(hash uint64, ref uint32) {
	h := t.head(hash)
	t.next[ref], *h = *h, ref
}

func (t *chains) remove(hash uint64, ref uint32) {
	at := t.head(hash)
	for *at != ref {
		at = &t.next[*at]
	}
	*at = t.next[ref]
}
