package bridge

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
)

// ResourceBase is the prefix of the URIs of all resources.
const ResourceBase = "gabp://mod/heed/"

// mimeType is the type of all resources.
const mimeType = "application/json"

// parts are the tools of resources below others: the rest of the path is the id.
var parts = map[string]string{"items/": ToolItem, "operations/": ToolOperation}

// currentPath is the resource of the method attention/current.
const currentPath = "current"

// Resources returns the definitions of the resources, for resources/list. They belong to the caller. The content of a
// resource, except for the current item, is the answer of the tool heed/PATH. Its query has the tool's arguments.
func Resources() (all []gabp.Resource) {
	for _, path := range []string{currentPath, "status", "items", "entries", "operations", "timeline"} {
		r := gabp.Resource{URI: ResourceBase + path, MIMEType: mimeType}
		r.Name, r.Description = Words(r.URI)
		all = append(all, r)
	}
	return all
}

// Read reads a resource for a consumer. Known is false for a URI that is not below [ResourceBase]; then there is no
// content and no error. An error is a [*gabp.Error].
func (d *Diagnostics) Read(ctx context.Context, consumer, uri string) (r gabp.ResourceContent, known bool, err error) {
	rest, ours := strings.CutPrefix(uri, ResourceBase)
	if !ours {
		return r, false, nil
	}
	content, err := d.resource(ctx, consumer, rest)
	return gabp.ResourceContent{Content: content, MIMEType: mimeType, Encoding: "utf-8"}, true, err
}

func (d *Diagnostics) resource(ctx context.Context, consumer, rest string) (any, error) {
	path, rawQuery, _ := strings.Cut(rest, "?")
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		data := Refused{Path: "uri", Want: "a query such as after=CURSOR&limit=100", Got: "another text"}
		return nil, gabp.Errorf(gabp.CodeInvalidParams, "params.uri: want %s, got %s", data.Want, data.Got).WithData(data)
	}
	var call gabp.ToolCall
	id := ""
	if slices.ContainsFunc(Resources(), func(r gabp.Resource) bool { return r.URI == ResourceBase+path }) {
		call.Name = "heed/" + path
	}
	for prefix, tool := range parts {
		if escaped, ok := strings.CutPrefix(path, prefix); ok && escaped != "" {
			if id, err = url.PathUnescape(escaped); err == nil {
				call.Name = tool
			}
		}
	}
	if path == currentPath && len(query) == 0 {
		return d.view(ctx, consumer), nil
	}
	i := slices.IndexFunc(Tools(), func(t gabp.Tool) bool { return t.Name == call.Name })
	if i < 0 {
		return nil, gabp.Errorf(gabp.CodeResourceNotFound, "no resource %q; resources/list has all resources",
			named(ResourceBase+rest))
	}
	if call.Arguments, err = queryArguments(Tools()[i].InputSchema, id, query); err != nil {
		return nil, err
	}
	result, _, err := d.Call(ctx, consumer, call)
	return result, err
}

// queryArguments returns a query as the arguments of a tool, which refuses those that it does not know.
func queryArguments(input json.RawMessage, id string, query url.Values) (json.RawMessage, error) {
	var takes struct{ Properties map[string]struct{ Type any } }
	_ = json.Unmarshal(input, &takes) // it is a schema
	all := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(query)) {
		values, form := query[key], takes.Properties[key].Type
		switch {
		case form == "array":
			all[key] = values
		case len(values) > 1 || key == "id":
			return nil, gabp.BadArgument(key, "one value", "several")
		case (form == "integer" || form == "boolean") && json.Valid([]byte(values[0])):
			all[key] = json.RawMessage(values[0])
		default:
			all[key] = values[0]
		}
	}
	if id != "" {
		all["id"] = id
	}
	return Encode(all), nil
}

// view answers attention/current.
func (d *Diagnostics) view(ctx context.Context, consumer string) gabp.CurrentResult {
	if d.session.Attention() != session.LeftToMod {
		if a, open := d.session.Current(ctx, consumer); open {
			return gabp.CurrentResult{Attention: gabp.Project(&a)}
		}
	}
	return gabp.CurrentResult{}
}

// listTools answers tools/list: the mod's, byte for byte each, and heed's. A tool of the mod that has the name of one
// of heed's could not be called, and is left out.
func (p *Proxy) listTools(ctx context.Context, r *gabp.Request) (any, error) {
	ours, _ := definitions().List(r.Params) // the server has checked them
	if !session.Person(r.Session.Client) {
		p.mod.awaitLate(ctx)
	}
	return p.list(ctx, r, "tools", "name", ours)
}

func (p *Proxy) listResources(ctx context.Context, r *gabp.Request) (any, error) {
	pattern := textIn(r.Params, "pattern") // one of another type is the mod's to refuse
	ours := slices.DeleteFunc(Resources(), func(r gabp.Resource) bool {
		fits, _ := path.Match(pattern, r.URI) // nothing fits a malformed pattern, everything an empty one
		return pattern != "" && !fits
	})
	return p.list(ctx, r, "resources", "uri", ours)
}

// list gets a list from the mod and adds heed's. The list of a mod that does not know the method is empty.
func (p *Proxy) list(ctx context.Context, r *gabp.Request, member, key string, list any) (any, error) {
	answer := map[string]json.RawMessage{}
	var theirs, ours []json.RawMessage
	_ = json.Unmarshal(Encode(list), &ours)
	if client := p.mod.client.Load(); client != nil {
		raw, err := client.CallRaw(ctx, r.Method, r.Params)
		p.watch.reply(err)
		switch v := p.mod.verbatim(err); {
		case v != nil:
			return nil, v
		case isCode(err, gabp.CodeMethodNotFound):
		case err != nil:
			refused, _ := modError(ctx, err)
			return nil, refused
		default:
			var params struct{ Filter any }
			_ = json.Unmarshal(r.Params, &params) // none without any
			if r.Method == gabp.MethodToolsList && params.Filter == nil {
				p.mod.learnTags(raw)
			}
			if json.Unmarshal(raw, &answer) != nil || json.Unmarshal(answer[member], &theirs) != nil {
				return raw, nil // another form is passed on
			}
		}
	}
	name := func(raw json.RawMessage) string { return textIn(raw, key) }
	known := map[string]bool{}
	for _, raw := range ours {
		known[name(raw)] = true
	}
	theirs = slices.DeleteFunc(theirs, func(raw json.RawMessage) bool { return known[name(raw)] })
	answer[member] = Encode(append(append([]json.RawMessage{}, theirs...), ours...))
	return answer, nil
}

func (p *Proxy) readResource(ctx context.Context, r *gabp.Request) (any, error) {
	if !session.Person(r.Session.Client) {
		p.mod.awaitLate(ctx)
	}
	if content, known, err := p.diagnostics.Read(ctx, r.Session.Consumer, textIn(r.Params, "uri")); known {
		return content, err
	}
	return p.passMethod(ctx, r)
}
