package capture

import "bytes"

// Small helpers on bytes. Comparisons with string(b[:n]) do not allocate.

// hasPrefix reports whether b begins with s, which must not be empty. Most lines are
// tested for dozens of beginnings: the first byte, compared in place, spares them
// the call that the rest would be.
func hasPrefix(b []byte, s string) bool {
	return len(b) >= len(s) && b[0] == s[0] && string(b[:len(s)]) == s
}

// around reports whether b has the two texts around c, a letter that is rarer than the first one.
func around(b []byte, before string, c byte, after string) bool {
	last := before[len(before)-1]
	for at := 0; ; at++ {
		n := bytes.IndexByte(b[at:], c)
		if n < 0 {
			return false
		}
		if at += n; at > 0 && b[at-1] == last && hasSuffix(b[:at], before) && hasPrefix(b[at+1:], after) {
			return true
		}
	}
}

func hasSuffix(b []byte, s string) bool { return len(b) >= len(s) && string(b[len(b)-len(s):]) == s }

// blank reports whether b holds only CR, NUL, space and tab: such lines need not be
// accounted for.
func blank(b []byte) bool {
	for _, c := range b {
		switch c {
		case '\r', 0, ' ', '\t':
		default:
			return false
		}
	}
	return true
}

// escape begins the codes by which terminals show colors.
const escape = 0x1b

// appendUncolored appends b without such codes: "\x1b[1;31m", "\x1b[K".
func appendUncolored(dst, b []byte) []byte {
	for {
		before, code, ok := bytes.Cut(b, []byte("\x1b["))
		dst = append(dst, before...)
		if !ok {
			return dst
		}
		b = bytes.TrimLeft(code, "0123456789;:")
		if len(b) > 0 && (b[0] == 'm' || b[0] == 'K') {
			b = b[1:]
		} else {
			dst, b = append(dst, "\x1b["...), code
		}
	}
}

// trimRight strips trailing spaces and tabs.
func trimRight(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// trimLeft strips leading spaces and tabs.
func trimLeft(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	return b
}

func isDigit(c byte) bool { return c-'0' < 10 }

func isLetter(c byte) bool { return (c|0x20)-'a' < 26 }

// isName reports whether c may be in an identifier. Bytes of other scripts
// may: C# allows them, and obfuscators use them.
func isName(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c >= 0x80 }
