package gabp

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/testkit"
)

const asyncAPI = "../docs/asyncapi.yaml"

// spoken are the methods that the document describes: what they are for, and the types of their parameters and results,
// where these are the protocol's.
var spoken = map[string]struct {
	summary        string
	params, result any
}{
	methodHello:            {"Opens the session; the first request of a connection.", hello{}, Welcome{}},
	methodPing:             {"Is answered at once.", nil, struct{}{}},
	methodGoodbye:          {"Ends the session.", nil, struct{}{}},
	methodEventsSubscribe:  {"Subscribes to channels; the answer has what exists.", channelsParams{}, subscribeResult{}},
	methodEventsUnsub:      {"Ends subscriptions.", channelsParams{}, unsubscribeResult{}},
	methodEventsList:       {"Lists the channels.", nil, eventsListResult{}},
	MethodToolsList:        {"Lists the tools.", toolsListParams{}, toolsListResult{}},
	MethodToolsCall:        {"Calls a tool; the result has the form of its output schema.", ToolCall{}, nil},
	MethodResourcesList:    {"Lists the resources.", resourcesListParams{}, resourcesListResult{}},
	MethodResourcesRead:    {"Reads a resource.", resourceReadParams{}, ResourceContent{}},
	MethodAttentionCurrent: {"Returns the item that is current.", nil, CurrentResult{}},
	MethodAttentionAck:     {"Acknowledges an item, as far as it was delivered.", AckParams{}, AckResult{}},
}

// The parameters that are read without a type.
type (
	toolsListParams struct {
		Filter *struct {
			Tags        []string `json:"tags,omitempty"`
			NamePattern string   `json:"namePattern,omitempty"`
		} `json:"filter,omitempty"`
	}
	resourcesListParams struct {
		Pattern string `json:"pattern,omitempty"`
	}
	resourceReadParams struct {
		URI string `json:"uri"`
	}
)

// told are the event channels.
var told = map[string]struct {
	summary string
	payload any
}{
	ChannelOpened:  {"An item is current that was not told of before.", heed.Item{}},
	ChannelUpdated: {"The current item has changed, or another one is current.", heed.Item{}},
	ChannelCleared: {"An item is no longer open.", heed.Item{}},
	ChannelToolsChanged: {"Tools were added, replaced or removed. Of hosts that publish it.", struct {
		Names []string `json:"names"`
	}{}},
	ChannelResourcesChanged: {"A resource was added, replaced or removed. Of hosts that publish it.", resourceReadParams{}},
	ChannelResourcesUpdated: {"A resource has another content. Of hosts that publish it.", resourceReadParams{}},
}

type node = map[string]any

