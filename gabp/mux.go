package gabp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
)

// handler serves requests of a [Server]. It is an alias, so that documentation shows the function itself.
type handler = func(ctx context.Context, r *Request) (result any, err error)

// Request is a request to a handler of a [Mux]. It is read only.
type Request struct {
	ID      string // chosen by the bridge
	Method  string
	Params  json.RawMessage // a JSON object, or empty; byte for byte
	Session *ServerSession
}

// Mux routes each request to the handler of its method. Set it up before it serves;
// then it is safe for concurrent use. The zero Mux has no methods. A [Server]
// advertises methods that have a handler.
//
// The result of a handler is marshaled by encoding/json; a json.RawMessage is sent byte for byte.
// An [*Error] is sent as it is, any other error as an internal error with its text. A
// handler is called from many goroutines, and must return when ctx is done: when the
// session ends, the server stops or the request times out.
type Mux struct {
	// Fallback serves all other methods, which are not advertised. Without it they are not found.
	Fallback handler

	handlers  map[string]handler
	channels  []string   // event channels, which the server advertises
	resources *Resources // which it advertises as well; may be nil
}

// Handle sets the handler of a method, replacing an earlier one.
func (m *Mux) Handle(method string, h handler) {
	if m.handlers == nil {
		m.handlers = map[string]handler{}
	}
	m.handlers[method] = h
}

// methods returns the methods with a handler, sorted.
func (m *Mux) methods() []string { return slices.Sorted(maps.Keys(m.handlers)) }

// serve calls the handler of r.
func (m *Mux) serve(ctx context.Context, r *Request) (any, error) {
	if h := m.handlers[r.Method]; h != nil {
		return h(ctx, r)
	}
	if m.Fallback != nil {
		return m.Fallback(ctx, r)
	}
	e := Errorf(CodeMethodNotFound, "method not found: %s", r.Method)
	return nil, e.WithData(map[string]string{"method": r.Method})
}
