package signature

import (
	"bytes"
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
	return g.appendVariant(dst, template, now)
}

// AppendFirstVariant appends the variant that the template of s had when s was learned, and otherwise does what
// [Grouper.AppendVariant] does. It stays the same while no column is evicted.
func (g *Grouper) AppendFirstVariant(dst, template []byte, s Signature) []byte {
	if n, ok := g.find(s); ok {
		return g.appendVariant(dst, template, n)
	}
	return g.appendVariant(dst, template, now)
}

func (g *Grouper) appendVariant(dst, template []byte, n uint32) []byte {
	from := len(dst)
	put := func(s []byte) {
		if len(dst) > from {
			dst = append(dst, ' ')
		}
		dst = append(dst, s...)
	}
	if g.tokens[0].parse(template) {
		g.varying(n, put)
	}
	head, _, _ := bytes.Cut(template, []byte("\n"))
	codes(head, put)
	return dst
}

// varying calls put with the words, in order, of the statement that was parsed that may be states, in columns that were
// open, and had shown a few contents, when node n was there. It looks up columns of the statement, and of it with a
// value in the places found so far.
func (g *Grouper) varying(n uint32, put func([]byte)) {
	t := &g.tokens[0]
	left, shift := t, 0 // with values, and how much further its words are
	for i := 0; i < t.n; i++ {
		c, end := g.opened(t, i, n)
		if c == nil {
			c, end = g.opened(left, i+shift, n)
			end -= shift
		}
		if c == nil || left.n-(end-i) >= maxTokens {
			continue
		}
		for k := i; k < end && c.Full-1 > n; k++ {
			if w := &t.words[k]; w.mayBeState() || w.kind != value && c.State > 0 && c.State-1 <= n {
				put(t.words[k].text)
			}
		}
		next := &g.tokens[1]
		if left == next {
			next = &g.tokens[2]
		}
		next.leave(left, i+shift, end+shift)
		left, shift, i = next, shift+1-(end-i), end-1
	}
}

// mayBeState reports whether w may be the state of something: ids keep it as a state, or it has small letters alone, or
// none at all, or is in a type, such as Press::Jammed.
func (w *term) mayBeState() bool {
	text, _, glued := bytes.Cut(w.text, []byte(Mask))
	if glued {
		text = text[:max(len(text)-1, 0)]
	}
	notSmall := func(r rune) bool { return !unicode.IsLower(r) && r != '-' }
	reason := w.gap == gapOpen && w.kind == nameWord && (letters(text) == len(text) || text[0] == '"')
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
		announced = key != nil && len(bytes.Trim(marks, "-:=([#\"'`")) == 0 &&
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
// sign, since ids mask most values of fields; or as a command at the beginning of a quotation.
func isKept(w []byte, before byte) bool {
	return isConstant(w) || before == '=' || before == '"' && isCapitals(w) ||
		bytes.HasSuffix(w[1:], []byte("Exception")) || bytes.HasSuffix(w[1:], []byte("Error"))
}
