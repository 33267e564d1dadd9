// Package begins compares the beginning of a line with texts.
package begins

import (
	"slices"
	"strings"
)

// Any reports whether a line begins with one of some texts.
func Any(line string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(line, text) })
}

// Tagged returns the text after a tag in brackets at the beginning of a line, if the tag ends as end does:
// "SMAPI] " for "[12:34:56 INFO  SMAPI] Loaded".
func Tagged(line, end string) (rest string, ok bool) {
	at := strings.IndexByte(line, ']') + len("] ") - len(end)
	if at > 0 && line[0] == '[' && strings.HasPrefix(line[at:], end) {
		return line[at+len(end):], true
	}
	return "", false
}
