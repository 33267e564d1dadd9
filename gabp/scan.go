package gabp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxEnvelopeMembers bounds the members of parsed objects; the protocol's objects have at most thirteen.
const maxEnvelopeMembers = 64

// maxNumber bounds the bytes of a number: a longer one is exact in no reader, and slow
// to parse.
const maxNumber = 1024

// visit checks that data is one JSON value within the bounds. If it is an object, it
// calls f with the name and the value of each member, duplicates included: encoding/json
// ignores case and uses the last duplicate, so that this reader and the next could
// disagree about a name.
//
// Text must be UTF-8. Escapes of half a surrogate pair are accepted, as by encoding/json.
func visit(data []byte, maxDepth, maxString int, f func(name string, value []byte)) error {
	if !utf8.Valid(data) {
		at := bytes.IndexFunc(data, func(r rune) bool { return r == utf8.RuneError })
		return fmt.Errorf("at or after byte %d: the text is not UTF-8", at)
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("at byte %d: %s", dec.InputOffset(), fmt.Sprintf(format, args...))
	}
	name, start := "", 0 // of the current member
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
			name = unquote(token)
		case depth == 1:
			if token != nil {
				start = end - len(token)
			}
			if n > 2*maxEnvelopeMembers {
				return refuse("more than %d members", maxEnvelopeMembers)
			}
			f(name, data[start:end:end])
		}
	}
}

// syntaxError returns the error of jsontext with its position, without that package's name.
func syntaxError(err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("at byte %d: %w", e.ByteOffset, e.Err)
	}
	return errors.New("the text ends inside a value")
}

// unquote returns the text of a scanned JSON string.
func unquote(quoted []byte) string {
	text, _ := jsontext.AppendUnquote(nil, quoted) // half a surrogate pair becomes U+FFFD
	return string(text)
}

// isNull reports whether a member is absent or null. Serializers in the field write null for absent members.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || raw[0] == 'n' }
