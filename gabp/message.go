package gabp

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
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
var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func isUUID(s string) bool { return uuidPattern.MatchString(s) }

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
	default:
		panic("BUG: message of type " + m.Type)
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

// get returns a member, nil if it is absent or null.
func (m members) get(name string) json.RawMessage {
	if raw := m[name]; !isNull(raw) {
		return raw
	}
	return nil
}

// decode parses the JSON text of one message, which keeps parts of it. It checks the
// bounds of lim, which is complete, first, and then the envelope. With an error, ID and
// Type are set as far as they could be read, so that it can be answered. The content is
// checked by message.validate. Unknown members are ignored, null members count as absent.
func decode(data []byte, lim *Limits) (message, *Error) {
	env, twice := make(members, len(envelopeNames)), ""
	err := visit(data, lim.JSONDepth, lim.StringBytes, func(name string, value []byte) {
		if !slices.ContainsFunc(envelopeNames, func(n struct{ name, of string }) bool { return n.name == name }) {
			return
		}
		if _, there := env[name]; there {
			twice = cmp.Or(twice, name)
		}
		env[name] = value
	})
	if err != nil {
		return message{}, Errorf(codeParse, "JSON not accepted: %v", err)
	}
	if !isObject(data) {
		return message{}, Errorf(codeInvalidRequest, "a message must be an object; send the messages of a batch "+
			"one by one")
	}
	var m message
	idErr := m.setID(env["id"])
	typeErr := m.setType(env.get("type"))
	switch {
	case twice != "":
		return m, Errorf(codeInvalidRequest, "%q occurs twice", twice)
	case env.get("v") == nil:
		return m, missing("v")
	case string(env["v"]) != `"`+protocolVersion+`"`:
		return m, Errorf(codeVersionMismatch, "v must be %q", protocolVersion)
	case idErr != nil:
		return m, idErr
	case typeErr != nil:
		return m, typeErr
	}
	for _, n := range envelopeNames {
		if n.of != "" && n.of != m.Type && env.get(n.name) != nil {
			return m, Errorf(codeInvalidRequest, "%q does not belong in a message of type %s", n.name, m.Type)
		}
	}
	switch m.Type {
	case typeRequest:
		return m, m.request(env)
	case typeResponse:
		return m, m.response(env)
	}
	return m, m.event(env)
}

func missing(name string) *Error { return Errorf(codeMissingField, "%q is missing", name) }

func (m *message) setID(raw json.RawMessage) *Error {
	switch {
	case raw == nil:
		return missing("id")
	case raw[0] != '"':
		return Errorf(codeInvalidField, "id must be a string")
	case len(raw) > maxIDBytes+2:
		return Errorf(codeInvalidField, "id has %d bytes, want at most %d", len(raw)-2, maxIDBytes)
	}
	if m.ID = unquote(raw); m.ID == "" {
		return Errorf(codeInvalidField, "id is empty")
	}
	return nil
}

func (m *message) setType(raw json.RawMessage) *Error {
	if raw == nil {
		return missing("type")
	}
	for _, t := range []string{typeRequest, typeResponse, typeEvent} {
		if string(raw) == `"`+t+`"` {
			m.Type = t
			return nil
		}
	}
	return Errorf(codeInvalidType, "type must be request, response or event")
}

// namePattern is the registry's pattern of methods and tools.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]*(/[a-z][a-z0-9_-]*)+$`)

// ValidName reports whether s may name a method or a tool: segments of lower-case
// letters, digits, '_' and '-', separated by slashes, at most 256 bytes.
func ValidName(s string) bool { return len(s) <= maxNameBytes && namePattern.MatchString(s) }

func (m *message) request(env members) *Error {
	method := env.get("method")
	switch {
	case method == nil:
		return missing("method")
	case method[0] != '"' || len(method) > maxNameBytes+2:
		return Errorf(codeInvalidField, "method must be a string of at most %d bytes", maxNameBytes)
	}
	if m.Method = unquote(method); m.Method == "" {
		return Errorf(codeInvalidField, "method is empty")
	}
	if m.Params = env.get("params"); m.Params != nil && m.Params[0] != '{' {
		m.Params = nil
		return Errorf(CodeInvalidParams, "params must be an object")
	}
	return nil
}

func (m *message) response(env members) *Error {
	result, answered := env["result"]
	failure := env.get("error")
	if failure == nil {
		if !answered {
			return missing("result")
		}
		m.Result = result
		return nil
	}
	m.Error = &Error{} // also if it is refused: the call failed
	if !isNull(result) {
		return Errorf(codeInvalidRequest, "a response has a result or an error, not both")
	}
	o := parseObject(failure, "error", codeInvalidField)
	m.Error.Message, m.Error.Data = o.text("message", true, len(failure)), o.raw("data")
	if code := o.raw("code"); code == nil {
		o.fail("error: %q is missing", "code")
	} else if n, ok := parseCode(code); !ok {
		o.fail("error: %q must be an integer", "code")
	} else {
		m.Error.Code = n
	}
	return o.err
}

func (m *message) event(env members) *Error {
	channel, seq, payload := env.get("channel"), env.get("seq"), env["payload"]
	switch {
	case channel == nil:
		return missing("channel")
	case channel[0] != '"' || len(channel) > maxNameBytes+2 || len(channel) == 2:
		return Errorf(codeInvalidField, "channel must be a string of 1 to %d bytes", maxNameBytes)
	case seq == nil:
		return missing("seq")
	case payload == nil:
		return missing("payload")
	}
	n, ok := parseInteger(seq)
	if !ok {
		return Errorf(codeInvalidField, "seq must be an integer from 0 to 2^53-1")
	}
	m.Channel, m.Seq, m.Payload = unquote(channel), n, payload
	return nil
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
		at := idMember.FindSubmatchIndex(text[from:])
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
var idMember = regexp.MustCompile(`"id"[ \t\r\n]*:[ \t\r\n]*"([^"]{1,256})"`)
