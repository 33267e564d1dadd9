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
	for _, c := range []struct {
		id, says string
		failed   bool
	}{
		{`"item 1"`, `heed: no item has the id "item 1"; open: 1, blocking true`, true},
		{`1`, `"acknowledged":true`, false},
		{`"1"`, `"acknowledged":true`, false},
		{`2`, `no item has the id "[^"]*"; none is open`, true},
	} {
		said, failed := texts(t, b.gets(toolCall(3, "heed_ack", `{"id":`+c.id+`}`)))
		require.Equal(t, c.failed, failed, c.id)
		require.Regexp(t, c.says, said[0])
	}
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
