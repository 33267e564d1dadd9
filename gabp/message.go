package gabp

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/internal/text"
)

// The types of a message.
const (
	typeRequest  = "request"
	typeResponse = "response"
	typeEvent    = "event"
)

// nilID is the id of an answer to a message without a readable id. The protocol has no
// null id.
const nilID = "00000000-0000-0000-0000-000000000000"

// uuidPattern is the form of an id in the protocol's schemas.
var uuidPattern = text.Lazy(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// message is one message: a request (ID, Method, Params), a response (ID, and
// either Result or Error) or an event (ID, Channel, Seq, Payload).
//
// The raw members hold JSON text. In a message that was read they are parts of its buffer, which it owns, byte for
// byte.
type message struct {
	ID   string
	Type string

	Method string
	Params json.RawMessage // an object; empty if there are none

	Result json.RawMessage
	Error  *Error

	Channel string
	Seq     uint64 // below 2^53
	Payload json.RawMessage

	verbatim *Verbatim            // a response that is sent instead of Result and Error
	sent     func(*ServerSession) // called when the message was written; may be nil
	refused  *Error               // why a message that was read is not accepted
	read     any                  // its params, if it is a request of the protocol's own methods: see readers
	text     []byte               // of a message that was read
	length   int                  // of a message that was too large to be kept, whose two ends are text
}

// newID returns a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Append appends the JSON text of m to dst. Raw members are copied, and must be JSON.
// A response without a result or an error has the result null, an event without a
// payload the payload null.
func (m *message) Append(dst []byte) []byte {
	if m.verbatim != nil {
		return m.verbatim.append(dst, m.ID)
	}
	dst = fmt.Appendf(dst, `{"v":%q,"id":%s,"type":%q`, protocolVersion, quote(m.ID), m.Type)
	switch m.Type {
	case typeRequest:
		dst = fmt.Appendf(dst, `,"method":%s`, quote(m.Method))
		if len(m.Params) > 0 {
			dst = fmt.Appendf(dst, `,"params":%s`, m.Params)
		}
	case typeResponse:
		if m.Error == nil {
			dst = append(append(dst, `,"result":`...), orNull(m.Result)...) // it may be large
			break
		}
		dst = fmt.Appendf(dst, `,"error":{"code":%d,"message":%s`, m.Error.Code, quote(m.Error.Message))
		if len(m.Error.Data) > 0 {
			dst = fmt.Appendf(dst, `,"data":%s`, m.Error.Data)
		}
		dst = append(dst, '}')
	case typeEvent:
		dst = fmt.Appendf(dst, `,"channel":%s,"seq":%d,"payload":%s`, quote(m.Channel), m.Seq, orNull(m.Payload))
	}
	return append(dst, '}')
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

func quote(s string) []byte {
	quoted, _ := jsontext.AppendQuote(nil, s) // invalid UTF-8 becomes U+FFFD
	return quoted
}

// members holds the members of an object by their exact names.
type members map[string]json.RawMessage

// envelopeNames are the members of a message that are known, and their types of messages; "" is all.
var envelopeNames = []struct{ name, of string }{
	{"v", ""},
	{"id", ""},
	{"type", ""},
	{"method", typeRequest},
	{"params", typeRequest},
	{"result", typeResponse},
	{"error", typeResponse},
	{"channel", typeEvent},
	{"seq", typeEvent},
	{"payload", typeEvent},
}

// decode parses the JSON text of one message, which keeps parts of it. It checks the
// bounds of lim, which is complete, first, and then the envelope. With an error, ID and
// Type are set as far as they could be read, so that it can be answered. The content is
// checked by [readParams]. Unknown members are ignored, null members count as absent.
func decode(data []byte, lim *Limits) (message, *Error) {
	o := &object{members: members{}, code: codeInvalidField, absent: codeMissingField, first: new(*Error)}
	err := visit(data, lim.JSONDepth, lim.StringBytes, func(name string, value []byte) {
		if !slices.ContainsFunc(envelopeNames, func(n struct{ name, of string }) bool { return n.name == name }) {
			return
		}
		if _, twice := o.members[name]; twice {
			o.refuse(codeInvalidRequest, "%q occurs twice", name)
		}
		o.members[name] = value
	})
	if err != nil {
		return message{}, Errorf(codeParse, "JSON not accepted: %v", err)
	}
	if !isObject(data) {
		return message{}, Errorf(codeInvalidRequest, "a message must be an object; send the messages of a batch "+
			"one by one")
	}
	if v := o.raw("v"); v == nil {
		o.missing("v")
	} else if string(v) != `"`+protocolVersion+`"` {
		o.refuse(codeVersionMismatch, "v must be %q", protocolVersion)
	}
	if string(o.members["id"]) == "null" { // unlike other members, it is not absent
		o.fail("id must be a string")
	}
	m := message{ID: o.text("id", true, maxIDBytes)}
	switch t := o.raw("type"); string(t) {
	case "":
		o.missing("type")
	case `"` + typeRequest + `"`, `"` + typeResponse + `"`, `"` + typeEvent + `"`:
		m.Type = unquote(t)
	default:
		o.refuse(codeInvalidType, "type must be request, response or event")
	}
	if *o.first != nil {
		return m, *o.first
	}
	for _, n := range envelopeNames {
		if n.of != "" && n.of != m.Type && o.raw(n.name) != nil {
			return m, Errorf(codeInvalidRequest, "%q does not belong in a message of type %s", n.name, m.Type)
		}
	}
	switch m.Type {
	case typeRequest:
		m.request(o)
	case typeResponse:
		m.response(o)
	default:
		m.event(o)
	}
	return m, *o.first
}

// namePattern is the registry's pattern of methods and tools.
var namePattern = text.Lazy(`^[a-z][a-z0-9_-]*(/[a-z][a-z0-9_-]*)+$`)

// ValidName reports whether s may name a method or a tool: segments of lower-case
// letters, digits, '_' and '-', separated by slashes, at most 256 bytes.
func ValidName(s string) bool { return len(s) <= maxNameBytes && namePattern().MatchString(s) }

func (m *message) request(o *object) {
	m.Method = o.text("method", true, maxNameBytes)
	if m.Params = o.raw("params"); m.Params != nil && m.Params[0] != '{' {
		m.Params = nil
		o.refuse(CodeInvalidParams, "params must be an object")
	}
}

func (m *message) response(o *object) {
	result, answered := o.members["result"]
	failure := o.raw("error")
	if failure == nil {
		if m.Result = result; !answered {
			o.missing("result")
		}
		return
	}
	m.Error = &Error{} // also if it is refused: the call failed
	if !isNull(result) {
		o.refuse(codeInvalidRequest, "a response has a result or an error, not both")
	}
	e := o.within(failure, "error")
	m.Error.Message, m.Error.Data = e.text("message", true, len(failure)), e.raw("data")
	code, ok := parseInteger(e.raw("code"), -math.MaxInt32, math.MaxInt32)
	if m.Error.Code = int(code); e.raw("code") == nil {
		e.missing("code")
	} else if !ok {
		e.wrong("code", "must be an integer")
	}
}

func (m *message) event(o *object) {
	m.Channel, m.Seq, m.Payload = o.text("channel", true, maxNameBytes), o.integer("seq", true), o.members["payload"]
	if m.Payload == nil {
		o.missing("payload")
	}
}

// Verbatim is an answer to a call that violates the protocol: text that is not UTF-8, an
// error without a message, both a result and an error, anything in which the id of the
// call can be found. It is the error of [Client.CallRaw], and unwraps to the violation. A
// handler of a [Mux] that returns it as its error passes the answer on as it was received, byte for
// byte but for the id: peers of a proxy may accept what this package does not.
type Verbatim struct {
	Err *Error

	// Failed reports whether the answer has an error, as far as it can be read.
	Failed bool

	text       []byte // of the message
	start, end int    // of the id in it, with its quotes
}

// Error returns the violation.
func (v *Verbatim) Error() string { return "answer not accepted: " + v.Err.Error() }

// Unwrap returns the violation, an [*Error].
func (v *Verbatim) Unwrap() error { return v.Err }

// append appends the answer as one to a request with another id.
func (v *Verbatim) append(dst []byte, id string) []byte {
	return slices.Concat(dst, v.text[:v.start], quote(id), v.text[v.end:])
}

// findID returns the first wanted value of a member "id", at any depth, and its place in the text with its quotes. Ids
// are random, so that no other text equals one. The text around it need not be JSON.
func findID(text []byte, wanted func(id string) bool) (id string, start, end int) {
	for from := 0; ; { // one by one: a text may have millions
		at := idMember().FindSubmatchIndex(text[from:])
		if at == nil {
			return "", 0, 0
		}
		start, end = from+at[2], from+at[3]
		if id := string(text[start:end]); wanted(id) {
			return id, start - 1, end + 1
		}
		from = end
	}
}

// idMember is a member "id" with a value of at most maxIDBytes.
var idMember = text.Lazy(`"id"[ \t\r\n]*:[ \t\r\n]*"([^"]{1,256})"`)
