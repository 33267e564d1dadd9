package bridge

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/schema"
)

// The names of the tools.
const (
	ToolStatus     = "heed/status"
	ToolItems      = "heed/items"
	ToolItem       = "heed/item"
	ToolBrief      = "heed/brief"
	ToolAck        = "heed/ack"
	ToolEntries    = "heed/entries"
	ToolWait       = "heed/wait"
	ToolOperations = "heed/operations"
	ToolOperation  = "heed/operation"
	ToolExplain    = "heed/explain"
	ToolTimeline   = "heed/timeline"
)

// definitions are the tools as tools/list has them, in the order in which an agent needs them.
var definitions = sync.OnceValue(func() *gabp.Tools {
	all := &gabp.Tools{}
	add(all, ToolStatus, Tags(), (*Diagnostics).status)
	add(all, ToolItems, Tags(), (*Diagnostics).items)
	add(all, ToolItem, Tags(), (*Diagnostics).detail)
	add(all, ToolBrief, Tags(), (*Diagnostics).brief)
	add(all, ToolAck, []string{"attention-bypass"}, (*Diagnostics).acknowledge)
	add(all, ToolEntries, Tags(), (*Diagnostics).entries)
	add(all, ToolWait, Tags(), (*Diagnostics).wait)
	add(all, ToolOperations, Tags(), (*Diagnostics).operations)
	add(all, ToolOperation, Tags(), (*Diagnostics).operation)
	add(all, ToolExplain, Tags(), (*Diagnostics).explain)
	add(all, ToolTimeline, Tags(), (*Diagnostics).timeline)
	return all
})

// wordsFile has the titles and descriptions of tools and resources, each below "== NAME".
//
//go:embed words.txt
var wordsFile string

// Words returns the title and the description of a tool or a resource. The title of "core NAME" lists the parameters of
// the tool that each client of MCP is given; it is "" if a client is not given the tool.
func Words(name string) (title, description string) {
	_, section, _ := strings.Cut(wordsFile, "== "+name+"\n")
	section, _, _ = strings.Cut(section, "\n== ")
	title, description, _ = strings.Cut(section, "\n")
	return title, strings.Join(strings.Fields(description), " ")
}

// add adds a tool that is a method. Its arguments are the struct In, its answer is the struct Out.
func add[In, Out any](
	all *gabp.Tools, name string, tags []string,
	call func(d *Diagnostics, ctx context.Context, consumer string, in In) (*Out, error),
) {
	input, defaults := inputSchema(reflect.TypeFor[In]()), map[string]any{}
	for _, p := range input.Properties {
		if p.Schema.Default != nil {
			defaults[p.Name] = p.Schema.Default
		}
	}
	output := schema.Form{Values: []any{*new(Out)}}
	def := gabp.Tool{
		Name: name, Tags: tags, InputSchema: Encode(input), OutputSchema: Encode(json.RawMessage(output.JSON())),
	}
	def.Title, def.Description = Words(name)
	err := all.Add(def, func(ctx context.Context, c *gabp.Call) (any, error) {
		given := maps.Clone(defaults)
		_ = json.Unmarshal(c.Arguments, &given) // they follow the schema
		var in In
		_ = json.Unmarshal(Encode(given), &in) // in which 3.0 is 3
		who := ctx.Value(callerKey{}).(caller)
		return call(who.d, ctx, who.consumer, in)
	})
	if err != nil {
		panic("BUG: bridge: " + err.Error())
	}
}
