package signature

import (
	"bytes"
	"cmp"
	"slices"
)

// outlineWords bounds the words of an outline. A statement with more is not compared.
const outlineWords = 32

// outlinesKept is how many outlines are kept, the latest ones.
const outlinesKept = 1024

// contextWords is how many words between the same neighbors make a variable of them.
const contextWords = 5

// outline is a statement without its names and values.
type outline struct {
	Node    uint32 // plus one, the first with it
	Varying uint32 `json:",omitempty"` // a bit for each word that is a variable by its neighbors
	Frames  uint64
	Words   []outlineWord // and the end
}

// outlineWord is 56 bits of the hash of a word, the number of names and values that were left out before it, and its form.
type outlineWord uint64

const (
	heldWord outlineWord = 1 << iota // it holds the statement together
	keyWord
	stateWord
	originWord // the first, a name in parts: it often says who reports
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

// outline appends the words of the outline of t to dst. It reports whether they are neither too many nor too few.
func (t *tokens) outline(dst []outlineWord) ([]outlineWord, bool) {
	left, held := 0, 0
	for i := range t.n {
		if t.isVariable(i) {
			left++
			continue
		}
		if len(dst) == outlineWords {
			return dst, false
		}
		w := &t.words[i]
		word := outlineWord(cmp.Or(t.singular(i), w.hash)) & wordHash
		if w.holds {
			word |= heldWord
			held++
		}
		switch {
		case w.key:
			word |= keyWord
		case w.kind == capitalWord || isState(w.text):
			word |= stateWord
		case i == 0 && w.kind == nameWord:
			word |= originWord
		case i == 0 && w.kind == titleWord:
			word |= firstTitle
		}
		dst = append(dst, word.with(left))
		left = 0
	}
	return append(dst, outlineWord(0).with(left)), held >= fewOthers
}

// isVariable reports whether word i is a value, a name, or alone in brackets. A word with a capital after a colon may
// begin a sentence. Names after a first one without punctuation may be constants of a program, as the first one is.
func (t *tokens) isVariable(i int) bool {
	w := &t.words[i]
	switch {
	case w.kind == value:
		return true
	case w.kind == nameWord && bytes.Contains(w.text, []byte(Mask)):
		return true
	case i == 0:
		return false
	case w.opens && w.closed:
		return true
	case w.kind == nameWord:
		return t.words[0].kind != nameWord || t.words[1].marks != 0
	}
	return w.kind == titleWord && (w.gap != gapOpen || w.opens || t.words[i-1].key)
}

// outlines are the latest outlines, with no two equal.
type outlines struct {
	kept    []outline
	blooms  []uint64 // of each, a bit for each word that does not vary
	next    int      // the outline that makes room for another
	current outline
	opened  []uint64 // contexts
	reduced [2][outlineWords + 1]outlineWord
}

func newOutlines(n int) outlines {
	room := outlineWords + 1
	words := make([]outlineWord, (n+1)*room)
	s := outlines{
		kept:   make([]outline, 0, n),
		blooms: make([]uint64, 0, n),
		opened: make([]uint64, 0, 2*outlineWords),
	}
	for i := range n {
		s.kept[:n][i].Words = words[i*room : i*room : (i+1)*room]
	}
	s.current.Words = words[n*room:][:0:room]
	return s
}

// keep copies o to the kept ones.
func (s *outlines) keep(o *outline) {
	if len(s.kept) < cap(s.kept) {
		s.kept = s.kept[:len(s.kept)+1]
		s.blooms = append(s.blooms, 0)
	}
	p := &s.kept[s.next]
	words := append(p.Words[:0], o.Words...)
	*p = *o
	p.Words = words
	s.blooms[s.next] = bloom(s.reduce(p, 0))
	s.next = (s.next + 1) % cap(s.kept)
}

// copyTo copies the outlines to dst, the oldest first.
func (s *outlines) copyTo(dst []outline) []outline {
	for i := range s.kept {
		o := s.kept[s.byAge(i)]
		o.Words = slices.Clone(o.Words)
		dst = append(dst, o)
	}
	return dst
}

// byAge returns the index of the outline before which i older ones came.
func (s *outlines) byAge(i int) int {
	if i += s.next; i >= len(s.kept) {
		i -= len(s.kept)
	}
	return i
}

func bloom(words []outlineWord) (b uint64) {
	for _, w := range words[:len(words)-1] {
		if w&firstTitle == 0 {
			b |= 1 << (w >> 58)
		}
	}
	return b
}

// reduce returns the words of o that do not vary, in scratch space.
func (s *outlines) reduce(o *outline, scratch int) []outlineWord {
	if o.Varying == 0 {
		return o.Words
	}
	dst, left := s.reduced[scratch][:0], 0
	for i, w := range o.Words {
		if o.Varying>>i&1 != 0 {
			left += w.leftOut() + 1
			continue
		}
		dst = append(dst, w.with(left))
		left = 0
	}
	return dst
}

// learnOutline joins node n with all nodes whose outlines differ from its own as those of one statement may.
func (g *Grouper) learnOutline(n uint32, t *tokens) {
	s := &g.outlines
	o := &s.current
	words, ok := t.outline(o.Words[:0])
	*o = outline{Node: n + 1, Frames: t.frames, Words: words}
	if !ok {
		return
	}
	g.learnContexts(o)
	if !g.joinOutline(o) {
		s.keep(o)
	}
	for _, key := range s.opened {
		for i := range s.kept {
			i = s.byAge(i)
			p := &s.kept[i]
			before := p.Varying
			for j := range len(p.Words) - 1 {
				if left, right := p.contexts(j); left == key || right == key {
					p.Varying |= 1 << j
				}
			}
			if p.Varying != before {
				s.blooms[i] = bloom(s.reduce(p, 0))
				g.joinOutline(p)
			}
		}
	}
}

// learnContexts notes each word of o between its neighbors, and finds those that vary there.
func (g *Grouper) learnContexts(o *outline) {
	g.outlines.opened = g.outlines.opened[:0]
	if len(o.Words)-1 <= fewOthers {
		return
	}
	for i, w := range o.Words[:len(o.Words)-1] {
		left, right := o.contexts(i)
		for _, key := range [...]uint64{left, right} {
			if key == 0 || w&(keyWord|originWord) != 0 {
				continue
			}
			c := g.column(key)
			if half := uint32(w >> 32); !c.Open && !slices.Contains(c.Words[:c.N], half) {
				c.Words[c.N], c.Nodes[c.N] = half, o.Node
				if c.N++; c.N == contextWords {
					c.Open = true
					g.outlines.opened = append(g.outlines.opened, key)
				}
			}
			if c.Open {
				o.Varying |= 1 << i
			}
		}
	}
}

// contexts returns the keys of the columns of word i between two words before it and one after it, and between one and
// two, or 0 where no word is.
func (o *outline) contexts(i int) (left, right uint64) {
	at := func(i int) uint64 {
		if i < 0 || i >= len(o.Words) {
			return 0
		}
		return uint64(o.Words[i] & wordHash)
	}
	before, after := at(i-1), at(i+1)
	if i > 0 {
		left = place(place(at(i-2), ofContext)+before, ofContext) + place(after, ofContext+1) | 1
	}
	if i+2 < len(o.Words) {
		right = place(place(at(i+2), ofContext+2)+after, ofContext) + place(before, ofContext+2) | 1
	}
	return left, right
}

// joinOutline joins the group of o with the groups of all outlines that may be of the same statement. It reports whether
// one of them is equal.
func (g *Grouper) joinOutline(o *outline) (known bool) {
	s := &g.outlines
	a := s.reduce(o, 0)
	own := bloom(a)
	for i := range s.blooms {
		i = s.byAge(i)
		b := s.blooms[i]
		if b&own != b && b&own != own {
			continue
		}
		p := &s.kept[i]
		if p == o || p.Frames != o.Frames {
			continue
		}
		if slices.Equal(p.Words, o.Words) {
			g.union(p.Node-1, o.Node-1)
			return true
		}
		if g.root(p.Node-1) != g.root(o.Node-1) && mayBeOne(a, s.reduce(p, 1)) {
			g.union(p.Node-1, o.Node-1)
		}
	}
	return false
}

// mayBeOne reports whether one statement may have the outlines a and b: one is the other with words in place of names, or
// with more words of names. First words may be names if more names follow one than the other.
func mayBeOne(a, b []outlineWord) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	i, end, shared := 0, len(a)-1, 0
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
			part < i && (part == 0 || !mayBeName(a[part:i+1], w.leftOut())),
			j > 0 && b[j-1]&keyWord != 0 && (a[part].leftOut() > 0) != (w.leftOut() > 0):
			return false
		}
		shared += int(w & heldWord)
		i++
	}
	return shared >= fewOthers && len(a)-len(b) <= shared
}

// mayBeName reports whether the words of part, all but the last one, may stand in place of a name or value, or be more of
// the name before them. In the other line, so many names and values are there.
func mayBeName(part []outlineWord, there int) bool {
	words, after := part[:len(part)-1], part[len(part)-1]
	own := after.leftOut()
	for _, w := range words {
		if w&(keyWord|stateWord) != 0 {
			return false
		}
		own += w.leftOut()
	}
	if there == own+1 || own == 0 && there > 0 {
		return len(words) <= 3
	}
	return part[0].leftOut() > 0 && (len(words) == 1 || len(words) == 2 && after&wordHash != 0)
}
