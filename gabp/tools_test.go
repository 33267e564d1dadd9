package gabp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// moveArgs are the arguments of a tool of the tests.
type moveArgs struct {
	Pawn  pawnRef    `json:"pawn" jsonschema:"Who moves."`
	Path  []position `json:"path,omitempty" jsonschema:"The way."`
	Speed string     `json:"speed,omitempty" enum:"walk,run"`
	Steps int        `json:"steps,omitempty" minimum:"1" maximum:"9"`
	Name  string     `json:"name,omitempty" pattern:"^[a-z]+$"`

	Level int            `json:"level,omitempty" enum:"1,2"`
	Needs map[string]int `json:"needs,omitempty"`
}

type pawnRef struct {
	ID     int     `json:"id"`
	Leader *pawnID `json:"leader"`
}

type pawnID struct {
	ID int `json:"id"`
}

type position struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

type moved struct {
	Moved int    `json:"moved"`
	Speed string `json:"speed"`
}

// hosted starts a server with tools and resources.
func hosted(t *testing.T, tools *Tools, resources *Resources) (*rig, *Client) {
	t.Helper()
	mux := new(Mux)
	var s *rig
	publish := func(channel, key string, payload any, sent func(*ServerSession)) error {
		return s.Publish(channel, key, payload, sent)
	}
	tools.Publish, resources.Publish = publish, publish
	tools.Register(mux)
	resources.Register(mux)
	s = start(t, func(c *ServerConfig) { c.Mux = mux; c.Capabilities = nil })
	c, err := Dial(t.Context(), s.addr, ClientConfig{Token: token})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return s, c
}

// TestArguments: what is refused names the value at fault, and nothing is executed.
func TestArguments(t *testing.T) {
	executed := 0
	tools := &Tools{}
	require.NoError(t, AddTool(tools, Tool{Name: "colony/move", Description: "Moves a pawn."},
		func(_ context.Context, _ *Call, in moveArgs) (moved, error) {
			executed++
			return moved{Moved: in.Pawn.ID, Speed: in.Speed}, nil
		}))
	require.NoError(t, tools.Add(Tool{
		Name: "colony/any", Description: "Takes several forms.", InputSchema: json.RawMessage(`{
			"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["a"],
			"properties":{"a":{"oneOf":[{"type":"string","minLength":2},{"const":7}]},"b":{"type":["null","boolean"]},
				"c":{"type":"array","items":{"type":"integer","minimum":3},"uniqueItems":true,"maxItems":3},"d":{"not":{}},
				"e":{"type":"number","maximum":0.5}, "f":{"type":"string","maxLength":3}},
			"maxProperties":4}`),
	}, func(context.Context, *Call) (any, error) {
		executed++
		return "done", nil
	}))
	for _, c := range []struct{ tool, arguments, path, want, got string }{
		{"move", ``, "pawn", "an object", "nothing"},
		{"move", `{}`, "pawn", "an object", "nothing"},
		{"move", `{"pawn":7}`, "pawn", "an object", "7"},
		{"move", `{"pawn":{"leader":null}}`, "pawn.id", "an integer", "nothing"},
		{"move", `{"pawn":{"id":"7","leader":null}}`, "pawn.id", "an integer", `"7"`},
		{"move", `{"pawn":{"id":7.5,"leader":null}}`, "pawn.id", "an integer", "7.5"},
		{"move", `{"pawn":{"id":7,"leader":[1,2]}}`, "pawn.leader", "an object or null", "a list of 2"},
		{"move", `{"pawn":{"id":7,"leader":null,"Id":8}}`, "pawn.Id", "one of id, leader", "an unknown name"},
		{"move", `{"pawn":{"id":7,"leader":null},"path":[{"x":1,"y":2},{"x":1,"y":"2"}]}`, "path[1].y", "a number", `"2"`},
		{"move", `{"pawn":{"id":7,"leader":null},"speed":"fly"}`, "speed", `one of "walk", "run"`, `"fly"`},
		{"move", `{"pawn":{"id":7,"leader":null},"steps":10}`, "steps", "an integer from 1 to 9", "10"},
		{"move", `{"pawn":{"id":7,"leader":null},"name":"A\u001b"}`, "name", "a text that matches ^[a-z]+$", `"A\u001b"`},
		{"move", `{"pawn":{"id":7,"leader":null},"level":3}`, "level", "one of 1, 2", "3"},
		{"move", `{"pawn":{"id":7,"leader":null},"needs":{"food":"no"}}`, "needs.food", "an integer", `"no"`},
		{"move", `{"zz":1,"aa":1}`, "aa", "one of level, name, needs, path, pawn, speed, steps", "an unknown name"},
		{"move", `{"pawn":{"id":1e30,"leader":null}}`, "", "values of the types of the input schema", "json: cannot unmarshal number"},
		{"any", `{"a":"x"}`, "a", "a text of at least 2 characters or 7", `"x"`},
		{"any", `{"a":7,"b":"no"}`, "b", "null or true or false", `"no"`},
		{"any", `{"a":7,"c":[3,2]}`, "c[1]", "an integer of at least 3", "2"},
		{"any", `{"a":7,"c":[3,3]}`, "c", "a list of at most 3 elements, no two the same", "a list of 2"},
		{"any", `{"a":7,"d":{"x":1}}`, "d", "another value", "an object"},
		{"any", `{"a":7,"e":1}`, "e", "a number of at most 0.5", "1"},
		{"any", `{"a":7,"f":"four"}`, "f", "a text of at most 3 characters", `"four"`},
		{"any", `{"a":7,"1":1,"2":2,"3":3,"4":4}`, "", "an object of at most 4 members", "an object"},
	} {
		for range 5 { // whatever the order in which the validator looks
			_, err := tools.Call(t.Context(), nil, toolCall("colony/"+c.tool, c.arguments))
			requireCode(t, CodeInvalidParams, err, c.arguments)
			var e *Error
			require.ErrorAs(t, err, &e)
			var data badArgument
			require.NoError(t, json.Unmarshal(e.Data, &data))
			path := "arguments." + c.path
			if c.path == "" {
				path = "arguments"
			}
			require.Equal(t, path, data.Path, c.arguments)
			require.Equal(t, c.want, data.Want, c.arguments)
			require.Contains(t, data.Got, c.got, c.arguments)
			require.Equal(t, fmt.Sprintf("params.%s: want %s, got %s", data.Path, data.Want, data.Got), e.Message)
		}
	}
	require.Zero(t, executed)
	result, err := tools.Call(t.Context(), nil, toolCall("colony/move", `{"pawn":{"id":7,"leader":{"id":1}},"speed":"run","level":2}`))
	require.NoError(t, err)
	require.Equal(t, moved{7, "run"}, result)
	result, err = tools.Call(t.Context(), nil, toolCall("colony/any", `{"a":"xy","z":[]}`))
	require.NoError(t, err)
	require.Equal(t, "done", result)
}

