package signature

import (
	"fmt"
	"math"

	"github.com/heedlog/heed/internal/wire"
)

// Snapshot appends what the Grouper has learned to dst, for [RestoreGrouper]:
// the same bytes for the same state. They have no version and no checksum of
// their own. A signature takes 12 bytes and up to 4 for its group, a column at
// most 128: some 3 MB with full tables of the default size. It allocates nothing but
// the growth of dst.
func (g *Grouper) Snapshot(dst []byte) []byte {
	s := grouperCoder{Coder: wire.Writer(dst), g: g}
	s.code()
	return s.Bytes()
}

// RestoreGrouper returns a Grouper with the bounds of cfg that has learned what a
// snapshot holds, of which it keeps nothing. It refuses one that was made with
// larger bounds, naming the field, and one that cannot be the state of any
// Grouper.
func RestoreGrouper(cfg GrouperConfig, snapshot []byte) (*Grouper, error) {
	g, err := NewGrouper(cfg)
	if err != nil {
		return nil, err
	}
	s := grouperCoder{Coder: wire.Reader(snapshot), g: g}
	s.code()
	if err := s.Close(); err != nil {
		return nil, fmt.Errorf("signature: snapshot: %w", err)
	}
	return g, nil
}

// grouperCoder writes a Grouper, or sets an empty one.
type grouperCoder struct {
	wire.Coder
	g *Grouper
}

func (s *grouperCoder) code() {
	g := s.g
	s.bound("Signatures", cap(g.nodes))
	s.bound("Columns", len(g.cols))
	s.Uint64("GrouperStats.ColumnsDisplaced", &g.stats.ColumnsDisplaced, math.MaxUint64)
	s.Uint64("GrouperStats.Unlearned", &g.stats.Unlearned, math.MaxUint64)
	s.Fixed32("Grouper.tick", &g.tick)

	for i := range s.Len("signatures", len(g.nodes), cap(g.nodes)) {
		s.node(uint32(i))
	}
	columns := s.Len("columns", g.stats.Columns, len(g.cols))
	if s.Reading() {
		for range columns {
			var c column
			s.column(&c)
			s.place(&c)
		}
	} else {
		for i := range g.cols {
			if g.cols[i].key != 0 {
				s.column(&g.cols[i])
			}
		}
	}
	merges := s.Len("merges", len(g.merges), cap(g.nodes))
	if s.Reading() {
		g.merges = make([]GroupMerge, merges)
	}
	for i := range g.merges {
		s.signature(&g.merges[i].From)
		s.signature(&g.merges[i].Into)
	}
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

// node codes node n with the root of its group, not with its parent: whether
// paths were halved before makes no difference.
func (s *grouperCoder) node(n uint32) {
	g := s.g
	if !s.Reading() {
		root := g.root(n)
		sig := g.nodes[n].sig()
		s.signature(&sig)
		wire.Uint(&s.Coder, "group", &root, n)
		return
	}
	var sig Signature
	var root uint32
	s.signature(&sig)
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
	g.insert(sig)
	g.nodes[n].parent = root
	if root != n {
		g.unions++
	}
}

func (s *grouperCoder) column(c *column) {
	known := uint32(len(s.g.nodes))
	s.Fixed64("column.key", &c.key)
	s.Fixed32("column.used", &c.used)
	wire.Uint(&s.Coder, "column.wild", &c.wild, known)
	wire.Uint(&s.Coder, "column.n", &c.n, groupValues)
	wire.Uint(&s.Coder, "column.names", &c.names, c.n)
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
