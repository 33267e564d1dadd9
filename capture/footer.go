package capture

import "bytes"

// isFooter reports whether b is the line that Unity 2019 puts under a warning,
// an error or a message of the engine itself:
//
//	(Filename: C:\buildslave\unity\build\Runtime/Export/Debug/Debug.bindings.h Line: 39)
//	(Filename:  Line: 580)
//	(Filename:  Line: -1)
func isFooter(b []byte) bool {
	if !hasPrefix(b, "(Filename: ") {
		return false
	}
	b = trimRight(b)
	if b[len(b)-1] != ')' {
		return false
	}
	i := bytes.LastIndex(b, []byte(" Line: "))
	if i < 0 {
		return false
	}
	n := b[i+len(" Line: ") : len(b)-1]
	if len(n) > 0 && n[0] == '-' {
		n = n[1:]
	}
	for _, c := range n {
		if !isDigit(c) {
			return false
		}
	}
	return len(n) > 0
}

// isCutFooter reports whether b is the beginning of a footer that lacks its
// end.
func isCutFooter(b []byte) bool { return hasPrefix(b, "(Filename: ") && !isFooter(b) }
