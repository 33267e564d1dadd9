package signature

import (
	"bytes"
	"math/bits"
	"unicode"
)

// AppendVariant appends the variant of a canonical template to dst and returns it: the words by which it decides
// something else than other templates of its group, with spaces between. It is empty if there are none. The words are
//
//   - those in places where templates of the group have shown a few others, if they are no names, or if one of
//     the words there is a state;
//   - codes, which the id keeps: numbers, booleans, types of faults, all after a key such as status or an
//     equals sign, and words in capitals that begin a quotation, as the method of a request.
//
// A variant is part of its template, of the same bytes and as untrusted. It may become longer or empty as more is
// learned. The cost is a pass over the template and a look-up a word. It changes no group, and does not allocate if
// dst is large enough.
func (g *Grouper) AppendVariant(dst, template []byte) []byte {
	var varying wordSet
	if t := &g.tokens[0]; t.parse(template) {
		varying = g.varyingColumns()
		if n := g.said[g.saidSlot(t.sum)]; n != 0 {
			varying |= g.varyingOutlines(n - 1)
		}
	}
	return g.appendVariant(dst, template, varying)
}

// AppendFirstVariant appends the variant that the template of s had when s was learned, and otherwise does what
// [Grouper.AppendVariant] does. It stays the same.
func (g *Grouper) AppendFirstVariant(dst, template []byte, s Signature) []byte {
	n, ok := g.find(s)
	if !ok {
		return g.AppendVariant(dst, template)
	}
	varying := g.nodes[n].Varying
	if varying != 0 {
		g.tokens[0].parse(template)
	}
	return g.appendVariant(dst, template, varying)
}

// wordSet is a set of words of a statement, of the first 64.
type wordSet uint64

// appendVariant appends the words of a set, of the statement that was parsed, and the codes of its template.
func (g *Grouper) appendVariant(dst, template []byte, varying wordSet) []byte {
	from := len(dst)
	put := func(s []byte) {
		if len(dst) > from {
			dst = append(dst, ' ')
		}
		dst = append(dst, s...)
	}
	for ; varying != 0; varying &= varying - 1 {
		put(g.tokens[0].words[bits.TrailingZeros64(uint64(varying))].text)
	}
	head, _, _ := bytes.Cut(template, []byte("\n"))
	codes(head, put)
	return dst
}

// varyingOutlines returns the words that some of the latest outlines of the group of node n lack. If many lack a word
// that few have, it is a name.
func (g *Grouper) varyingOutlines(n uint32) (set wordSet) {
	t, s, group := &g.tokens[0], &g.outlines, g.root(n)
	latest := make([]*outline, 0, 64)
	for i := len(s.kept) - 1; i >= 0 && len(latest) < cap(latest); i-- {
		if o := &s.kept[(s.next+i)%len(s.kept)]; g.root(o.Node-1) == group {
			latest = append(latest, o)
		}
	}
	for i := 1; i < t.n; i++ {
		w, others := &t.words[i], 0
		if t.isVariable(i) || w.kind != titleWord && !w.mayBeState() {
			continue
		}
		for _, o := range latest {
			if !o.has(nameOf(outlineWord(w.hash))) {
				others++
			}
		}
		if 0 < others && (others < groupValues || 3*(len(latest)-others) >= len(latest)) { // the word is not seen once
			set |= 1 << i
		}
	}
	return set
}

// varyingColumns returns the words that may be states, in open columns that have shown a few contents.
func (g *Grouper) varyingColumns() (set wordSet) {
	t := &g.tokens[0]
	for i := 0; i < t.n; i++ {
		c, end := g.opened(t, i)
		for k := i; k < end && c.N < groupValues; k++ {
			if w := &t.words[k]; w.mayBeState() || w.kind != value && c.State {
				set |= 1 << k
			}
		}
		i = max(i, end-1)
	}
	return set
}

// mayBeState reports whether w may be the state of something: ids keep it as a state, or it has small letters alone, or
// none at all, or is in a type, such as Press::Jammed.
func (w *term) mayBeState() bool {
	text, _, glued := bytes.Cut(w.text, []byte(Mask))
	if glued {
		text = text[:max(len(text)-1, 0)]
	}
	notSmall := func(r rune) bool { return !unicode.IsLower(r) && r != '-' }
	reason := w.gap >= gapOpen && w.kind == nameWord && (letters(text) == len(text) || text[0] == '"')
	return w.kind != value && (reason || isCapitals(text) || isState(text) || bytes.Contains(text, []byte("::")) ||
		len(text) > 0 && bytes.IndexFunc(text, notSmall) < 0)
}

// isState reports whether w is one of the states that ids keep, in any of their forms.
func isState(w []byte) bool { return len(w) > 0 && constants.has(string(w)) }

// codes calls put with the codes of a head, in order, each after the key that announces it.
func codes(s []byte, put func([]byte)) {
	var key []byte // the word before, if it announces a code
	announced, last := false, 0
	for i := 0; i < len(s); {
		if isMask(s, i) {
			i, key, announced = i+len(Mask), nil, false
			continue
		}
		if !isWordByte(s[i]) {
			i++
			continue
		}
		end, masked, digits := wordEnd(s, i)
		marks := bytes.Trim(s[last:i], " ")
		arrow := announced && bytes.HasSuffix(marks, []byte{'>'})
		announced = key != nil && len(bytes.Trim(marks, " -:=([#\"'`")) == 0 &&
			(len(marks) > 0 || digits || isTitle(s[i:end]))
		if q := bytes.LastIndexAny(s[last:i], "\"'"); announced && q >= 0 && s[last+q] == marks[len(marks)-1] {
			end = max(quoted(s, last+q)-1, i+1)
		}
		w := s[i:end]
		digits = digits && !wellKnownWords.has(string(w))
		if !masked && (announced || arrow || digits || isKept(w, byteAt(s, i-1))) {
			if announced {
				put(key)
			}
			put(w)
		}
		k := keywordOfKey(w)
		if key = nil; (k == codeKeyword || k == fieldKeyword) && (!announced || len(marks) > 0) {
			key = w
		}
		announced, i, last = announced || arrow, end, end
	}
}

// isKept reports whether the word w after a byte decides: as a boolean or the name of a type of fault; after an equals
// sign, since ids mask most values of fields; or in capitals, as a constant such as DEVICE_LOST or as a command at the
// beginning of a quotation.
func isKept(w []byte, before byte) bool {
	return isConstant(w) || before == '=' || isCapitals(w) && (before == '"' || bytes.IndexByte(w, '_') > 0) ||
		bytes.HasSuffix(w[1:], []byte("Exception")) || bytes.HasSuffix(w[1:], []byte("Error"))
}
