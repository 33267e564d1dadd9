package signature

import (
	"bytes"
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// The defaults of [GrouperConfig].
const (
	defaultGroupSignatures = 65536
	DefaultGroupColumns    = 16384
)

// groupValues bounds the distinct words of a column that are noted: as many as are enough of those that count least.
const groupValues = 10

// groupDepth bounds how many variable columns of one template are learned
// together.
const groupDepth = 3

// groupLookups bounds the columns that one template looks up. A line of 20 words
// with three of them variable takes about 100; one that is made so that all of
// its 96 words are variable would take 140,000.
const groupLookups = 512

// columnWays is how many slots a column may stand in.
const columnWays = 8

// GrouperConfig sets the bounds of a [Grouper]. Zero means the default,
// negative is an error; both are hard limits.
type GrouperConfig struct {
	// Signatures is how many signatures are known at once. Those that come when
	// the table is full join the groups that are there, and are not learned
	// from. At most 1<<30. Default 65,536.
	Signatures int

	// Columns is how many columns are watched at once. One more evicts the
	// one in its set that has shown the fewest words. Rounded up to a power of
	// two; at most 1<<28. Default 16,384.
	Columns int
}

// Grouper learns, from the templates of signatures that it has not seen, which were written by one log statement, and
// puts them into one group.
//
// Of a template, it looks at what the statement says: text, without the fields that it was given, of which there may
// be others in another line; without numbers that a key such as code leaves in a template, booleans, nothing (null,
// None, []), lists, and objects with their fields. Templates that say the same are one group at once.
//
// For each word of what is said it hashes all the others. When that hash has shown enough distinct words in one
// column, or one beside a value, the column is a variable, and all that were seen in it, or will be, are one group: two
// words that look like names (Tobin, bench_large, acme.press) or stand where values often do, four plain ones. It also
// leaves out all names at once. It remembers hashes and numbers, no text.
//
// States and participles of English in small letters (open and closed, started and stopped), types of exceptions, and
// functions that are called are never taken for a value. Frames are part of what must be equal: faults thrown by
// different methods stay apart. A group may hold templates that decide differently, as by a code: they differ in
// [AppendVariant].
//
// Groups do not depend on the order in which texts come while nothing is
// evicted. With more columns than are watched, evidence that is far apart (with
// the defaults some 2,000 new texts) may not be put together; Stats counts evictions.
//
// A group is named by the signature in it that came first. Groups only grow. A
// Grouper is not safe for concurrent use. Its memory is allocated by
// [NewGrouper] and never grows: 5 MB with the defaults.
type Grouper struct {
	nodes  []groupNode // each never changes
	groups []uint32    // of each node, another one of its group that came before it, or itself
	slots  []uint32    // index into nodes plus one, open addressing by Signature
	said   []uint32    // the same by what the statement says, of the first node of each
	cols   []column
	merges []GroupMerge

	thresholds thresholds

	stats  GrouperStats // but for what is derived
	unions int          // that made one group of two
	tick   uint32
	copied GrouperState // reused
	tokens tokens       // of parsed, or scratch
	parsed []byte       // the template that was parsed last, empty if it was too long to keep
}

// groupNode is a signature that is known.
type groupNode struct {
	ID    ID
	Check uint32
	Said  uint64 // hash of what the statement says, or of the signature
}

func (n *groupNode) sig() Signature { return Signature{ID: n.ID, Check: n.Check} }

// column is a place in a template, known by the hash of all the rest.
type column struct {
	Key   uint64
	Words [groupValues]uint32 // half of the hash of each distinct word
	Nodes [groupValues]uint32 // the first node plus one that had it; nodes[0] leads when open
	Wild  uint32              // node plus one that has the mask there
	Used  uint32              // tick of the latest use
	N     uint8               // distinct words, up to groupValues
	Score uint8               // what they count, up to enough
	Open  bool                // it is a variable
}

// GroupMerge is two groups that have become one.
type GroupMerge struct {
	From Signature // name of the group that is no more
	Into Signature // name of the group that it joined
}

// GrouperStats counts what a [Grouper] did.
type GrouperStats struct {
	Signatures     int    // known
	Groups         int    // of the known signatures
	Columns        int    // watched
	Variables      int    // watched columns that are variable
	ColumnsEvicted uint64 // watched columns that made room for others
	Unlearned      uint64 // templates that came when Signatures was full
}

// NewGrouper returns a Grouper that knows nothing. The error names the field
// of cfg that is at fault.
func NewGrouper(cfg GrouperConfig) (*Grouper, error) {
	if cfg.Signatures < 0 || cfg.Signatures > 1<<30 {
		return nil, fmt.Errorf("signature: GrouperConfig.Signatures is %d: want 0 for the default, or 1 to %d",
			cfg.Signatures, 1<<30)
	}
	if cfg.Columns < 0 || cfg.Columns > 1<<28 {
		return nil, fmt.Errorf("signature: GrouperConfig.Columns is %d: want 0 for the default, or 1 to %d", cfg.Columns,
			1<<28)
	}
	cfg.Signatures = cmp.Or(cfg.Signatures, defaultGroupSignatures)
	cfg.Columns = cmp.Or(cfg.Columns, DefaultGroupColumns)
	return &Grouper{
		nodes:  make([]groupNode, 0, cfg.Signatures),
		groups: make([]uint32, 0, cfg.Signatures),
		slots:  make([]uint32, powerOfTwo(2*cfg.Signatures)),
		said:   make([]uint32, powerOfTwo(2*cfg.Signatures)),
		parsed: make([]byte, 0, signatureBuffer),
		cols:   make([]column, powerOfTwo(max(cfg.Columns, columnWays))),

		thresholds: defaultThresholds(),
	}, nil
}

func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// Group returns the name of the group of s: s itself where s is alone or not
// known. It allocates nothing.
func (g *Grouper) Group(s Signature) Signature {
	if n, ok := g.find(s); ok {
		return g.nodes[g.root(n)].sig()
	}
	return s
}

// Members appends to dst the known ids of the group that id belongs to, id among them, and nothing where id is not
// known. It costs a pass over what is known.
func (g *Grouper) Members(dst []ID, id ID) []ID {
	mask := len(g.slots) - 1
	for i := int(id) & mask; g.slots[i] != 0; i = (i + 1) & mask {
		n := g.slots[i] - 1
		if g.nodes[n].ID != id {
			continue
		}
		group := g.root(n)
		for m := range g.nodes {
			if g.root(uint32(m)) == group {
				dst = append(dst, g.nodes[m].ID)
			}
		}
	}
	return dst
}

// Stats returns the counts so far. It costs a copy.
func (g *Grouper) Stats() GrouperStats {
	s := g.stats
	s.Signatures = len(g.nodes)
	s.Groups = len(g.nodes) - g.unions
	return s
}

// Place is where a [Grouper] keeps what it knows of a signature. It stays right
// while the Grouper lives: none is evicted. It means nothing to another one,
// a restored one included.
type Place uint32

// nowhere is the place of a signature that came when all places were taken, and
// belongs to no group that is there. It will never be known.
const nowhere = ^Place(0)

// Learn learns a signature with its canonical template and returns the place at
// which [Grouper.GroupAt] finds its group. A signature that is known costs a
// look-up, a new one a pass over its template and a few look-ups a word. It
// allocates nothing, but for [Grouper.Merges] to grow.
func (g *Grouper) Learn(s Signature, template []byte) Place {
	if n, ok := g.find(s); ok {
		return Place(n)
	}
	if len(g.nodes) == cap(g.nodes) {
		g.stats.Unlearned++
		if n, ok := g.match(template); ok {
			return Place(n)
		}
		return nowhere
	}
	t := &g.tokens
	if !g.parse(template) {
		return Place(g.insert(s, uint64(s.ID)))
	}
	n := g.insert(s, t.sum)
	g.union(g.said[g.saidSlot(t.sum)]-1, n)
	g.learnNames(n, t)
	left := groupLookups
	g.learn(n, t, 0, 0, &left)
	return Place(n)
}

// GroupAt returns the name of the group of s, for which [Grouper.Learn] returned
// p. It equals what [Grouper.Group] returns, for a load or two instead of a
// search in a table that does not stay in the processor's caches. (Of a signature
// that came when Signatures were known, Group knows nothing; GroupAt knows the
// group that it joined.)
func (g *Grouper) GroupAt(p Place, s Signature) Signature {
	if p == nowhere {
		return s
	}
	return g.nodes[g.root(uint32(p))].sig()
}

// Merges appends to dst the merges of groups since the last call, in order,
// and drops them. A caller that counts by group adds the counts of From to Into.
// At most as many are kept as there are signatures, 32 bytes each.
func (g *Grouper) Merges(dst []GroupMerge) []GroupMerge {
	if len(g.merges) == 0 { // as after almost every entry
		return dst
	}
	dst = append(dst, g.merges...)
	g.merges = g.merges[:0]
	return dst
}

// withoutNames is the place of a column that is all the names of a statement.
const withoutNames = 2 * maxTokens

// learn watches the columns of node n from the given one on, as many as are
// left. It leaves t as it was.
func (g *Grouper) learn(n uint32, t *tokens, from, depth int, left *int) {
	for i := from; i < t.n && *left > 0; i++ {
		word := t.words[i]
		anchors := t.anchors
		if word.anchor {
			anchors--
		}
		if word.kind == fixedWord || anchors < 1 {
			continue
		}
		*left--
		c := g.column(t.key(i))
		if !g.watch(n, c, &word, t.counts(&g.thresholds, i, anchors)) {
			continue
		}
		if word.kind != value && depth+1 < groupDepth {
			t.replace(i, term{hash: valueHash, kind: value})
			g.learn(n, t, i+1, depth+1, left)
			t.replace(i, word)
		}
	}
}

// learnNames watches the statement of node n without all of its names, which may vary together. The first word is one
// if a second one of the same name follows, as in Anna Lindqvist.
func (g *Grouper) learnNames(n uint32, t *tokens) {
	sum, anchors, kind, at := t.frames, t.anchors, value, 0
	double := t.n > 1 && t.words[0].isCapitalised() && t.words[1].isCapitalised() && t.words[1].gap == gapSpace
	for i := range t.n {
		w := &t.words[i]
		if i == 1 && double {
			anchors--
			continue
		}
		hash := w.hash
		if w.kind > plainWord && (i > 0 || double) {
			hash, kind = valueHash, plainWord
			anchors--
		}
		sum += place(hash, at) + place(w.marks, maxTokens+at)
		at++
	}
	sum += place(t.marks, maxTokens+at)
	if anchors >= g.thresholds.nameAnchors {
		g.watch(n, g.column(place(sum, withoutNames)|1), &term{hash: t.sum, kind: kind}, uint8(g.thresholds.states))
	}
}

func (w *term) isCapitalised() bool {
	return w.kind == titleWord || w.kind == stateWord && isTitle(w.text)
}

// watch notes that node n has shown a word in a column, and joins the group of the column if it varies, which it
// reports. It does where enough words were seen, or any beside a value.
func (g *Grouper) watch(n uint32, c *column, word *term, counts uint8) bool {
	c.add(n, word, counts)
	if !c.Open {
		if c.Score < enough && (c.Wild == 0 || c.N == 0) {
			return false
		}
		c.Open = true
		g.stats.Variables++
		for _, m := range c.Nodes[1:c.N] {
			g.union(c.Nodes[0]-1, m-1)
		}
	}
	g.union(c.Nodes[0]-1, n)
	if c.Wild != 0 {
		g.union(c.Nodes[0]-1, c.Wild-1)
	}
	return true
}

// parse is tokens.parse, for a template that is often that of the call before.
func (g *Grouper) parse(template []byte) bool {
	switch {
	case len(template) > cap(g.parsed):
		g.parsed = g.parsed[:0]
		return g.tokens.parse(template)
	case !bytes.Equal(template, g.parsed) || len(template) == 0:
		g.parsed = append(g.parsed[:0], template...)
		return g.tokens.parse(g.parsed)
	}
	return !g.tokens.full
}

// match returns a node of the group that a template belongs to by a column that
// is known to vary.
func (g *Grouper) match(template []byte) (uint32, bool) {
	t := &g.tokens
	if !g.parse(template) {
		return 0, false
	}
	if n := g.said[g.saidSlot(t.sum)]; n != 0 {
		return n - 1, true
	}
	for i := range t.n {
		if c := g.lookup(t.key(i)); c != nil && c.Open && t.words[i].kind != fixedWord {
			return c.Nodes[0] - 1, true
		}
	}
	return 0, false
}

// add notes that node n has shown a word in the column. A word that was seen is
// not noted again: its nodes differ in columns that are known to vary, and are
// one group for that, unless such a column was evicted in between.
func (c *column) add(n uint32, word *term, counts uint8) {
	if word.kind == value {
		if c.Wild == 0 {
			c.Wild = n + 1
		}
		return
	}
	half := uint32(word.hash >> 32)
	if int(c.N) == len(c.Words) || slices.Contains(c.Words[:c.N], half) {
		return
	}
	c.Words[c.N], c.Nodes[c.N] = half, n+1
	c.N++
	c.Score = uint8(min(int(c.Score)+int(counts), enough))
}

// lookup returns the column with the given key, or nil.
func (g *Grouper) lookup(key uint64) *column {
	set := g.set(key)
	for i := range set {
		if set[i].Key == key {
			return &set[i]
		}
	}
	return nil
}

// set returns the slots in which the column with the given key may be.
func (g *Grouper) set(key uint64) []column {
	n := int(key>>32) & (len(g.cols)/columnWays - 1)
	return g.cols[n*columnWays:][:columnWays]
}

// column returns the column with the given key, made where it is not there. It
// evicts the column of its set that has shown the fewest words, of these the
// one used longest ago.
func (g *Grouper) column(key uint64) *column {
	g.tick++
	if c := g.lookup(key); c != nil {
		c.Used = g.tick
		return c
	}
	set := g.set(key)
	victim := &set[0]
	for i := range set {
		c := &set[i]
		if c.Key == 0 {
			victim = c
			break
		}
		if c.N < victim.N || c.N == victim.N && g.tick-c.Used > g.tick-victim.Used {
			victim = c
		}
	}
	switch {
	case victim.Key == 0:
		g.stats.Columns++
	case victim.Open:
		g.stats.Variables--
		fallthrough
	default:
		g.stats.ColumnsEvicted++
	}
	*victim = column{Key: key, Used: g.tick}
	return victim
}

// find returns the node of s.
func (g *Grouper) find(s Signature) (uint32, bool) {
	mask := len(g.slots) - 1
	for i := int(s.ID) & mask; g.slots[i] != 0; i = (i + 1) & mask {
		if n := g.slots[i] - 1; g.nodes[n].sig() == s {
			return n, true
		}
	}
	return 0, false
}

// insert makes a node for s, which must not be known. There must be room.
func (g *Grouper) insert(s Signature, said uint64) uint32 {
	n := uint32(len(g.nodes))
	g.nodes, g.groups = append(g.nodes, groupNode{s.ID, s.Check, said}), append(g.groups, n)
	mask := len(g.slots) - 1
	i := int(s.ID) & mask
	for g.slots[i] != 0 {
		i = (i + 1) & mask
	}
	g.slots[i] = n + 1
	if i := g.saidSlot(said); g.said[i] == 0 {
		g.said[i] = n + 1
	}
	return n
}

// saidSlot returns where the first node of those that say the same is, or would be.
func (g *Grouper) saidSlot(said uint64) int {
	mask := len(g.said) - 1
	i := int(said) & mask
	for g.said[i] != 0 && g.nodes[g.said[i]-1].Said != said {
		i = (i + 1) & mask
	}
	return i
}

// root returns the first node of the group of n, halving the path to it.
func (g *Grouper) root(n uint32) uint32 {
	for g.groups[n] != n {
		g.groups[n] = g.groups[g.groups[n]]
		n = g.groups[n]
	}
	return n
}

// union makes one group of those of a and b, named by the older.
func (g *Grouper) union(a, b uint32) {
	a, b = g.root(a), g.root(b)
	if a == b {
		return
	}
	if a > b {
		a, b = b, a
	}
	g.groups[b] = a
	g.unions++
	g.merges = append(g.merges, GroupMerge{From: g.nodes[b].sig(), Into: g.nodes[a].sig()})
}
