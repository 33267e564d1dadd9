package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/brief"
	"github.com/heedlog/heed/gabp"
)

// shownName is the name of a tool of heed as clients of this protocol take it: many refuse a slash.
func shownName(tool string) string { return strings.ReplaceAll(tool, "/", "_") }

// ownTool returns the tool of heed that has a name.
func ownTool(shown string) (tool string, ours bool) {
	for _, t := range bridge.Tools() {
		if shownName(t.Name) == shown {
			return t.Name, true
		}
	}
	return "", false
}

// ownTools are heed's tools as tools/list has them.
var ownTools = sync.OnceValue(func() []json.RawMessage {
	var all []json.RawMessage
	for _, t := range bridge.Tools() {
		all = append(all, json.RawMessage(words(string(encode(map[string]any{
			"name": t.Name, "title": t.Title, "description": t.Description, "inputSchema": t.InputSchema,
			"annotations": map[string]bool{
				"readOnlyHint": slices.Contains(t.Tags, "read-only"), "destructiveHint": false, "openWorldHint": false,
			},
		})))))
	}
	return all
})

// words puts the names that this protocol has for heed's tools into heed's own words.
func words(text string) string {
	return strings.NewReplacer("heed/", "heed_", "attention/ack", shownName(bridge.ToolAck), "attention/current",
		shownName(bridge.ToolItems)).Replace(text)
}

// SessionNext is what a brief says is done next about an item, by the tools as the client has them.
func SessionNext(class string, a *heed.Item) []string {
	next := brief.SessionNext(class, a)
	for i := range next {
		next[i] = words(next[i])
	}
	return next
}

// callOwn returns the result of a call of one of heed's tools.
func (p *Proxy) callOwn(ctx context.Context, tool string, arguments json.RawMessage) any {
	result, _, err := p.tools.Call(ctx, Consumer, gabp.ToolCall{Name: tool, Arguments: arguments})
	if err != nil {
		return textResult("heed: "+err.Error(), true)
	}
	return textResult(string(encode(result)), false)
}

// ownLists are the results of lists for a server that has none, by method.
var ownLists = sync.OnceValue(func() map[string]any {
	return map[string]any{
		"tools/list": map[string]any{"tools": ownTools()}, "resources/list": map[string]any{"resources": bridge.Resources()},
		"resources/templates/list": map[string]any{"resourceTemplates": []any{}},
	}
})

// inProcess is a heed of the same process, as a [deliver.Heed].
type inProcess struct{ tools *bridge.Diagnostics }

// CallTool implements [deliver.Heed].
func (h inProcess) CallTool(ctx context.Context, name string, arguments any) (json.RawMessage, error) {
	result, _, err := h.tools.Call(ctx, Consumer, gabp.ToolCall{Name: name, Arguments: encode(arguments)})
	return encode(result), err
}
