package signature

import (
	"slices"
)

// outlineWords bounds the words of an outline. A statement with more is not compared.
const outlineWords = 26

// outlinesKept is how many outlines are kept, the latest ones.
const outlinesKept = 1024

// moreWords is how many words more than in another line a name may have within a line, and an aside has at most.
const moreWords = 2

// outline is a statement without its names and values.
type outline struct {
	Node   uint32 // plus one, the first with it
	Frames uint64
	N      uint8
	Words  [outlineWords + 1]outlineWord // and the end

	rest     [outlineWords + 1]outlineWord // the words without known names, and the end
	n, known int                           // words of the rest, and known names
	isEnough bool                          // one word of the rest is enough if all are the same
}

// words returns the words of o and the end.
func (o *outline) words() []outlineWord { return o.Words[:o.N+1] }

// outlineWord is 52 bits of the hash of a word, its form, the number of names and values that were left out before it,
// and of known names that were, too.
type outlineWord uint64

const (
	heldWord outlineWord = 1 << iota // it holds the statement together
	keyWord
	stateWord
	knownWord // it is a known name
	asideWord // punctuation is between it and a name or value before it

	leftOutShift  = 5
	knownOutShift = 8
	leftOutMask   = 7
	wordHash      = ^outlineWord(0xfff)
)

// after returns the word after so many names and values, and known names.
func (w outlineWord) after(names, known int) outlineWord {
	w &^= leftOutMask<<leftOutShift | leftOutMask<<knownOutShift
	return w | outlineWord(min(names, leftOutMask))<<leftOutShift | outlineWord(min(known, leftOutMask))<<knownOutShift
}

// leftOut returns how many names and values were left out before the word, up to 7.
func (w outlineWord) leftOut() int { return int(w >> leftOutShift & leftOutMask) }

// allOut returns how many names, values and known names were left out before the word, up to 14.
func (w outlineWord) allOut() int { return w.leftOut() + int(w>>knownOutShift&leftOutMask) }

// outline sets o to the outline of t. It reports whether the words are not too many.
func (t *tokens) outline(o *outline) bool {
	*o = outline{Frames: t.frames}
	left, aside := 0, outlineWord(0)
	for i := range t.n {
		w := &t.words[i]
		if left > 0 && w.marks != 0 {
			aside = asideWord
		}
		if t.isVariable(i) {
			left++
			continue
		}
		if o.N == outlineWords {
			return false
		}
		word := (outlineWord(w.hash)&wordHash | aside).after(left, 0)
		if w.holds {
			word |= heldWord
		}
		switch {
		case w.key:
			word |= keyWord
		case w.kind == capitalWord || isState(w.text):
			word |= stateWord
		}
		o.Words[o.N] = word
		o.N++
		left, aside = 0, 0
	}
	o.Words[o.N] = outlineWord(0).after(left, 0)
	return true
}

// isVariable reports whether word i is a value, a name, or alone in brackets. A word with a capital after a colon may
// begin a sentence. Names after a first one without punctuation may be constants of a program, as the first one is.
func (t *tokens) isVariable(i int) bool {
	w := &t.words[i]
	switch {
	case i == t.first || w.kind == value || w.isEnclosed():
		return i != t.first || w.kind == value
	case w.kind == nameWord:
		return t.words[t.first].kind != nameWord || t.words[min(t.first+1, t.n-1)].marks != 0
	}
	return w.kind == titleWord && !isState(w.text) && (w.gap < gapOpen || t.words[i-1].key)
}

// outlines are the latest outlines, with no two equal.
type outlines struct {
	kept    []outline
	blooms  []uint64 // of each
	next    int      // the outline that makes room for another
	current outline
}

// keep copies o to the kept ones.
func (s *outlines) keep(o *outline, bloom uint64) {
	if len(s.kept) < cap(s.kept) {
		s.kept, s.blooms = s.kept[:len(s.kept)+1], s.blooms[:len(s.kept)+1]
	}
	s.kept[s.next], s.blooms[s.next] = *o, bloom
	s.next = (s.next + 1) % cap(s.kept)
}

