package gabp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

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