// describeAPI makes the document.
func describeAPI(t *testing.T) node {
	schemas, messages, channels, operations := node{}, node{}, node{}, node{}
	// of returns the schema of a type, whose definitions become those of the document.
	of := func(v any) any {
		if v == nil {
			return node{}
		}
		// As a field, so that a named type is a definition.
		text, err := schema.For(reflect.StructOf([]reflect.StructField{{Name: "V", Type: reflect.TypeOf(v), Tag: `json:"v"`}}), false)
		require.NoError(t, err)
		text = bytes.ReplaceAll(text, []byte("#/$defs/"), []byte("#/components/schemas/"))
		text = bytes.ReplaceAll(text, []byte(`schemas/item"`), []byte(`schemas/attention"`))
		var s node
		require.NoError(t, json.Unmarshal(text, &s))
		defs, _ := s["$defs"].(node)
		for name, def := range defs {
			if before, known := schemas[name]; known {
				require.Equal(t, before, def, "two types are %s", name)
			}
			schemas[name] = def
		}
		return s["properties"].(node)["v"]
	}
	// message adds a message, and returns its name.
	message := func(channel, kind string, required []string, members node) string {
		name := strings.ReplaceAll(channel, "/", ".") + "." + kind
		members["v"] = node{"const": protocolVersion}
		members["id"] = node{"type": "string", "format": "uuid"}
		members["type"] = node{"const": kind}
		messages[name] = node{"name": name, "payload": node{
			"type": "object", "required": append([]string{"v", "id", "type"}, required...), "properties": members,
		}}
		at, _ := channels[strings.ReplaceAll(channel, "/", ".")].(node)
		if at == nil {
			at = node{"address": channel, "messages": node{}}
			channels[strings.ReplaceAll(channel, "/", ".")] = at
		}
		at["messages"].(node)[kind] = node{"$ref": "#/components/messages/" + name}
		return kind
	}
	ref := func(channel string) node { return node{"$ref": "#/channels/" + strings.ReplaceAll(channel, "/", ".")} }
	refs := func(channel, kind string) []node {
		return []node{{"$ref": "#/channels/" + strings.ReplaceAll(channel, "/", ".") + "/messages/" + kind}}
	}
	for method, s := range spoken {
		members, required := node{"method": node{"const": method}}, []string{"method"}
		if s.params != nil {
			members["params"] = of(s.params)
			if _, e := readParams(method, nil, false); e != nil {
				required = append(required, "params")
			}
		}
		message(method, typeRequest, required, members)
		message(method, typeResponse, nil, node{"result": of(s.result), "error": of(Error{})})
		operations[strings.ReplaceAll(method, "/", ".")] = node{
			"action": "receive", "summary": s.summary, "channel": ref(method), "messages": refs(method, typeRequest),
			"reply": node{"channel": ref(method), "messages": refs(method, typeResponse)},
		}
	}
	for channel, s := range told {
		message(channel, typeEvent, []string{"channel", "seq", "payload"}, node{
			"channel": node{"const": channel}, "payload": of(s.payload),
			"seq": node{"type": "integer", "minimum": 0, "description": "Counts from 1 for each subscriber."},
		})
		operations[strings.ReplaceAll(channel, "/", ".")] = node{
			"action": "send", "summary": s.summary, "channel": ref(channel), "messages": refs(channel, typeEvent),
		}
	}
	schemas["attention"] = protocolItem(t, schemas["item"].(node), schemas["sample"].(node))
	for _, name := range []string{"item", "causeEntry", "variant"} {
		delete(schemas, name)
	}
	return node{
		"asyncapi": "3.0.0",
		"info": node{
			"title": "GABP as heed's server speaks it", "version": schemaVersion,
			"description": "Generated from package gabp; a test holds it to the code. Each message is a frame: Content-Length " +
				"in bytes, Content-Type, an empty line, the JSON text. Channels of a mod behind heed are its own.",
		},
		"defaultContentType": "application/json",
		"servers": node{"loopback": node{
			"host": "127.0.0.1:{port}", "protocol": "gabp",
			"variables":   node{"port": node{"description": "GABP_SERVER_PORT, or that of the bridge file."}},
			"description": "Only the loopback interface, a Unix socket, or standard input and output.",
		}},
		"channels": channels, "operations": operations,
		"components": node{"schemas": schemas, "messages": messages},
	}
}

// protocolItem returns the schema of an item without the fields that heed adds to those of the protocol, and removes
// them from the schema of its samples.
func protocolItem(t *testing.T, item, sample node) node {
	var a heed.Item
	testkit.Fill(&a)
	text := testkit.Must(json.Marshal(Project(&a)))
	var sent node
	require.NoError(t, json.Unmarshal(text, &sent))
	remove := func(s, sent node) {
		maps.DeleteFunc(s["properties"].(node), func(name string, _ any) bool { return sent[name] == nil })
	}
	remove(item, sent)
	remove(sample, sent["sample"].([]any)[0].(node))
	return item
}

// TestAsyncAPI holds the document to the code: to its types, and to what a server with everything advertises.
func TestAsyncAPI(t *testing.T) {
	text := testkit.Must(yaml.Marshal(describeAPI(t)))
	text = append([]byte("# Generated by go test ./gabp -run AsyncAPI -update\n"), text...)
	testkit.Golden(t, asyncAPI, string(text))

	mux := new(Mux)
	attention, tools, resources := &Attention{Engine: newEngine(t)}, &Tools{}, &Resources{}
	s := newServer(t, ServerConfig{Mux: mux})
	attention.Publish, tools.Publish, resources.Publish = s.Publish, s.Publish, s.Publish
	attention.Register(mux)
	tools.Register(mux)
	resources.Register(mux)
	c := s.capabilities()
	require.Equal(t, slices.Sorted(maps.Keys(spoken)), slices.Sorted(slices.Values(c.Methods)))
	require.Equal(t, slices.Sorted(maps.Keys(told)), slices.Sorted(slices.Values(c.Events)))
}

