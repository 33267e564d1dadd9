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

// TestParams holds for each kind of parameter its schema, what follows it, and what that becomes.
func TestParams(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("t", n) + `"` }
	for _, c := range []struct {
		p      param
		schema string
		fit    map[string]any // with what they become
		unfit  []string
	}{
		{
			textArg("p", maxText, "d"),
			`{"description":"d","type":"string","minLength":1,"maxLength":256}`,
			map[string]any{`"a"`: "a", text(256): strings.Repeat("t", 256), ` "a" `: "a"},
			[]string{text(257), `""`, `7`, `null`, `["a"]`},
		},
		{
			textArg("p", 2, "d"),
			`{"description":"d","type":"string","minLength":1,"maxLength":2}`,
			map[string]any{`"ab"`: "ab"},
			[]string{`"abc"`},
		},
		{
			oneOfArg("p", []any{"a", "b"}, "d"),
			`{"description":"d","type":"string","enum":["a","b"]}`,
			map[string]any{`"b"`: "b"},
			[]string{`"c"`, `""`},
		},
		{
			integerArg("p", 2, 5, 3, "d"),
			`{"description":"d","type":"integer","minimum":2,"maximum":5,"default":3}`,
			map[string]any{"2": int64(2), "5": int64(5), "3.0": int64(3), "3e0": int64(3)},
			[]string{"1", "6", "2.5", `"3"`, "null", "1e99"},
		},
		{
			integerArg("p", 1, maxInteger, 0, "d"),
			`{"description":"d","type":"integer","minimum":1,"maximum":9007199254740991}`,
			map[string]any{"9007199254740991": int64(1<<53 - 1), "9007199254740991.0": int64(1<<53 - 1)},
			[]string{"9007199254740992", "9007199254740992.0", "0", "-9007199254740993"},
		},
		{
			flagArg("p", "d"),
			`{"description":"d","type":"boolean"}`,
			map[string]any{"true": true, "false": false},
			[]string{"0", `"true"`, "null"},
		},
		{
			wordsArg("p", []any{"a", "b"}, "d"),
			`{"description":"d","type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1,"uniqueItems":true}`,
			map[string]any{`["b","a"]`: []string{"b", "a"}, `["a"]`: []string{"a"}},
			[]string{`[]`, `["a","a"]`, `["c"]`, `"a"`, `["a","b","a"]`, `["a",7]`},
		},
		{
			cursorArg("p", "d"),
			`{"description":"d","types":0,"type":["string","integer"],"minimum":0,"maximum":9007199254740991,"minLength":1,"maxLength":512}`,
			map[string]any{`"e/1"`: "e/1", "0": "0", "7.0": "7"},
			[]string{"-1", `""`, "true", text(513), "1.5", "9007199254740992.0"},
		},
	} {
		t.Run(c.schema, func(t *testing.T) {
			var want map[string]any
			require.NoError(t, json.Unmarshal([]byte(c.schema), &want))
			delete(want, "types")
			schema, err := json.Marshal(&c.p.schema)
			require.NoError(t, err)
			var got map[string]any
			require.NoError(t, json.Unmarshal(schema, &got))
			require.Equal(t, want, got)
			follows := compiled(t, inputSchema([]param{c.p}))
			for raw, value := range c.fit {
				require.NoError(t, follows(`{"p":`+raw+`}`), raw)
				a, e := parseArgs([]param{c.p}, json.RawMessage(`{"p":`+raw+`}`))
				require.Nil(t, e, raw)
				require.Equal(t, value, a["p"])
			}
			for _, raw := range c.unfit {
				require.Error(t, follows(`{"p":`+raw+`}`), raw)
			}
		})
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
