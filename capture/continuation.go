package capture

import "bytes"

// isIndented reports whether b is set in under the line above: by two spaces
// or more, or by a tab. One space is not enough: messages begin with one often,
// and those who labeled the reference captures read " - item" as a line of its
// own.
func isIndented(b []byte) bool {
	return b[0] == '\t' || b[0] == ' ' && len(b) > 1 && (b[1] == ' ' || b[1] == '\t')
}

// isKnownContinuation reports whether b is a line that the game or the engine
// only ever writes below another.
func isKnownContinuation(b []byte) bool {
	switch b[0] {
	case 'f':
		return hasPrefix(b, "file: ")
	case 'S':
		// "Stacktrace:" may be the head of a crash report.
		return hasPrefix(b, "Source file: ") || hasPrefix(b, "Subnode:") ||
			hasPrefix(b, "StackTrace:") || hasPrefix(b, "Stack trace:") || hasPrefix(b, "Stack Trace:")
	case 'T':
		return hasPrefix(b, "The top operation is the one that failed") || hasPrefix(b, "Trying to allocate: ") ||
			hasPrefix(b, "Total: ") && bytes.Contains(b, []byte("(FindLiveObjects: ")) ||
			hasPrefix(b, "This message has been deprecated and will be removed in a later version of Unity")
	case 'A':
		return hasPrefix(b, "Add a delegate to SceneManager.sceneLoaded") || hasPrefix(b, "Allocation happened at: ")
	case 'M':
		return hasPrefix(b, "Memory overview")
	case 'C':
		return hasPrefix(b, "Constructors and field initializers will be executed from the loading thread")
	case 'D':
		return hasPrefix(b, "Don't use this function in the constructor or field initializers")
	case 'Y':
		return hasPrefix(b, "Your script should either check if it is null or you should not destroy the object")
	case 'X':
		return hasPrefix(b, "XML:")
	case 'w':
		return hasPrefix(b, "with error:") // below "dlopen failed trying to load:" and a path
	case '[':
		return isPatchTraceEnd(b) || hasPrefix(b, "[ ALLOC_")
	}
	return false
}

// isInDocument reports whether b can only be a line of a document that a
// message prints: the end of an XML element, or nothing but brackets, as stand
// on lines of their own in JSON: "{", "},", "])".
func isInDocument(b []byte) bool {
	switch b[0] {
	case '<':
		return len(b) > 2 && b[1] == '/' && isLetter(b[2]) && !hasPrefix(b, "</color>")
	case '{', '}', ']', ')':
	default:
		return false
	}
	b = trimRight(b)
	return len(b) <= 4 && len(bytes.Trim(b, "{}[](),;")) == 0
}

// isShaderNote reports whether b is a further line of a shader that could not
// be compiled, which the engine sets off from the compiler's own words by a blank
// line.
func isShaderNote(b []byte) bool {
	switch b[0] {
	case 'N':
		return hasPrefix(b, "Note: Creation of internal variant of shader ")
	case 'S':
		return hasPrefix(b, "ShaderProgram is unsupported, ")
	}
	return false
}

// isXMLSection reports whether b opens one of the paragraphs into which the
// game divides a message about XML, with blank lines or without.
func isXMLSection(b []byte) bool {
	switch b[0] {
	case 'F':
		return hasPrefix(b, "Field contents: ")
	case 'R':
		return hasPrefix(b, "Root node: ")
	case 'W':
		return hasPrefix(b, "Whole XML:")
	}
	return false
}

// isPath reports whether b is nothing but an absolute path, as the game lists
// them under a message about folders.
func isPath(b []byte) bool {
	b = trimRight(b)
	if hasSuffix(b, ".") || hasSuffix(b, "!") {
		return false // a sentence that begins with a path
	}
	if len(b) > 3 && isLetter(b[0]) && b[1] == ':' && (b[2] == '\\' || b[2] == '/') {
		return bytes.IndexByte(b[2:], ':') < 0 && bytes.IndexByte(b, '(') < 0
	}
	return len(b) > 1 && b[0] == '/' && isName(b[1]) && bytes.Count(b, []byte{'/'}) >= 2 &&
		bytes.IndexByte(b, ':') < 0 && bytes.IndexByte(b, '(') < 0
}
