package gabp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/internal/text"
)

// ServerSession is one connection of a [Server] after the bridge's hello. It is
// safe for concurrent use.
type ServerSession struct {
	// Client is the name that the bridge gave in its hello, "" without one. It is untrusted. Read only.
	Client string

	// Consumer is a name of the bridge that is safe in logs and identifies it to a
	// [heed.Engine]: at most 64 bytes of letters, digits and "._-#". It is made of the
	// client's name and the id of its launch, so that a bridge that reconnects with the
	// same ones is the same consumer. Read only.
	Consumer string

	server *Server
	conn   *conn
	out    *outbox
	id     uint64
	slots  chan struct{} // one for each concurrent request
	work   sync.WaitGroup

	// Set by the reader at the hello, greeted last, before any request is handled;
	// constant after that.
	greeted  atomic.Bool
	channels []string // of the welcome

	mu    sync.Mutex
	subs  map[string]bool
	drops bool // events of [Server.Pass]
}

func newServerSession(s *Server, c *conn) *ServerSession {
	c.maxRead.Store(int64(min(maxHelloSize, s.limits.MessageSize)))
	c.readBy = time.Now().Add(s.limits.HelloTimeout)
	return &ServerSession{
		server: s, conn: c, out: newOutbox(&s.limits), id: s.nextID.Add(1),
		slots: make(chan struct{}, s.limits.ConcurrentRequests),
		subs:  map[string]bool{},
	}
}

// close ends the session. It does not wait.
func (s *ServerSession) close() {
	_ = s.conn.Close()
	s.out.end(true)
}

// serve reads requests until the stream ends or ctx is done. The session was admitted.
func (s *ServerSession) serve(ctx context.Context) error {
	defer s.server.remove(s)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, s.close)
	written := make(chan error, 1)
	go func() { written <- s.write() }()

	err := s.readUntilClosed(ctx)
	cancelled := ctx.Err() != nil
	stop()
	cancel() // handlers end
	s.out.end(false)
	writeErr := <-written
	if writeErr == nil && !cancelled && !errors.Is(err, io.EOF) {
		s.conn.linger()
	}
	s.close()
	waitFor(&s.work)
	if s.greeted.Load() && s.server.cfg.Closed != nil {
		s.server.cfg.Closed(s)
	}
	switch {
	case cancelled, errors.Is(err, errGoodbye), errors.Is(err, io.EOF):
		err = nil
	case writeErr != nil:
		err = writeErr // the cause of the reader's error
	}
	s.server.log.Debug("gabp: connection ended", "session", s.id, "consumer", s.Consumer, "error", err)
	return err
}

// errGoodbye ends the reader of a session whose bridge said goodbye.
var errGoodbye = errors.New("goodbye")

// readUntilClosed reads as read does, but waits only readGrace for a read that continues after the stream was closed,
// as reads of a terminal may.
func (s *ServerSession) readUntilClosed(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-s.conn.closed:
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(readGrace):
		return io.ErrClosedPipe
	}
}

// readGrace is the time in which a read notices that its stream was closed.
const readGrace = time.Second

// read answers requests until it fails, and returns why.
func (s *ServerSession) read(ctx context.Context) error {
	for refusals := 0; refusals < maxRefusals; {
		m, err := s.conn.Read()
		if broken, ok := errors.AsType[*frameError](err); ok {
			s.malformed(&m, broken.Err)
		}
		if err == nil {
			err = s.dispatch(ctx, &m)
		}
		if err != nil {
			return err
		}
		if !s.greeted.Load() {
			refusals++
		}
	}
	return errors.New("gabp: too many messages before the hello")
}

// refuse answers m with an error.
func (s *ServerSession) refuse(m *message, err error) {
	s.answer(cmp.Or(m.ID, nilID), nil, err, nil)
}

// malformed refuses a message that is not as the protocol has it.
func (s *ServerSession) malformed(m *message, err error) {
	s.server.count(func(c *ServerStats) { c.Malformed++ })
	s.refuse(m, err)
}

