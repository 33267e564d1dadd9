package capture

import (
	"bytes"
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/capture/internal/begins"
)

// announcesList reports whether b ends in a colon, so that it announces the
// next line. A double colon is the separator of some mods' names.
func announcesList(b []byte) bool {
	t := trimRight(b)
	return len(t) > 1 && t[len(t)-1] == ':' && t[len(t)-2] != ':'
}

// mayBeItem reports whether the line, of shape s, may be an item of a list at all: it is at the margin (for a line set
// in by one space see isIndented) and opens no record of its own, as the name of a mod may seem to.
func (ln *line) mayBeItem(s itemShape) bool {
	if ln.text[0] == ' ' || s.bits&shapePackage != 0 {
		return ln.text[0] != ' '
	}
	return !ln.is(ownRecord|ofBanner) && !ln.opensException()
}

// beginsList reports whether a line of shape s looks like the first item of a list by
// itself: a word, a mod with its package id, columns, what opens with a mark, markup.
// An announced list may be empty, and the line below be a record of its own. So
// prose, and a text like a mod's name and its message, needs more: a line above
// that mentions a failure that it caused.
func beginsList(s itemShape) bool {
	return s.bits&(shapeWord|shapePackage|shapeColumns|shapeArrow|shapeXML) != 0 || s.mark != 0
}

// isTitle reports whether b, after a blank line, heads a section within a
// record: in capitals ("GRAMMAR RESOLUTION TRACE"), where one word is enough
// only after another title; or, below a trace, as further exceptions ("Loader
// exceptions:").
func isTitle(b []byte, belowTrace, belowTitle bool) bool {
	t := trimRight(b)
	spaces := bytes.Count(t, []byte{' '})
	if len(t) > 48 || t[0] == '[' {
		return false
	}
	if belowTrace && announcesList(t) && spaces < 4 && bytes.Contains(t, []byte("xceptions")) {
		return true
	}
	letters := len(t) - spaces
	return capitals.Match(t) && letters >= 5 && (spaces > 0 || belowTitle)
}

var capitals = regexp.MustCompile(`^[A-Z ]+$`)

// itemShape is the common form of the items of one list.
type itemShape struct {
	bits  uint8
	mark  rune   // the sign that an item begins with; 0 if a letter or digit
	first uint64 // hash of the first word
}

const (
	shapeWord    = 1 << iota // one word
	shapeArrow               // a → b, a -> b
	shapeColumns             // word, several spaces, more
	shapeKey                 // word: more
	shapePackage             // more (word)
	shapeXML                 // <word…
)

// shapeOf returns the shape of b.
func shapeOf(b []byte) itemShape {
	b = trimLeft(trimRight(b))
	var s itemShape
	word, rest, more := bytes.Cut(b, []byte(" ")) // of each line of a list: expressions would take half of the reading
	if !more {
		s.bits |= shapeWord
	} else {
		if hasSuffix(word, ":") {
			s.bits |= shapeKey
		}
		if hasPrefix(rest, " ") {
			s.bits |= shapeColumns
		}
		if begins.Has(text(b), "->", " → ") || hasSuffix(b, " →") {
			s.bits |= shapeArrow
		}
		if i := bytes.LastIndexByte(b, '('); i > 0 && hasSuffix(b, ")") &&
			bytes.IndexByte(b[i:], ' ') < 0 && bytes.IndexByte(b[i:], '.') > 0 {
			s.bits |= shapePackage
		}
	}
	if len(b) > 1 && b[0] == '<' && (isLetter(b[1]) || b[1] == '/' || b[1] == '!') {
		s.bits |= shapeXML
	}
	if r, _ := utf8.DecodeRune(b); r != utf8.RuneError && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		s.mark = r
	}
	s.first = xxhash.Sum64(word)
	return s
}

// like reports whether two items look as if they came from one list. A key that comes again is the tag of a logger,
// which writes other lines, too.
func (s itemShape) like(o itemShape) bool {
	common := s.bits & o.bits
	if s.first == o.first {
		return common != shapeKey
	}
	return common != 0 || s.mark != 0 && s.mark == o.mark
}