func toolCall(name, arguments string) ToolCall {
	return ToolCall{Name: name, Arguments: json.RawMessage(arguments)}
}

// TestToolDefinitions: what the protocol does not allow is refused when it is added.
func TestToolDefinitions(t *testing.T) {
	good := Tool{Name: "a/b", Description: "Does it."}
	run := func(context.Context, *Call) (any, error) { return nil, nil }
	tools := &Tools{}
	for want, change := range map[string]func(*Tool) callHandler{
		"namespace/name": func(d *Tool) callHandler { d.Name = "A"; return run },
		"description":    func(d *Tool) callHandler { d.Description = ""; return run },
		"handler":        func(*Tool) callHandler { return nil },
		"input schema":   func(d *Tool) callHandler { d.InputSchema = json.RawMessage(`{`); return run },
		"want an object": func(d *Tool) callHandler { d.InputSchema = json.RawMessage(`true`); return run },
		"output schema":  func(d *Tool) callHandler { d.OutputSchema = json.RawMessage(`{"type":7}`); return run },
		"is not part of the schema": func(d *Tool) callHandler {
			d.InputSchema = json.RawMessage(`{"$ref":"file:///etc/hostname"}`)
			return run
		},
	} {
		def := good
		call := change(&def)
		require.ErrorContains(t, tools.Add(def, call), want)
	}
	require.ErrorContains(t, AddTool(tools, good, func(context.Context, *Call, int) (int, error) { return 0, nil }), "a/b")
	require.ErrorContains(t, AddTool(tools, good, func(context.Context, *Call, struct{}) (chan int, error) {
		return nil, nil
	}), "has no schema")
	err := AddTool(tools, good, func(context.Context, *Call, struct{ X int }) (int, error) { return 0, nil })
	require.EqualError(t, err, `gabp: tool "a/b": type struct { X int } has no schema: struct { X int }.X has no name in JSON`)
	require.NoError(t, tools.Add(good, run))
	list, err := tools.List(nil)
	require.NoError(t, err)
	require.Equal(t, []Tool{{
		Name: "a/b", Title: "a/b", Description: "Does it.", InputSchema: json.RawMessage(`{}`), OutputSchema: json.RawMessage(`{}`),
	}}, list)
}

