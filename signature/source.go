package signature

import "strings"

// sourceLine begins the last line of the template of an entry with a source.
const sourceLine = "\nfrom "

// AppendSource appends the last line of the canonical template of an entry to its other lines: the source, such as the
// name of a logger, with [Mask] in place of each number in it. It appends nothing for a blank source. Equal texts of two
// sources were written by two statements.
func AppendSource(template []byte, source string) []byte {
	if source = nameOfSource(source); source == "" {
		return template
	}
	template = append(template, sourceLine...)
	for source != "" {
		text, number := beforeNumber(source)
		template = append(template, source[:text]...)
		if number > 0 {
			template = append(template, Mask...)
		}
		source = source[text+number:]
	}
	return template
}

// From returns the key of an entry with a source. k is its key without one. It does not allocate.
func (k Key) From(source string) Key {
	if source = nameOfSource(source); source == "" {
		return k
	}
	h := newHasher().mix(k.Hash).mix(uint64(k.Check))
	for source != "" {
		text, number := beforeNumber(source)
		mark := uint64(endLine)
		if number > 0 {
			mark = endMask
		}
		h = h.text(source, 0, text).end(mark)
		source = source[text+number:]
	}
	return h.sum()
}

// nameOfSource returns a source up to its first control character, without white space around it.
func nameOfSource(source string) string {
	source = trim(source)
	if end := strings.IndexFunc(source, func(c rune) bool { return c < ' ' || c == 0x7f }); end >= 0 {
		source = trim(source[:end])
	}
	return source
}

// beforeNumber returns the lengths of the text before the first number in s, and of the number.
func beforeNumber(s string) (text, number int) {
	for text < len(s) && classes[s[text]]&digit == 0 {
		text++
	}
	return text, skip(s, text, digit) - text
}

// CutSource returns a canonical template without the line of its source, and the source.
func CutSource(template string) (text, source string) {
	if i := strings.LastIndex(template, sourceLine); i >= 0 {
		return template[:i], template[i+len(sourceLine):]
	}
	return template, ""
}