// leaveNames sets the rest of o to its words without known names, and returns a bit for each.
func (g *Grouper) leaveNames(o *outline) (bloom uint64) {
	n, left, known, plain := 0, 0, 0, 0
	o.known = 0
	for i, w := range o.words() {
		left += w.leftOut()
		if w&stateWord == 0 {
			plain += int(w & heldWord)
		}
		if w&knownWord != 0 || w&stateWord == 0 && g.isName(nameOf(w)) {
			o.Words[i] |= knownWord
			known++
			o.known += int(w & heldWord)
			continue
		}
		o.rest[n] = w.after(left, known)
		bloom |= 1 << (w >> 58)
		n, left, known = n+1, 0, 0
	}
	o.n = n
	o.isEnough = o.known > 0 || plain >= leastOthers
	return bloom
}

// compare joins the node of o with all nodes whose outlines differ from o as lines of one statement may. It reports
// whether another outline of its group is equal.
func (g *Grouper) compare(o *outline, own uint64) bool {
	s := &g.outlines
	for i, b := range s.blooms {
		p := &s.kept[i]
		if b&own != b && b&own != own || p.Frames != o.Frames || p == o {
			continue
		}
		if g.root(p.Node-1) != g.root(o.Node-1) {
			least := fewOthers - min(o.known, p.known)
			if o.n == p.n && o.isEnough && p.isEnough {
				least = 1
			}
			if !mayBeOne(o.rest[:o.n], p.rest[:p.n], max(least, 1)) {
				continue
			}
			g.union(p.Node-1, o.Node-1)
		}
		if slices.Equal(p.words(), o.words()) {
			return true
		}
	}
	return false
}

// isName reports whether a word varies in a statement.
func (g *Grouper) isName(name uint32) bool { return g.lookup(ofName(name)) != nil }

// nameOf returns half of the hash of a word.
func nameOf(w outlineWord) uint32 { return uint32(w >> 32) }

func ofName(name uint32) uint64 { return place(uint64(name), knownName) | 1 }

// know notes that a word is a name, and leaves it out of the outlines.
func (g *Grouper) know(name uint32) {
	if name == 0 || g.isName(name) {
		return
	}
	g.column(ofName(name)) // it makes room for others first
	s := &g.outlines
	for i := range s.kept {
		if o := &s.kept[i]; s.blooms[i]>>(name>>26)&1 != 0 && o.has(name) {
			s.blooms[i] = g.leaveNames(o)
			g.compare(o, s.blooms[i])
		}
	}
}

// has reports whether a name is in o.
func (o *outline) has(name uint32) bool {
	return slices.ContainsFunc(o.Words[:o.N], func(w outlineWord) bool { return nameOf(w) == name })
}

// mayBeOne reports whether one statement may have the outlines a and b: one is the other with words in place of names,
// or with more words of names.
func mayBeOne(a, b []outlineWord, least int) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	i, end, shared := 0, len(a)-1, 0
	for j, w := range b {
		part := i
		for i < end && (j == len(b)-1 || (a[i]^w)&wordHash != 0) {
			i++
		}
		switch {
		case i == end && j < len(b)-1,
			part < i && (part == 0 && i > 1 || !mayBeName(a[part:i+1], w.allOut())),
			j > 0 && b[j-1]&keyWord != 0 && (a[part].allOut() > 0) != (w.allOut() > 0):
			return false
		}
		shared += int(w & heldWord)
		i++
	}
	return shared >= least
}

// mayBeName reports whether the words of part, all but the last one, may be in place of a name or value that the other
// line has there, or belong to it: within a line a name may have more words than in the other, and an aside may
// come after it.
func mayBeName(part []outlineWord, there int) bool {
	last := len(part) - 1
	own, all := part[last].leftOut(), last+part[last].allOut()
	for _, w := range part[:last] {
		if w&(keyWord|stateWord) != 0 {
			return false
		}
		own, all = own+w.leftOut(), all+w.allOut()
	}
	more := 0
	if part[last]&wordHash != 0 {
		more = moreWords
	}
	return there > own && all <= there+more || part[0]&asideWord != 0 && last <= moreWords
}
