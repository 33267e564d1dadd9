package mcp

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
)

// object is a JSON object, whose members keep their order and their bytes.
type object []jsonMember

type jsonMember struct {
	name  string
	value json.RawMessage
}

// parse returns an object, false where raw is none. A strict one has each name once, at any depth: two readers cannot
// understand it differently.
func parse(raw []byte, strict bool) (object, bool) {
	lenient := []jsontext.Options{jsontext.AllowDuplicateNames(!strict), jsontext.AllowInvalidUTF8(!strict)}
	if v := jsontext.Value(raw); v.Kind() != '{' || !v.IsValid(lenient...) {
		return nil, false
	}
	o, d := object{}, jsontext.NewDecoder(bytes.NewReader(raw), lenient...)
	for _, _ = d.ReadToken(); d.PeekKind() == '"'; {
		name, _ := d.ReadToken()
		m := jsonMember{name: name.String()} // the token is not valid after the next read
		value, _ := d.ReadValue()
		m.value = bytes.Clone(value)
		o = append(o, m)
	}
	return o, true
}

// get returns a member, nil where there is none.
func (o object) get(name string) json.RawMessage {
	if i := o.index(name); i >= 0 {
		return o[i].value
	}
	return nil
}

func (o object) index(name string) int {
	return slices.IndexFunc(o, func(m jsonMember) bool { return m.name == name })
}

// exact reports whether no member has one of these names in another case, for which some readers would take it.
func (o object) exact(names ...string) bool {
	return !slices.ContainsFunc(o, func(m jsonMember) bool {
		return slices.ContainsFunc(names, func(name string) bool { return m.name != name && strings.EqualFold(m.name, name) })
	})
}

// text returns a member that is a string, "" where it is none.
func (o object) text(name string) string {
	var s string
	_ = json.Unmarshal(o.get(name), &s)
	return s
}

// inner returns a member that is an object, empty where it is none.
func (o object) inner(name string) object {
	in, _ := parse(o.get(name), false)
	return in
}

// set replaces the member at a path of objects, or adds it at the end.
func (o *object) set(value any, path ...string) {
	name := path[0]
	if len(path) > 1 {
		in := o.inner(name)
		in.set(value, path[1:]...)
		value = in
	}
	m := jsonMember{name, encode(value)}
	if i := o.index(name); i >= 0 {
		(*o)[i] = m
	} else {
		*o = append(*o, m)
	}
}

// MarshalJSON writes the object in one line.
func (o object) MarshalJSON() ([]byte, error) {
	var members [][]byte
	for _, m := range o {
		members = append(members, slices.Concat(encode(m.name), []byte(":"), m.value))
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}")), nil
}

// message is a message in one line, with the members that all read.
type message struct {
	object
	line    []byte
	id      json.RawMessage // nil of a notification
	method  string          // "" of an answer
	params  object
	version string // its own, "" of versions before typedSince
	again   bool   // the client has its answer already
	end     func() // of a request that was sent, or the stream after a notification
}

// Keys of the metadata of a request.
const (
	versionKey      = "io.modelcontextprotocol/protocolVersion"
	capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
)

// readMessage returns the message, false if raw is none. Two readers cannot understand a strict one differently.
func readMessage(raw []byte, strict bool) (m *message, ok bool) {
	line := bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte("\n"), nil), []byte("\r"), nil) // no string holds one
	o, ok := parse(line, strict)
	m = &message{object: o, line: append(line, '\n'), id: o.get("id"), method: o.text("method"), params: o.inner("params")}
	if string(m.id) == "null" {
		m.id = nil
	}
	m.version = m.params.inner("_meta").text(versionKey)
	return m, ok && (!strict || o.exact("id", "method", "params"))
}

// set replaces the member at a path, in the line, too. params stay as they came.
func (m *message) set(value any, path ...string) {
	m.object.set(value, path...)
	m.line = append(encode(m.object), '\n')
}

func (m *message) key() string { return keyOf(m.id) }

func keyOf(id json.RawMessage) string { return jsonrpc.Key(jsontext.Value(id)) }

// asks reports whether the message is a request.
func (m *message) asks() bool { return m.method != "" && m.id != nil }

// list returns the elements of an array, nil where raw is none.
func list(raw json.RawMessage) (elements []json.RawMessage) {
	_ = json.Unmarshal(raw, &elements)
	return elements
}

// encode returns v as JSON in one line. Types of this package and of heed always have a JSON form.
func encode(v any) json.RawMessage { return bridge.Encode(v) }

// typedSince is the first version of the protocol in which each result names its type, and a result that may be kept
// says for how long and for whom.
const typedSince = "2026-07-28"

// answer returns the response to c with a result of heed's own.
func (c *call) answer(result any) []byte {
	raw := encode(result)
	if c.typed {
		o, _ := parse(raw, false)
		o.set("complete", "resultType")
		if strings.HasSuffix(c.method, "/list") || c.method == "resources/read" {
			o.set(0, "ttlMs")
			o.set("private", "cacheScope")
		}
		raw = encode(o)
	}
	return jsonrpc.Message{ID: jsontext.Value(c.id), Result: jsontext.Value(raw)}.Line()
}

// refuse returns a response with an error.
func refuse(id json.RawMessage, code int, text string) []byte {
	return jsonrpc.Failure(jsontext.Value(id), code, text).Line()
}

// textResult returns the result of a tool that is text.
func textResult(text string, failed bool) any {
	result := map[string]any{"content": []any{textBlock(text)}}
	if failed {
		result["isError"] = true
	}
	return result
}

func textBlock(text string) any { return map[string]string{"type": "text", "text": text} }
