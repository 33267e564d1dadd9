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
