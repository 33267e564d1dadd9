package gabp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxEnvelopeMembers bounds the members of objects that are taken apart; those of the protocol have at most
// thirteen.
const maxEnvelopeMembers = 64

// maxNumber bounds the bytes of a number: a longer one has no exact meaning to anybody, and is slow to parse.
const maxNumber = 1024

// visit checks that data is one JSON value within the bounds. Where it is an object, f gets the name and the
// value of each member, as often as it is there: encoding/json ignores case and takes the last of several, so that
// a name could mean one thing here and another to who reads the message next.
//
// Text must be UTF-8; escapes of half a surrogate pair are taken, as encoding/json takes them.
func visit(data []byte, maxDepth, maxString int, f func(name, value []byte) error) error {
	if !utf8.Valid(data) {
		at := bytes.IndexFunc(data, func(r rune) bool { return r == utf8.RuneError })
		return fmt.Errorf("at byte %d or after it: text that is not UTF-8", at)
	}
	s := scanners.Get().(*scanner)
	defer s.release()
	s.text = *bytes.NewBuffer(data)
	dec := &s.dec
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("at byte %d: %s", dec.InputOffset(), fmt.Sprintf(format, args...))
	}
	var name []byte // of the member whose value is being read
	start := 0
	for {
		var token jsontext.Value // a scalar
		var err error
		kind := dec.PeekKind()
		switch kind {
		case '{', '[', '}', ']':
			_, err = dec.ReadToken()
		default:
			token, err = dec.ReadValue()
		}
		depth, end := dec.StackDepth(), int(dec.InputOffset())
		switch {
		case err != nil:
			return syntaxError(err)
		case depth > maxDepth:
			return refuse("nested deeper than %d", maxDepth)
		case kind == '"' && len(token)-2 > maxString:
			return refuse("a string of %d bytes, want at most %d", len(token)-2, maxString)
		case kind == '0' && len(token) > maxNumber:
			return refuse("a number of %d bytes, want at most %d", len(token), maxNumber)
		case depth == 0:
			if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
				return refuse("more text after the value")
			}
			return nil
		}
		in, n := dec.StackIndex(1) // names count as values do
		switch {
		case in != '{' || depth > 2 || n == 0:
		case depth == 2 && (kind == '{' || kind == '['):
			start = end - 1
		case depth == 1 && n%2 == 1:
			name = unquoted(token)
		case depth == 1:
			if token != nil {
				start = end - len(token)
			}
			if n > 2*maxEnvelopeMembers {
				return refuse("more than %d members", maxEnvelopeMembers)
			}
			if err := f(name, data[start:end:end]); err != nil {
				return err
			}
		}
	}
}

// scanner is a decoder with the text that it reads.
type scanner struct {
	text bytes.Buffer
	dec  jsontext.Decoder
}

var scanners = sync.Pool{New: func() any {
	s := new(scanner)
	s.reset()
	return s
}}

func (s *scanner) reset() {
	s.text = bytes.Buffer{}
	s.dec.Reset(&s.text, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// release makes s forget its text, and keeps it for the next one.
func (s *scanner) release() {
	s.reset()
	scanners.Put(s)
}

// syntaxError returns what is wrong with JSON text and where, without the name of the package that says so.
func syntaxError(err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("at byte %d: %w", e.ByteOffset, e.Err)
	}
	return errors.New("the text ends within a value")
}

// unquote returns the text of a JSON string that was scanned.
func unquote(quoted []byte) string { return string(unquoted(quoted)) }

// unquoted is unquote, and returns a part of quoted where it can.
func unquoted(quoted []byte) []byte {
	if text := quoted[1 : len(quoted)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	text, _ := jsontext.AppendUnquote(nil, quoted) // half a surrogate pair becomes U+FFFD
	return text
}

// isNull reports whether a member is absent or null. Serializers in the field write null for what is not there.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || raw[0] == 'n' }
