package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// TestParams holds for each kind of parameter some values that follow its schema, and what they become.
func TestParams(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("t", n) + `"` }
	for _, c := range []struct {
		p   param
		fit map[string]any // with what they become
	}{
		{textArg("p", maxText, "d"), map[string]any{`"a"`: "a", text(256): strings.Repeat("t", 256), ` "a" `: "a"}},
		{textArg("p", 2, "d"), map[string]any{`"ab"`: "ab"}},
		{oneOfArg("p", []any{"a", "b"}, "d"), map[string]any{`"b"`: "b"}},
		{integerArg("p", 2, 5, 3, "d"), map[string]any{"2": int64(2), "5": int64(5), "3.0": int64(3), "3e0": int64(3)}},
		{integerArg("p", 1, maxInteger, 0, "d"), map[string]any{"9007199254740991": int64(1<<53 - 1)}},
		{flagArg("p", "d"), map[string]any{"true": true, "false": false}},
		{wordsArg("p", []any{"a", "b"}, "d"), map[string]any{`["b","a"]`: []string{"b", "a"}, `["a"]`: []string{"a"}}},
		{cursorArg("p", "d"), map[string]any{`"e/1"`: "e/1", "0": "0", "7.0": "7"}},
	} {
		follows := compiled(t, inputSchema([]param{c.p}))
		for raw, value := range c.fit {
			require.NoError(t, follows(`{"p":`+raw+`}`), raw)
			a, e := parseArgs([]param{c.p}, json.RawMessage(`{"p":`+raw+`}`))
			require.Nil(t, e, raw)
			require.Equal(t, value, a["p"])
		}
	}
}

// TestArguments holds what is said of arguments that are missing or given twice, and what the others become.
func TestArguments(t *testing.T) {
	limit := integerArg("limit", 1, 9, 4, "")
	limit.alias = "max"
	params := []param{
		textArg("id", maxText, "").or("key"),
		limit,
		integerArg("last", 0, 9, 0, ""),
	}
	for raw, want := range map[string]string{
		`{}`:                           "params.arguments.id: want a text, got nothing",
		`{"id":"a","limit":1,"max":2}`: "params.arguments.max: want the same as limit, got another value",
	} {
		_, e := parseArgs(params, json.RawMessage(raw))
		require.NotNil(t, e, raw)
		require.Equal(t, want, e.Message)
	}
	for raw, want := range map[string]string{
		`{"id":"a"}`: "a 4 0 false", `{"key":"a","max":7,"last":2}`: "a 7 2 true", `{"id":"a","limit":3,"max":3}`: "a 3 0 false",
	} {
		a, e := parseArgs(params, json.RawMessage(raw))
		require.Nil(t, e, raw)
		require.Equal(t, want, fmt.Sprint(a.text("id"), " ", a.integer("limit"), " ", a.integer("last"), " ", a.has("last")))
	}
}

// compiled returns a function that holds text to a schema.
func compiled(t *testing.T, schema json.RawMessage) func(text string) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("mem:schema", doc))
	s, err := c.Compile("mem:schema")
	require.NoError(t, err)
	return func(text string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		return s.Validate(v)
	}
}
