package gabp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
)

// readParams checks the content of a request: the name of its method, and the parameters of the protocol's own methods,
// which it returns. With lax, methods and tools may have any name.
func readParams(method string, params json.RawMessage, lax bool) (any, error) {
	if !lax && !ValidName(method) {
		return nil, Errorf(codeInvalidField, "method %q must have the form namespace/name in lower case", method)
	}
	read := readers[method]
	if read == nil {
		return nil, nil
	}
	o := parseObject(params, "params", CodeInvalidParams)
	p := read(o)
	if call, is := p.(ToolCall); is && !lax && !ValidName(call.Name) {
		o.fail("params: tool %q must have the form namespace/name in lower case", call.Name)
	}
	return p, o.asError()
}

// readers read the parameters of the protocol's own methods.
var readers = map[string]func(*object) any{
	methodHello:           readHello,
	methodEventsSubscribe: readChannels,
	methodEventsUnsub:     readChannels,
	MethodToolsCall:       func(o *object) any { return o.toolCall() },
	MethodAttentionAck:    func(o *object) any { return AckParams{o.text("attentionId", true, maxNameBytes)} },
	MethodResourcesRead:   func(o *object) any { return o.text("uri", true, maxURIBytes) },
	MethodToolsList: func(o *object) any {
		f := o.inner("filter", "filter")
		return toolsFilter{f.texts("tags"), f.text("namePattern", false, maxNameBytes)}
	},
}

// toolsFilter is the filter of a tools/list.
type toolsFilter struct {
	tags    []string
	pattern string
}

// readHello reads the parameters of session/hello. Without a token no other error is reported.
func readHello(o *object) any {
	if o.raw("token") == nil {
		o.refuse(codeAuthRequired, "a token is required")
	}
	h := hello{
		Token:         o.text("token", true, maxNameBytes),
		BridgeVersion: o.text("bridgeVersion", true, maxNameBytes),
		Platform:      o.text("platform", true, maxNameBytes),
		LaunchID:      o.text("launchId", true, maxNameBytes),
	}
	info := o.inner("clientInfo", "clientInfo")
	h.ClientInfo = &Info{Name: info.text("name", false, maxNameBytes), Version: info.text("version", false, maxNameBytes)}
	return h
}

// ParseToolCall parses the parameters of tools/call, and keeps parts of them. Bridges in
// the field send "parameters" where the protocol has "arguments": both are read, and may
// both be present if they are equal. A name in another case ("Name") is refused, since
// some readers would take it for the tool's name and others not. The form of the name is
// not checked; see [ValidName]. An error is an [*Error].
func ParseToolCall(params json.RawMessage) (ToolCall, error) {
	o := parseObject(params, "params", CodeInvalidParams)
	return o.toolCall(), o.asError()
}

func (o *object) toolCall() ToolCall {
	for key := range o.members {
		for _, name := range []string{"name", "arguments", "parameters"} {
			if key != name && strings.EqualFold(key, name) {
				o.wrong(key, "must be written %q", name)
			}
		}
	}
	call := ToolCall{Name: o.text("name", true, maxNameBytes), Arguments: o.raw("arguments")}
	if p := o.raw("parameters"); p != nil {
		var x, y bytes.Buffer // white space may differ
		_, _ = json.Compact(&x, call.Arguments), json.Compact(&y, p)
		if call.Arguments != nil && !bytes.Equal(x.Bytes(), y.Bytes()) {
			o.fail("params: \"arguments\" and \"parameters\" differ; send \"arguments\"")
		}
		call.Arguments = p
	}
	if call.Arguments != nil && call.Arguments[0] != '{' {
		o.wrong("arguments", "must be an object")
	}
	return call
}

func readChannels(o *object) any {
	names := o.texts("channels")
	if len(names) == 0 {
		o.wrong("channels", "must name at least one channel")
	}
	return channelsParams{Channels: names}
}

// texts returns the elements of an array of strings that are not empty.
func (o *object) texts(name string) []string {
	list := o.list(name)
	texts := make([]string, 0, min(len(list), defaultSubscriptions))
	for _, raw := range list {
		if raw[0] != '"' || len(raw) == 2 || len(raw) > maxNameBytes+2 {
			o.wrong(name, "must hold strings of 1 to %d bytes", maxNameBytes)
			break
		}
		texts = append(texts, unquote(raw))
	}
	return texts
}

