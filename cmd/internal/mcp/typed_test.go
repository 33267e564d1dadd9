package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
)

// typed returns a request of the version in which results name their type.
func typed(request string) string {
	meta := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	head, rest, more := strings.Cut(request, `"params":{`)
	if !more {
		return strings.TrimSuffix(request, "}") + `,"params":` + meta + `}}`
	}
	return head + `"params":` + meta + `,` + rest
}

// result returns the result of an answer.
func result(t *testing.T, line string) (members map[string]any) {
	t.Helper()
	var msg struct{ Result map[string]any }
	require.NoError(t, json.Unmarshal([]byte(line), &msg), line)
	require.NotNil(t, msg.Result, line)
	return msg.Result
}

// TestAnswersOfEachVersion: each answer of heed's own has the members that the version of the request requires, and
// no others.
func TestAnswersOfEachVersion(t *testing.T) {
	b := begin(t)
	b.asks(hello, `"result":{"protocolVersion":"2025-11-25","capabilities":{}}`)
	b.gets(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	b.log(fault)
	require.Contains(t, b.gets(build), "Not executed")
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + bridge.ResourceBase + `items"}}`,
		build,
		toolCall(1, "heed_explain", `{"text":"ok"}`),
		toolCall(1, "heed_item", `{}`),
	} {
		earlier := b.gets(request)
		for _, name := range []string{"resultType", "ttlMs", "cacheScope"} {
			require.NotContains(t, earlier, `"`+name+`"`, request)
		}
		got := result(t, b.gets(typed(request)))
		require.Equal(t, "complete", got["resultType"], request)
		if strings.Contains(request, "tools/call") {
			require.NotContains(t, got, "ttlMs", request)
		} else {
			require.Equal(t, 0.0, got["ttlMs"], request)
			require.Equal(t, "private", got["cacheScope"], request)
		}
	}
	require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":{"resourceTemplates":[]}}`,
		b.gets(`{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}`))
}

// The server's answers to a call that wants input and to a call that ended; the continuation of the first.
const (
	wanted = `"result":{"resultType":"input_required","inputRequests":{"sure":{}},"requestState":"\u00e91"}`
	done   = `"result":{"resultType":"complete","content":[]}`
	goesOn = `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"build","arguments":{"x":1.0},` +
		`"inputResponses":{"sure":{}},"requestState":"é1"}}`
)

// TestContinuesByEither: a request continues a call by the state that the server wants back, by the client's input, or
// by both; without either it is a call of its own. The end of a call that goes on is no result of it.
func TestContinuesByEither(t *testing.T) {
	for name, c := range map[string]struct {
		state, more string
		continues   bool
	}{
		"both":         {`,"requestState":"1"`, `,"inputResponses":{},"requestState":"1"`, true},
		"state alone":  {`,"requestState":"1"`, `,"requestState":"1"`, true},
		"input alone":  {`,"inputRequests":{"sure":{}}`, `,"inputResponses":{"sure":{}}`, true},
		"neither":      {`,"inputRequests":{}`, ``, false},
		"other input":  {`,"requestState":"1"`, `,"inputResponses":{}`, false},
		"empty states": {`,"requestState":""`, `,"requestState":""`, true},
	} {
		b := begin(t)
		wanted := `"result":{"resultType":"input_required"` + c.state + `}`
		require.Equal(t, `{"jsonrpc":"2.0","id":7,`+wanted+`}`, b.asks(typed(build), wanted), name)
		b.log(fault)
		next := typed(`{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"build","arguments":{"x":1.0}` + c.more + `}}`)
		if b.ask(next); !c.continues {
			require.Contains(t, b.take(b.client), "Not executed", name)
			continue
		}
		require.Equal(t, next, b.take(b.server), name)
		b.serve(`{"jsonrpc":"2.0","id":8,` + done + `}`)
		require.Contains(t, b.take(b.client), "Outcome of this call: blocking", name)
	}
	b := begin(t) // of an earlier version, whose results have no type
	require.Equal(t, `{"jsonrpc":"2.0","id":7,`+wanted+`}`, b.asks(build, wanted))
	b.log(fault)
	require.Contains(t, b.gets(goesOn), "Not executed")
}
