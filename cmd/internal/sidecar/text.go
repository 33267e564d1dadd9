package sidecar

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// borrowed returns b as a string that is valid as long as b is unchanged. The engine copies the texts that it keeps of
// an entry; a copy of each text before that would be most of the garbage of a line.
func borrowed(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// text returns a text of the current line, with a note of how much of it was cut. It is valid until the next line.
// Which is the buffer that may be used.
func (s *server) text(which int, b []byte, cut uint64) string {
	if s.line.wide {
		s.texts[which] = appendUTF16(s.texts[which][:0], b)
		b = s.texts[which]
	}
	if cut == 0 && utf8.Valid(b) {
		return borrowed(b)
	}
	text := strings.ToValidUTF8(string(b), string(utf8.RuneError))
	if cut > 0 {
		s.cutTexts++
		s.cutBytes += cut
		text += fmt.Sprintf("\n(%d bytes more were cut)", cut)
	}
	return text
}

// appendUTF16 appends UTF-16 in little endian to dst as UTF-8. Lone surrogates, and half a unit at the end, are
// replaced.
func appendUTF16(dst, b []byte) []byte {
	for ; len(b) >= 2; b = b[2:] {
		r := rune(binary.LittleEndian.Uint16(b))
		if utf16.IsSurrogate(r) && len(b) >= 4 {
			if both := utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(b[2:]))); both != utf8.RuneError {
				r, b = both, b[2:]
			}
		}
		dst = utf8.AppendRune(dst, r) // a lone surrogate is replaced
	}
	if len(b) > 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}
