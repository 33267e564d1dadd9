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
	b.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	b.take(b.client)
	b.log(fault)
	b.ask(build)
	require.Contains(t, b.take(b.client), "Not executed")
	for _, request := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"` + bridge.ResourceBase + `items"}}`,
		build,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"heed_explain","arguments":{"text":"ok"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"heed_item","arguments":{}}}`,
	} {
		b.ask(request)
		earlier := b.take(b.client)
		for _, name := range []string{"resultType", "ttlMs", "cacheScope"} {
			require.NotContains(t, earlier, `"`+name+`"`, request)
		}
		b.ask(typed(request))
		got := result(t, b.take(b.client))
		require.Equal(t, "complete", got["resultType"], request)
		if strings.Contains(request, "tools/call") {
			require.NotContains(t, got, "ttlMs", request)
		} else {
			require.Equal(t, 0.0, got["ttlMs"], request)
			require.Equal(t, "private", got["cacheScope"], request)
		}
	}
	b.ask(`{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":{"resourceTemplates":[]}}`, b.take(b.client))
}

// TestVersionOfInitialize: without a version of its own, a request is of the version that initialize agreed on.
func TestVersionOfInitialize(t *testing.T) {
	b := begin(t)
	b.asks(hello, `"result":{"protocolVersion":"2026-07-28","capabilities":{}}`)
	b.ask(`{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":3,"result":{"resourceTemplates":[],"resultType":"complete","ttlMs":0,`+
		`"cacheScope":"private"}}`, b.take(b.client))
}

// TestWithoutDiscover: a client that begins with any request arrives with it, so that an earlier fault does not hold its
// calls. heed's part of a list is there where the server has no such method.
func TestWithoutDiscover(t *testing.T) {
	b := begin(t)
	b.log("Could not load file or assembly 'Harbor, Version=1.0.0.0'")
	require.Contains(t, b.asks(typed(build), done), "before you connected: 1 item")
	for method, want := range map[string]string{
		"tools/list": "heed_entries", "resources/list": bridge.ResourceBase + "items",
		"resources/templates/list": `"resourceTemplates":[]`,
	} {
		request := `{"jsonrpc":"2.0","id":3,"method":"` + method + `"}`
		none := `"error":{"code":-32601,"message":"no such method"}`
		got := b.asks(typed(request), none)
		require.Contains(t, got, want)
		require.Equal(t, "complete", result(t, got)["resultType"])
		require.Equal(t, `{"jsonrpc":"2.0","id":3,`+none+`}`, b.asks(request, none), "of an earlier version")
	}
	templates := typed(`{"jsonrpc":"2.0","id":3,"method":"resources/templates/list"}`)
	own := `"result":{"resultType":"complete", "resourceTemplates":[{}]}`
	require.Equal(t, `{"jsonrpc":"2.0","id":3,`+own+`}`, b.asks(templates, own), "byte for byte")
}

// TestDiscover: clients without initialize are promised heed's tools and resources.
func TestDiscover(t *testing.T) {
	b := begin(t)
	got := b.asks(typed(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`), `"result":{"capabilities":{}}`)
	require.Contains(t, got, `"capabilities":{"tools":{},"resources":{"subscribe":true}}`)
}

// The server's answers to a call that wants input and to a call that ended; the continuation of the first.
const (
	wanted = `"result":{"resultType":"input_required","inputRequests":{"sure":{}},"requestState":"\u00e91"}`
	done   = `"result":{"resultType":"complete","content":[]}`
	goesOn = `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"build","arguments":{"x":1.0},` +
		`"inputResponses":{"sure":{}},"requestState":"é1"}}`
)

// TestContinuation: a call that asked for input is one call. A fault that was logged since is in the result that the
// model reads, and holds the next call.
func TestContinuation(t *testing.T) {
	b := begin(t)
	require.Equal(t, `{"jsonrpc":"2.0","id":7,`+wanted+`}`, b.asks(typed(build), wanted))
	b.log(fault)
	b.ask(typed(strings.Replace(goesOn, `"build"`, `"raze"`, 1)))
	require.Contains(t, b.take(b.client), "Not executed", "another tool")
	b.ask(typed(strings.Replace(goesOn, "é1", "2", 1)))
	require.Contains(t, b.take(b.client), "Not executed", "another state")
	b.ask(typed(build))
	require.Contains(t, b.take(b.client), "Not executed", "a call of its own")
	end := b.asks(typed(goesOn), done)
	require.Contains(t, end, "Outcome of this call: blocking")
	b.ask(typed(goesOn))
	require.Contains(t, b.take(b.client), "Not executed", "a call is continued once")
}

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
	b.ask(goesOn)
	require.Contains(t, b.take(b.client), "Not executed")
}

// TestServerThatIsBusy: a result that asks for no input and gives no state ends its call, so that a later fault is
// charged to the call after it.
func TestServerThatIsBusy(t *testing.T) {
	b := begin(t)
	busy := `"result":{"resultType":"input_required","inputRequests":{}}`
	require.Equal(t, `{"jsonrpc":"2.0","id":7,`+busy+`}`, b.asks(typed(build), busy))
	b.ask(typed(build))
	b.take(b.server)
	b.log(fault)
	b.serve(`{"jsonrpc":"2.0","id":7,` + done + `}`)
	require.Contains(t, b.take(b.client), "Outcome of this call: blocking")
}

// TestContinuationTellsNothingEarly: a result that asks for input is not shown to the model, so that it has no
// attention, and the continuation is no sign that the model has read anything.
func TestContinuationTellsNothingEarly(t *testing.T) {
	b := begin(t)
	b.ask(typed(build))
	b.take(b.server)
	b.log(fault)
	b.serve(`{"jsonrpc":"2.0","id":7,` + wanted + `}`)
	require.Equal(t, `{"jsonrpc":"2.0","id":7,`+wanted+`}`, b.take(b.client))
	require.Contains(t, b.asks(typed(goesOn), done), "Exception ticking Crane7")
}

// TestCallWithoutID: neither a refusal nor the end of such a call could be known.
func TestCallWithoutID(t *testing.T) {
	b := begin(t)
	without := `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"build"}}`
	for _, id := range []string{"8", "9"} {
		ping := `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`
		b.ask(without)
		b.ask(ping)
		require.Equal(t, ping, b.take(b.server))
		b.log(fault)
	}
}