// UnmarshalJSON parses an answer of a peer as [ParseAttention] does.
func (r *CurrentResult) UnmarshalJSON(data []byte) error {
	o := parseObject(data, "result", codeInvalidField)
	r.Attention = o.openItem("attention")
	return o.asError()
}

// UnmarshalJSON parses an answer of a peer as [ParseAttention] does.
func (r *AckResult) UnmarshalJSON(data []byte) error {
	o := parseObject(data, "result", codeInvalidField)
	*r = AckResult{
		Acknowledged: o.boolean("acknowledged"), AttentionID: o.text("attentionId", false, maxNameBytes),
		CurrentAttention: o.openItem("currentAttention"),
	}
	return o.asError()
}

// openItem returns a member that is an open item, or nil if it is null.
func (o *object) openItem(name string) *heed.Item {
	switch raw, there := o.members[name]; {
	case !there:
		o.missing(name)
		return nil
	case isNull(raw):
		return nil
	}
	a := o.inner(name, "attention").item()
	if a.State != coalesce.Open {
		o.fail("%s: %q is not open", o.what, name)
	}
	return &a
}

// severity returns a required member that is a severity.
func (o *object) severity(name string) event.Severity {
	s, ok := event.Parse[event.Severity](o.text(name, true, maxNameBytes))
	if !ok {
		o.wrong(name, "is not a severity of the protocol")
	}
	return s
}

// The bounds of an item of a peer.
const (
	maxReadText    = 64 << 10
	maxReadSamples = 64
)

// ParseAttention parses an attention item of a peer, as in the payload of its events,
// and sanitizes it. A required member that is missing, an unknown severity, or a number
// that is no integer below 2^53 is an [*Error] that names the member. Unknown members are
// ignored.
func ParseAttention(raw json.RawMessage) (heed.Item, error) {
	o := parseObject(raw, "attention", codeInvalidField)
	if a := o.item(); o.asError() == nil {
		return a, nil
	}
	return heed.Item{}, o.asError()
}

func (o *object) item() heed.Item {
	a := heed.Item{
		ID:                o.text("attentionId", true, maxNameBytes),
		State:             o.text("state", true, maxNameBytes),
		Severity:          o.severity("severity"),
		Blocking:          o.boolean("blocking"),
		StateInvalidated:  o.boolean("stateInvalidated"),
		Summary:           o.text("summary", true, maxReadText),
		CausalOperationID: o.text("causalOperationId", false, maxReadText),
		CausalMethod:      o.text("causalMethod", false, maxReadText),

		OpenedAtSequence:   o.integer("openedAtSequence", true),
		LatestSequence:     o.integer("latestSequence", true),
		TotalUrgentEntries: o.integer("totalUrgentEntries", true),
		DiagnosticsCursor:  o.integer("diagnosticsCursor", false),
	}
	if a.State != coalesce.Open && a.State != coalesce.Cleared {
		o.wrong("state", "must be one of %s, %s", coalesce.Open, coalesce.Cleared)
	}
	samples := o.list("sample")
	if len(samples) > maxReadSamples {
		o.wrong("sample", "has %d elements, want at most %d", len(samples), maxReadSamples)
		samples = nil
	}
	for _, raw := range samples {
		s := o.within(raw, "sample")
		sample := heed.Sample{
			Level:   s.severity("level"),
			Message: s.text("message", true, maxReadText),

			RepeatCount:    s.integer("repeatCount", true),
			LatestSequence: s.integer("latestSequence", true),
		}
		if sample.RepeatCount == 0 {
			s.wrong("repeatCount", "must be at least 1")
		}
		a.Sample = append(a.Sample, sample)
	}
	a.Sanitize()
	return a
}

// maxInteger is the largest integer that every JSON reader takes exactly.
const maxInteger = 1<<53 - 1

// object is a JSON object by the exact names of its members, which encoding/json
// ignores the case of. The first error is kept, also of the objects within, so that readers read all members and check
// once.
type object struct {
	members members
	what    string  // for errors: "params"; "" for a message
	code    int     // for errors
	absent  int     // for errors about absent members, if it is another
	first   **Error // shared by the objects within
}

// parseObject parses raw. Absent and null are an object without members.
func parseObject(raw json.RawMessage, what string, code int) *object {
	return (&object{code: code, first: new(*Error)}).within(raw, what)
}

// inner returns a member that is an object.
func (o *object) inner(name, what string) *object { return o.within(o.raw(name), what) }

