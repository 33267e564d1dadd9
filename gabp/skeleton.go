package gabp

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/heedlog/heed"
)

// Message is one message of the protocol: a request, a response or an event.
type Message struct {
	ID      string
	Type    string
	Method  string
	Params  json.RawMessage
	Result  json.RawMessage
	Error   *Error
	Channel string
	Seq     uint64
	Payload json.RawMessage
}

// Handler serves the requests of a [Server] that are not built in. The result
// is marshaled; a json.RawMessage goes out byte for byte. An [*Error] goes out as it is.
// It must return when ctx is done.
type Handler interface {
	ServeGABP(ctx context.Context, r *Request) (result any, err error)
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, r *Request) (any, error)

// ServeGABP calls f.
func (f HandlerFunc) ServeGABP(ctx context.Context, r *Request) (any, error) { return f(ctx, r) }

// Request is a request as a [Handler] gets it.
type Request struct {
	ID      string
	Method  string
	Params  json.RawMessage // a JSON object, or empty
	Session *ServerSession
}

// Mux gives each method to its handler. Methods are advertised.
type Mux struct{ _ int }

// NewMux returns a Mux without methods.
func NewMux() *Mux { panic("") }

// Handle sets the handler of a method. Not to be called once the server serves.
func (m *Mux) Handle(method string, h Handler) {}

// HandleFunc is Handle for a function.
func (m *Mux) HandleFunc(method string, f HandlerFunc) {}

// Fallback sets the handler of all other methods; without one they are -32601.
func (m *Mux) Fallback(h Handler) {}

// Methods returns the methods with a handler, sorted.
func (m *Mux) Methods() []string { panic("") }

// ServeGABP serves a request.
func (m *Mux) ServeGABP(ctx context.Context, r *Request) (any, error) { panic("") }

// ServerConfig sets up a [Server].
type ServerConfig struct {
	Token      string // required, at least 32 bytes
	AgentID    string // required
	App        App    // required
	ServerInfo *Info
	// Capabilities is asked at each hello (and for the channels that may be subscribed to). The methods of the
	// server itself and those of a Mux, and the limits, are added.
	Capabilities func() Capabilities
	Handler      Handler
	// Welcome may amend what a bridge is told, or refuse it. Optional.
	Welcome func(ctx context.Context, s *ServerSession, w *Welcome) error
	// Closed is told of each session that said hello and ended. Optional.
	Closed      func(s *ServerSession)
	AllowRemote bool // listeners and peers beyond the loopback interface
	LaxNames    bool // methods and tools with names beyond the protocol's pattern: for a proxy
	Limits      Limits
	Logger      *slog.Logger // default: none
}

// Server is the mod's side.
type Server struct{ _ int }

// NewServer returns a server. An error names the field of cfg that is at fault.
func NewServer(cfg ServerConfig) (*Server, error) { panic("") }

// Serve takes connections until ctx is done or the listener fails.
func (s *Server) Serve(ctx context.Context, l net.Listener) error { panic("") }

// ServeConn serves one stream until it ends or ctx is done.
func (s *Server) ServeConn(ctx context.Context, rwc io.ReadWriteCloser) error { panic("") }

// Publish sends an event to all that subscribed to channel. It never blocks.
// Of those that wait for a slow subscriber with the same channel and key (not "") only the
// latest is sent. An error says that payload has no JSON form or is too large.
func (s *Server) Publish(channel, key string, payload any) error { panic("") }

// PublishFunc is Publish; sent is called for each session that the event was written to.
func (s *Server) PublishFunc(channel, key string, payload any, sent func(*ServerSession)) error {
	panic("")
}

// Stats returns the counts so far.
func (s *Server) Stats() ServerStats { panic("") }

// ServerStats counts what became of connections, messages and events.
type ServerStats struct {
	Connections, Sessions, AuthFailures, Refused, Requests, Busy, Timeouts, Published, Conflated, Dropped uint64
}

// ServerSession is a connection that said hello.
type ServerSession struct{ _ int }

// ID tells the connections of a server apart.
func (s *ServerSession) ID() uint64 { panic("") }

// Viewer is a name for heed.Engine's viewers, at most 64 bytes: the client's name and its launch id.
func (s *ServerSession) Viewer() string { panic("") }

// Hello is what the bridge said, without the token.
func (s *ServerSession) Hello() Hello { panic("") }

// ClientConfig sets up a [Client].
type ClientConfig struct {
	Token    string // required
	Name     string // default "heed"
	Version  string // default "0"
	Platform string // default: that of this process
	LaunchID string // default: a new UUID
	// AllowRemote lets Dial connect beyond the loopback interface.
	AllowRemote bool
	Limits      Limits
	Logger      *slog.Logger
}

// Client is the bridge's side.
type Client struct{ _ int }

// Dial connects ("127.0.0.1:port" or "unix:/path") and says hello.
func Dial(ctx context.Context, addr string, cfg ClientConfig) (*Client, error) { panic("") }

// NewClient says hello on a stream.
func NewClient(ctx context.Context, rwc io.ReadWriteCloser, cfg ClientConfig) (*Client, error) {
	panic("")
}

// Welcome is what the server said; WelcomeRaw byte for byte.
func (c *Client) Welcome() Welcome { panic("") }

// WelcomeRaw is the welcome byte for byte.
func (c *Client) WelcomeRaw() json.RawMessage { panic("") }

