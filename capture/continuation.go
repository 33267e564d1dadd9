package capture

import (
	"regexp"
	"strings"
)

// isIndented reports whether b is set in under the line above: by two spaces
// or more, or by a tab. One space is not enough: messages begin with one often,
// and those who labeled the reference captures read " - item" as a line of its
// own.
func isIndented(b []byte) bool {
	return b[0] == '\t' || b[0] == ' ' && len(b) > 1 && (b[1] == ' ' || b[1] == '\t')
}

// isInDocument reports whether b can only be a line of a document that a
// message prints: the end of an XML element, or nothing but brackets, as on
// lines of their own in JSON: "{", "},", "])".
func isInDocument(b []byte) bool {
	return len(b) > 0 && strings.IndexByte("<{}])", b[0]) >= 0 && ofDocument.Match(b) && !hasPrefix(b, "</color>")
}

// isPath reports whether b is nothing but an absolute path, as the game lists
// them under a message about folders, and no sentence that begins with one.
func isPath(b []byte) bool {
	return len(b) > 2 && (b[0] == '/' || b[1] == ':') && path.Match(b) && !sentence.Match(b)
}

var (
	ofDocument = regexp.MustCompile(`^(?:</[A-Za-z]|[{}\])][{}\[\](),;]{0,3}[ \t]*$)`)
	path       = regexp.MustCompile(`^(?:[A-Za-z]:[\\/]|/[\pL\pN_][^:(/]*/)[^:(]*$`)
	sentence   = regexp.MustCompile(`[.!][ \t]*$`)
)