// TestToolsOverTheWire: lists, filters, results, errors and changes as a bridge sees them.
func TestToolsOverTheWire(t *testing.T) {
	var mu sync.Mutex
	var around []string
	tools, resources := &Tools{}, &Resources{}
	tools.Around = func(_ context.Context, c *Call, run func() (any, error)) (any, error) {
		mu.Lock()
		around = append(around, c.Tool.Name+" "+string(c.Arguments)+" "+c.Session.Consumer)
		mu.Unlock()
		return run()
	}
	s, c := hosted(t, tools, resources)
	events := make(chan string, 10)
	_, err := c.Events(t.Context(), []string{ChannelToolsChanged}, func(e Event) {
		events <- e.Channel + " " + string(e.Payload)
	})
	require.NoError(t, err)
	add := func(name string, tags []string, run callHandler) {
		require.NoError(t, tools.Add(Tool{Name: name, Description: "d", Tags: tags}, run))
		require.Equal(t, `tools/changed {"names":["`+name+`"]}`, <-events)
	}
	add("a/echo", []string{"read-only"}, func(_ context.Context, c *Call) (any, error) { return c.Arguments, nil })
	add("a/plain", nil, func(context.Context, *Call) (any, error) { return nil, errors.New("disk\x1b full") })
	add("b/own", nil, func(context.Context, *Call) (any, error) { return nil, BadArgument("to", "a place", "a wall") })
	add("b/late", nil, func(ctx context.Context, _ *Call) (any, error) { <-ctx.Done(); return nil, ctx.Err() })

	raw, err := c.CallTool(t.Context(), "a/echo", map[string]int{"x": 1})
	require.NoError(t, err)
	require.Equal(t, `{"x":1}`, string(raw))
	for name, code := range map[string]int{
		"a/plain": CodeToolFailed, "b/own": CodeInvalidParams, "b/none": CodeToolNotFound,
	} {
		_, err = c.CallTool(t.Context(), name, nil)
		requireCode(t, code, err, name)
	}
	mu.Lock()
	require.Len(t, around, 3, "a tool that is not there is no call")
	require.Equal(t, `a/echo {"x":1} `+"heed#", around[0][:len(`a/echo {"x":1} heed#`)])
	mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = c.CallTool(ctx, "b/late", nil)
	require.Error(t, err)

	// The lists are held to the protocol's schema by the peer.
	p := dial(t, s.addr)
	p.hello()
	var list toolsListResult
	require.NoError(t, json.Unmarshal(p.call(MethodToolsList, `{"filter":{"namePattern":"b/*"}}`).Result, &list))
	require.Len(t, list.Tools, 2)
	add("a/plain", nil, func(context.Context, *Call) (any, error) { return "mended", nil })
	raw, err = c.CallTool(t.Context(), "a/plain", nil)
	require.NoError(t, err)
	require.Equal(t, `"mended"`, string(raw))
	_, err = c.CallTool(t.Context(), "a/other", nil)
	requireCode(t, CodeToolNotFound, err)
}

