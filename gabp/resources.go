package gabp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

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
	Publish func(channel, key string, payload any, sent func(*ServerSession)) error

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
	t.tell(ChannelResourcesChanged, def.URI)
	return nil
}

// Updated sends an event to [ChannelResourcesUpdated]: a resource has another content.
func (t *Resources) Updated(uri string) { t.tell(ChannelResourcesUpdated, uri) }

func (t *Resources) tell(channel, uri string) {
	if t.Publish != nil {
		// A URI is small and has a JSON form, so that Publish cannot fail.
		_ = t.Publish(channel, uri, map[string]string{"uri": uri}, nil)
	}
}

// chosen returns the resources that the parameters of a resources/list choose by a pattern, in the order in which they
// were added. It belongs to the caller. A namespace chooses all, since the protocol does not define
// it.
func (t *Resources) chosen(params json.RawMessage) ([]Resource, error) {
	o := parseObject(params, "params", CodeInvalidParams)
	pattern := o.text("pattern", false, maxURIBytes)
	if o.err != nil {
		return nil, o.err
	}
	list := []Resource{}
	for _, r := range t.list.all() {
		if fitsGlob(pattern, r.URI) {
			list = append(list, r.Resource)
		}
	}
	return list, nil
}

// Register adds resources/list, resources/read and the channels to m, which makes a server advertise
// them.
func (t *Resources) Register(m *Mux) {
	if t.Publish != nil {
		m.channels = append(m.channels, ChannelResourcesChanged, ChannelResourcesUpdated)
	}
	m.Handle(MethodResourcesList, func(_ context.Context, r *Request) (any, error) {
		list, err := t.chosen(r.Params)
		return resourcesListResult{Resources: list}, err
	})
	m.Handle(MethodResourcesRead, t.read)
	m.resources = t
}

// read answers a resources/read. An unknown URI is the error [CodeResourceNotFound].
func (t *Resources) read(ctx context.Context, r *Request) (any, error) {
	uri, _ := parseResourceRead(r.Params) // they were checked
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