// TestAsyncAPIReferences holds that each reference of the document is to something in it, and its schemas to messages.
func TestAsyncAPIReferences(t *testing.T) {
	var raw node
	require.NoError(t, yaml.Unmarshal(read(t, asyncAPI), &raw))
	text, err := json.Marshal(raw) // as a reader of JSON has it
	require.NoError(t, err)
	doc := testkit.Must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))
	root := doc.(node)
	at := func(ref string) any {
		var v any = root
		for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			require.IsType(t, node{}, v, ref)
			v = v.(node)[step]
			require.NotNil(t, v, "%s is not there", ref)
		}
		return v
	}
	var refs func(v any)
	refs = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				refs(e)
			}
		case node:
			if ref, ok := v["$ref"].(string); ok {
				require.Len(t, v, 1, "a reference has no other member")
				at(ref)
			}
			for _, e := range v {
				refs(e)
			}
		}
	}
	refs(root)
	// What the package's own set calls a valid request follows the schema of its method.
	requests := 0
	for _, path := range glob(t, "conformance/valid/*.json") {
		var m struct{ Type, Method string }
		text := read(t, path)
		require.NoError(t, json.Unmarshal(text, &m))
		if m.Type == typeRequest && followsAPI(t, text, m.Method) {
			requests++
		}
	}
	require.Greater(t, requests, 3)
}

// apiSchemas compiles the schemas of the document's messages, by name.
var apiSchemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	var doc node
	if err := yaml.Unmarshal(testkit.Must(os.ReadFile(asyncAPI)), &doc); err != nil {
		panic(err)
	}
	text := testkit.Must(json.Marshal(doc)) // as a reader of JSON has it
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:api", testkit.Must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))); err != nil {
		panic(err)
	}
	all := map[string]*jsonschema.Schema{}
	for name := range doc["components"].(node)["messages"].(node) {
		all[name] = testkit.Must(c.Compile("mem:api#/components/messages/" + name + "/payload"))
	}
	return all
})

// followsAPI holds a message to the document, where it describes it. method is that of a request, or of the request
// which a response answers.
func followsAPI(t require.TestingT, text []byte, method string) bool {
	var m struct{ Type, Channel string }
	require.NoError(t, json.Unmarshal(text, &m))
	s := apiSchemas()[strings.ReplaceAll(method+m.Channel, "/", ".")+"."+m.Type]
	if s == nil {
		return false
	}
	value := testkit.Must(jsonschema.UnmarshalJSON(bytes.NewReader(text)))
	require.NoError(t, s.Validate(value), "%s", text)
	return true
}

const referenceBase = "https://gabp.dev/schema/1.0/"

// referenceSchemas compiles the schemas of the protocol, where they are at hand. The names of files
// are its keys.
var referenceSchemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	var dir string
	for d, _ := os.Getwd(); ; d = filepath.Dir(d) {
		dir = filepath.Join(d, "shared", "data", "gabp", "schema")
		if root := os.Getenv("HEED_DATA"); root != "" {
			dir = filepath.Join(root, "gabp", "schema")
		}
		if _, err := os.Stat(dir); err == nil {
			break
		}
		if d == filepath.Dir(d) {
			return nil
		}
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(references(dir))
	all := map[string]*jsonschema.Schema{}
	single, grouped := testkit.Must(filepath.Glob(dir+"/*.json")), testkit.Must(filepath.Glob(dir+"/*/*.json"))
	for _, path := range append(single, grouped...) {
		name := filepath.ToSlash(testkit.Must(filepath.Rel(dir, path)))
		all[name] = testkit.Must(c.Compile(referenceBase + name))
	}
	return all
})

// references is the folder of the schemas.
type references string

func (dir references) Load(url string) (any, error) {
	data, err := os.ReadFile(filepath.Join(string(dir), strings.TrimPrefix(url, referenceBase)))
	// They name the draft by an address at which it is not.
	data = bytes.ReplaceAll(data, []byte("https://json-schema.org/draft-07"), []byte("http://json-schema.org/draft-07"))
	if err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(data))
}

