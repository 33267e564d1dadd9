package signature

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/heedlog/heed/internal/bounds"
)

// The defaults of [GrouperConfig].
const (
	defaultGroupSignatures = 65536
	defaultGroupColumns    = 16384
)

// groupValues bounds the contents of a column that are noted: so many are enough if each has the least weight.
const groupValues = 10

// knownNames is how many contents of single words an open column has before they are names in the outlines of all.
const knownNames = 3

// columnWays is the number of slots that may hold a column.
const columnWays = 8

// groupDepth bounds how many columns open one after another, each by the statement that the one before left.
const groupDepth = 8

// floodForms is how many statements of one form, each alone in its group, are a flood.
const floodForms = 256

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
// It reads a template as words: values, names, words with a capital, words in capitals, and others; it knows them by
// form and has no list of any language. A column is a place in a template: the hash of all words before it and the hash
// of all after it. The contents of a column are the words, or the few words, that templates have there. Each distinct
// content adds a weight by its form and by how many other words there are; names weigh more than other words. A column
// that has enough, or a word where another template has a value, is open: all templates that have anything there are
// one group. The statement with a value in that place is then learned, too, so that several columns open one after
// another. The same is noted of all names of a statement at once, of the rest of a line after a beginning, and of parts
// that a statement may be written without, if one was written without them. An outline of each statement, which has no
// names, is compared with the outlines of others: they are one group if they differ in such words as names have. A word
// that varies in one statement is a name in the outlines of all. The Grouper remembers hashes and numbers, no text.
//
// Frames are part of the words after a column: faults thrown by different methods are separate groups. A group may hold
// templates that decide differently, as by a code: they differ in [Grouper.AppendVariant].
//
// Groups do not depend on the order of the texts if nothing is evicted, no flood comes, no statement has only words
// that vary in others, and a column that is not open has at most ten contents, stray names among them. With more
// columns than are watched, evidence with many texts between (with the defaults some 300) may not be combined; Stats
// counts evictions. A flood is 256 statements with the same first word, number of words and punctuation, each alone in
// its group: they become one group.
//
// A group is named by the signature in it that came first. Groups only grow. A
// Grouper is not safe for concurrent use. Its memory is allocated by
// [NewGrouper] and never grows: 6 MB with the defaults.
type Grouper struct {
	nodes  []groupNode // each never changes
	groups []uint32    // of each node, another one of its group that came before it, or itself
	slots  []uint32    // index into nodes plus one, open addressing by Signature
	said   []uint32    // the same by the statement, of the first node of each
	cols   []column
	keys   []uint64 // of the columns
	merges []GroupMerge

	stats    GrouperStats // without derived counts
	unions   int          // that made one group of two
	tick     uint32
	copied   GrouperState // reused
	outlines outlines
	tokens   [groupDepth]tokens // scratch
}

// groupNode is a signature that is known.
type groupNode struct {
	ID      ID
	Said    uint64 // hash of the statement, or of the signature
	Check   uint32
	Varying wordSet `json:",omitempty"` // the words of its variant when it was learned
	Next    uint32  `json:",omitempty"` // the node plus one before it of the same form
}

func (n *groupNode) sig() Signature { return Signature{ID: n.ID, Check: n.Check} }

// column is a place in a template, known by the hash of all the rest, or a form of statements.
type column struct {
	Key   uint64
	Words [groupValues]uint32 // half of the hash of each distinct content
	Nodes [groupValues]uint32 // plus one, the first node with each; of a form the latest alone
	Value uint32              // plus one, a node with a value there
	Used  uint32              // tick of the latest use
	Forms uint16              // statements of the form, up to floodForms; 0 for a place
	N     uint8               // distinct contents, up to groupValues
	Score uint8               // their weight, up to enough
	Word  bool                // one of them is a single word
	Part  bool                // the contents are parts that one statement may have; Value has none
	State bool                // one of them is a state, as others are then
	Open  bool
}

// GroupMerge is two groups that have become one.
type GroupMerge struct {
	From Signature // name of the group that is no more
	Into Signature // name of the group that it joined
}

// GrouperStats counts the work of a [Grouper].
type GrouperStats struct {
	Signatures     int    // known
	Groups         int    // of the known signatures
	ColumnsEvicted uint64 // columns with two contents or more that made room for others
	Unlearned      uint64 // templates that came when Signatures was full
}

