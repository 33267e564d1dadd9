package signature

import (
	"fmt"
	"math"

	"github.com/heedlog/heed/internal/wire"
)

// BeginSnapshot appends to dst the first part of a snapshot for [RestoreGrouper],
// which must not change until [Grouper.ContinueSnapshot] has completed it: the
// state is that of this call, whatever is learned in between. A snapshot that was
// begun before is dropped. It costs the same whatever is known.
//
// The same state gives the same bytes; they have no version and no checksum of
// their own. A signature takes 20 bytes and up to 4 for its group, a column at most
// 104: some 3 MB with full tables of the default size. It allocates nothing but the
// growth of dst.
func (g *Grouper) BeginSnapshot(dst []byte) []byte {
	g.saved.begin(g)
	s := grouperCoder{Coder: wire.Writer(dst), g: g}
	s.begin()
	return s.Bytes()
}

// ContinueSnapshot appends what comes next in the snapshot that was begun: about
// size bytes. It returns false when that was the last of it.
func (g *Grouper) ContinueSnapshot(dst []byte, size int) ([]byte, bool) {
	v := &g.saved
	s := grouperCoder{Coder: wire.Writer(dst), g: g}
	full := func() bool { return len(s.Bytes())-len(dst) >= size }
	for ; v.columns && !full(); v.set++ {
		if v.set == len(v.sets) {
			v.columns = false
			break
		}
		if v.sets[v.set] != nil {
			s.Raw(v.sets[v.set])
			v.sets[v.set] = nil
		} else {
			s.set(v.set)
		}
	}
	for ; !v.columns && v.groups && !full(); v.node++ {
		if v.node == v.nodes {
			v.groups = false
			break
		}
		s.node(v.node)
	}
	return s.Bytes(), v.columns || v.groups
}

// saved is what a snapshot in the making needs of what has changed before it has
// come to it. Of columns, that is a set of them as it was, coded. Signatures do not
// change, and more of them do not matter; but their groups grow. There it is enough
// to know the nodes that were the first of a group, and joined another one since: a
// path ends at them.
type saved struct {
	columns bool // there are columns that the snapshot has not come to
	set     int  // of which it comes to this one next
	sets    [][]byte
	buf     []byte // reused

	groups bool   // there are nodes that the snapshot has not come to
	node   uint32 // it comes to this one next
	nodes  uint32 // how many there were
	later  []uint64
}

func (v *saved) begin(g *Grouper) {
	if v.sets == nil {
		v.sets = make([][]byte, len(g.cols)/columnWays)
		v.later = make([]uint64, cap(g.nodes)/64+1)
	}
	clear(v.sets)
	clear(v.later)
	*v = saved{columns: true, sets: v.sets, buf: v.buf, groups: true, nodes: uint32(len(g.nodes)), later: v.later}
}

// joined reports whether node n, the first of a group, joined another one since the
// snapshot was begun.
func (v *saved) joined(n uint32) bool { return v.later[n/64]>>(n%64)&1 != 0 }

func (v *saved) join(n uint32) { v.later[n/64] |= 1 << (n % 64) }

// rootThen returns what root would have when the snapshot was begun.
func (g *Grouper) rootThen(n uint32) uint32 {
	for g.nodes[n].parent != n && !g.saved.joined(n) {
		n = g.nodes[n].parent
	}
	return n
}

// save keeps set n for the snapshot as it is, where that has not come to it yet.
func (g *Grouper) save(n int) {
	v := &g.saved
	if n < v.set || v.sets[n] != nil {
		return
	}
	s := grouperCoder{Coder: wire.Writer(v.buf[:0]), g: g}
	s.set(n)
	v.buf = s.Bytes()
	v.sets[n] = append(make([]byte, 0, max(1, len(v.buf))), v.buf...) // not nil, even if empty
}

// RestoreGrouper returns a Grouper with the bounds of cfg that has learned what a
// snapshot holds; it keeps nothing of it. It refuses one that was made with
// larger bounds, naming the field, and one that cannot be the state of any
// Grouper.
func RestoreGrouper(cfg GrouperConfig, snapshot []byte) (*Grouper, error) {
	g, err := NewGrouper(cfg)
	if err != nil {
		return nil, err
	}
	s := grouperCoder{Coder: wire.Reader(snapshot), g: g}
	s.begin()
	for range s.columns {
		var c column
		s.column(&c)
		s.place(&c)
	}
	for n := range uint32(s.nodes) {
		s.node(n)
	}
	if err := s.Close(); err != nil {
		return nil, fmt.Errorf("signature: snapshot: %w", err)
	}
	return g, nil
}

