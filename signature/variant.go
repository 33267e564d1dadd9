package signature

import "bytes"

// AppendVariant appends the variant of a canonical template to dst and returns it: the words of the
// template by which it decides something else than others that one statement wrote, such as codes,
// states and outcomes, in order, with a space between them. It is empty where there is none.
//
// Templates of one group that have the same variant differ in names, numbers of items and the like. A
// variant is part of its template, of the same bytes and as untrusted. The cost is a pass over the template.
func AppendVariant(dst, template []byte) []byte {
	var t tokens
	if !t.parse(template) {
		return dst
	}
	from := len(dst)
	for i := range t.n {
		if !t.words[i].masked && roleOf(t.text[:t.n], i) == fixed {
			if len(dst) > from {
				dst = append(dst, ' ')
			}
			dst = append(dst, bytes.TrimFunc(t.text[i], isEdge)...)
		}
	}
	return dst
}
