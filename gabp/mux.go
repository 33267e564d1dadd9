package gabp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
)

// Handler serves the requests of a [Server] that are not built in.
//
// The result is marshaled as encoding/json does it; a json.RawMessage goes out
// byte for byte. An [*Error] goes out as it is, any other error as an internal one
// with its text. ServeGABP is called from many goroutines, and must return when
// ctx is done: when the session ends, the server stops or the request takes too
// long.
type Handler interface {
	ServeGABP(ctx context.Context, r *Request) (result any, err error)
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, r *Request) (any, error)

// ServeGABP calls f.
func (f HandlerFunc) ServeGABP(ctx context.Context, r *Request) (any, error) { return f(ctx, r) }

// Request is a request as a [Handler] gets it. It is read only.
type Request struct {
	ID      string // as the bridge gave it
	Method  string
	Params  json.RawMessage // a JSON object, or empty; byte for byte
	Session *ServerSession
}

// Mux gives each request to the handler of its method. Set it up before it
// serves; then it is safe for concurrent use. A [Server] advertises its methods.
type Mux struct {
	handlers map[string]Handler
	fallback Handler
}

// NewMux returns a Mux without methods.
func NewMux() *Mux { return &Mux{handlers: map[string]Handler{}} }

// Handle sets the handler of a method, in place of the one before.
func (m *Mux) Handle(method string, h Handler) { m.handlers[method] = h }

// HandleFunc is Handle for a function.
func (m *Mux) HandleFunc(method string, f HandlerFunc) { m.Handle(method, f) }

// Fallback sets the handler of all other methods, as a proxy has one. Without
// it they are not found. They are not advertised.
func (m *Mux) Fallback(h Handler) { m.fallback = h }

// Methods returns the methods with a handler, sorted.
func (m *Mux) Methods() []string { return slices.Sorted(maps.Keys(m.handlers)) }

// ServeGABP gives r to its handler.
func (m *Mux) ServeGABP(ctx context.Context, r *Request) (any, error) {
	if h, ok := m.handlers[r.Method]; ok {
		return h.ServeGABP(ctx, r)
	}
	if m.fallback != nil {
		return m.fallback.ServeGABP(ctx, r)
	}
	return nil, methodNotFound(r.Method)
}

func methodNotFound(method string) *Error {
	return Errorf(CodeMethodNotFound, "method not found: %s", method).WithData(map[string]string{"method": method})
}
