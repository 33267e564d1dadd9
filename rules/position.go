package rules

import (
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// locate returns the line and column in src of the character with the given
// offset (in characters) in the value of the scalar n.
//
// YAML keeps the position of a scalar, not of its characters, and its value
// differs from its source text: quotes, escapes, indentation, folded lines. So
// value and source are walked side by side. A white space character of the
// value matches one of the source; before any other character the source
// may hold more of it. Where the two cannot be matched, as at an escape in double
// quotes, the answer is the beginning of the scalar.
func locate(src *source, n *yaml.Node, offset int) (line, col int) {
	line, col = n.Line, n.Column
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		line, col = line+1, 1 // the text begins below the "|" or ">"
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		col++
	}
	rest := src.from(line, col)
	peek := func() rune {
		r, _ := utf8.DecodeRuneInString(rest)
		return r
	}
	next := func() {
		r, size := utf8.DecodeRuneInString(rest)
		rest, col = rest[size:], col+1
		if r == '\n' {
			line, col = line+1, 1
		}
	}
	i := 0
	for _, want := range n.Value {
		if !unicode.IsSpace(want) {
			for unicode.IsSpace(peek()) {
				next()
			}
			if peek() != want || rest == "" {
				return n.Line, n.Column
			}
		}
		if i == offset {
			break
		}
		if i++; unicode.IsSpace(want) != unicode.IsSpace(peek()) {
			continue
		}
		next()
		if n.Style&yaml.SingleQuotedStyle != 0 && want == '\'' {
			next()
		}
	}
	return line, col
}
