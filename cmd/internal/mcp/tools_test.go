package mcp_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
)

// TestToolsOfHeed holds which tools of heed's are listed, in which form. Those that are not are answered, too.
func TestToolsOfHeed(t *testing.T) {
	for all, want := range map[bool]int{false: 3, true: len(bridge.Tools())} {
		b := beginWith(t, all)
		var msg struct {
			Result struct {
				Tools []struct {
					Name, Title, Description string
					InputSchema              struct {
						Type       string
						Properties map[string]any
					}
					Annotations map[string]bool
				}
			}
		}
		list := b.asks(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"result":{"tools":[]}`)
		require.NoError(t, json.Unmarshal([]byte(list), &msg))
		require.Len(t, msg.Result.Tools, want)
		shown := map[string]bool{}
		for _, tool := range msg.Result.Tools {
			shown[tool.Name] = true
		}
		for _, tool := range msg.Result.Tools {
			require.NotEmpty(t, tool.Title)
			require.Equal(t, "object", tool.InputSchema.Type)
			require.NotContains(t, tool.Description, "attention/")
			require.NotContains(t, tool.Description, "heed/")
			for _, named := range regexp.MustCompile(`heed_[a-z_]+`).FindAllString(tool.Description, -1) {
				require.True(t, shown[named], "%s names %s", tool.Name, named)
			}
			require.Equal(t, map[string]bool{
				"readOnlyHint": tool.Name != "heed_ack", "destructiveHint": false, "openWorldHint": false,
			}, tool.Annotations)
		}
		if !all {
			require.Less(t, len(list), 3500, "in each session of an agent")
			require.Len(t, msg.Result.Tools[1].InputSchema.Properties, 1, "of heed_ack")
		}
		require.Contains(t, b.gets(toolCall(3, "heed_status", "{}")), `\"blind\":false`)
		for _, tool := range bridge.Tools() {
			for _, arguments := range []string{`{"after":"y"}`, `{"id":"99"}`, `{"id":"x","after":"y","last":1}`, `{"entry":"99"}`, `{"no":1}`} {
				said, failed := texts(t, b.gets(toolCall(4, strings.ReplaceAll(tool.Name, "/", "_"), arguments)))
				if !failed {
					continue
				}
				for _, named := range regexp.MustCompile(`(?:heed|attention)[_/][a-z_]+`).FindAllString(said[0], -1) {
					require.True(t, shown[named], "%s with %s: %s", tool.Name, arguments, said[0])
				}
			}
		}
	}
}

// TestItemIDs holds the forms of an id that heed_ack takes, and that it says so of an id without an item.
func TestItemIDs(t *testing.T) {
	b := begin(t)
	b.log(fault)
	missing, _ := texts(t, b.gets(toolCall(3, "heed_ack", `{}`)))
	require.Contains(t, missing[0], "got nothing\nNext: call heed_ack with id \"1\".")
	for _, c := range []struct {
		id, says string
		failed   bool
	}{
		{`"item 1"`, `heed: no item has the id "item 1"; open: item 1, blocking true: .*\nNext: call heed_ack with id "1"\.`, true},
		{`1`, `"acknowledged":true`, false},
		{`"1"`, `"acknowledged":true`, false},
		{`2`, `no item has the id "[^"]*"; none is open`, true},
	} {
		said, failed := texts(t, b.gets(toolCall(3, "heed_ack", `{"id":`+c.id+`}`)))
		require.Equal(t, c.failed, failed, c.id)
		require.Regexp(t, c.says, said[0])
	}
	brief, _ := texts(t, b.gets(toolCall(3, "heed_brief", `{}`)))
	require.Equal(t, []string{"Nothing is open."}, brief)
	brief, _ = texts(t, b.gets(toolCall(3, "heed_brief", `{"id":1}`)))
	require.Contains(t, brief[0], "cleared: acknowledged")
}

// TestManyTools: of more tools that only read than are known, the rest is held back.
func TestManyTools(t *testing.T) {
	const most = 4096
	b := begin(t)
	var tools []string
	for n := range most + 1 {
		tools = append(tools, fmt.Sprintf(`{"name":"look%d","annotations":{"readOnlyHint":true}}`, n))
	}
	b.asks(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `"result":{"tools":[`+strings.Join(tools, ",")+`]}`)
	b.log(fault)
	last := strings.Replace(build, `"build"`, fmt.Sprintf(`"look%d"`, most-1), 1)
	require.Contains(t, b.asks(last, built), `"text":"built"`)
	require.Contains(t, b.gets(strings.Replace(build, `"build"`, fmt.Sprintf(`"look%d"`, most), 1)), "Not executed")
}

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
