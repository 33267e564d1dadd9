package gabp_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/refdata"
)

const schemaBase = "https://github.com/heedlog/heed/gabp/schema/"

// ownSchemas compiles the schemas of this package.
var ownSchemas = sync.OnceValue(func() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	files, err := fs.Glob(gabp.Schemas(), "*.json")
	if err != nil {
		panic(err)
	}
	for _, name := range files {
		data, err := fs.ReadFile(gabp.Schemas(), name)
		if err != nil {
			panic(err)
		}
		addSchema(c, schemaBase+name, data)
	}
	return c
})

// referenceSchemas compiles those of the protocol, where they are at hand.
var referenceSchemas = sync.OnceValue(func() *jsonschema.Compiler {
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
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		// They name the draft by an address at which it is not.
		data = bytes.ReplaceAll(data, []byte("https://json-schema.org/draft-07"), []byte("http://json-schema.org/draft-07"))
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		addSchema(c, referenceBase+filepath.ToSlash(rel), data)
		return nil
	})
	if err != nil {
		panic(err)
	}
	return c
})

const referenceBase = "https://gabp.dev/schema/1.0/"

func addSchema(c *jsonschema.Compiler, id string, data []byte) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = c.AddResource(id, doc)
	}
	if err != nil {
		panic(id + ": " + err.Error())
	}
}

var schemaMu sync.Mutex // the compilers are not safe for concurrent use

// check returns what a schema has against JSON text.
func check(t require.TestingT, c *jsonschema.Compiler, schema string, text []byte) error {
	schemaMu.Lock()
	s, err := c.Compile(schema)
	schemaMu.Unlock()
	require.NoError(t, err, schema)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err, "%s", text)
	return s.Validate(doc)
}

// methodSchema returns the address of the schema of a method's params or result.
func methodSchema(method, part string) string {
	return schemaBase + "methods.json#/$defs/" + strings.ReplaceAll(method, "/", "~1") + "." + part
}

// referenceResponses are the schemas of whole responses that the protocol has.
var referenceResponses = map[string]string{
	gabp.MethodHello:            "session.welcome.response.json",
	gabp.MethodToolsList:        "tools.list.response.json",
	gabp.MethodToolsCall:        "tools.call.response.json",
	gabp.MethodAttentionCurrent: "attention.current.response.json",
	gabp.MethodAttentionAck:     "attention.ack.response.json",
	gabp.MethodResourcesList:    "resources.list.response.json",
	gabp.MethodResourcesRead:    "resources.read.response.json",
}

// checkMessage holds a message to our schemas, and to those of the protocol.
// method is that of the request which a response answers.
func checkMessage(t require.TestingT, text []byte, method string) {
	require.NoError(t, check(t, ownSchemas(), schemaBase+"envelope.json", text), "%s", text)
	var m struct {
		Type, Channel           string
		Params, Result, Payload json.RawMessage
		Error                   *struct{ Data json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(text, &m))
	if m.Result != nil && method != "" {
		require.NoError(t, check(t, ownSchemas(), methodSchema(method, "result"), m.Result), "%s: %s", method, text)
	}
	if m.Params != nil && method != "" {
		require.NoError(t, check(t, ownSchemas(), methodSchema(method, "params"), m.Params), "%s: %s", method, text)
	}
	ref := referenceSchemas()
	if ref == nil {
		return
	}
	require.NoError(t, check(t, ref, referenceBase+"envelope.schema.json", text), "%s", text)
	if name := referenceResponses[method]; name != "" && m.Result != nil {
		require.NoError(t, check(t, ref, referenceBase+"methods/"+name, text), "%s", text)
	}
	if strings.HasPrefix(m.Channel, "attention/") {
		require.NoError(t, check(t, ref, referenceBase+"events/attention.payload.schema.json", m.Payload), "%s", text)
	}
}

// accept decodes and validates a message as a server or a client does.
func accept(text []byte) error {
	m, err := gabp.Decode(text, gabp.Limits{})
	if err != nil {
		return err
	}
	return m.Validate()
}

// TestReferenceConformance: what the protocol's own set calls invalid is
// refused with the fitting code, the rest is taken.
func TestReferenceConformance(t *testing.T) {
	dir := filepath.Join(refdata.Dir(t, "gabp"), "conformance")
	codes := map[string]int{
		"001_missing_id":                         gabp.CodeMissingField,
		"002_both_result_and_error":              gabp.CodeInvalidRequest,
		"003_event_with_method":                  gabp.CodeInvalidRequest,
		"004_invalid_method_pattern":             gabp.CodeInvalidField,
		"005_wrong_version":                      gabp.CodeVersionMismatch,
		"006_invalid_tool_name":                  gabp.CodeInvalidParams,
		"007_attention_ack_missing_attention_id": gabp.CodeInvalidParams,
		"008_attention_event_missing_blocking":   gabp.CodeInvalidField,
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
	for _, path := range append(glob(t, filepath.Join(dir, "valid", "*.json")), glob(t, filepath.Join(dir, "..", "examples", "*", "*.json"))...) {
		require.NoError(t, accept(read(t, path)), path)
	}
}

func TestConformanceSet(t *testing.T) {
	for _, path := range glob(t, "conformance/valid/*.json") {
		text := read(t, path)
		require.NoError(t, accept(text), path)
		require.NoError(t, check(t, ownSchemas(), schemaBase+"envelope.json", text), path)
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
		if strings.HasSuffix(path, "call-name-twice.json") {
			continue // that is more than a schema can say of other names in general
		}
		var m struct {
			Method string
			Params json.RawMessage
		}
		_ = json.Unmarshal(c.Message, &m) // not all are objects
		bad := check(t, ownSchemas(), schemaBase+"envelope.json", c.Message)
		if bad == nil && m.Params != nil {
			bad = check(t, ownSchemas(), methodSchema(m.Method, "params"), m.Params)
		}
		require.Error(t, bad, "%s: the schemas take it", path)
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
			m, err := gabp.Decode(text, gabp.Limits{})
			require.NoError(t, err, path)
			require.NoError(t, m.Validate(), path)
			if m.Type == gabp.TypeRequest {
				methods[m.ID] = m.Method
			}
			checkMessage(t, text, methods[m.ID])
			if m.Error != nil && m.Error.Code == gabp.CodeToolUnavailable {
				require.NoError(t, check(t, ownSchemas(), schemaBase+"error.json#/$defs/refusal", m.Error.Data), path)
			}
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
	var e *gabp.Error
	require.ErrorAs(t, err, &e, about...)
	require.Equal(t, code, e.Code, append(about, e.Message)...)
	require.NotEmpty(t, e.Message, about...)
}
