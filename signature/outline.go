package signature

import (
	"cmp"
	"slices"
)

// outlineWords bounds the words of an outline. A statement with more is not compared.
const outlineWords = 32

// outlinesKept is how many outlines are kept, the latest ones.
const outlinesKept = 1024

// outlineNames is how many names an outline keeps at most.
const outlineNames = 4

// outline is a statement without its names and values.
type outline struct {
	Node   uint32 // plus one, the first with it
	Frames uint64
	N      uint8
	Words  [outlineWords + 1]outlineWord // and the end
	Names  [outlineNames]uint32          // that were left out, if none of them is known
	Named  bool                          // one is known, or enough words are left
}

// words returns the words of o and the end.
func (o *outline) words() []outlineWord { return o.Words[:o.N+1] }

// outlineWord is 56 bits of the hash of a word, the number of names and values that were left out before it, and its
// form.
type outlineWord uint64

const (
	heldWord outlineWord = 1 << iota // it holds the statement together
	keyWord
	stateWord
	firstTitle // the first, with a capital: it may be a name

	leftOutShift = 5
	leftOutMask  = 7 << leftOutShift
	wordHash     = ^outlineWord(0xff)
)

// leftOut returns how many names and values were left out before the word, up to 7.
func (w outlineWord) leftOut() int { return int(w & leftOutMask >> leftOutShift) }

// with returns the word after n more names and values.
func (w outlineWord) with(n int) outlineWord {
	return w&^leftOutMask | outlineWord(min(w.leftOut()+n, 7))<<leftOutShift
}

// outline sets o to the outline of t. It reports whether the words are neither too many nor too few.
func (t *tokens) outline(o *outline) bool {
	*o = outline{Frames: t.frames}
	left, named, held, plain := 0, 0, 0, 0
	for i := range t.n {
		w := &t.words[i]
		word := outlineWord(cmp.Or(t.singular(i), w.hash)) & wordHash
		if t.isVariable(i) {
			left++
			if w.kind != value && named < outlineNames {
				o.Names[named] = nameOf(word)
				named++
			}
			continue
		}
		if o.N == outlineWords {
			return false
		}
		if w.holds {
			word |= heldWord
			held++
		}
		switch {
		case w.key:
			word |= keyWord
		case w.kind == capitalWord || isState(w.text):
			word |= stateWord
		case i == 0 && w.kind == titleWord:
			word |= firstTitle
		}
		if w.holds && word&stateWord == 0 {
			plain++
		}
		o.Words[o.N] = word.with(left)
		o.N++
		left = 0
	}
	o.Words[o.N] = outlineWord(0).with(left)
	if held >= fewOthers || plain >= namesOthers {
		o.named()
	}
	return held > 0 && (held >= namesOthers || named > 0)
}

// named notes that the words of o are enough to know its statement without its names.
func (o *outline) named() { o.Named, o.Names = true, [outlineNames]uint32{} }

// isVariable reports whether word i is a value, a name, or alone in brackets. A word with a capital after a colon may
// begin a sentence. Names after a first one without punctuation may be constants of a program, as the first one is.
func (t *tokens) isVariable(i int) bool {
	w := &t.words[i]
	switch {
	case w.kind == value:
		return true
	case i == 0:
		return false
	case w.opens && w.closed:
		return true
	case w.kind == nameWord:
		return t.words[0].kind != nameWord || t.words[1].marks != 0
	}
	return w.kind == titleWord && !isState(w.text) && (w.gap != gapOpen || w.opens || t.words[i-1].key)
}

// outlines are the latest outlines, with no two equal.
type outlines struct {
	kept    []outline
	blooms  []uint64 // of each
	next    int      // the outline that makes room for another
	current outline
}

func newOutlines(n int) outlines {
	return outlines{kept: make([]outline, 0, n), blooms: make([]uint64, 0, n)}
}

// keep copies o to the kept ones.
func (s *outlines) keep(o *outline, bloom uint64) {
	if len(s.kept) < cap(s.kept) {
		s.kept, s.blooms = s.kept[:len(s.kept)+1], s.blooms[:len(s.kept)+1]
	}
	s.kept[s.next], s.blooms[s.next] = *o, bloom
	s.next = (s.next + 1) % cap(s.kept)
}

// byAge returns the index of the outline before which i older ones came.
func (s *outlines) byAge(i int) int {
	if i += s.next; i >= len(s.kept) {
		i -= len(s.kept)
	}
	return i
}

// bloom returns a bit for each word of an outline but a first name and known ones.
func (g *Grouper) bloom(o *outline) (b uint64) {
	for _, w := range o.Words[:o.N] {
		if w&firstTitle == 0 && !g.isKnown(w) {
			b |= 1 << (w >> 58)
		}
	}
	return b
}

// learnOutline joins node n with all nodes whose outlines differ from its own as those of one statement may, and keeps
// its outline if it is new.
func (g *Grouper) learnOutline(n uint32, t *tokens) {
	o := &g.outlines.current
	if !t.outline(o) {
		return
	}
	o.Node = n + 1
	bloom := g.bloom(o)
	if g.learnRest(o); !g.compare(o, bloom) {
		g.outlines.keep(o, bloom)
	}
}

// compare joins the node of o with all nodes whose outlines differ from o as those of one statement may. It reports
// whether another outline of its group is equal.
func (g *Grouper) compare(o *outline, own uint64) bool {
	s := &g.outlines
	for i, b := range s.blooms {
		p := &s.kept[i]
		if b&own != b && b&own != own || p.Frames != o.Frames || p == o {
			continue
		}
		if g.root(p.Node-1) != g.root(o.Node-1) {
			if !mayBeOne(o.words(), p.words()) && !g.differInNames(o, p) {
				continue
			}
			g.union(p.Node-1, o.Node-1)
		}
		if slices.Equal(p.words(), o.words()) && p.Names == o.Names {
			return true
		}
	}
	return false
}

