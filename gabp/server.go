package gabp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/heedlog/heed/internal/loopback"
)

// minToken is the least length of a token: 128 bits as hex.
const minToken = 32

// ServerConfig configures a [Server].
type ServerConfig struct {
	// Token authenticates a hello, at least 32 bytes. Required.
	Token string

	// AgentID, App.Name and App.Version go into the welcome, and are required.
	AgentID    string
	App        App
	ServerInfo *Info // optional

	// Capabilities returns the capabilities of the host, without the methods, events and resources of Mux and of the
	// server, which are added. It is called at each hello and each subscription: only channels among its Events can be
	// subscribed to. Optional.
	Capabilities func() Capabilities

	// Mux serves all methods that are not built in. Required.
	Mux *Mux

	// Welcome may amend the welcome of an authenticated bridge, or refuse the session
	// with an error. It may wait: ctx is done when the bridge leaves, too. Optional.
	Welcome func(ctx context.Context, s *ServerSession, w *Welcome) error

	// Closed is called with each welcomed session after its end. Optional.
	Closed func(s *ServerSession)

	// Lax accepts names of methods and tools in any form, and ids of requests that are no UUIDs, which the protocol
	// does not allow. It is for a proxy, whose peers may accept both.
	Lax bool

	// Limits bounds the work of bridges. Its fields in [WireLimits] are advertised.
	Limits Limits

	// Logger receives events of connections, never a token or the text of a message.
	// Default: none.
	Logger *slog.Logger
}

// Server is the mod's side of the protocol. It is safe for concurrent use.
type Server struct {
	cfg    ServerConfig
	limits Limits
	log    *slog.Logger
	token  [sha256.Size]byte

	countMu sync.Mutex
	counts  ServerStats

	nextID atomic.Uint64

	pubMu sync.Mutex // orders publications: all subscribers see one order

	mu       sync.Mutex
	sessions []*ServerSession // oldest first
}

// ServerStats counts connections, messages and events by their fate.
type ServerStats struct {
	Connections   uint64 // accepted
	Rejected      uint64 // closed at once: too many
	Evicted       uint64 // connections closed before their hello, to make room
	Sessions      uint64 // welcomed
	AuthFailures  uint64 // hellos without the right token
	Malformed     uint64 // messages and frames refused
	Requests      uint64 // passed to a handler
	Busy          uint64 // requests refused: too many concurrent ones
	Timeouts      uint64 // requests past RequestTimeout
	Panics        uint64 // of handlers
	Published     uint64 // events, counted for each subscriber
	Conflated     uint64 // events replaced by a later one before they were sent
	EventsDropped uint64 // events of [Server.Pass] not sent to a subscriber that did not keep up
	Disconnected  uint64 // subscribers that did not keep up
}

// NewServer returns a server. An error names the field of cfg that is at fault.
func NewServer(cfg ServerConfig) (*Server, error) {
	limits, err := cfg.Limits.withDefaults()
	switch {
	case err != nil:
		return nil, err
	case len(cfg.Token) < minToken:
		return nil, fmt.Errorf("gabp: ServerConfig.Token has %d bytes, want at least %d; see NewToken", len(cfg.Token),
			minToken)
	case cfg.AgentID == "":
		return nil, errors.New("gabp: ServerConfig.AgentID is empty")
	case cfg.App.Name == "" || cfg.App.Version == "":
		return nil, errors.New("gabp: ServerConfig.App needs a name and a version")
	case cfg.Mux == nil:
		return nil, errors.New("gabp: ServerConfig.Mux is nil")
	}
	s := &Server{
		cfg: cfg, limits: limits, log: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)),
		token: sha256.Sum256([]byte(cfg.Token)),
	}
	s.cfg.Token = ""
	return s, nil
}

// Stats returns the counts so far.
func (s *Server) Stats() ServerStats {
	s.countMu.Lock()
	defer s.countMu.Unlock()
	return s.counts
}

// count changes the counts.
func (s *Server) count(change func(*ServerStats)) {
	s.countMu.Lock()
	defer s.countMu.Unlock()
	change(&s.counts)
}

