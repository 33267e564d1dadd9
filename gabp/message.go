package gabp

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
)

// The types of a [Message].
const (
	TypeRequest  = "request"
	TypeResponse = "response"
	TypeEvent    = "event"
)

// NilID is the id of an answer to a message whose own id cannot be told. The
// protocol knows no null id.
const NilID = "00000000-0000-0000-0000-000000000000"

// Message is one message: a request (ID, Method, Params), a response (ID, and
// either Result or Error) or an event (ID, Channel, Seq, Payload).
//
// The raw members hold JSON text. Those of a message that was read are a part
// of its buffer, which belongs to the message, byte for byte as they came.
type Message struct {
	ID   string
	Type string

	Method string
	Params json.RawMessage // an object; empty where there are none

	Result json.RawMessage
	Error  *Error

	Channel string
	Seq     uint64 // below 2^53
	Payload json.RawMessage

	verbatim *Verbatim // a response that is sent in place of Result and Error
	refused  []byte    // the text of one that was read, and is refused
}

// NewID returns a random UUID.
func NewID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[0:8], b[0:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:36], b[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

// Append appends the JSON text of m to dst. Raw members are taken as they are:
// they must be JSON. A response without a result or an error has the result
// null, an event without a payload the payload null.
func (m *Message) Append(dst []byte) []byte {
	if m.verbatim != nil {
		return m.verbatim.append(dst, m.ID)
	}
	dst = append(dst, `{"v":"`+Version+`","id":`...)
	dst = appendString(dst, m.ID)
	dst = append(dst, `,"type":"`...)
	dst = append(dst, m.Type...)
	dst = append(dst, '"')
	switch m.Type {
	case TypeRequest:
		dst = append(dst, `,"method":`...)
		dst = appendString(dst, m.Method)
		if len(m.Params) > 0 {
			dst = append(dst, `,"params":`...)
			dst = append(dst, m.Params...)
		}
	case TypeResponse:
		if m.Error != nil {
			dst = append(dst, `,"error":`...)
			dst = m.Error.append(dst)
		} else {
			dst = append(dst, `,"result":`...)
			dst = appendRaw(dst, m.Result)
		}
	case TypeEvent:
		dst = append(dst, `,"channel":`...)
		dst = appendString(dst, m.Channel)
		dst = append(dst, `,"seq":`...)
		dst = strconv.AppendUint(dst, m.Seq, 10)
		dst = append(dst, `,"payload":`...)
		dst = appendRaw(dst, m.Payload)
	default:
		panic("BUG: message of type " + m.Type)
	}
	return append(dst, '}')
}

func (e *Error) append(dst []byte) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(e.Code), 10)
	dst = append(dst, `,"message":`...)
	dst = appendString(dst, e.Message)
	if len(e.Data) > 0 {
		dst = append(dst, `,"data":`...)
		dst = append(dst, e.Data...)
	}
	return append(dst, '}')
}

func appendRaw(dst []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}

// appendString appends s as JSON. Most are names and ids that need no escape.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			quoted, err := marshal(s)
			if err != nil {
				panic("BUG: a string has no JSON form: " + err.Error())
			}
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// Decode reads the JSON text of one message, of which the message keeps parts.
// It checks the bounds of lim before all else, and the envelope: what the
// protocol says of each type of message. What is wrong is an [*Error] with a code
// of the registry; the message then holds as much of ID and Type as could be told,
// so that it can be answered. [Message.Validate] checks what is in the envelope.
//
// Unknown members are passed over, members that are null count as absent.
func Decode(data []byte, lim Limits) (Message, error) {
	lim, err := lim.withDefaults()
	if err != nil {
		return Message{}, err
	}
	m, e := decode(data, &lim)
	if e != nil {
		return m, e
	}
	return m, nil
}

// envelope is the members of a message.
type envelope struct {
	v, id, typ, method, params, result, err, channel, seq, payload json.RawMessage

	hasResult bool // also where it is null
	twice     string
}

func (e *envelope) member(name string) *json.RawMessage {
	switch name {
	case "v":
		return &e.v
	case "id":
		return &e.id
	case "type":
		return &e.typ
	case "method":
		return &e.method
	case "params":
		return &e.params
	case "result":
		return &e.result
	case "error":
		return &e.err
	case "channel":
		return &e.channel
	case "seq":
		return &e.seq
	case "payload":
		return &e.payload
	}
	return nil
}

// decode is Decode with lim complete.
func decode(data []byte, lim *Limits) (Message, *Error) {
	var env envelope
	err := visit(data, lim.JSONDepth, lim.StringBytes, func(quoted, value []byte) error {
		name := unquote(quoted)
		if p := env.member(name); p != nil {
			if *p != nil && env.twice == "" {
				env.twice = name
			}
			*p = value
		}
		return nil
	})
	if err != nil {
		return Message{}, Errorf(CodeParse, "not JSON that is taken here: %v", err)
	}
	if !isObject(data) {
		return Message{}, Errorf(CodeInvalidRequest, "a message must be an object; send batches one by one")
	}
	env.hasResult = env.result != nil
	for _, p := range []*json.RawMessage{&env.v, &env.typ, &env.method, &env.params, &env.result, &env.err, &env.channel, &env.seq} {
		if isNull(*p) {
			*p = nil
		}
	}
	var m Message
	idErr := m.setID(env.id)
	typeErr := m.setType(env.typ)
	switch {
	case env.twice != "":
		return m, Errorf(CodeInvalidRequest, "%q comes twice", env.twice)
	case env.v == nil:
		return m, missing("v")
	case string(env.v) != `"`+Version+`"`:
		return m, Errorf(CodeVersionMismatch, "v must be %q", Version)
	case idErr != nil:
		return m, idErr
	case typeErr != nil:
		return m, typeErr
	}
	switch m.Type {
	case TypeRequest:
		return m, m.request(&env)
	case TypeResponse:
		return m, m.response(&env)
	}
	return m, m.event(&env)
}