// learnRest joins the node of o with all nodes that have the same words but for known names.
func (g *Grouper) learnRest(o *outline) {
	sum, held, left, key := o.Frames, outlineWord(0), 0, false
	for _, name := range o.Names {
		if name != 0 && g.names.has(name) {
			o.named()
			break
		}
	}
	for _, w := range o.words() {
		left += w.leftOut()
		if g.isKnown(w) {
			o.named()
			left++
			continue
		}
		if key && left > 0 {
			sum++
		}
		held |= w & heldWord
		sum = place(sum, 0) + uint64(w&wordHash)
		left, key = 0, w&keyWord != 0
	}
	if o.Named && held != 0 {
		g.note(o.Node-1, g.column(place(sum, withoutKnown)|1), uint64(o.Node)<<32, false, false, enough/2)
	}
}

// isKnown reports whether a word of an outline is a known name.
func (g *Grouper) isKnown(w outlineWord) bool {
	return w&(keyWord|stateWord) == 0 && g.names.has(nameOf(w))
}

// differInNames reports whether outlines have the same words but for those where one of them has known names.
func (g *Grouper) differInNames(o, p *outline) bool {
	shared, inO, inP := 0, true, true
	for i := range o.words() {
		v, w := o.Words[i], p.Words[i]
		if i > 0 && o.Words[i-1]&keyWord != 0 && (v.leftOut() > 0) != (w.leftOut() > 0) {
			return false
		}
		if (v^w)&wordHash == 0 {
			shared += int(v & heldWord)
			continue
		}
		inO, inP = inO && g.isKnown(v), inP && g.isKnown(w)
		if !inO && !inP || (v|w)&(keyWord|stateWord) != 0 {
			return false
		}
	}
	return o.N == p.N && shared >= fewOthers
}

// know notes that a word is a name.
func (g *Grouper) know(name uint32) {
	if !g.names.add(name) {
		return
	}
	s := &g.outlines
	for i := range s.kept {
		if o := &s.kept[i]; o.has(name) {
			g.learnRest(o)
			s.blooms[i] = g.bloom(o)
			g.compare(o, s.blooms[i])
		}
	}
}

// has reports whether a name is in o.
func (o *outline) has(name uint32) bool {
	return slices.Contains(o.Names[:], name) ||
		slices.ContainsFunc(o.Words[:o.N], func(w outlineWord) bool { return nameOf(w) == name })
}

// mayBeOne reports whether one statement may have the outlines a and b: one is the other with words in place of names,
// or with more words of names. First words may be names if more names follow one than the other. Two words that are no
// capitals are enough if the outlines have no others.
func mayBeOne(a, b []outlineWord) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	i, end, shared, plain := 0, len(a)-1, 0, 0
	if a[0]&b[0]&firstTitle != 0 && (a[0]^b[0])&wordHash != 0 && a[1].leftOut() != b[1].leftOut() {
		i = 1
	}
	for j := i; j < len(b); j++ {
		w, part := b[j], i
		for i < end && (j == len(b)-1 || (a[i]^w)&wordHash != 0) {
			i++
		}
		switch {
		case i == end && j < len(b)-1,
			part < i && (part == 0 && i > 1 || !mayBeName(a[part:i+1], w.leftOut())),
			j > 0 && b[j-1]&keyWord != 0 && (a[part].leftOut() > 0) != (w.leftOut() > 0):
			return false
		}
		shared += int(w & heldWord)
		if w&stateWord == 0 {
			plain += int(w & heldWord)
		}
		i++
	}
	return shared >= fewOthers || plain >= namesOthers && len(a) == len(b)
}

// mayBeName reports whether the words of part, all but the last one, may be in place of a name or value, or be more of
// the name before them. In the other line, so many names and values are there.
func mayBeName(part []outlineWord, there int) bool {
	words, own := part[:len(part)-1], part[len(part)-1].leftOut()
	for _, w := range words {
		if w&(keyWord|stateWord) != 0 {
			return false
		}
		own += w.leftOut()
	}
	return there > own && len(words) <= 3 || part[0].leftOut() > 0 && len(words) <= 2
}

// namesKept is how many names are known at most.
const namesKept = 4096

// names are words that are known as names, as half of the hash of each.
type names struct {
	list  []uint32 // in the order in which they became known
	slots []uint32 // open addressing
}

func newNames(n int) names {
	return names{list: make([]uint32, 0, n), slots: make([]uint32, powerOfTwo(2*n))}
}

// nameOf returns half of the hash of a word.
func nameOf(w outlineWord) uint32 { return uint32(w >> 32) }

func (s *names) has(name uint32) bool { return s.slots[s.slot(name)] != 0 }

// slot returns the slot of a name, or the slot that it would take.
func (s *names) slot(name uint32) int {
	mask := len(s.slots) - 1
	i := int(name) & mask
	for s.slots[i] != 0 && s.slots[i] != name {
		i = (i + 1) & mask
	}
	return i
}

// add reports whether a name was not known, and there was room for it.
func (s *names) add(name uint32) bool {
	i := s.slot(name)
	if name == 0 || s.slots[i] != 0 || len(s.list) == cap(s.list) {
		return false
	}
	s.list, s.slots[i] = append(s.list, name), name
	return true
}