// check holds JSON text to a schema of the protocol, where there is one of this name.
func check(t require.TestingT, name string, text []byte) {
	schema := referenceSchemas()[name]
	if schema == nil {
		return
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err, "%s", text)
	require.NoError(t, schema.Validate(doc), "%s: %s", name, text)
}

// checkMessage holds a message to the schemas of the protocol. method is that of a request, or of the
// request which a response answers.
func checkMessage(t require.TestingT, text []byte, method string) {
	check(t, "envelope.schema.json", text)
	var m struct {
		Type, Channel  string
		Error, Payload json.RawMessage
	}
	require.NoError(t, json.Unmarshal(text, &m))
	if method == methodHello && m.Type == typeResponse {
		method = "session/welcome"
	}
	if m.Error == nil {
		check(t, "methods/"+strings.ReplaceAll(method, "/", ".")+"."+m.Type+".json", text)
	}
	if strings.HasPrefix(m.Channel, "attention/") {
		check(t, "events/attention.payload.schema.json", m.Payload)
	}
}

// accept decodes and validates a message as a server or a client does.
func accept(text []byte) error {
	m, err := decodeWithin(text, Limits{})
	switch {
	case err != nil:
	case m.Type == typeRequest:
		err = m.validate(false)
	case strings.HasPrefix(m.Channel, "attention/"):
		_, err = ParseAttention(m.Payload)
	}
	return err
}

// TestReferenceConformance: what the protocol's own set calls invalid is
// refused with the fitting code, the rest is taken.
func TestReferenceConformance(t *testing.T) {
	dir := filepath.Join(testkit.Dir(t, "gabp"), "conformance")
	codes := map[string]int{
		"001_missing_id":                         codeMissingField,
		"002_both_result_and_error":              codeInvalidRequest,
		"003_event_with_method":                  codeInvalidRequest,
		"004_invalid_method_pattern":             codeInvalidField,
		"005_wrong_version":                      codeVersionMismatch,
		"006_invalid_tool_name":                  CodeInvalidParams,
		"007_attention_ack_missing_attention_id": CodeInvalidParams,
		"008_attention_event_missing_blocking":   codeInvalidField,
	}
	for _, path := range glob(t, filepath.Join(dir, "invalid", "*.json")) {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		want, known := codes[name]
		err := accept(read(t, path))
		require.Error(t, err, name)
		if known {
			requireCode(t, want, err, name)
		}
	}
	for _, path := range append(glob(t, filepath.Join(dir, "valid", "*.json")),
		glob(t, filepath.Join(dir, "..", "examples", "*", "*.json"))...) {
		require.NoError(t, accept(read(t, path)), path)
	}
}

func TestConformanceSet(t *testing.T) {
	for _, path := range glob(t, "conformance/valid/*.json") {
		require.NoError(t, accept(read(t, path)), path)
	}
	for _, path := range glob(t, "conformance/invalid/*.json") {
		var c struct {
			Code    int
			Why     string
			Message json.RawMessage
		}
		require.NoError(t, json.Unmarshal(read(t, path), &c), path)
		require.NotEmpty(t, c.Why, path)
		if c.Message == nil {
			c.Message = json.RawMessage("null")
		}
		requireCode(t, c.Code, accept(c.Message), path)
	}
	for _, path := range glob(t, "conformance/examples/*.json") {
		var c struct {
			About    string
			Messages []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(read(t, path), &c), path)
		require.NotEmpty(t, c.About, path)
		methods := map[string]string{}
		for _, text := range c.Messages {
			require.NoError(t, accept(text), path)
			var m struct{ ID, Method string }
			require.NoError(t, json.Unmarshal(text, &m), path)
			if m.Method != "" {
				methods[m.ID] = m.Method
			}
			checkMessage(t, text, methods[m.ID])
		}
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, paths, pattern)
	return paths
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return data
}

func requireCode(t require.TestingT, code int, err error, about ...any) {
	var e *Error
	require.ErrorAs(t, err, &e, about...)
	require.Equal(t, code, e.Code, append(about, e.Message)...)
	require.NotEmpty(t, e.Message, about...)
}