// dispatch answers built-in methods, and passes others to the handler. An error
// ends the session.
func (s *ServerSession) dispatch(ctx context.Context, m *message) error {
	var wrong error
	switch {
	case m.refused != nil:
		wrong = m.refused
	case m.Type == typeResponse: // A server sends no requests. Answering could loop between two servers.
		s.server.count(func(c *ServerStats) { c.Malformed++ })
		return nil
	case m.Type == typeEvent:
		wrong = Errorf(codeInvalidRequest, "a server accepts only requests")
	case !s.server.cfg.Lax && !uuidPattern().MatchString(m.ID): // else the caller would not find the answer
		wrong = Errorf(codeInvalidField, "id must be a UUID of 36 characters")
	case !s.greeted.Load():
		return s.greet(ctx, m)
	default:
		m.read, wrong = readParams(m.Method, m.Params, s.server.cfg.Lax)
	}
	if wrong != nil {
		s.malformed(m, wrong)
		return nil
	}
	var result any = struct{}{}
	var err error
	switch m.Method {
	case methodHello:
		err = Errorf(codeInvalidRequest, "the session is already open")
	case methodPing, methodGoodbye:
	case methodEventsSubscribe:
		result, err = s.subscribe(m.read.(channelsParams))
	case methodEventsUnsub:
		result = s.unsubscribe(m.read.(channelsParams))
	case methodEventsList:
		result = s.listEvents()
	default:
		s.request(ctx, m)
		return nil
	}
	s.answer(m.ID, result, err, nil)
	if m.Method == methodGoodbye {
		return errGoodbye
	}
	return nil
}

// request passes m to its handler, unless ConcurrentRequests are running.
func (s *ServerSession) request(ctx context.Context, m *message) {
	select {
	case s.slots <- struct{}{}:
	default:
		s.server.count(func(c *ServerStats) { c.Busy++ })
		s.refuse(m, Errorf(CodeBusy, "%d requests are already running, which is the limit; not executed", cap(s.slots)))
		return
	}
	s.server.count(func(c *ServerStats) { c.Requests++ })
	req := &Request{ID: m.ID, Method: m.Method, Params: m.Params, Session: s, read: m.read}
	s.work.Go(func() { s.handle(ctx, req) })
}

// handle answers a request once: with the result of the handler, or at its timeout. The
// slot is free before the peer can read the answer, so that a peer with the maximum of
// requests is not refused the next; after a timeout, when the handler has returned.
func (s *ServerSession) handle(ctx context.Context, r *Request) {
	free := sync.OnceFunc(func() { <-s.slots })
	defer free()
	ctx, cancel := context.WithTimeout(ctx, s.server.limits.RequestTimeout)
	defer cancel()
	var once sync.Once
	late := func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return
		}
		once.Do(func() {
			s.server.count(func(c *ServerStats) { c.Timeouts++ })
			s.answer(r.ID, nil, s.timeout(r.Method), nil)
		})
	}
	stop := context.AfterFunc(ctx, late)
	result, err := s.call(ctx, r)
	stop()
	if errors.Is(err, context.DeadlineExceeded) {
		late()
	}
	once.Do(func() { s.answer(r.ID, result, err, free) })
}

func (s *ServerSession) timeout(method string) *Error {
	code := CodeTimeout
	if method == MethodToolsCall {
		code = CodeToolTimeout
	}
	return Errorf(code, "no answer within %v; the call may still take effect", s.server.limits.RequestTimeout)
}

// call calls the handler. A panic must not end the game in which it runs.
func (s *ServerSession) call(ctx context.Context, r *Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.server.count(func(c *ServerStats) { c.Panics++ })
			s.server.log.Error("gabp: handler panicked", "method", r.Method, "panic", fmt.Sprint(p))
			result, err = nil, Errorf(codeInternal, "internal error")
		}
	}()
	return s.server.cfg.Mux.serve(ctx, r)
}

// answer replies with a result or an error; placed is called as by [outbox.reply].
func (s *ServerSession) answer(id string, result any, err error, placed func()) {
	m := message{ID: id, Type: typeResponse}
	if v, ok := errors.AsType[*Verbatim](err); ok && len(v.text) <= s.server.limits.MessageSize-maxEnvelope {
		m.verbatim = v
		s.out.reply(m, placed)
		return
	}
	if err != nil {
		m.Error = asError(err)
	} else if m.Result, err = marshal(result); err != nil {
		m.Error = Errorf(codeInternal, "the result cannot be written as JSON: %v", err)
	}
	most := s.server.limits.MessageSize - maxEnvelope
	switch {
	case len(m.Result) > most:
		m.Error = Errorf(codeInternal, "a result of %d bytes, want at most %d; the call was executed", len(m.Result), most)
	case m.Error != nil && len(m.Error.Message)+len(m.Error.Data) > most/8:
		// A message may be escaped to six times its length.
		m.Error = Errorf(m.Error.Code, "%s", m.Error.Message)
	}
	s.out.reply(m, placed)
}