// within parses an object within o.
func (o *object) within(raw json.RawMessage, what string) *object {
	o = &object{what: what, code: o.code, first: o.first}
	if isNull(raw) {
		return o
	}
	o.members = make(members, 8)
	err := visit(raw, math.MaxInt, math.MaxInt, func(name string, value []byte) {
		if _, twice := o.members[name]; twice {
			o.wrong(name, "occurs twice")
		}
		o.members[name] = value
	})
	if err != nil {
		o.fail("%s: %v", what, err)
	}
	if !isObject(raw) {
		o.fail("%s must be an object", what)
	}
	return o
}

func (o *object) fail(format string, args ...any) { o.refuse(o.code, format, args...) }

func (o *object) refuse(code int, format string, args ...any) {
	if *o.first == nil {
		*o.first = Errorf(code, format, args...)
	}
}

// wrong fails for a member.
func (o *object) wrong(name, format string, args ...any) {
	if o.what != "" {
		name = fmt.Sprintf("%s: %q", o.what, name)
	}
	o.fail("%s %s", name, fmt.Sprintf(format, args...))
}

func (o *object) missing(name string) {
	o.refuse(cmp.Or(o.absent, o.code), "%s is missing", strings.TrimPrefix(fmt.Sprintf("%s: %q", o.what, name), ": "))
}

// asError returns the first error, nil without one.
func (o *object) asError() error {
	if *o.first != nil {
		return *o.first
	}
	return nil
}

// raw returns a member, nil if it is absent or null.
func (o *object) raw(name string) json.RawMessage {
	if raw := o.members[name]; !isNull(raw) {
		return raw
	}
	return nil
}

// wants describes the kinds of members.
var wants = map[jsontext.Kind]string{
	'"': "must be a string", 't': "must be true or false", '0': "must be an integer from 0 to 2^53-1", '[': "must be an array",
}

// member returns a member of a kind, nil if it is absent, null or of another kind.
func (o *object) member(name string, kind jsontext.Kind, required bool) json.RawMessage {
	v := o.raw(name)
	got := jsontext.Value(v).Kind()
	switch {
	case v == nil && required:
		o.missing(name)
	case v != nil && got != kind && (got != 'f' || kind != 't'):
		o.wrong(name, "%s", wants[kind])
		return nil
	}
	return v
}

// text returns a string member of at most limit bytes. A required one must be present
// and not empty.
func (o *object) text(name string, required bool, limit int) string {
	v := o.member(name, '"', required)
	s := unquote(v)
	if v != nil && required && s == "" {
		o.wrong(name, "is empty")
	}
	if len(s) > limit {
		o.wrong(name, "has %d bytes, want at most %d", len(s), limit)
		return ""
	}
	return s
}

// boolean returns a required boolean member.
func (o *object) boolean(name string) bool { return string(o.member(name, 't', true)) == "true" }

// integer returns an integer member from 0 to maxInteger, 0 if it is absent.
func (o *object) integer(name string, required bool) uint64 {
	v := o.member(name, '0', required)
	n, ok := parseInteger(v, 0, maxInteger)
	if v != nil && !ok {
		o.wrong(name, "%s", wants['0'])
	}
	return uint64(n)
}

// list returns the elements of an array member.
func (o *object) list(name string) (list []json.RawMessage) {
	_ = json.Unmarshal(o.member(name, '[', false), &list) // nil if there is none
	return list
}

// isObject reports whether scanned JSON text is an object.
func isObject(raw []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{"))
}

// parseInteger parses a JSON number within bounds, 0 for any other; 7.0 is the integer 7, as some serializers write it.
func parseInteger(v []byte, least, most int64) (n int64, ok bool) {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f < float64(least) || f > float64(most) || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// marshal returns the JSON form of v, without escapes for HTML. A json.RawMessage
// is returned as it is: it was checked when it was read.
func marshal(v any) (json.RawMessage, error) {
	if raw, ok := v.(json.RawMessage); ok && len(raw) > 0 {
		return raw, nil
	}
	return text.Marshal(v)
}

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
	name, start := "", 0 // of the current member, and the offset after its name
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
		case in != '{' || depth > 1 || n == 0:
		case n%2 == 1:
			name, start = unquote(token), end
		case n > 2*maxEnvelopeMembers:
			return refuse("more than %d members", maxEnvelopeMembers)
		default:
			f(name, bytes.TrimLeft(data[start:end:end], " \t\r\n:"))
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
