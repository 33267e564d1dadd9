package bridge

import (
	"context"
	"encoding/json"
	"path"
	"slices"

	"github.com/heedlog/heed/gabp"
)

// listTools answers tools/list: the mod's, byte for byte each, and heed's. A tool of the mod that has the name of one
// of heed's could not be called, and is left out.
func (p *Proxy) listTools(ctx context.Context, r *gabp.Request) (any, error) {
	ours, _ := definitions().List(r.Params) // the server has checked them
	if !p.observes(r.Session) {
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
	if client := p.mod.current(); client != nil {
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
	if !p.observes(r.Session) {
		p.mod.awaitLate(ctx)
	}
	if content, known, err := p.diagnostics.Read(ctx, r.Session.Consumer, textIn(r.Params, "uri")); known {
		return content, err
	}
	return p.passMethod(ctx, r)
}
