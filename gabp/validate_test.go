package gabp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParams holds which parameters of the protocol's own methods are refused, and where names do not matter.
func TestParams(t *testing.T) {
	name := func(n int) string { return "a/" + strings.Repeat("b", n-2) }
	for _, c := range []struct {
		method, params string
		code, lax      int // 0: accepted
		text           string
	}{
		{"a/b", `{}`, 0, 0, ""},
		{"A b", `{}`, codeInvalidField, 0, "form namespace/name"},
		{MethodToolsCall, `{"name":"a/b"}`, 0, 0, ""},
		{MethodToolsCall, `{"name":"A b"}`, CodeInvalidParams, 0, "form namespace/name"},
		{MethodToolsCall, `{"name":"` + name(256) + `"}`, 0, 0, ""},
		{MethodToolsCall, `{"name":"` + name(257) + `"}`, CodeInvalidParams, CodeInvalidParams, "257 bytes, want at most 256"},
		{MethodToolsCall, `{"name":""}`, CodeInvalidParams, CodeInvalidParams, "empty"},
		{MethodToolsCall, `{"name":"a/b","Arguments":{}}`, CodeInvalidParams, CodeInvalidParams, `"Arguments" must be written "arguments"`},
		{MethodToolsCall, `{"name":"a/b","arguments":[]}`, CodeInvalidParams, CodeInvalidParams, "must be an object"},
		{MethodToolsCall, `{"name":"a/b","parameters":7}`, CodeInvalidParams, CodeInvalidParams, "must be an object"},
		{MethodToolsList, `{}`, 0, 0, ""},
		{MethodToolsList, `{"filter":null}`, 0, 0, ""},
		{MethodToolsList, `{"filter":{"tags":["a"],"namePattern":"b/*"}}`, 0, 0, ""},
		{MethodToolsList, `{"filter":7}`, CodeInvalidParams, CodeInvalidParams, "filter must be an object"},
		{MethodToolsList, `{"filter":{"tags":"a"}}`, CodeInvalidParams, CodeInvalidParams, `"tags" must be an array`},
		{MethodToolsList, `{"filter":{"tags":[""]}}`, CodeInvalidParams, CodeInvalidParams, "strings of 1 to 256 bytes"},
		{MethodToolsList, `{"filter":{"tags":[7]}}`, CodeInvalidParams, CodeInvalidParams, "strings of 1 to 256 bytes"},
		{MethodToolsList, `{"filter":{"tags":["` + name(256) + `"]}}`, 0, 0, ""},
		{MethodToolsList, `{"filter":{"tags":["` + name(257) + `"]}}`, CodeInvalidParams, CodeInvalidParams, "strings of 1 to 256 bytes"},
		{MethodToolsList, `{"filter":{"namePattern":7}}`, CodeInvalidParams, CodeInvalidParams, `"namePattern" must be a string`},
		{MethodToolsList, `{"filter":{"namePattern":"` + name(257) + `"}}`, CodeInvalidParams, CodeInvalidParams, "257 bytes"},
		{methodEventsSubscribe, `{"channels":["a"]}`, 0, 0, ""},
		{methodEventsSubscribe, `{"channels":7}`, CodeInvalidParams, CodeInvalidParams, `"channels" must be an array`},
		{methodEventsUnsub, `{"channels":[]}`, CodeInvalidParams, CodeInvalidParams, "at least one channel"},
		{MethodAttentionAck, `{"attentionId":"x"}`, 0, 0, ""},
		{MethodAttentionAck, `{}`, CodeInvalidParams, CodeInvalidParams, `"attentionId" is missing`},
		{MethodResourcesRead, `{"uri":"` + strings.Repeat("u", 4096) + `"}`, 0, 0, ""},
		{MethodResourcesRead, `{"uri":"` + strings.Repeat("u", 4097) + `"}`, CodeInvalidParams, CodeInvalidParams, "4097 bytes"},
		{MethodResourcesRead, `{}`, CodeInvalidParams, CodeInvalidParams, `"uri" is missing`},
		{methodHello, `{}`, codeAuthRequired, codeAuthRequired, "a token is required"},
		{methodHello, helloText(token), 0, 0, ""},
		{methodHello, strings.Replace(helloText(token), `"scripted bridge"`, `7`, 1), CodeInvalidParams, CodeInvalidParams, `clientInfo: "name" must be a string`},
		{methodHello, strings.Replace(helloText(token), `"darwin"`, `""`, 1), CodeInvalidParams, CodeInvalidParams, `"platform" is empty`},
	} {
		m := message{Type: typeRequest, Method: c.method, Params: json.RawMessage(c.params)}
		for _, check := range []struct {
			code int
			got  error
		}{{c.code, m.validate(false)}, {c.lax, m.validate(true)}} {
			if check.code == 0 {
				require.Nil(t, check.got, "%s %.80s", c.method, c.params)
				continue
			}
			var got *Error
			require.ErrorAs(t, check.got, &got, "%s %.80s", c.method, c.params)
			require.Equal(t, check.code, got.Code)
			require.Contains(t, got.Message, c.text)
		}
	}
}

