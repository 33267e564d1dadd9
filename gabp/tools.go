package gabp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/heedlog/heed/internal/schema"
)

// Call is a call of a tool, whose arguments follow the tool's input schema. It is read only.
type Call struct {
	*Request
	Tool      Tool
	Arguments json.RawMessage // a JSON object
}

// callHandler executes a call and returns its result; see [Mux]. An error that is no
// [*Error] is sent as [CodeToolFailed], with its text.
type callHandler = func(ctx context.Context, c *Call) (result any, err error)

// Tools serves the tools of a host: tools/list and tools/call. The zero Tools has none. Set its
// fields before it is registered; its methods are safe for concurrent use, also while it serves.
//
// Arguments that do not follow a tool's input schema are refused before anything is executed, by
// the error of [BadArgument]; further ones than the schema has are for the schema to refuse.
type Tools struct {
	// Around is called for each call that names a tool and has valid arguments, in place of the
	// tool, and calls it by run, at most once: for a gate, operations, a log. Its result is
	// the answer. Optional.
	Around func(ctx context.Context, c *Call, run func() (any, error)) (any, error)

	// Publish sends [ChannelToolsChanged]: [Server.Publish]. If it is nil when the tools are registered, the channel
	// does not exist. The server may have the [Mux] before.
	Publish publisher

	list registry[hostTool]
}

// hostTool is a tool of a host.
type hostTool struct {
	Tool
	input *jsonschema.Schema
	call  callHandler
}

// Add adds a tool, or replaces the one of its name. The title is the name if it is empty, a
// schema accepts everything if it is empty. The schemas are JSON Schemas that are complete. An
// error says what of the definition the protocol does not allow.
func (t *Tools) Add(def Tool, call callHandler) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("gabp: tool %q: "+format, append([]any{def.Name}, args...)...)
	}
	def.Title = cmp.Or(def.Title, def.Name)
	def.Tags = slices.Clone(def.Tags)
	for _, s := range []*json.RawMessage{&def.InputSchema, &def.OutputSchema} {
		if *s = slices.Clone(*s); len(*s) == 0 {
			*s = json.RawMessage(`{}`)
		}
	}
	switch {
	case !ValidName(def.Name):
		return fail("the name must have the form namespace/name in lower case")
	case def.Description == "":
		return fail("a description is missing")
	case call == nil:
		return fail("a handler is missing")
	}
	input, err := compileSchema(def.InputSchema)
	if err != nil {
		return fail("input schema: %w", err)
	}
	if _, err := compileSchema(def.OutputSchema); err != nil {
		return fail("output schema: %w", err)
	}
	t.list.set(def.Name, hostTool{def, input, call})
	announce(t.Publish, ChannelToolsChanged, def.Name, map[string][]string{"names": {def.Name}}, nil)
	return nil
}

// AddTool adds a tool that is a function of a struct. Empty schemas of def are made of In and Out; the schema of In
// refuses unknown members. A field is described by its tags json, jsonschema (its description), enum ("a,b"), pattern,
// minimum and maximum; without omitempty it is required.
func AddTool[In, Out any](t *Tools, def Tool, call func(ctx context.Context, c *Call, in In) (Out, error)) error {
	var err error
	if reflect.TypeFor[In]().Kind() != reflect.Struct {
		return fmt.Errorf("gabp: tool %q: arguments are an object: want a struct, not %s", def.Name, reflect.TypeFor[In]())
	}
	if len(def.InputSchema) == 0 {
		if def.InputSchema, err = schema.For(reflect.TypeFor[In](), true); err != nil {
			return fmt.Errorf("gabp: tool %q: %w", def.Name, err)
		}
	}
	if len(def.OutputSchema) == 0 {
		if def.OutputSchema, err = schema.For(reflect.TypeFor[Out](), false); err != nil {
			return fmt.Errorf("gabp: tool %q: %w", def.Name, err)
		}
	}
	return t.Add(def, func(ctx context.Context, c *Call) (any, error) {
		var in In
		if err := json.Unmarshal(c.Arguments, &in); err != nil { // such as a number that is too large
			return nil, BadArgument("", "values of the types of the input schema", err.Error())
		}
		return call(ctx, c, in)
	})
}

// List returns the tools that the parameters of a tools/list choose, in the order in which they were added; nil chooses
// all. The list belongs to the caller; its schemas and tags are read only. An error is an [*Error].
func (t *Tools) List(params json.RawMessage) ([]Tool, error) {
	read, err := readParams(MethodToolsList, params, false)
	if err != nil {
		return nil, err
	}
	f := read.(toolsFilter)
	tools := []Tool{}
	for _, tool := range t.list.all() {
		tagged := len(f.tags) == 0 ||
			slices.ContainsFunc(f.tags, func(tag string) bool { return slices.Contains(tool.Tags, tag) })
		if tagged && fitsGlob(f.pattern, tool.Name) {
			tools = append(tools, tool.Tool)
		}
	}
	return tools, nil
}

// fitsGlob reports whether a name fits a glob of the protocol, in which "*" matches a part of a segment. Every name
// fits an empty glob, and no name a malformed one.
func fitsGlob(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == "" || ok && err == nil
}

// Register adds tools/list, tools/call and [ChannelToolsChanged] to m, which makes a server
// advertise them.
func (t *Tools) Register(m *Mux) {
	if t.Publish != nil {
		m.channels = append(m.channels, ChannelToolsChanged)
	}
	m.Handle(MethodToolsList, func(_ context.Context, r *Request) (any, error) {
		list, err := t.List(r.Params)
		return toolsListResult{Tools: list}, err
	})
	m.Handle(MethodToolsCall, func(ctx context.Context, r *Request) (any, error) {
		return t.Call(ctx, r, r.read.(ToolCall))
	})
}