// grouperCoder writes a Grouper, or sets an empty one.
type grouperCoder struct {
	wire.Coder
	g *Grouper

	// How many follow.
	columns int
	nodes   int
}

// begin codes what any new text may change.
func (s *grouperCoder) begin() {
	g := s.g
	s.bound("Signatures", cap(g.nodes))
	s.bound("Columns", len(g.cols))
	s.Uint64("GrouperStats.ColumnsEvicted", &g.stats.ColumnsEvicted, math.MaxUint64)
	s.Uint64("GrouperStats.Unlearned", &g.stats.Unlearned, math.MaxUint64)
	s.Fixed32("Grouper.tick", &g.tick)
	s.columns = s.Len("columns", g.stats.Columns, len(g.cols))
	merges := s.Len("merges", len(g.merges), cap(g.nodes))
	if s.Reading() {
		g.merges = make([]GroupMerge, merges)
	}
	for i := range g.merges {
		s.signature(&g.merges[i].From)
		s.signature(&g.merges[i].Into)
	}
	s.nodes = s.Len("signatures", len(g.nodes), cap(g.nodes))
}

// bound refuses a snapshot that was made with a larger bound than the present
// one.
func (s *grouperCoder) bound(field string, now int) {
	then := now
	wire.Int(&s.Coder, field, &then, 0, math.MaxInt32)
	if then > now {
		s.Fail("it was made with GrouperConfig.%s %d, and %d is less", field, then, now)
	}
}

func (s *grouperCoder) signature(sig *Signature) {
	s.Fixed64("Signature.ID", (*uint64)(&sig.ID))
	s.Fixed32("Signature.Check", &sig.Check)
}

// node codes node n with the root of its group, not with its parent: whether paths
// were halved before makes no difference.
func (s *grouperCoder) node(n uint32) {
	g := s.g
	if !s.Reading() {
		root := g.rootThen(n)
		sig := g.nodes[n].sig()
		s.signature(&sig)
		s.Fixed64("statement", &g.nodes[n].said)
		wire.Uint(&s.Coder, "group", &root, n)
		return
	}
	var sig Signature
	var root uint32
	var said uint64
	s.signature(&sig)
	s.Fixed64("statement", &said)
	wire.Uint(&s.Coder, "group", &root, n)
	if s.Err() != nil {
		return
	}
	if _, known := g.find(sig); known {
		s.Fail("signature %v is there twice", sig)
		return
	}
	if root != n && g.nodes[root].parent != root {
		s.Fail("signature %v: its group is in another group", sig)
		return
	}
	g.insert(sig, said)
	g.nodes[n].parent = root
	if root != n {
		g.unions++
	}
}

// set writes the columns of set n.
func (s *grouperCoder) set(n int) {
	set := s.g.numberedSet(n)
	for i := range set {
		if set[i].key != 0 {
			s.column(&set[i])
		}
	}
}

func (s *grouperCoder) column(c *column) {
	known := uint32(s.nodes)
	s.Fixed64("column.key", &c.key)
	s.Fixed32("column.used", &c.used)
	wire.Uint(&s.Coder, "column.wild", &c.wild, known)
	wire.Uint(&s.Coder, "column.n", &c.n, groupValues)
	wire.Uint(&s.Coder, "column.score", &c.score, enough)
	s.Bool("column.open", &c.open)
	for i := range c.n {
		s.Fixed32("column.words", &c.words[i])
		wire.Uint(&s.Coder, "column.nodes", &c.nodes[i], known)
		if c.nodes[i] == 0 {
			s.Fail("a column's word is of no signature")
		}
	}
	if c.open && c.n == 0 {
		s.Fail("a column without words is variable")
	}
}

// place puts a column that was read into its set. Columns of one set were written
// in their order, which they keep.
func (s *grouperCoder) place(c *column) {
	if s.Err() != nil {
		return
	}
	if c.key&1 == 0 || s.g.lookup(c.key) != nil {
		s.Fail("column %x is there twice, or not possible", c.key)
		return
	}
	set := s.g.set(c.key)
	for i := range set {
		if set[i].key == 0 {
			set[i] = *c
			s.g.stats.Columns++
			if c.open {
				s.g.stats.Variables++
			}
			return
		}
	}
	s.Fail("column %x has no place in its set", c.key)
}
