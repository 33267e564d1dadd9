package signature

import (
	"strings"
	"unsafe"
)

// sourceLine begins the last line of the template of an entry with a source.
const sourceLine = "\nfrom "

// AppendSource appends the last line of the canonical template of an entry to its other lines: the source, such as the
// name of a logger, with [Mask] in place of each number. Of a source it takes the text up to the first control
// character, and appends nothing for a blank one. Equal texts of two sources were written by two statements.
func AppendSource(template []byte, source string) []byte {
	source = trim(source)
	if end := strings.IndexFunc(source, func(c rune) bool { return c < ' ' || c == 0x7f }); end >= 0 {
		source = trim(source[:end])
	}
	if source == "" {
		return template
	}
	template = append(template, sourceLine...)
	for i := range len(source) {
		switch {
		case classes[source[i]]&digit == 0:
			template = append(template, source[i])
		case i == 0 || classes[source[i-1]]&digit == 0:
			template = append(template, Mask...)
		}
	}
	return template
}

// CutSource returns a canonical template without the line of its source, and the source.
func CutSource(template string) (text, source string) {
	text, source, _ = strings.Cut(template, sourceLine)
	return text, source
}

// From returns the key of an entry with a source. k is its key without one. It allocates only if the source has more
// than 200 bytes.
func (k Key) From(source string) Key {
	var buf [200 + len(sourceLine)]byte
	line := AppendSource(buf[:0], source)
	if len(line) == 0 {
		return k
	}
	h := newHasher().mix(k.Hash).mix(uint64(k.Check))
	return h.text(unsafe.String(unsafe.SliceData(line), len(line)), 0, len(line)).end(endLine).sum()
}
