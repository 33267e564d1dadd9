package signature

import (
	"bytes"
	"unicode"
)

// AppendVariant appends the variant of a canonical template to dst and returns it: the words by which it decides something
// else than other templates of its group, in order, with spaces between. It is empty if there are none. The words are
//
//   - those in places where templates of the group have shown a few others, but for names;
//   - those that the id keeps since they decide: codes, booleans, types of faults, and all after a key such as status;
//   - fields after the statement that decide, with their keys.
//
// A variant is part of its template, of the same bytes and as untrusted. It may become longer or empty as more is learned.
// The cost is a look-up a word, and little more for the template that was learned last. It changes no group, and does not
// allocate if dst is large enough.
func (g *Grouper) AppendVariant(dst, template []byte) []byte {
	from := len(dst)
	put := func(s []byte) {
		if len(dst) > from {
			dst = append(dst, ' ')
		}
		dst = append(dst, s...)
	}
	whole, t := g.parse(template), &g.tokens[0]
	left, shift := t, 0 // with values in the places that were found, and how much further its words are
	key := false        // the word before is a key, or a state before an arrow
	for i := 0; i < t.n; i++ {
		end, few := i, false
		if whole {
			c, j := g.opened(t, i)
			if c == nil && i+shift >= 0 {
				c, j = g.opened(left, i+shift)
				j -= shift
			}
			if c != nil {
				end, few = min(j, t.n), c.N < groupValues
			}
		}
		for k := i; k < max(end, i+1); k++ {
			w, announced := &t.words[k], k > 0 && isDecidingKey(t.words[k-1].text)
			key = w.kind != value && (announced || key && w.gap == gapArrow)
			if w.code || few && w.mayDecide() || key || w.kind == nameWord && isFaultType(w.text) {
				if announced {
					put(t.words[k-1].text)
				}
				put(w.text)
			}
		}
		if end > i && left.n-(end-i) < maxTokens {
			next := &g.tokens[1]
			if left == next {
				next = &g.tokens[2]
			}
			next.leave(left, i+shift, end+shift)
			left, shift, i = next, shift+1-(end-i), end-1
		}
	}
	for _, f := range t.dropped[:t.drops] {
		if f.decides() {
			put(f.key)
			dst = append(dst, '=')
			dst = append(dst, f.value...)
		}
	}
	return dst
}

// mayDecide reports whether w may be the state of something: it has small letters alone, or capitals alone.
func (w *term) mayDecide() bool {
	text, _, glued := bytes.Cut(w.text, []byte(Mask))
	if glued {
		text = text[:max(len(text)-1, 0)]
	}
	notSmall := func(r rune) bool { return !unicode.IsLower(r) && r != '-' }
	return w.kind == capitalWord || len(text) > 0 && w.kind != value && bytes.IndexFunc(text, notSmall) < 0
}

// isFaultType reports whether w is the name of a type of fault.
func isFaultType(w []byte) bool {
	return bytes.HasSuffix(w, []byte("Exception")) || bytes.HasSuffix(w, []byte("Error"))
}

// decides reports whether another value would decide something else.
func (f *field) decides() bool {
	v := bytes.Trim(f.value, `"'`)
	if len(f.key) == 0 || len(v) == 0 || string(v) == Mask {
		return false
	}
	return keywordOfKey(f.key).announces() || bytes.IndexFunc(v, isEdge) < 0 && !bytes.Contains(v, []byte{' '})
}
