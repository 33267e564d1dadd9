package signature

import "bytes"

// AppendVariant appends the variant of a canonical template to dst and returns it: what the template decides by where
// others that one statement wrote have something else, such as codes, states, outcomes and messages, in order, with
// spaces between. It is empty where there is none.
//
// Templates of one group that have the same variant differ in names, numbers of items and the like. A
// variant is part of its template, of the same bytes and as untrusted. The cost is a pass over the template.
func AppendVariant(dst, template []byte) []byte {
	var t tokens
	t.parse(template)
	return t.appendVariant(dst)
}

// AppendVariant is [AppendVariant], and does not allocate where dst is large enough. It costs little for
// the template that was learned last, and changes no group.
func (g *Grouper) AppendVariant(dst, template []byte) []byte {
	g.parse(template)
	return g.tokens.appendVariant(dst)
}

func (t *tokens) appendVariant(dst []byte) []byte {
	from := len(dst)
	put := func(s []byte) {
		if len(dst) > from {
			dst = append(dst, ' ')
		}
		dst = append(dst, s...)
	}
	for i := range t.n {
		w := &t.words[i]
		if !w.decides {
			continue
		}
		if i > 0 && isDecidingKey(t.words[i-1].text) {
			put(t.words[i-1].text)
		}
		put(w.text)
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

// decides reports whether another value would decide something else.
func (f *field) decides() bool {
	v := bytes.Trim(f.value, `"'`)
	if len(f.key) == 0 || len(v) == 0 || string(v) == Mask {
		return false
	}
	return keywordOfKey(f.key).announces() || bytes.IndexFunc(v, isEdge) < 0 && !bytes.Contains(v, []byte{' '})
}