func missing(name string) *Error { return Errorf(CodeMissingField, "%q is missing", name) }

func (m *Message) setID(raw json.RawMessage) *Error {
	switch {
	case raw == nil:
		return missing("id")
	case raw[0] != '"':
		return Errorf(CodeInvalidField, "id must be a string")
	case len(raw) > maxIDBytes+2:
		return Errorf(CodeInvalidField, "id has %d bytes, want at most %d", len(raw)-2, maxIDBytes)
	}
	if m.ID = unquote(raw); m.ID == "" {
		return Errorf(CodeInvalidField, "id is empty")
	}
	return nil
}

func (m *Message) setType(raw json.RawMessage) *Error {
	if raw == nil {
		return missing("type")
	}
	for _, t := range []string{TypeRequest, TypeResponse, TypeEvent} {
		if string(raw) == `"`+t+`"` {
			m.Type = t
			return nil
		}
	}
	return Errorf(CodeInvalidType, "type must be request, response or event")
}

// foreign refuses a member that another type of message has.
func (m *Message) foreign(names []string, members ...json.RawMessage) *Error {
	for i, raw := range members {
		if raw != nil {
			return Errorf(CodeInvalidRequest, "%q does not belong in a message of type %s", names[i], m.Type)
		}
	}
	return nil
}

// namePattern is the registry's pattern for methods and tools.
var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]*(/[a-z][a-z0-9_-]*)+$`)

// ValidName reports whether s may name a method or a tool: segments of
// lower-case letters, digits, '_' and '-', with slashes between them, at most 256
// bytes.
func ValidName(s string) bool { return len(s) <= maxNameBytes && namePattern.MatchString(s) }

func (m *Message) request(env *envelope) *Error {
	if e := m.foreign([]string{"result", "error", "channel", "seq", "payload"},
		env.result, env.err, env.channel, env.seq, nonNull(env.payload)); e != nil {
		return e
	}
	if env.method == nil {
		return missing("method")
	}
	if env.method[0] != '"' || len(env.method) > maxNameBytes+2 {
		return Errorf(CodeInvalidField, "method must be a string of at most %d bytes", maxNameBytes)
	}
	m.Method = unquote(env.method)
	if m.Method == "" {
		return Errorf(CodeInvalidField, "method is empty")
	}
	if env.params != nil && env.params[0] != '{' {
		return Errorf(CodeInvalidParams, "params must be an object")
	}
	m.Params = env.params
	return nil
}

func (m *Message) response(env *envelope) *Error {
	if e := m.foreign([]string{"method", "params", "channel", "seq", "payload"},
		env.method, env.params, env.channel, env.seq, nonNull(env.payload)); e != nil {
		return e
	}
	if env.err != nil {
		m.Error = &Error{} // also where it is refused: it says that the call failed
	}
	switch {
	case env.result != nil && env.err != nil:
		return Errorf(CodeInvalidRequest, "a response has a result or an error, not both")
	case env.err == nil && !env.hasResult:
		return missing("result")
	case env.err == nil:
		if m.Result = env.result; m.Result == nil {
			m.Result = json.RawMessage("null")
		}
		return nil
	}
	o := parseObject(env.err, "error", CodeInvalidField)
	e := &Error{Message: o.text("message", true, len(env.err)), Data: o.raw("data")}
	if code := o.raw("code"); code == nil {
		o.fail("error: %q is missing", "code")
	} else if n, ok := parseCode(code); !ok {
		o.fail("error: %q must be an integer", "code")
	} else {
		e.Code = n
	}
	m.Error = e
	return o.err
}

func (m *Message) event(env *envelope) *Error {
	if e := m.foreign([]string{"method", "params", "result", "error"}, env.method, env.params, env.result, env.err); e != nil {
		return e
	}
	switch {
	case env.channel == nil:
		return missing("channel")
	case env.channel[0] != '"' || len(env.channel) > maxNameBytes+2 || len(env.channel) == 2:
		return Errorf(CodeInvalidField, "channel must be a string of 1 to %d bytes", maxNameBytes)
	case env.seq == nil:
		return missing("seq")
	case env.payload == nil:
		return missing("payload")
	}
	seq, ok := parseInteger(env.seq)
	if !ok {
		return Errorf(CodeInvalidField, "seq must be an integer from 0 to 2^53-1")
	}
	m.Channel, m.Seq, m.Payload = unquote(env.channel), seq, env.payload
	return nil
}

func nonNull(raw json.RawMessage) json.RawMessage {
	if isNull(raw) {
		return nil
	}
	return raw
}
