package gabp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
)

// validate checks the content of a request: the name of its method, and the parameters of the protocol's own methods.
// With lax, methods and tools may have any name.
func (m *message) validate(lax bool) error {
	if !lax && !ValidName(m.Method) {
		return Errorf(codeInvalidField, "method %q must have the form namespace/name in lower case", m.Method)
	}
	return validateParams(m.Method, m.Params, lax)
}

// validateParams checks the parameters of the protocol's own methods.
func validateParams(method string, params json.RawMessage, lax bool) (err error) {
	switch method {
	case methodHello:
		_, err = parseHello(params)
	case MethodToolsCall:
		var call ToolCall
		if call, err = ParseToolCall(params); err == nil && !lax && !ValidName(call.Name) {
			err = Errorf(CodeInvalidParams, "params: tool %q must have the form namespace/name in lower case", call.Name)
		}
	case methodEventsSubscribe, methodEventsUnsub:
		_, err = parseChannels(params)
	case MethodAttentionAck:
		_, err = parseAck(params)
	case MethodResourcesRead:
		_, err = parseResourceRead(params)
	case MethodToolsList:
		_, _, err = parseToolsList(params)
	}
	return err
}

// parseHello parses the parameters of session/hello. Without a token no other error is
// reported.
func parseHello(params json.RawMessage) (hello, error) {
	o := parseObject(params, "params", CodeInvalidParams)
	if o.err == nil && o.raw("token") == nil {
		return hello{}, Errorf(codeAuthRequired, "a token is required")
	}
	h := hello{
		Token:         o.text("token", true, maxNameBytes),
		BridgeVersion: o.text("bridgeVersion", true, maxNameBytes),
		Platform:      o.text("platform", true, maxNameBytes),
		LaunchID:      o.text("launchId", true, maxNameBytes),
	}
	if raw := o.raw("clientInfo"); raw != nil {
		info := parseObject(raw, "clientInfo", CodeInvalidParams)
		h.ClientInfo = &Info{
			Name:    info.text("name", false, maxNameBytes),
			Version: info.text("version", false, maxNameBytes),
		}
		if o.err == nil {
			o.err = info.err
		}
	}
	return h, o.asError()
}

// ParseToolCall parses the parameters of tools/call, and keeps parts of them. Bridges in
// the field send "parameters" where the protocol has "arguments": both are read, and may
// both be present if they are equal. A name in another case ("Name") is refused, since
// some readers would take it for the tool's name and others not. The form of the name is
// not checked; see [ValidName]. An error is an [*Error].
func ParseToolCall(params json.RawMessage) (ToolCall, error) {
	o := parseObject(params, "params", CodeInvalidParams)
	for key := range o.members {
		for _, name := range []string{"name", "arguments", "parameters"} {
			if key != name && strings.EqualFold(key, name) {
				o.fail("params: %q must be written %q", key, name)
			}
		}
	}
	call := ToolCall{Name: o.text("name", true, maxNameBytes), Arguments: o.raw("arguments")}
	if p := o.raw("parameters"); p != nil {
		if call.Arguments != nil && !sameJSON(call.Arguments, p) {
			o.fail("params: \"arguments\" and \"parameters\" differ; send \"arguments\"")
		}
		call.Arguments = p
	}
	if call.Arguments != nil && call.Arguments[0] != '{' {
		o.fail("params: \"arguments\" must be an object")
	}
	return call, o.asError()
}

// sameJSON reports whether two JSON texts are equal but for white space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func parseChannels(params json.RawMessage) (channelsParams, error) {
	o := parseObject(params, "params", CodeInvalidParams)
	names := o.texts("channels")
	if len(names) == 0 {
		o.fail("params: \"channels\" must name at least one channel")
	}
	return channelsParams{Channels: names}, o.asError()
}

// texts returns the elements of an array of strings that are not empty.
func (o *object) texts(name string) []string {
	list := o.list(name)
	texts := make([]string, 0, min(len(list), defaultSubscriptions))
	for _, raw := range list {
		if raw[0] != '"' || len(raw) == 2 || len(raw) > maxNameBytes+2 {
			o.fail("%s: %q must hold strings of 1 to %d bytes", o.what, name, maxNameBytes)
			break
		}
		texts = append(texts, unquote(raw))
	}
	return texts
}

func parseAck(params json.RawMessage) (AckParams, error) {
	o := parseObject(params, "params", CodeInvalidParams)
	return AckParams{AttentionID: o.text("attentionId", true, maxNameBytes)}, o.asError()
}

func parseResourceRead(params json.RawMessage) (uri string, err error) {
	o := parseObject(params, "params", CodeInvalidParams)
	return o.text("uri", true, maxURIBytes), o.asError()
}

func parseToolsList(params json.RawMessage) (tags []string, pattern string, err error) {
	o := parseObject(params, "params", CodeInvalidParams)
	f := parseObject(o.raw("filter"), "filter", CodeInvalidParams)
	f.err = cmp.Or(o.err, f.err)
	return f.texts("tags"), f.text("namePattern", false, maxNameBytes), f.asError()
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
		o.fail("%s: %q is missing", o.what, name)
		return nil
	case isNull(raw):
		return nil
	}
	a, err := ParseAttention(o.members[name])
	if err == nil && a.State != coalesce.Open {
		err = Errorf(o.code, "%s: %q is not open", o.what, name)
	}
	if err != nil && o.err == nil {
		o.err = asError(err)
	}
	return &a
}

// severity returns a required member that is a severity.
func (o *object) severity(name string) event.Severity {
	s, ok := event.Parse[event.Severity](o.text(name, true, maxNameBytes))
	if !ok {
		o.fail("%s: %q is not a severity of the protocol", o.what, name)
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
		o.fail("attention: \"state\" must be one of %s, %s", coalesce.Open, coalesce.Cleared)
	}
	samples := o.list("sample")
	if len(samples) > maxReadSamples {
		o.fail("attention: \"sample\" has %d elements, want at most %d", len(samples), maxReadSamples)
		samples = nil
	}
	for _, raw := range samples {
		s := parseObject(raw, "sample", codeInvalidField)
		sample := heed.Sample{
			Level:   s.severity("level"),
			Message: s.text("message", true, maxReadText),

			RepeatCount:    s.integer("repeatCount", true),
			LatestSequence: s.integer("latestSequence", true),
		}
		if sample.RepeatCount == 0 {
			s.fail("sample: \"repeatCount\" must be at least 1")
		}
		if o.err == nil {
			o.err = s.err
		}
		a.Sample = append(a.Sample, sample)
	}
	if o.err != nil {
		return heed.Item{}, o.err
	}
	a.Sanitize()
	return a, nil
}
