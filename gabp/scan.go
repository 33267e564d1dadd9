package gabp

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// scanner checks JSON text against the grammar of RFC 8259 and against bounds,
// in one pass and without allocating. It is stricter than encoding/json: text
// must be UTF-8, and who visits an object sees each member, so that a name that
// comes twice, or in another case, cannot mean one thing here and another to
// who reads it after us.
type scanner struct {
	data        []byte
	pos         int
	maxDepth    int
	maxString   int
	maxMembers  int // of the visited object
	visitMember func(name, value []byte) error
}

// maxEnvelopeMembers bounds the members of objects that are taken apart; those
// of the protocol have at most thirteen.
const maxEnvelopeMembers = 64

// visit checks that data is one JSON value within the bounds. Where it is an
// object, f gets the name, in quotes, and the value of each member.
func visit(data []byte, maxDepth, maxString int, f func(name, value []byte) error) error {
	s := scanner{data: data, maxDepth: maxDepth, maxString: maxString, maxMembers: maxEnvelopeMembers, visitMember: f}
	return s.document()
}

func (s *scanner) document() error {
	s.space()
	if err := s.value(0); err != nil {
		return err
	}
	s.space()
	if s.pos < len(s.data) {
		return s.errorf("more text after the value")
	}
	return nil
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("at byte %d: %s", s.pos, fmt.Sprintf(format, args...))
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end. A NUL is nowhere allowed.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// value reads the value at pos; depth is the number of arrays and objects
// around it.
func (s *scanner) value(depth int) error {
	switch c := s.peek(); {
	case c == '{' || c == '[':
		if depth >= s.maxDepth {
			return s.errorf("nested deeper than %d", s.maxDepth)
		}
		if c == '{' {
			return s.object(depth)
		}
		return s.array(depth)
	case c == '"':
		return s.string()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.literal("true")
	case c == 'f':
		return s.literal("false")
	case c == 'n':
		return s.literal("null")
	}
	if s.pos >= len(s.data) {
		return s.errorf("the text ends within a value")
	}
	return s.errorf("no value begins with %q", s.data[s.pos])
}

func (s *scanner) literal(word string) error {
	if end := s.pos + len(word); end <= len(s.data) && string(s.data[s.pos:end]) == word {
		s.pos = end
		return nil
	}
	return s.errorf("want %s", word)
}

func (s *scanner) object(depth int) error {
	s.pos++
	s.space()
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for n := 1; ; n++ {
		start := s.pos
		if s.peek() != '"' {
			return s.errorf("want the name of a member")
		}
		if err := s.string(); err != nil {
			return err
		}
		name := s.data[start:s.pos]
		s.space()
		if s.peek() != ':' {
			return s.errorf("want ':' after a name")
		}
		s.pos++
		s.space()
		start = s.pos
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if depth == 0 && s.visitMember != nil {
			if n > s.maxMembers {
				return s.errorf("more than %d members", s.maxMembers)
			}
			if err := s.visitMember(name, s.data[start:s.pos:s.pos]); err != nil {
				return err
			}
		}
		if more, err := s.more('}', "an object"); !more {
			return err
		}
	}
}

func (s *scanner) array(depth int) error {
	s.pos++
	s.space()
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		if err := s.value(depth + 1); err != nil {
			return err
		}
		if more, err := s.more(']', "an array"); !more {
			return err
		}
	}
}

// more reads what follows a value in an object or array: a comma, after which there is
// more, or its end.
func (s *scanner) more(end byte, in string) (bool, error) {
	s.space()
	switch s.peek() {
	case ',':
		s.pos++
		s.space()
		return true, nil
	case end:
		s.pos++
		return false, nil
	}
	return false, s.errorf("want ',' or '%c' in %s", end, in)
}

func (s *scanner) string() error {
	s.pos++
	start, ascii := s.pos, true
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		switch {
		case c == '"':
			text := s.data[start:s.pos]
			if len(text) > s.maxString {
				return s.errorf("a string of %d bytes, want at most %d", len(text), s.maxString)
			}
			if !ascii && !utf8.Valid(text) {
				return s.errorf("a string that is not UTF-8")
			}
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c < 0x20:
			return s.errorf("control character %#02x in a string", c)
		default:
			ascii = ascii && c < utf8.RuneSelf
			s.pos++
		}
	}
	return s.errorf("the text ends within a string")
}

func (s *scanner) escape() error {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return nil
	case 'u':
		s.pos++
		for range 4 {
			if c := s.peek(); (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
				return s.errorf("want four hexadecimal digits after \\u")
			}
			s.pos++
		}
		return nil
	}
	return s.errorf("unknown escape in a string")
}

// maxNumber bounds the bytes of a number: what is longer has no exact meaning
// to anybody, and is slow to parse for who tries.
const maxNumber = 1024

func (s *scanner) number() error {
	start := s.pos
	if s.peek() == '-' {
		s.pos++
	}
	switch c := s.peek(); {
	case c == '0':
		s.pos++
	case c >= '1' && c <= '9':
		s.digits()
	default:
		return s.errorf("want a digit")
	}
	if s.peek() == '.' {
		s.pos++
		if s.digits() == 0 {
			return s.errorf("want a digit after '.'")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		if s.digits() == 0 {
			return s.errorf("want a digit in the exponent")
		}
	}
	if n := s.pos - start; n > maxNumber {
		return s.errorf("a number of %d bytes, want at most %d", n, maxNumber)
	}
	return nil
}

func (s *scanner) digits() int {
	start := s.pos
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.pos++
	}
	return s.pos - start
}

// unquote returns the text of a JSON string that was scanned.
func unquote(quoted []byte) string {
	text := quoted[1 : len(quoted)-1]
	if !slices.Contains(text, '\\') {
		return string(text)
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic("BUG: a scanned string does not decode: " + err.Error())
	}
	return s
}

// isNull reports whether a member is absent or null. Serializers in the field
// write null for what is not there.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || raw[0] == 'n' }
