package rules

import (
	"unicode"

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
	c := cursor{src: src, line: n.Line, col: n.Column}
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		c.line, c.col = c.line+1, 1 // the text begins below the "|" or ">"
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		c.col++
	}
	c.rest = tail(src.line(c.line), c.col)

	i := 0
	for _, want := range n.Value {
		if unicode.IsSpace(want) {
			if i == offset {
				break
			}
			if unicode.IsSpace(c.peek()) {
				c.next()
			}
			i++
			continue
		}
		for unicode.IsSpace(c.peek()) && c.peek() != 0 {
			c.next()
		}
		if c.peek() != want {
			return n.Line, n.Column
		}
		if i == offset {
			break
		}
		c.next()
		if n.Style&yaml.SingleQuotedStyle != 0 && want == '\'' {
			c.next()
		}
		i++
	}
	if c.line > len(src.lines) {
		return n.Line, n.Column
	}
	return c.line, c.col
}

// tail returns the part of line from the given column on.
func tail(line string, col int) string {
	for i := range line {
		if col--; col == 0 {
			return line[i:]
		}
	}
	return ""
}

// cursor is a position in a source.
type cursor struct {
	src       *source
	line, col int
	rest      string // of the line
}

// peek returns the next character: '\n' at the end of a line, 0 at the end of
// the source.
func (c *cursor) peek() rune {
	for _, r := range c.rest {
		return r
	}
	if c.line >= len(c.src.lines) {
		return 0
	}
	return '\n'
}

func (c *cursor) next() {
	if c.rest == "" {
		c.line, c.col = c.line+1, 1
		c.rest = c.src.line(c.line)
		return
	}
	for i := range c.rest {
		if i > 0 {
			c.rest, c.col = c.rest[i:], c.col+1
			return
		}
	}
	c.rest, c.col = "", c.col+1
}
