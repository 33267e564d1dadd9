package gabp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// minToken is the least length of a token that is taken: 128 bits as hex.
const minToken = 32

// ServerConfig sets up a [Server].
type ServerConfig struct {
	// Token is what a hello must hold, at least 32 bytes. Required.
	Token string

	// AgentID, App.Name and App.Version go into the welcome, and are required.
	AgentID    string
	App        App
	ServerInfo *Info // optional

	// Capabilities says what the host offers beyond what Mux and the server itself
	// have, which is added. It is asked at each hello and each subscription: only
	// channels among its Events can be subscribed to. Optional.
	Capabilities func() Capabilities

	// Mux serves what is not built in. Required.
	Mux *Mux

	// Welcome may amend what a bridge is told, or refuse the session with an
	// error. The token was right. Optional.
	Welcome func(ctx context.Context, s *ServerSession, w *Welcome) error

	// Closed is told of each welcomed session when it is over. Optional.
	Closed func(s *ServerSession)

	// AllowRemote lets the server listen, and peers come from, beyond the
	// loopback interface. The protocol has no encryption: only the token stands
	// between the network and the game.
	AllowRemote bool

	// LaxNames takes requests for methods and tools whose names the protocol does
	// not allow. It is for a proxy of a mod that has such names.
	LaxNames bool

	// Limits bounds what bridges can do. Limits that concern them are advertised.
	Limits Limits

	// Logger gets what happens to connections. Never a token, never a text of a
	// message. Default: none.
	Logger *slog.Logger
}

// Server is the mod's side of the protocol. It is safe for concurrent use.
type Server struct {
	cfg    ServerConfig
	limits Limits
	log    *slog.Logger
	token  [sha256.Size]byte
	counts counts

	nextID atomic.Uint64

	pubMu sync.Mutex // orders publications, so that all subscribers see one order

	mu       sync.Mutex
	sessions map[*ServerSession]struct{}
	waiting  []*ServerSession // without a hello, oldest first
}

// ServerStats counts what became of connections, messages and events.
type ServerStats struct {
	Connections  uint64 // taken
	Rejected     uint64 // closed at once: too many, or from afar
	Displaced    uint64 // closed before their hello, for another
	Sessions     uint64 // welcomed
	AuthFailures uint64 // hellos without the right token
	Malformed    uint64 // messages and frames refused
	Requests     uint64 // given to the handler
	Busy         uint64 // requests refused: too many at a time
	Timeouts     uint64 // requests that took too long
	Panics       uint64 // of the handler
	Published    uint64 // events, once for each subscriber
	Conflated    uint64 // events replaced by a later one before they were sent
	GaveWay      uint64 // events of [Server.Pass] that were not sent since a subscriber did not keep up
	Dropped      uint64 // subscribers disconnected since they did not keep up
}

type counts struct {
	connections, rejected, displaced, sessions, authFailures, malformed, requests,
	busy, timeouts, panics, published, conflated, gaveWay, dropped atomic.Uint64
}

// NewServer returns a server. An error names the field of cfg that is at fault.
func NewServer(cfg ServerConfig) (*Server, error) {
	limits, err := cfg.Limits.withDefaults()
	switch {
	case err != nil:
		return nil, err
	case len(cfg.Token) < minToken:
		return nil, fmt.Errorf("gabp: ServerConfig.Token has %d bytes, want at least %d; see NewToken", len(cfg.Token), minToken)
	case cfg.AgentID == "":
		return nil, errors.New("gabp: ServerConfig.AgentID is empty")
	case cfg.App.Name == "" || cfg.App.Version == "":
		return nil, errors.New("gabp: ServerConfig.App needs a name and a version")
	case cfg.Mux == nil:
		return nil, errors.New("gabp: ServerConfig.Mux is nil")
	}
	s := &Server{
		cfg: cfg, limits: limits, log: cfg.Logger,
		token:    sha256.Sum256([]byte(cfg.Token)),
		sessions: map[*ServerSession]struct{}{},
	}
	s.cfg.Token = ""
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

// Stats returns the counts so far.
func (s *Server) Stats() ServerStats {
	c := &s.counts
	return ServerStats{
		Connections: c.connections.Load(), Rejected: c.rejected.Load(), Displaced: c.displaced.Load(),
		Sessions: c.sessions.Load(), AuthFailures: c.authFailures.Load(), Malformed: c.malformed.Load(),
		Requests: c.requests.Load(), Busy: c.busy.Load(), Timeouts: c.timeouts.Load(), Panics: c.panics.Load(),
		Published: c.published.Load(), Conflated: c.conflated.Load(), GaveWay: c.gaveWay.Load(), Dropped: c.dropped.Load(),
	}
}

// Listen listens on a loopback address ("127.0.0.1:0", "[::1]:4711",
// "localhost:0") or on a Unix socket ("unix:/run/user/1000/heed.sock"), which only its
// owner may use. A socket that nobody serves any more is replaced. Other
// addresses are refused: who wants one listens by other means, and sets
// [ServerConfig.AllowRemote].
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	network, address := splitAddr(addr)
	if network == "unix" {
		return listenUnix(ctx, address)
	}
	if err := checkLoopback(address); err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	return lc.Listen(ctx, network, address)
}