// offered returns the channels that can be subscribed to. The host may offer more
// than at the welcome.
func (s *ServerSession) offered() []string {
	if s.server.cfg.Capabilities == nil {
		return s.channels
	}
	return slices.Concat(s.channels, s.server.cfg.Capabilities().Events)
}

// subscribe returns the requested channels that the session is subscribed to
// now. It is an error if that is none.
func (s *ServerSession) subscribe(p channelsParams) (any, error) {
	offered, most := s.offered(), s.server.limits.Subscriptions
	wanted := distinct(p.Channels, func(c string) bool { return slices.Contains(offered, c) })
	if len(wanted) == 0 {
		return nil, Errorf(codeChannelNotFound, "this channel does not exist").WithData(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	subscribed := wanted[:0]
	for _, c := range wanted {
		if s.subs[c] || len(s.subs) < most {
			s.subs[c] = true
			subscribed = append(subscribed, c)
		}
	}
	if len(subscribed) == 0 {
		return nil, Errorf(codeSubscriptionFailed, "subscribed to %d channels, which is the limit", most)
	}
	return subscribeResult{Subscribed: subscribed}, nil
}

// unsubscribe returns the channels that the session was subscribed to. Their
// queued events are dropped. The numbers of a channel continue when it is subscribed
// to again.
func (s *ServerSession) unsubscribe(p channelsParams) unsubscribeResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	gone := distinct(p.Channels, func(c string) bool { return s.subs[c] })
	for _, c := range gone {
		delete(s.subs, c)
		s.out.drop(c)
	}
	return unsubscribeResult{Unsubscribed: gone}
}

func (s *ServerSession) listEvents() eventsListResult {
	named := distinct(s.offered(), func(c string) bool { return c != "" })
	s.mu.Lock()
	defer s.mu.Unlock()
	return eventsListResult{Channels: named, Subscribed: distinct(named, func(c string) bool { return s.subs[c] })}
}

// publish queues an event if the session is subscribed to its channel. A
// subscriber whose queue is full of events that must not be dropped is disconnected: after
// a new connection it reads the current state instead of missing events.
func (s *ServerSession) publish(e pendingEvent) {
	s.mu.Lock()
	if !s.subs[e.channel] {
		s.mu.Unlock()
		return
	}
	conflated, dropped, ok := s.out.event(e)
	first := dropped > 0 && !s.drops
	s.drops = s.drops || first
	s.mu.Unlock()
	s.server.count(func(c *ServerStats) {
		c.Published++
		c.EventsDropped += dropped
		if conflated {
			c.Conflated++
		}
	})
	if first { // once a session: there may be thousands
		s.server.log.Warn("gabp: a subscriber reads too slowly; forwarded events are dropped", "session", s.id, "consumer",
			s.Consumer, "queue", s.server.limits.EventQueue)
	}
	if !ok {
		s.server.count(func(c *ServerStats) { c.Disconnected++ })
		s.server.log.Warn("gabp: a subscriber reads too slowly; disconnected", "session", s.id, "consumer", s.Consumer,
			"queue", s.server.limits.EventQueue)
		s.close()
	}
}

// maxWrite bounds the bytes that one write begins with. Later events can replace those that are not taken.
const maxWrite = 16 << 10

// write sends the outbox until it ends or the peer does not read: all that waits at once, since a storm of events comes
// faster than single writes, up to an event whose sending is reported: the peer may answer it at once. It is the only
// writer of the connection.
func (s *ServerSession) write() error {
	for {
		var frames []byte
		var sent func(*ServerSession)
		for len(frames) < maxWrite && sent == nil {
			m, ok := s.out.take(frames == nil)
			if !ok {
				break
			}
			frames, sent = m.appendFrame(frames, false), m.sent
		}
		if frames == nil {
			return nil
		}
		if err := s.conn.write(frames); err != nil {
			s.close() // ends the reader too
			return err
		}
		if sent != nil {
			sent(s)
		}
	}
}

// greet answers messages before the session is open. An error ends it.
func (s *ServerSession) greet(ctx context.Context, m *message) error {
	if m.Method != methodHello {
		s.refuse(m, Errorf(codeAuthRequired, "send session/hello first"))
		return nil
	}
	p, err := readParams(methodHello, m.Params, false)
	h := p.(hello)
	if token := sha256.Sum256([]byte(h.Token)); h.Token != "" &&
		subtle.ConstantTimeCompare(token[:], s.server.token[:]) != 1 {
		err = Errorf(CodeAuthFailed, "authentication failed")
	}
	if err != nil {
		if e := asError(err); e.Code == CodeAuthFailed || e.Code == codeAuthRequired {
			s.server.count(func(c *ServerStats) { c.AuthFailures++ })
		}
		s.refuse(m, err)
		return err
	}
	s.Client = h.ClientInfo.Name
	s.Consumer = safeName(cmp.Or(s.Client, "bridge"), 40) + "#" + safeName(h.LaunchID, 16)
	w, err := s.welcome(ctx)
	if err != nil {
		s.refuse(m, err)
		return fmt.Errorf("gabp: welcome: %w", err)
	}
	s.channels = w.Capabilities.Events
	s.greeted.Store(true)
	s.server.count(func(c *ServerStats) { c.Sessions++ })
	s.conn.readBy = time.Time{}
	s.conn.maxRead.Store(int64(s.server.limits.MessageSize))
	s.server.log.Debug("gabp: session", "session", s.id, "consumer", s.Consumer)
	s.answer(m.ID, w, nil, nil)
	return nil
}

func (s *ServerSession) welcome(ctx context.Context) (Welcome, error) {
	cfg := &s.server.cfg
	w := Welcome{
		AgentID: cfg.AgentID, App: cfg.App, SchemaVersion: schemaVersion, ServerInfo: cfg.ServerInfo,
		Capabilities: s.server.capabilities(),
	}
	if cfg.Welcome != nil {
		if err := cfg.Welcome(s.conn.whileOpen(ctx), s, &w); err != nil {
			return w, err
		}
	}
	w.Capabilities.normalize(s.server.cfg.Lax)
	return w, nil
}

// capabilities returns the capabilities of the host and the server.
func (s *Server) capabilities() Capabilities {
	var c Capabilities
	if s.cfg.Capabilities != nil {
		c = s.cfg.Capabilities()
	}
	methods := []string{methodHello, methodPing, methodGoodbye, methodEventsSubscribe, methodEventsUnsub, methodEventsList}
	c.Methods = slices.Concat(methods, slices.Sorted(maps.Keys(s.cfg.Mux.handlers)), c.Methods)
	c.Events = slices.Concat(c.Events, s.cfg.Mux.channels)
	if t := s.cfg.Mux.resources; t != nil {
		c.Resources = slices.Clip(c.Resources)
		for _, r := range t.list.all() {
			c.Resources = append(c.Resources, r.URI)
		}
	}
	c.Limits = &WireLimits{
		MaxMessageSize:        s.limits.MessageSize,
		MaxConcurrentRequests: s.limits.ConcurrentRequests,
		RequestTimeout:        int(max(1, s.limits.RequestTimeout/time.Second)),
	}
	return c
}

// normalize makes c follow the schema: lists without repetition, and names that the
// protocol allows. The host's lists are not changed.
func (c *Capabilities) normalize(lax bool) {
	c.Methods = distinct(c.Methods, func(m string) bool { return lax || ValidName(m) })
	c.Events = distinct(c.Events, func(e string) bool { return e != "" && len(e) <= maxNameBytes })
	c.Resources = distinct(c.Resources, func(r string) bool { return r != "" })
}

func distinct(list []string, keep func(string) bool) []string {
	seen := make(map[string]bool, len(list))
	out := make([]string, 0, len(list))
	for _, s := range list {
		if !seen[s] && keep(s) {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// unsafeInName is what no name of a consumer has.
var unsafeInName = text.Lazy(`[^a-zA-Z0-9._-]`)

// safeName returns at most limit bytes of s, with '_' for all but letters, digits, '.', '_' and '-' of ASCII.
func safeName(s string, limit int) string {
	return unsafeInName().ReplaceAllString(s[:min(len(s), limit)], "_")
}
