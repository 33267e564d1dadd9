package bridge

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/heedlog/heed/gabp"
)

// Register sets the handlers of tools/list, tools/call, resources/list and
// resources/read, for a host that has no tools and resources of its own.
func (d *Diagnostics) Register(mux *gabp.Mux) {
	mux.HandleFunc(gabp.MethodToolsList, d.listTools)
	mux.HandleFunc(gabp.MethodToolsCall, d.callTool)
	mux.HandleFunc(gabp.MethodResourcesList, d.listResources)
	mux.HandleFunc(gabp.MethodResourcesRead, d.readResource)
}

func (d *Diagnostics) listTools(_ context.Context, r *gabp.Request) (any, error) {
	var params gabp.ToolsListParams
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &params) != nil {
		return nil, gabp.Errorf(gabp.CodeInvalidParams, "params: want an object with a filter, of tags and a namePattern, or nothing")
	}
	all := slices.DeleteFunc(d.Tools(), func(t gabp.Tool) bool { return !params.Filter.Fits(&t) })
	return gabp.ToolsListResult{Tools: all}, nil
}

func (d *Diagnostics) callTool(ctx context.Context, r *gabp.Request) (any, error) {
	call, err := gabp.ParseToolCall(r.Params)
	if err != nil {
		return nil, err
	}
	result, known, err := d.Call(ctx, r.Session.Viewer(), call)
	if !known {
		return nil, gabp.Errorf(gabp.CodeToolNotFound, "no tool %q; tools/list has those that there are", cutName(call.Name))
	}
	return result, err
}

func (d *Diagnostics) listResources(_ context.Context, r *gabp.Request) (any, error) {
	var params struct {
		Pattern string `json:"pattern"`
	}
	if len(r.Params) > 0 && json.Unmarshal(r.Params, &params) != nil {
		return nil, gabp.Errorf(gabp.CodeInvalidParams, "params: want an object with a pattern, or nothing")
	}
	all := slices.DeleteFunc(d.Resources(), func(r gabp.Resource) bool { return !gabp.FitsGlob(params.Pattern, r.URI) })
	return gabp.ResourcesListResult{Resources: all}, nil
}

func (d *Diagnostics) readResource(ctx context.Context, r *gabp.Request) (any, error) {
	var params gabp.ResourceReadParams
	if json.Unmarshal(r.Params, &params) != nil || params.URI == "" {
		return nil, gabp.Errorf(gabp.CodeInvalidParams, "params: want an object with the uri of a resource")
	}
	content, known, err := d.Read(ctx, r.Session.Viewer(), params.URI)
	if !known {
		return nil, gabp.Errorf(gabp.CodeResourceNotFound, "no resource %q; resources/list has those that there are", cutName(params.URI))
	}
	return content, err
}
