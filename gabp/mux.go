package gabp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
)

// Handler serves requests of a [Server] for methods that are not built in.
//
// The result is marshaled by encoding/json; a json.RawMessage is sent byte for byte.
// An [*Error] is sent as it is, any other error as an internal error with its text. A
// Handler is called from many goroutines, and must return when ctx is done: when the
// session ends, the server stops or the request times out.
type Handler func(ctx context.Context, r *Request) (result any, err error)

// Request is a request to a [Handler]. It is read only.
type Request struct {
	ID      string // chosen by the bridge
	Method  string
	Params  json.RawMessage // a JSON object, or empty; byte for byte
	Session *ServerSession
}

// Mux routes each request to the handler of its method. Set it up before it serves;
// then it is safe for concurrent use. The zero Mux has no methods. A [Server]
// advertises methods that have a handler.
type Mux struct {
	// Fallback serves all other methods, which are not advertised. Without it they are not found.
	Fallback Handler

	handlers map[string]Handler
	channels []string        // event channels, which the server advertises
	uris     func() []string // of resources, which it advertises as well; may be nil
}

// Handle sets the handler of a method, replacing an earlier one.
func (m *Mux) Handle(method string, h Handler) {
	if m.handlers == nil {
		m.handlers = map[string]Handler{}
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