// Supports reports whether the server advertises a method.
func (c *Client) Supports(method string) bool { panic("") }

// Call calls a method. A refusal is an [*Error]. result may be nil.
func (c *Client) Call(ctx context.Context, method string, params, result any) error { panic("") }

// CallRaw calls a method with params and a result that are passed byte for byte.
func (c *Client) CallRaw(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	panic("")
}

// Events subscribes to channels and has f called for each event, in order, from one goroutine for all.
func (c *Client) Events(ctx context.Context, channels []string, f func(Event)) error { panic("") }

// ListTools calls tools/list.
func (c *Client) ListTools(ctx context.Context) ([]Tool, error) { panic("") }

// CallTool calls tools/call.
func (c *Client) CallTool(ctx context.Context, name string, arguments any) (json.RawMessage, error) {
	panic("")
}

// Close says goodbye and closes.
func (c *Client) Close() error { panic("") }

// Done is closed when the connection has ended; Err says why.
func (c *Client) Done() <-chan struct{} { panic("") }

// Err says why the connection ended.
func (c *Client) Err() error { panic("") }

// ParseToolCall reads the parameters of tools/call (arguments or parameters).
func ParseToolCall(params json.RawMessage) (ToolCall, error) { panic("") }

// Attention is the wire item.
type Attention struct {
	AttentionID        string   `json:"attentionId"`
	State              string   `json:"state"`
	Severity           string   `json:"severity"`
	Blocking           bool     `json:"blocking"`
	StateInvalidated   bool     `json:"stateInvalidated"`
	Summary            string   `json:"summary"`
	CausalOperationID  string   `json:"causalOperationId,omitempty"`
	CausalMethod       string   `json:"causalMethod,omitempty"`
	OpenedAtSequence   uint64   `json:"openedAtSequence"`
	LatestSequence     uint64   `json:"latestSequence"`
	DiagnosticsCursor  *uint64  `json:"diagnosticsCursor,omitempty"`
	TotalUrgentEntries uint64   `json:"totalUrgentEntries"`
	Sample             []Sample `json:"sample,omitempty"`
}

// Sample is one group of an [Attention].
type Sample struct {
	Level          string `json:"level"`
	Message        string `json:"message"`
	RepeatCount    uint64 `json:"repeatCount"`
	LatestSequence uint64 `json:"latestSequence"`
}

// Project returns the wire form of an item.
func Project(a heed.Attention) Attention { panic("") }

// AttentionSource is where a [Plane] looks; *heed.Engine is one.
type AttentionSource interface {
	View(viewer string) (heed.Attention, bool)
	AckBy(viewer, id string, upTo uint64) heed.AckResult
	Item(id string) (heed.Attention, bool)
	Open(dst []heed.Attention) []heed.Attention
	Shown(viewer, id string, upTo uint64) bool
}

// PlaneConfig sets up a [Plane].
type PlaneConfig struct {
	Source AttentionSource
	// Publish sends events: [Server.PublishFunc]. May be nil.
	Publish     func(channel, key string, payload any, sent func(*ServerSession)) error
	ObserveOnly bool
	Before      func(ctx context.Context) error // takes in all that is there: live.Session.Sync
	Budget      time.Duration                   // default 1.5 s
}

// Plane puts attention on the wire.
type Plane struct{ _ int }

// NewPlane returns a plane.
func NewPlane(cfg PlaneConfig) (*Plane, error) { panic("") }

// Register adds attention/current and attention/ack to m.
func (p *Plane) Register(m *Mux) {}

// Channels returns the event channels of attention.
func (p *Plane) Channels() []string { panic("") }

// Current answers attention/current within the budget.
func (p *Plane) Current(ctx context.Context, viewer string) CurrentResult { panic("") }

// Ack answers attention/ack within the budget.
func (p *Plane) Ack(ctx context.Context, viewer, id string) AckResult { panic("") }

// Pump publishes what changed. To be called with each batch of the engine's updates, by one goroutine.
func (p *Plane) Pump(updates []heed.Update) {}

// Bridge is how a bridge and a game find each other.
type Bridge struct {
	Port     int
	Token    string
	GameID   string
	Path     string // the bridge file, "" where there is none
	LaunchID string
}

// The environment variables that a bridge hands to the game.
const (
	EnvPort   = "GABP_SERVER_PORT"
	EnvToken  = "GABP_TOKEN"
	EnvGame   = "GABS_GAME_ID"
	EnvBridge = "GABS_BRIDGE_PATH"
)

// FindBridge looks in the environment, then in bridge files.
func FindBridge(getenv func(string) string, gameID string) (Bridge, error) { panic("") }

// BridgeFromEnv reads the environment; false where it names no port.
func BridgeFromEnv(getenv func(string) string) (Bridge, bool, error) { panic("") }

// Env returns the environment variables for a game: "NAME=value".
func (b Bridge) Env() []string { panic("") }

// ReadBridgeFile reads a bridge file of either form.
func ReadBridgeFile(path string) (Bridge, error) { panic("") }

// WriteBridgeFile writes a bridge file: whole or not at all, mode 0600.
func WriteBridgeFile(path string, b Bridge) error { panic("") }

// BridgePath returns where the bridge file of a game is.
func BridgePath(getenv func(string) string, gameID string) (string, error) { panic("") }

// NewToken returns a random token of 64 hex characters.
func NewToken() string { panic("") }
