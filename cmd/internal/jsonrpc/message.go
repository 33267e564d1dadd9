package jsonrpc

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/internal/framing"
)

// The codes of errors.
const (
	CodeParse         = -32700
	CodeInvalid       = -32600
	CodeInvalidParams = -32602
	CodeInternal      = -32603
	CodeTooLarge      = -32003 // of an answer that is not passed on; the request was executed
)

// Message is a request (ID, Method), a notification (Method) or a response (ID).
type Message struct {
	Version string         `json:"jsonrpc"`
	ID      jsontext.Value `json:"id,omitzero"`
	Method  string         `json:"method,omitzero"`
	Params  jsontext.Value `json:"params,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	Error   jsontext.Value `json:"error,omitzero"`
}

// lenient reads JSON that other implementations read, and writes it again with the same bytes in strings.
var lenient = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true),
)

// Read unmarshals JSON, and reports whether it could.
func Read(data jsontext.Value, into any) bool {
	return len(data) > 0 && json.Unmarshal(data, into, lenient) == nil
}

// Write returns v as JSON in one line. The type of v must have a JSON form.
func Write(v any) jsontext.Value {
	data, err := json.Marshal(v, lenient)
	if err != nil {
		panic("BUG: jsonrpc: " + err.Error())
	}
	return data
}

// Line returns the message as a line.
func (m Message) Line() []byte {
	m.Version = "2.0"
	return append(Write(m), '\n')
}

// Failure returns the response to a request with an error. The id is null if it is not known.
func Failure(id jsontext.Value, code int, text string) Message {
	if id == nil {
		id = jsontext.Value("null")
	}
	return Message{ID: id, Error: Write(struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}{code, text})}
}

// known returns the members of a long message that are whole in its two ends.
func known(ends framing.Ends) (m Message) {
	reads := func(object []byte) bool { return jsontext.Value(object).IsValid(lenient) && Read(object, &m) }
	for i, c := range slices.Backward(ends.Head) {
		if c == ',' && reads(append(ends.Head[:i:i], '}')) {
			break
		}
	}
	for i, c := range ends.Tail {
		if c == '"' && reads(append([]byte{'{'}, ends.Tail[i:]...)) {
			break
		}
	}
	return m
}

// Key returns the form of an id that all its spellings share. An integer has all its digits.
func Key(id jsontext.Value) string {
	form := id.Clone()
	if _, err := strconv.ParseInt(string(id), 10, 64); err != nil {
		_ = form.Canonicalize() // else its bytes
	}
	return string(form)
}

// maxOpen bounds the requests without an answer.
const maxOpen = 4096

// Open holds the requests that have no answer yet, by their keys.
type Open[T any] map[string]T

// Add adds a request. It returns false if one with the id is open, or too many are.
func (o Open[T]) Add(id jsontext.Value, of T) bool {
	if _, twice := o[Key(id)]; twice || len(o) >= maxOpen {
		return false
	}
	o[Key(id)] = of
	return true
}

// Take removes and returns a request.
func (o Open[T]) Take(id jsontext.Value) (of T, known bool) {
	of, known = o[Key(id)]
	delete(o, Key(id))
	return of, known
}