// TestResources: what a host offers to be read.
func TestResources(t *testing.T) {
	resources := &Resources{}
	s, c := hosted(t, &Tools{}, resources)
	const colony = "gabp://mod/colony/state"
	content := ResourceContent{Content: map[string]int{"day": 1}}
	require.NoError(t, resources.Add(Resource{URI: colony, MIMEType: "application/json"},
		func(context.Context, *Request) (ResourceContent, error) { return content, nil }))
	require.NoError(t, resources.Add(Resource{URI: "gabp://mod/colony/map", Name: "Map"},
		func(context.Context, *Request) (ResourceContent, error) {
			return ResourceContent{}, Errorf(CodeResourceNotFound, "no map is loaded")
		}))
	for _, uri := range []string{"", "state", "%", "gabp://x/" + string(make([]byte, 5000))} {
		require.Error(t, resources.Add(Resource{URI: uri}, func(context.Context, *Request) (ResourceContent, error) {
			return content, nil
		}))
	}
	require.Error(t, resources.Add(Resource{URI: colony}, nil))

	p := dial(t, s.addr)
	var w Welcome
	require.NoError(t, json.Unmarshal(p.call(methodHello, helloText(token)).Result, &w))
	require.Equal(t, []string{colony, "gabp://mod/colony/map"}, w.Capabilities.Resources)
	require.Subset(t, w.Capabilities.Events, []string{
		ChannelToolsChanged, ChannelResourcesChanged, ChannelResourcesUpdated,
	})
	require.Subset(t, w.Capabilities.Methods, []string{
		MethodToolsList, MethodToolsCall, MethodResourcesList, MethodResourcesRead,
	})
	require.JSONEq(t, `{"resources":[{"uri":"`+colony+`","name":"`+colony+`","mimeType":"application/json"},`+
		`{"uri":"gabp://mod/colony/map","name":"Map"}]}`, string(p.call(MethodResourcesList, `{}`).Result))
	require.JSONEq(t, `{"resources":[]}`, string(p.call(MethodResourcesList, `{"pattern":"gabp://else/*"}`).Result))
	requireCode(t, CodeInvalidParams, p.call(MethodResourcesList, `{"pattern":7}`).Error)
	require.JSONEq(t, `{"content":{"day":1},"mimeType":"application/json"}`, string(p.call(MethodResourcesRead, `{"uri":"`+colony+`"}`).Result))
	requireCode(t, CodeResourceNotFound, p.call(MethodResourcesRead, `{"uri":"gabp://mod/colony/map"}`).Error)
	requireCode(t, CodeResourceNotFound, p.call(MethodResourcesRead, `{"uri":"gabp://mod/else"}`).Error)

	events := make(chan string, 10)
	_, err := c.Events(t.Context(), []string{ChannelResourcesChanged, ChannelResourcesUpdated}, func(e Event) {
		events <- e.Channel + " " + string(e.Payload)
	})
	require.NoError(t, err)
	resources.Updated(colony)
	require.Equal(t, `resources/updated {"uri":"`+colony+`"}`, <-events)
	requireCode(t, CodeResourceNotFound, p.call(MethodResourcesRead, `{"uri":"a:b"}`).Error)
}

// TestToolFilter: which tools a list chooses.
func TestToolFilter(t *testing.T) {
	tools := &Tools{}
	def := Tool{Name: "colony/build", Description: "Builds.", Tags: []string{"a", "b"}}
	require.NoError(t, tools.Add(def, func(context.Context, *Call) (any, error) { return nil, nil }))
	for filter, want := range map[string]int{
		``: 1, `{}`: 1, `{"filter":null}`: 1, `{"filter":{}}`: 1, `{"filter":{"tags":["c","b"]}}`: 1, `{"filter":{"tags":["c"]}}`: 0,
		`{"filter":{"namePattern":"colony/*"}}`: 1, `{"filter":{"namePattern":"*"}}`: 0, `{"filter":{"namePattern":"colony/["}}`: 0,
		`{"filter":{"tags":["a"],"namePattern":"saves/*"}}`: 0,
	} {
		list, err := tools.List(json.RawMessage(filter))
		require.NoError(t, err)
		require.Len(t, list, want, filter)
	}
	_, err := tools.List(json.RawMessage(`{"filter":7}`))
	requireCode(t, CodeInvalidParams, err)
}

// TestOddSchemas: what a schema of itself refuses is said in bounds.
func TestOddSchemas(t *testing.T) {
	for _, s := range []string{
		`{"anyOf":[{"$ref":"#"},{"type":"string"}],"not":{}}`, `{"$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"x":{"$ref":"#/$defs/a"}}}`,
		`{"patternProperties":{"^x":{"items":[{"type":"null"},{"items":{"type":"null"}}]}}}`, `{"properties":{"x":false}}`,
		`{"properties":{"x":{"prefixItems":[true,{"required":["z"]}]}}}`, `{"unevaluatedProperties":false}`, `{"maxProperties":0}`,
		`{"propertyNames":{"maxLength":0}}`, `{"dependentRequired":{"x":["y"]}}`, `{"if":{},"then":false}`, `{"contains":false,"type":"array"}`,
	} {
		schema, err := compileSchema(json.RawMessage(s))
		if err != nil {
			continue
		}
		e := checkArguments(schema, json.RawMessage(`{"x":[[7],{"y":[]}]}`))
		if e == nil {
			continue
		}
		require.Equal(t, CodeInvalidParams, e.Code, s)
		require.Less(t, len(e.Message), 4*maxShown, s)
		t.Log(s, e.Message)
	}
}
