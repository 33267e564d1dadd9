package capture

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
	i := len(b) - 1
	for isDigit(b[i-1]) { // the prefix ends this at the latest
		i--
	}
	if i == len(b)-1 {
		return false
	}
	if b[i-1] == '-' {
		i--
	}
	return hasSuffix(b[:i], " Line: ")
}

// isCutFooter reports whether b is the beginning of a footer that lacks its
// end.
func isCutFooter(b []byte) bool { return hasPrefix(b, "(Filename: ") && !isFooter(b) }
