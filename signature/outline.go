package signature

import (
	"cmp"
	"slices"
)

// outlineWords bounds the words of an outline. A statement with more is not compared.
const outlineWords = 32

// outlinesKept is how many outlines are kept, the latest ones.
const outlinesKept = 1024

// outline is a statement without its names and values.
type outline struct {
	Node   uint32 // plus one, the first with it
	Frames uint64
	N      uint8
	Words  [outlineWords + 1]outlineWord // and the end
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
	return append(dst, outlineWord(0).with(left)), held >= namesOthers
}

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
func (s *outlines) keep(o *outline) {
	if len(s.kept) < cap(s.kept) {
		s.kept, s.blooms = s.kept[:len(s.kept)+1], s.blooms[:len(s.kept)+1]
	}
	s.kept[s.next], s.blooms[s.next] = *o, bloom(o.words())
	s.next = (s.next + 1) % cap(s.kept)
}

// byAge returns the index of the outline before which i older ones came.
func (s *outlines) byAge(i int) int {
	if i += s.next; i >= len(s.kept) {
		i -= len(s.kept)
	}
	return i
}

// bloom returns a bit for each word of an outline but a first name.
func bloom(words []outlineWord) (b uint64) {
	for _, w := range words[:len(words)-1] {
		if w&firstTitle == 0 {
			b |= 1 << (w >> 58)
		}
	}
	return b
}

// learnOutline joins node n with all nodes whose outlines differ from its own as those of one statement may, and keeps
// its outline if it is new.
func (g *Grouper) learnOutline(n uint32, t *tokens) {
	s := &g.outlines
	o := &s.current
	words, ok := t.outline(o.Words[:0])
	if !ok {
		return
	}
	clear(o.Words[len(words):]) // equal outlines are equal in snapshots, too
	o.Node, o.Frames, o.N = n+1, t.frames, uint8(len(words)-1)
	own := bloom(o.words())
	for i, b := range s.blooms {
		p := &s.kept[i]
		if b&own != b && b&own != own || p.Frames != o.Frames {
			continue
		}
		if g.root(p.Node-1) != g.root(o.Node-1) && mayBeOne(o.words(), p.words()) {
			g.union(p.Node-1, o.Node-1)
		}
		if slices.Equal(p.words(), o.words()) {
			return
		}
	}
	s.keep(o)
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
		if w&(stateWord|originWord) == 0 {
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