// Listen listens on a loopback address ("127.0.0.1:0", "[::1]:4711",
// "localhost:0") or on a Unix socket ("unix:/run/user/1000/heed.sock") that only its
// owner may use. A socket without a server is replaced. Other addresses are refused.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	network, address, err := splitAddr(addr)
	if err != nil {
		return nil, err
	}
	if network == "unix" {
		return listenUnix(ctx, address)
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, network, address)
}

// Serve accepts connections from l until ctx is done, then closes l and all
// sessions, waits a few seconds at most until their handlers have returned, and
// returns nil. It returns an error if l is open to other machines, since the protocol has no encryption, and if l
// fails.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if a, ok := l.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		_ = l.Close()
		return fmt.Errorf("gabp: %s is open to other machines; listen on 127.0.0.1", a)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	var conns sync.WaitGroup
	defer waitFor(&conns)
	defer cancel()
	for failures := 0; ; {
		conn, err := l.Accept()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("gabp: accept: %w", err)
		default:
			// Such as too many open files, which may be temporary.
			if failures++; failures > maxAcceptFailures {
				_ = l.Close()
				return fmt.Errorf("gabp: accept: %w", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(failures) * acceptPause):
			}
			continue
		}
		failures = 0
		// Not in the goroutine: admission is in the order of arrival.
		ss := newServerSession(s, newConn(conn, s.limits))
		if s.admit(ss) != nil {
			continue
		}
		conns.Go(func() {
			// The error of a connection is logged, and ends no other.
			_ = ss.serve(ctx)
		})
	}
}

const (
	maxAcceptFailures = 20
	acceptPause       = 20 * time.Millisecond
	closeGrace        = 5 * time.Second // for handlers to return when their context is done
)

// waitFor waits closeGrace at most for a group: a handler that ignores its context
// must not keep the host from stopping.
func waitFor(wg *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeGrace):
	}
}

// ServeConn serves one stream until it ends or ctx is done, and closes it. It returns nil if the peer said goodbye or
// ctx is done, and otherwise the cause of the end. It is for standard streams and for tests; the peer may be remote.
func (s *Server) ServeConn(ctx context.Context, rwc io.ReadWriteCloser) error {
	ss := newServerSession(s, newConn(rwc, s.limits))
	if err := s.admit(ss); err != nil {
		return err
	}
	return ss.serve(ctx)
}

// admit adds a connection. At the limit the oldest one without a hello is evicted, so
// that silent peers cannot keep a bridge out; without one, the new connection is closed.
func (s *Server) admit(ss *ServerSession) error {
	s.count(func(c *ServerStats) { c.Connections++ })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= s.limits.Connections {
		i := slices.IndexFunc(s.sessions, func(ss *ServerSession) bool { return !ss.greeted.Load() })
		if i < 0 {
			s.count(func(c *ServerStats) { c.Rejected++ })
			s.log.Warn("gabp: connection rejected: too many", "connections", s.limits.Connections)
			_ = ss.conn.Close()
			return fmt.Errorf("gabp: more than %d connections", s.limits.Connections)
		}
		s.count(func(c *ServerStats) { c.Evicted++ })
		_ = s.sessions[i].conn.Close()
		s.sessions = slices.Delete(s.sessions, i, i+1)
	}
	s.sessions = append(s.sessions, ss)
	return nil
}

func (s *Server) remove(ss *ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = slices.DeleteFunc(s.sessions, func(o *ServerSession) bool { return o == ss })
}

// Publish sends an event to every session that is subscribed to channel. It
// never blocks. While an event is queued for a slow subscriber, a later one of the
// same channel and key (if it is not "") replaces it, at the end of the queue. The
// events of a channel are numbered for each subscriber from 1, without gaps if
// none was dropped (see [Server.Pass]). All subscribers see events in the order of
// the calls.
//
// payload is marshaled once; a json.RawMessage is sent byte for byte, and must not be changed afterwards. If payload
// has no JSON form, or is larger than a message may be, no event is sent, and an error is returned.
//
// sent, if not nil, is called for each session after the event was written to its
// connection: not if a later one replaced it, or the session ended. It must be
// quick, and must not call the server.
func (s *Server) Publish(channel, key string, payload any, sent func(*ServerSession)) error {
	return s.publish(pendingEvent{channel: channel, key: key, sent: sent}, payload)
}