// Serve takes connections from l until ctx is done, then closes l and all
// sessions, waits until their handlers have returned, at most a few seconds, and
// returns nil. It returns an error where l is open to other machines and
// AllowRemote is not set, and where l fails.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if !s.cfg.AllowRemote && !isLocal(l.Addr()) {
		_ = l.Close()
		return fmt.Errorf("gabp: %s is open to other machines; listen on 127.0.0.1, or set AllowRemote", l.Addr())
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
			// Such as too many open files: that passes, or it does not.
			if failures++; failures > maxAcceptFailures {
				_ = l.Close()
				return fmt.Errorf("gabp: accept: %w", err)
			}
			pause(ctx, time.Duration(failures)*acceptPause)
			continue
		}
		failures = 0
		if !s.cfg.AllowRemote && !isLocal(conn.RemoteAddr()) {
			s.counts.rejected.Add(1)
			_ = conn.Close()
			continue
		}
		// Here, not in the goroutine: who came first gives way first.
		ss := newServerSession(s, newConn(conn, s.limits))
		if s.admit(ss) != nil {
			continue
		}
		conns.Go(func() {
			// What ends a connection is logged, and no reason for others to end.
			_ = s.serve(ctx, ss)
		})
	}
}

const (
	maxAcceptFailures = 20
	acceptPause       = 20 * time.Millisecond
	closeGrace        = 5 * time.Second // for handlers to return when their context is done
)

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// waitFor waits for a group, but not for ever: a handler that does not obey its
// context must not keep the host from stopping.
func waitFor(wg *sync.WaitGroup) {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	t := time.NewTimer(closeGrace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// ServeConn serves one stream until it ends or ctx is done, and closes it. It
// returns nil where the peer left in good order or ctx is done, and otherwise
// what ended it. It is for standard input and output (see [Join]) and for
// tests; whether the peer is local is not asked.
func (s *Server) ServeConn(ctx context.Context, rwc io.ReadWriteCloser) error {
	ss := newServerSession(s, newConn(rwc, s.limits))
	if err := s.admit(ss); err != nil {
		return err
	}
	return s.serve(ctx, ss)
}

// serve serves a session that was admitted.
func (s *Server) serve(ctx context.Context, ss *ServerSession) error {
	defer s.forget(ss)
	return ss.serve(ctx)
}

// admit makes room for a connection: where there is none, the oldest that has
// not said hello gives way, so that silent peers cannot keep a bridge out. Where
// nobody can, the connection is closed.
func (s *Server) admit(ss *ServerSession) error {
	s.counts.connections.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= s.limits.Connections {
		if len(s.waiting) == 0 {
			s.counts.rejected.Add(1)
			s.log.Warn("gabp: connection rejected: too many", "connections", s.limits.Connections)
			_ = ss.conn.Close()
			return fmt.Errorf("gabp: more than %d connections", s.limits.Connections)
		}
		oldest := s.waiting[0]
		s.removeLocked(oldest)
		s.counts.displaced.Add(1)
		_ = oldest.conn.Close()
	}
	s.sessions[ss] = struct{}{}
	s.waiting = append(s.waiting, ss)
	return nil
}

// welcomed notes that a session has said hello.
func (s *Server) welcomed(ss *ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(w *ServerSession) bool { return w == ss })
}

func (s *Server) forget(ss *ServerSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(ss)
}

func (s *Server) removeLocked(ss *ServerSession) {
	delete(s.sessions, ss)
	s.waiting = slices.DeleteFunc(s.waiting, func(w *ServerSession) bool { return w == ss })
}

// Publish sends an event to every session that is subscribed to channel. It
// never blocks. While an event waits for a slow subscriber, a later one of the
// same channel and key (if it is not "") takes its place at the end of the queue.
// The events of a channel are numbered for each subscriber from 1, without
// holes where none was dropped (see [Server.Pass]). All subscribers see events in the order of
// the calls.
//
// payload is marshaled once; a json.RawMessage is sent byte for byte, and must
// not be changed after. An error says that payload has no JSON form, or is larger
// than a message may be: nobody gets it.
//
// sent, if not nil, is called for each session once the event was written to its
// connection: not where a later one took its place, or the session ended. It must be
// quick, and must not call the server.
func (s *Server) Publish(channel, key string, payload any, sent func(*ServerSession)) error {
	return s.publish(pendingEvent{channel: channel, key: key, sent: sent}, payload)
}

// Pass is Publish without a key, for events that are not worth a connection: such as
// those that a proxy passes on, of which it does not know how many come. Where they fill the
// queue of a subscriber, the oldest of them give way, which are those of this subscriber and of
// any channel; others stay, in their order. The numbers of a channel go on as if those that
// gave way had been sent, and so had those that the caller says it missed right before this
// one: a hole in them, which is all that the protocol has room for, says how many there
// were. [ServerStats].GaveWay counts the former.
func (s *Server) Pass(channel string, missed uint64, payload any) error {
	return s.publish(pendingEvent{channel: channel, passing: true, lost: missed}, payload)
}

// publish sends an event that has all but its payload.
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
	sessions := make([]*ServerSession, 0, len(s.sessions))
	for ss := range s.sessions {
		sessions = append(sessions, ss)
	}
	s.mu.Unlock()
	for _, ss := range sessions {
		ss.publish(e)
	}
	return nil
}

// maxEnvelope bounds what a message adds to the result or payload that it
// carries: an id may take six times its bytes when it is escaped.
const maxEnvelope = 2 << 10