// NewGrouper returns a Grouper that knows nothing. The error names the field
// of cfg that is at fault.
func NewGrouper(cfg GrouperConfig) (*Grouper, error) {
	err := bounds.Complete("signature: GrouperConfig",
		bounds.Of("Signatures", &cfg.Signatures, defaultGroupSignatures, 1, 1<<30),
		bounds.Of("Columns", &cfg.Columns, defaultGroupColumns, 1, 1<<28),
	)
	if err != nil {
		return nil, err
	}
	kept := min(cfg.Signatures, outlinesKept)
	return &Grouper{
		nodes:    make([]groupNode, 0, cfg.Signatures),
		groups:   make([]uint32, 0, cfg.Signatures),
		slots:    make([]uint32, powerOfTwo(2*cfg.Signatures)),
		said:     make([]uint32, powerOfTwo(2*cfg.Signatures)),
		keys:     make([]uint64, powerOfTwo(max(cfg.Columns, columnWays))),
		outlines: outlines{kept: make([]outline, 0, kept), blooms: make([]uint64, 0, kept)},
		cols:     make([]column, powerOfTwo(max(cfg.Columns, columnWays))),
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
// known. It costs a pass over all known signatures.
func (g *Grouper) Members(dst []ID, id ID) []ID {
	for n := range g.nodes {
		if g.nodes[n].ID == id {
			for m := range g.nodes {
				if g.root(uint32(m)) == g.root(uint32(n)) {
					dst = append(dst, g.nodes[m].ID)
				}
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

// Place is the index of a signature in a [Grouper]. It stays valid while the Grouper
// lives, since no signature is evicted. Another Grouper, also a restored one, cannot use it.
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
	t := &g.tokens[0]
	whole := t.parse(template)
	switch {
	case len(g.nodes) == cap(g.nodes):
		g.stats.Unlearned++
		if n, ok := g.match(t); ok && whole {
			return Place(n)
		}
		return nowhere
	case !whole:
		return Place(g.insert(s, uint64(s.ID)))
	}
	before := g.unions
	n := g.learnColumns(s, t)
	if o := &g.outlines.current; t.outline(o) {
		o.Node = n + 1
		if bloom := g.leaveNames(o); !g.compare(o, bloom) {
			g.outlines.keep(o, bloom)
		}
	}
	switch {
	case g.unions > before:
		g.nodes[n].Varying = g.varyingColumns() | g.varyingOutlines(n)
	case t.n > 1:
		g.guard(n, t)
	}
	return Place(n)
}

// learnColumns makes a node for s, and learns from its statement by columns.
func (g *Grouper) learnColumns(s Signature, t *tokens) uint32 {
	n := g.insert(s, t.sum)
	g.union(g.said[g.saidSlot(t.sum)]-1, n)
	g.learn(n, 0)
	g.learnParts(n, &g.tokens[0])
	g.learnNames(n)
	return n
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
	dst = append(dst, g.merges...)
	g.merges = g.merges[:0]
	return dst
}

// enough is the weight of the contents of a column that opens it.
const enough = 60

// The weights of contents.
const (
	weighName    = 30 // a name, all names, any word or rest of a line where values often follow, or a part
	weighWord    = 20 // any other word, a name or capitals with fewer others, a first name, a tag, or a reason
	weighFewWord = 15 // a word that is no name, with fewer others
	weighEnd     = 12 // the rest of a line after punctuation
	weighRest    = 6  // any other rest of a line
)

// How many other words a content needs.
const (
	leastOthers = 2 // a rest after punctuation with a name or a value before it
	fewOthers   = 3
	tailOthers  = 4 // a word that likely varies, or a rest with no name before it, or one that weighs as a name
)

const (
	partWords  = 9 // of a part at most
	strayWords = 3 // of a name with other words in it at most
)

// weight returns the weight of the words from i to j in their column: of a word, or a name of several. Keys say nothing
// about the word at the end.
func (t *tokens) weight(i, j int) int {
	w, others := &t.words[i], t.others(i, j)
	if j == t.n {
		others -= t.keys
	}
	weight, few, varies := weighFewWord, others < fewOthers, w.isName() || w.gap >= gapOpen
	switch {
	case others <= 0 || w.kind == plainWord && !w.holds:
		return 0
	case i < t.first, !few && varies && i == t.first:
		return weighWord
	case !few && (varies || t.isLikely(i, others)):
		weight = weighName
	case !few || w.isName() || w.kind == capitalWord:
		weight = weighWord
	}
	if i == t.first && j == i+1 || others == 1 { // it often says who reports
		weight = weight * 2 / 5
	}
	return weight
}

// isLikely reports whether word i likely varies: it is the last one after four that are no names, in a statement that
// begins with none; it is in capitals before others; or it is after three words, and names were left out.
func (t *tokens) isLikely(i, others int) bool {
	w, last := &t.words[i], i == t.n-1
	switch {
	case others < tailOthers:
		return false
	case w.kind != plainWord:
		return w.kind == capitalWord && !last
	case last:
		return t.plain[i] >= tailOthers && t.words[t.first].kind != nameWord
	}
	return t.plain[i] >= fewOthers && t.nameless > 0
}

// weightOfRest returns the weight of the words from i on. Words that leave the brackets in which they begin, and those
// with a tag at the end, hold more than what varies. A bracket after a value begins a reason.
func (t *tokens) weightOfRest(i int, varies bool) int {
	w, said := &t.words[i], int(t.plain[i])
	separated := w.gap >= gapOpen && w.marks != equalsHash && !t.words[t.n-1].isEnclosed() &&
		!slices.ContainsFunc(t.words[i:t.n], func(other term) bool { return other.depth < w.depth })
	switch {
	case said >= tailOthers && separated && t.words[i-1].kind != nameWord && (varies || w.kind != nameWord):
		return weighName
	case varies && said > 0 && w.gap == gapBracket && w.depth > t.words[i-1].depth && w.kind != nameWord: // an aside
		return weighWord
	case said < leastOthers || said < tailOthers && !varies:
		return 0
	case w.marks == colonHash && w.kind != nameWord && t.words[i-1].kind < nameWord: // a reason
		return weighWord
	case w.gap != gapSpace || t.nameless > 0 && said >= tailOthers:
		return weighEnd
	case said >= fewOthers:
		return weighRest
	}
	return 0
}

// learn watches the columns of the statement at the given depth for node n.
func (g *Grouper) learn(n uint32, depth int) {
	t := &g.tokens[depth]
	varies := false
	for i := range t.n {
		g.watch(n, depth, i, i+1, t.weight(i, i+1))
		if j := t.nameEnd(i); j > i+1 {
			g.watch(n, depth, i, j, t.weight(i, j))
		}
		for k := i + 2; k <= min(t.n-1, i+strayWords) && t.others(i, k) >= leastOthers; k++ {
			if slices.ContainsFunc(t.words[i:k], term.isName) { // a name among other words is no evidence
				g.note(n, g.column(t.key(i, k)), t.content(i, k), false, false, 0)
			}
		}
		if i+1 < t.n {
			g.watch(n, depth, i, t.n, t.weightOfRest(i, varies))
		}
		varies = varies || t.isVariable(i) && !isCompound(t.words[i].text)
	}
}

// Other columns than places.
const (
	withoutNames = 2*maxTokens + iota // all names of a statement
	ofForm                            // statements of one form
	knownName                         // a word that varies
	withoutPart                       // a part of a statement
)

// learnNames watches the statement of node n without all of its names and values, which may vary together. Where two
// contents of these are one group, its other words are evidence, too.
func (g *Grouper) learnNames(n uint32) {
	t, u := &g.tokens[0], &g.tokens[1]
	named := u.leaveNames(t)
	if u.held[u.n] < fewOthers || t.words[t.first].kind == nameWord {
		return
	}
	g.note(n, g.column(place(u.sum, withoutNames)|1), t.sum, true, !named, weighName)
	if named {
		g.learn(n, 1)
	}
}

// watch notes the words from i to j of the statement at the given depth for node n. If that opens their column, it
// learns the statement with a value there.
func (g *Grouper) watch(n uint32, depth, i, j, weight int) {
	t := &g.tokens[depth]
	if weight == 0 || t.words[i].key {
		return
	}
	c, word := g.column(t.key(i, j)), j == i+1
	c.State = c.State || word && isState(t.words[i].text)
	g.note(n, c, t.content(i, j), word, word && t.words[i].kind == value, weight)
	isName, names := c.Open && c.Word && c.N >= knownNames, c.Words
	if c.Open && c.Word && c.Value == 0 && depth+1 < groupDepth {
		c.Value = c.Nodes[0]
		g.tokens[depth+1].leave(t, i, j)
		g.learn(n, depth+1)
	}
	if isName {
		for _, name := range names {
			g.know(name)
		}
		g.know(uint32(t.content(i, j) >> 32))
	}
}

// note notes that node n has a content, maybe a single word or a value, in a column. If the column is open, n joins its
// group.
func (g *Grouper) note(n uint32, c *column, content uint64, word, isValue bool, weight int) {
	half := uint32(content >> 32)
	switch {
	case isValue:
		c.Value = cmp.Or(c.Value, n+1)
	case int(c.N) < groupValues && !slices.Contains(c.Words[:c.N], half):
		c.Words[c.N], c.Nodes[c.N] = half, n+1
		c.N++
		c.Score = uint8(min(int(c.Score)+weight, enough))
	}
	c.Word = c.Word || word && !isValue
	c.Open = c.Open || c.Score == enough && (c.Value != 0 || !c.Part) || c.Value != 0 && c.Word
	if c.Open {
		for _, m := range c.Nodes[:c.N] {
			g.union(m-1, n)
		}
		if c.Value != 0 {
			g.union(c.Value-1, n)
		}
	}
}

// guard notes that node n is alone. It makes one group of a flood of such nodes.
func (g *Grouper) guard(n uint32, t *tokens) {
	c := g.column(t.form())
	g.nodes[n].Next = c.Nodes[0]
	c.Nodes[0] = n + 1
	if c.Open {
		g.union(g.nodes[n].Next-1, n)
	} else if c.Forms++; c.Forms == floodForms {
		c.Open = true
		for m := g.nodes[n].Next; m != 0; m = g.nodes[m-1].Next {
			g.union(m-1, n)
		}
	}
}

// match returns a node of the group that a statement belongs to by the open columns.
func (g *Grouper) match(t *tokens) (uint32, bool) {
	if n := g.said[g.saidSlot(t.sum)]; n != 0 {
		return n - 1, true
	}
	for i := range t.n {
		if c, _ := g.opened(t, i); c != nil {
			return c.Nodes[0] - 1, true
		}
	}
	if c := g.lookup(t.form()); c != nil && c.Open {
		return c.Nodes[0] - 1, true
	}
	return 0, false
}

// opened returns an open column of the words that begin at i, and where they end, or nil.
func (g *Grouper) opened(t *tokens, i int) (*column, int) {
	w := &t.words[i]
	for _, j := range [...]int{i + 1, max(i+1, t.nameEnd(i)), t.n} {
		if c := g.lookup(t.key(i, j)); c != nil && c.Open && (j < t.n || j <= i+2 || w.gap >= gapOpen) {
			return c, j
		}
	}
	return nil, 0
}

// lookup returns the column with the given key, or nil.
func (g *Grouper) lookup(key uint64) *column {
	set := g.set(key)
	if i := slices.Index(g.keys[set:][:columnWays], key); i >= 0 {
		return &g.cols[set+i]
	}
	return nil
}

// set returns the first of the slots in which the column with the given key may be.
func (g *Grouper) set(key uint64) int {
	return int(key>>32) & (len(g.cols)/columnWays - 1) * columnWays
}

// column returns the column with the given key, made if it is not there. It evicts the column of its set that has shown
// the fewest contents, of these the one used longest ago.
func (g *Grouper) column(key uint64) *column {
	g.tick++
	if c := g.lookup(key); c != nil {
		c.Used = g.tick
		return c
	}
	set := g.set(key)
	at := set + max(slices.Index(g.keys[set:][:columnWays], 0), 0) // an empty slot is taken without a look at the others
	victim := &g.cols[at]
	for i := 0; i < columnWays && g.keys[at] != 0; i++ {
		c := &g.cols[set+i]
		if c.shown() < victim.shown() || c.shown() == victim.shown() && g.tick-c.Used > g.tick-victim.Used {
			victim, at = c, set+i
		}
	}
	if victim.shown() > 1 {
		g.stats.ColumnsEvicted++
	}
	*victim, g.keys[at] = column{Key: key, Used: g.tick}, key
	return victim
}

// shown is how many contents c has shown. An open column has shown more than any other.
func (c *column) shown() int {
	if c.Open {
		return floodForms
	}
	return int(c.N) + int(c.Forms)
}

// find returns the node of s.
func (g *Grouper) find(s Signature) (uint32, bool) {
	n := g.slots[g.slot(s)]
	return n - 1, n != 0
}

// slot returns the slot of s, or the slot that it would take.
func (g *Grouper) slot(s Signature) int {
	mask := len(g.slots) - 1
	i := int(s.ID) & mask
	for g.slots[i] != 0 && g.nodes[g.slots[i]-1].sig() != s {
		i = (i + 1) & mask
	}
	return i
}

// insert makes a node for s, which must not be known. There must be room.
func (g *Grouper) insert(s Signature, said uint64) uint32 {
	n := uint32(len(g.nodes))
	g.nodes = append(g.nodes, groupNode{ID: s.ID, Check: s.Check, Said: said})
	g.groups = append(g.groups, n)
	g.slots[g.slot(s)] = n + 1
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

// union joins the groups of a and b. The older names the result.
func (g *Grouper) union(a, b uint32) {
	a, b = g.root(a), g.root(b)
	if a == b {
		return
	}
	a, b = min(a, b), max(a, b)
	g.groups[b] = a
	g.unions++
	g.merges = append(g.merges, GroupMerge{From: g.nodes[b].sig(), Into: g.nodes[a].sig()})
}