// TestReadAttention holds the bounds of an item of a peer.
func TestReadAttention(t *testing.T) {
	text := func(n int) string { return strings.Repeat("t", n) }
	sample := func(level, message, count string) string {
		return `{"level":"` + level + `","message":"` + message + `","repeatCount":` + count + `,"latestSequence":1}`
	}
	item := func(change ...string) string {
		a := `{"attentionId":"a-1","state":"open","severity":"error","blocking":true,"stateInvalidated":false,"summary":"s",` +
			`"causalOperationId":"o","causalMethod":"m","openedAtSequence":1,"latestSequence":2,"diagnosticsCursor":3,` +
			`"totalUrgentEntries":4,"sample":[` + sample("error", "m", "1") + `]}`
		for i := 0; i < len(change); i += 2 {
			a = strings.Replace(a, change[i], change[i+1], 1)
		}
		return a
	}
	for _, c := range []struct{ text, refused string }{
		{item(), ""},
		{item(`"s"`, `"`+text(maxReadText)+`"`), ""},
		{item(`"s"`, `"`+text(maxReadText+1)+`"`), `"summary" has 65537 bytes, want at most 65536`},
		{item(`"o"`, `"`+text(maxReadText+1)+`"`), `"causalOperationId" has 65537 bytes`},
		{item(`"m"`, `"`+text(maxReadText+1)+`"`), `"causalMethod" has 65537 bytes`},
		{item(`"a-1"`, `"`+text(257)+`"`), `"attentionId" has 257 bytes`},
		{item(`"open"`, `"shut"`), `"state" must be one of open, cleared`},
		{item(`"diagnosticsCursor":3`, `"diagnosticsCursor":-3`), `"diagnosticsCursor" must be an integer`},
		{item(`"diagnosticsCursor":3,`, ``), ""},
		{item(`[{`, `{"x":[{`, `}]}`, `}]}}`), `"sample" must be an array`},
		{item(`[{"level":"error"`, `[{"level":"loud"`), `sample: "level" is not a severity`},
		{item(`"message":"m",`, ``), `sample: "message" is missing`},
		{item(`"message":"m"`, `"message":"`+text(maxReadText+1)+`"`), `"message" has 65537 bytes`},
		{item(`"repeatCount":1`, `"repeatCount":0`), `"repeatCount" must be at least 1`},
		{item(`"repeatCount":1,"latestSequence":1`, `"repeatCount":1`), `sample: "latestSequence" is missing`},
		{item(sample("error", "m", "1"),
			strings.TrimSuffix(strings.Repeat(sample("info", "m", "1")+",", maxReadSamples), ",")), ""},
		{item(sample("error", "m", "1"), strings.TrimSuffix(strings.Repeat(sample("info", "m", "1")+",", maxReadSamples+1), ",")), `"sample" has 65 elements, want at most 64`},
		{`7`, "attention must be an object"},
		{strings.TrimSuffix(item(), "}"), "attention: the text ends inside a value"},
		{strings.Replace(item(), `{`, `{"state":"open",`, 1), `"state" occurs twice`},
	} {
		a, err := ParseAttention(json.RawMessage(c.text))
		if c.refused != "" {
			requireCode(t, codeInvalidField, err)
			require.ErrorContains(t, err, c.refused)
			require.Empty(t, a.ID)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "a-1 o m 1 2 4",
			fmt.Sprint(a.ID, " ", a.CausalOperationID, " ", a.CausalMethod, " ", a.OpenedAtSequence,
				" ", a.LatestSequence, " ", a.TotalUrgentEntries))
	}
	var current CurrentResult
	require.ErrorContains(t, json.Unmarshal([]byte(`{}`), &current), `"attention" is missing`)
	require.NoError(t, json.Unmarshal([]byte(`{"attention":null}`), &current))
	require.Nil(t, current.Attention)
	require.NoError(t, json.Unmarshal([]byte(`{"attention":`+item()+`}`), &current))
	require.EqualValues(t, 3, current.Attention.DiagnosticsCursor)
	require.EqualValues(t, 1, current.Attention.Sample[0].RepeatCount)
	require.ErrorContains(t, json.Unmarshal([]byte(`{"attention":`+item(`"open"`, `"cleared"`)+`}`), &current), "is not open")
	var acked AckResult
	for text, refused := range map[string]string{
		`{"acknowledged":true,"attentionId":"a","currentAttention":null}`: "",
		`{"acknowledged":true,"currentAttention":null}`:                   "",
		`{"acknowledged":7,"currentAttention":null}`:                      `"acknowledged" must be true or false`,
		`{"currentAttention":null}`:                                       `"acknowledged" is missing`,
		`{"acknowledged":true}`:                                           `"currentAttention" is missing`,
		`{"acknowledged":true,"currentAttention":7}`:                      "attention must be an object",
	} {
		err := json.Unmarshal([]byte(text), &acked)
		if refused == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, refused, text)
		}
	}
}

// TestErrors holds the wire form of errors of handlers.
func TestErrors(t *testing.T) {
	require.Equal(t, &Error{Code: -7, Message: "error without a message", Data: json.RawMessage("1")},
		asError(&Error{Code: -7, Data: json.RawMessage("1")}))
	require.Equal(t, &Error{Code: codeInternal, Message: `internal error: a\nb`}, asError(fmt.Errorf("a\nb")))
}