// Call answers a tools/call. An unknown tool is the error [CodeToolNotFound].
func (t *Tools) Call(ctx context.Context, r *Request, call ToolCall) (any, error) {
	tool := t.list.get(call.Name)
	if tool.call == nil {
		return nil, Errorf(CodeToolNotFound, "no tool %q", call.Name).WithData(map[string]string{"name": call.Name})
	}
	c := &Call{Request: r, Tool: tool.Tool, Arguments: call.Arguments}
	if len(c.Arguments) == 0 {
		c.Arguments = json.RawMessage(`{}`)
	}
	if e := checkArguments(tool.input, c.Arguments); e != nil {
		return nil, e
	}
	run := func() (any, error) {
		result, err := tool.call(ctx, c)
		return result, failed(ctx, err)
	}
	if t.Around != nil {
		return t.Around(ctx, c, run)
	}
	return run()
}

// failed returns the error of a tool as it is sent. After the end of the context the error stays as it is, so that the
// answer to a timeout is a timeout.
func failed(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	return Errorf(CodeToolFailed, "%v", err)
}

// registry holds the tools or the resources of a host by name, in the order in which they were added.
type registry[T any] struct {
	mu    sync.RWMutex
	names []string
	held  []T
}

// set adds v, or replaces the value of its name.
func (r *registry[T]) set(name string, v T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.names, name); i >= 0 {
		r.held[i] = v
		return
	}
	r.names, r.held = append(r.names, name), append(r.held, v)
}

// get returns the value of a name, or the zero T.
func (r *registry[T]) get(name string) (v T) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if i := slices.Index(r.names, name); i >= 0 {
		v = r.held[i]
	}
	return v
}

// all returns a copy of the list.
func (r *registry[T]) all() []T {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.held)
}

// The event channels of a [Tools] and a [Resources]. The protocol does not have them; bridges in the field read each
// list once per connection. The payload of a resource's event is {"uri": "..."}.
const (
	ChannelToolsChanged     = "tools/changed"     // {"names": […]} of tools that were added or replaced
	ChannelResourcesChanged = "resources/changed" // one was added or replaced
	ChannelResourcesUpdated = "resources/updated" // the content of one has changed
)

// resourceReader returns the content of a resource. It is an alias, so that documentation shows the function itself.
type resourceReader = func(ctx context.Context, r *Request) (ResourceContent, error)

// Resources serves the resources of a host: resources/list and resources/read. The zero Resources
// has none. Set its fields before it is registered; its methods are safe for concurrent use, also
// while it serves.
type Resources struct {
	// Publish sends events of the channels: [Server.Publish]. It is set as in [Tools].
	Publish publisher

	list registry[hostResource]
}

type hostResource struct {
	Resource
	read resourceReader
}

// Add adds a resource, or replaces the one of its URI, which must be absolute. The name is the URI
// if it is empty. The content that read returns has the MIME type of def if it has none. An error of read that is
// no [*Error] is sent as an internal error with its text.
func (t *Resources) Add(def Resource, read resourceReader) error {
	u, err := url.Parse(def.URI)
	switch {
	case err != nil:
		return fmt.Errorf("gabp: resource: %w", err)
	case !u.IsAbs() || len(def.URI) > maxURIBytes:
		return fmt.Errorf("gabp: resource %.100q: want an absolute URI of at most %d bytes", def.URI, maxURIBytes)
	case read == nil:
		return errors.New("gabp: resource " + def.URI + ": a reader is missing")
	}
	def.Name = cmp.Or(def.Name, def.URI)
	t.list.set(def.URI, hostResource{def, read})
	announce(t.Publish, ChannelResourcesChanged, def.URI, map[string]string{"uri": def.URI}, nil)
	return nil
}

// Updated sends an event to [ChannelResourcesUpdated]: a resource has another content.
func (t *Resources) Updated(uri string) {
	announce(t.Publish, ChannelResourcesUpdated, uri, map[string]string{"uri": uri}, nil)
}

// Register adds resources/list, resources/read and the channels to m, which makes a server advertise
// them.
func (t *Resources) Register(m *Mux) {
	if t.Publish != nil {
		m.channels = append(m.channels, ChannelResourcesChanged, ChannelResourcesUpdated)
	}
	m.Handle(MethodResourcesList, func(_ context.Context, r *Request) (any, error) {
		o := parseObject(r.Params, "params", CodeInvalidParams)
		pattern := o.text("pattern", false, maxURIBytes) // a namespace chooses all, since the protocol does not define it
		list := []Resource{}
		for _, own := range t.list.all() {
			if fitsGlob(pattern, own.URI) {
				list = append(list, own.Resource)
			}
		}
		return resourcesListResult{Resources: list}, o.asError()
	})
	m.Handle(MethodResourcesRead, t.read)
	m.resources = t
}

// read answers a resources/read. An unknown URI is the error [CodeResourceNotFound].
func (t *Resources) read(ctx context.Context, r *Request) (any, error) {
	uri := r.read.(string)
	found := t.list.get(uri)
	if found.read == nil {
		return nil, Errorf(CodeResourceNotFound, "no resource %q", uri).WithData(map[string]string{"uri": uri})
	}
	content, err := found.read(ctx, r)
	if err != nil {
		return nil, err
	}
	content.MIMEType = cmp.Or(content.MIMEType, found.MIMEType)
	return content, nil
}