// publisher is [Server.Publish], or nil where nothing is published.
type publisher = func(channel, key string, payload any, sent func(*ServerSession)) error

// announce publishes a payload that is small and has a JSON form, so that it cannot fail.
func announce(publish publisher, channel, key string, payload any, sent func(*ServerSession)) {
	if publish != nil {
		_ = publish(channel, key, payload, sent)
	}
}

// Pass is Publish without a key, for events that may be dropped: such as those that a proxy forwards, whose number it
// does not control. If they fill the queue of a subscriber, its oldest ones are dropped, of any channel; events of
// Publish stay, in order. Dropped events are numbered, and so are events that the caller missed right before this one:
// a gap in the numbers of a channel is the number of missing events. [ServerStats].EventsDropped counts dropped events.
func (s *Server) Pass(channel string, missed uint64, payload any) error {
	return s.publish(pendingEvent{channel: channel, droppable: true, lost: missed}, payload)
}

// publish sends an event that is complete but for its payload.
func (s *Server) publish(e pendingEvent, payload any) error {
	channel := e.channel
	raw, err := marshal(payload)
	if err != nil {
		return fmt.Errorf("gabp: event on %s: %w", channel, err)
	}
	if len(raw) > s.limits.MessageSize-maxEnvelope {
		return fmt.Errorf("gabp: event on %s: %d bytes, want at most %d", channel, len(raw), s.limits.MessageSize-maxEnvelope)
	}
	e.payload = raw
	s.pubMu.Lock()
	defer s.pubMu.Unlock()
	s.mu.Lock()
	sessions := slices.Clone(s.sessions)
	s.mu.Unlock()
	for _, ss := range sessions {
		ss.publish(e)
	}
	return nil
}

// maxEnvelope bounds the bytes of a message in addition to its result or payload: escaping may make an id six times as
// long.
const maxEnvelope = 2 << 10

// handler serves requests of a [Server]. It is an alias, so that documentation shows the function itself.
type handler = func(ctx context.Context, r *Request) (result any, err error)

// Request is a request to a handler of a [Mux]. It is read only.
type Request struct {
	ID      string // chosen by the bridge
	Method  string
	Params  json.RawMessage // a JSON object, or empty; byte for byte
	Session *ServerSession

	read any // the params, as readers read them
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

// splitAddr returns the network and the address of "unix:PATH" or "HOST:PORT". It refuses a host that is not on the
// loopback interface.
func splitAddr(addr string) (network, address string, err error) {
	path, unix := strings.CutPrefix(addr, "unix:")
	switch _, _, err := net.SplitHostPort(addr); {
	case unix && path == "":
		return "", "", fmt.Errorf("gabp: address %q has no socket path", addr)
	case unix:
		return "unix", path, nil
	case err != nil:
		return "", "", fmt.Errorf("gabp: address %q: %w", addr, err)
	case !loopback.Is(addr):
		return "", "", fmt.Errorf("gabp: address %q is not on the loopback interface; use 127.0.0.1", addr)
	}
	return "tcp", addr, nil
}

// probeTimeout bounds the check whether a socket has a server.
const probeTimeout = time.Second

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && abandoned(ctx, path) {
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("gabp: abandoned socket: %w", err)
		}
		l, err = lc.Listen(ctx, "unix", path)
	}
	if err != nil {
		return nil, fmt.Errorf("gabp: %w", err)
	}
	// Between Listen and Chmod others might connect if the directory lets them;
	// they still need the token.
	if err := os.Chmod(path, 0o600); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("gabp: %w", err)
	}
	return l, nil
}

// abandoned reports whether path is a socket without a server.
func abandoned(ctx context.Context, path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return false
	}
	d := net.Dialer{Timeout: probeTimeout}
	conn, err := d.DialContext(ctx, "unix", path)
	if err == nil {
		_ = conn.Close()
		return false
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
