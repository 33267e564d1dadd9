package gabp

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ServerSession is one connection of a [Server], once the bridge has said
// hello. It is safe for concurrent use.
type ServerSession struct {
	server *Server
	conn   *conn
	out    *outbox
	id     uint64
	slots  chan struct{} // one for each request at a time
	work   sync.WaitGroup

	// Set by the reader when the bridge says hello, greeted last, before any
	// request is handled; constant then.
	greeted  atomic.Bool
	hello    Hello
	viewer   string
	channels []string // of the welcome

	mu      sync.Mutex
	subs    map[string]bool
	gaveWay uint64 // events

	seq map[string]uint64 // the last of each channel; the writer's
}

func newServerSession(s *Server, c *conn) *ServerSession {
	c.maxRead.Store(int64(min(maxHelloSize, s.limits.MessageSize)))
	c.readBy = time.Now().Add(s.limits.HelloTimeout)
	return &ServerSession{
		server: s, conn: c, out: newOutbox(&s.limits), id: s.nextID.Add(1),
		slots: make(chan struct{}, s.limits.ConcurrentRequests),
		subs:  map[string]bool{}, seq: map[string]uint64{},
	}
}

// Hello returns what the bridge said of itself.
func (s *ServerSession) Hello() Hello { return s.hello }

// Viewer returns a name for the bridge that can stand in logs and be given to
// heed.Engine: at most 64 bytes of letters, digits and "._-#". It is made of the
// client's name and the id of its launch, so that a bridge that reconnects under
// the same one is the same viewer.
func (s *ServerSession) Consumer() string { return s.viewer }

// Close ends the session. It does not wait.
func (s *ServerSession) Close() {
	_ = s.conn.Close()
	s.out.close()
}

// Subscribed reports whether the session is subscribed to a channel.
func (s *ServerSession) subscribed(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subs[channel]
}

// serve reads requests until the stream ends or ctx is done.
func (s *ServerSession) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, s.Close)
	written := make(chan error, 1)
	go func() { written <- s.write() }()

	err := s.readUntilClosed(ctx)
	cancelled := ctx.Err() != nil
	stop()
	cancel() // handlers end
	s.out.end()
	writeErr := <-written
	if writeErr == nil && !cancelled && !errors.Is(err, io.EOF) {
		s.conn.linger()
	}
	s.Close()
	waitFor(&s.work)
	if s.greeted.Load() && s.server.cfg.Closed != nil {
		s.server.cfg.Closed(s)
	}
	switch {
	case cancelled, errors.Is(err, errGoodbye), errors.Is(err, io.EOF):
		err = nil
	case writeErr != nil:
		err = writeErr // then the reader failed because of it
	}
	s.mu.Lock()
	gaveWay := s.gaveWay
	s.mu.Unlock()
	s.server.log.Debug("gabp: connection ended", "session", s.id, "viewer", s.viewer, "gaveWay", gaveWay, "error", err)
	return err
}

// errGoodbye ends the reader of a session whose bridge has left.
var errGoodbye = errors.New("goodbye")

// readUntilClosed reads as read does, but does not wait long for a read that
// goes on after the stream was closed, as that of a terminal may.
func (s *ServerSession) readUntilClosed(ctx context.Context) error {
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-s.conn.closed:
	}
	t := time.NewTimer(readGrace)
	defer t.Stop()
	select {
	case err := <-ended:
		return err
	case <-t.C:
		return io.ErrClosedPipe
	}
}

// readGrace is the time for a read to notice that its stream was closed.
const readGrace = time.Second

// read answers requests until it cannot, and returns why.
func (s *ServerSession) read(ctx context.Context) error {
	refusals := 0
	for {
		m, err := s.conn.Read()
		var refused *Error
		var broken *frameError
		switch {
		case err == nil:
			err = s.dispatch(ctx, &m)
		case errors.As(err, &broken):
			s.server.counts.malformed.Add(1)
			s.refuse(&m, broken.Err)
			return err
		case errors.As(err, &refused):
			s.server.counts.malformed.Add(1)
			s.refuse(&m, refused)
			err = nil
		}
		if err != nil {
			return err
		}
		if !s.greeted.Load() {
			if refusals++; refusals >= maxRefusals {
				return errors.New("gabp: too many messages before the hello")
			}
		}
	}
}

// refuse answers m with an error.
func (s *ServerSession) refuse(m *message, e *Error) {
	id := m.ID
	if id == "" {
		id = nilID
	}
	s.out.reply(message{ID: id, Type: typeResponse, Error: e}, nil)
}

// dispatch answers what is built in, and has the rest handled. An error ends
// the session.
func (s *ServerSession) dispatch(ctx context.Context, m *message) error {
	if m.Type == typeResponse {
		// Nobody asked. An answer might go on for ever between two servers.
		s.server.counts.malformed.Add(1)
		return nil
	}
	if m.Type == typeEvent {
		s.server.counts.malformed.Add(1)
		e := m.validate()
		if e == nil {
			e = Errorf(codeInvalidRequest, "a server takes requests only")
		}
		s.refuse(m, e)
		return nil
	}
	if !s.greeted.Load() {
		return s.greet(ctx, m)
	}
	e := m.validate()
	if e != nil && s.server.cfg.LaxNames {
		e = m.validateLax()
	}
	if e != nil {
		s.server.counts.malformed.Add(1)
		s.refuse(m, e)
		return nil
	}
	switch m.Method {
	case methodHello:
		s.refuse(m, Errorf(codeInvalidRequest, "the session is open already"))
	case methodPing:
		s.answer(m.ID, struct{}{}, nil, nil)
	case methodGoodbye:
		s.answer(m.ID, struct{}{}, nil, nil)
		return errGoodbye
	case methodEventsSubscribe:
		s.subscribe(m)
	case methodEventsUnsub:
		s.unsubscribe(m)
	case methodEventsList:
		s.listEvents(m)
	default:
		s.request(ctx, m)
	}
	return nil
}

// request gives m to the handler, if there is room for one more.
func (s *ServerSession) request(ctx context.Context, m *message) {
	select {
	case s.slots <- struct{}{}:
	default:
		s.server.counts.busy.Add(1)
		s.refuse(m, Errorf(CodeBusy, "%d requests are being served, and no more at a time; not executed", cap(s.slots)))
		return
	}
	s.server.counts.requests.Add(1)
	req := &Request{ID: m.ID, Method: m.Method, Params: m.Params, Session: s}
	s.work.Go(func() { s.handle(ctx, req) })
}

// handle answers a request, once: with what the handler returns, or when the
// time for it is over. Its place is free before the peer can read the answer, so that one
// with as many requests as it may have is not refused the next; where the time was over
// before, when the handler has returned.
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
			s.server.counts.timeouts.Add(1)
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
	return Errorf(code, "no answer within %v; the call may still have effects", s.server.limits.RequestTimeout)
}

// call calls the handler. One that panics has a bug that should not end the
// game it runs in.
func (s *ServerSession) call(ctx context.Context, r *Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.server.counts.panics.Add(1)
			s.server.log.Error("gabp: handler panicked", "method", r.Method, "panic", fmt.Sprint(p))
			result, err = nil, Errorf(codeInternal, "internal error")
		}
	}()
	return s.server.cfg.Mux.serve(ctx, r)
}

// answer replies with a result or an error, and calls placed as [outbox.reply] does.
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
		m.Error = Errorf(codeInternal, "the result has no JSON form: %v", err)
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

// greet answers what comes before the session is open. An error ends it.
func (s *ServerSession) greet(ctx context.Context, m *message) error {
	if m.Method != methodHello {
		s.refuse(m, Errorf(codeAuthRequired, "say session/hello first"))
		return nil
	}
	hello, e := parseHello(m.Params)
	if token := sha256.Sum256([]byte(hello.Token)); hello.Token != "" && subtle.ConstantTimeCompare(token[:], s.server.token[:]) != 1 {
		e = Errorf(CodeAuthFailed, "authentication failed")
	}
	if e != nil {
		if e.Code == CodeAuthFailed || e.Code == codeAuthRequired {
			s.server.counts.authFailures.Add(1)
		}
		s.refuse(m, e)
		return e
	}
	s.hello = hello.Hello
	s.viewer = viewerName(&s.hello)
	w, err := s.welcome(ctx)
	if err != nil {
		s.refuse(m, asError(err))
		return fmt.Errorf("gabp: welcome: %w", err)
	}
	s.channels = w.Capabilities.Events
	s.greeted.Store(true)
	s.server.counts.sessions.Add(1)
	s.server.welcomed(s)
	s.conn.readBy = time.Time{}
	s.conn.maxRead.Store(int64(s.server.limits.MessageSize))
	s.server.log.Debug("gabp: session", "session", s.id, "viewer", s.viewer)
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
		if err := cfg.Welcome(ctx, s, &w); err != nil {
			return w, err
		}
	}
	w.Capabilities.normalize(s.server.cfg.LaxNames)
	return w, nil
}

// capabilities returns what the host offers and the server adds.
func (s *Server) capabilities() Capabilities {
	var c Capabilities
	if s.cfg.Capabilities != nil {
		c = s.cfg.Capabilities()
	}
	methods := []string{methodHello, methodPing, methodGoodbye, methodEventsSubscribe, methodEventsUnsub, methodEventsList}
	c.Methods = slices.Concat(methods, s.cfg.Mux.methods(), c.Methods)
	c.Events = slices.Concat(c.Events, s.cfg.Mux.channels)
	c.Limits = &WireLimits{
		MaxMessageSize:        s.limits.MessageSize,
		MaxConcurrentRequests: s.limits.ConcurrentRequests,
		RequestTimeout:        int(max(1, s.limits.RequestTimeout/time.Second)),
	}
	return c
}

// normalize makes c follow the schema: lists without repetition, and names
// that the protocol allows. Lists are new, so that the host's stay as they are.
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

// viewerName makes a name of what a bridge calls itself.
func viewerName(h *Hello) string {
	const nameBytes, launchBytes = 40, 16
	name := "bridge"
	if h.ClientInfo != nil && h.ClientInfo.Name != "" {
		name = h.ClientInfo.Name
	}
	b := appendSafeName(make([]byte, 0, nameBytes+1+launchBytes), name, nameBytes)
	return string(appendSafeName(append(b, '#'), h.LaunchID, launchBytes))
}

// appendSafeName appends at most limit bytes of s, with '_' for what is no
// letter, digit, '.', '_' or '-' of ASCII.
func appendSafeName(dst []byte, s string, limit int) []byte {
	for i := range min(len(s), limit) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-':
			dst = append(dst, c)
		default:
			dst = append(dst, '_')
		}
	}
	return dst
}

// known reports whether a channel can be subscribed to. What the host offers
// may have grown since the welcome.
func (s *ServerSession) known() func(channel string) bool {
	now := s.channels
	if s.server.cfg.Capabilities != nil {
		now = slices.Concat(now, s.server.cfg.Capabilities().Events)
	}
	return func(channel string) bool { return slices.Contains(now, channel) }
}

// subscribe answers with those channels that the session is subscribed to now.
// Only where that is none of those asked for it is an error.
func (s *ServerSession) subscribe(m *message) {
	p, e := parseChannels(m.Params)
	if e != nil {
		s.refuse(m, e)
		return
	}
	known := s.known()
	wanted := distinct(p.Channels, known)
	if len(wanted) == 0 {
		s.refuse(m, Errorf(codeChannelNotFound, "no channel of this name").WithData(p))
		return
	}
	s.mu.Lock()
	subscribed := wanted[:0]
	for _, c := range wanted {
		if s.subs[c] || len(s.subs) < s.server.limits.Subscriptions {
			s.subs[c] = true
			subscribed = append(subscribed, c)
		}
	}
	s.mu.Unlock()
	if len(subscribed) == 0 {
		s.refuse(m, Errorf(codeSubscriptionFailed, "subscribed to %d channels, and no more at a time", s.server.limits.Subscriptions))
		return
	}
	s.answer(m.ID, subscribeResult{Subscribed: subscribed}, nil, nil)
}

// unsubscribe answers with those channels that the session was subscribed to.
// Events that wait are not sent any more. A channel's numbers go on where it is
// subscribed to again.
func (s *ServerSession) unsubscribe(m *message) {
	p, e := parseChannels(m.Params)
	if e != nil {
		s.refuse(m, e)
		return
	}
	gone := []string{}
	s.mu.Lock()
	for _, c := range p.Channels {
		if s.subs[c] {
			delete(s.subs, c)
			s.out.drop(c)
			gone = append(gone, c)
		}
	}
	s.mu.Unlock()
	s.answer(m.ID, unsubscribeResult{Unsubscribed: gone}, nil, nil)
}

func (s *ServerSession) listEvents(m *message) {
	channels := s.channels
	if s.server.cfg.Capabilities != nil {
		channels = slices.Concat(channels, s.server.cfg.Capabilities().Events)
	}
	list := eventsListResult{Channels: distinct(channels, func(c string) bool { return c != "" }), Subscribed: []string{}}
	s.mu.Lock()
	for _, c := range list.Channels {
		if s.subs[c] {
			list.Subscribed = append(list.Subscribed, c)
		}
	}
	s.mu.Unlock()
	s.answer(m.ID, list, nil, nil)
}

// publish queues an event where the session is subscribed to its channel. A
// subscriber whose queue is full of events that do not pass is disconnected: it would miss
// some, and a new connection that asks for what is current serves it better.
func (s *ServerSession) publish(e pendingEvent) {
	s.mu.Lock()
	if !s.subs[e.channel] {
		s.mu.Unlock()
		return
	}
	conflated, gaveWay, ok := s.out.event(e)
	first := gaveWay > 0 && s.gaveWay == 0
	s.gaveWay += gaveWay
	s.mu.Unlock()
	s.server.counts.published.Add(1)
	s.server.counts.gaveWay.Add(gaveWay)
	if conflated {
		s.server.counts.conflated.Add(1)
	}
	if first { // not for each: there may be thousands
		s.server.log.Warn("gabp: subscriber does not keep up; events that pass give way", "session", s.id, "viewer", s.viewer, "queue", s.server.limits.EventQueue)
	}
	if !ok {
		s.server.counts.dropped.Add(1)
		s.server.log.Warn("gabp: subscriber does not keep up; disconnected", "session", s.id, "viewer", s.viewer, "queue", s.server.limits.EventQueue)
		s.Close()
	}
}

// write sends what the outbox has, until there is nothing more to come or the
// peer does not take it. It is the only writer of the connection.
func (s *ServerSession) write() error {
	var (
		replies []message
		events  []pendingEvent
		frames  []byte
		ok      bool
	)
	for {
		replies, events, ok = s.out.take(replies[:0], events[:0])
		if !ok {
			return nil
		}
		frames = frames[:0]
		for i := range replies {
			frames = appendFrame(frames, &replies[i])
		}
		for _, e := range events {
			seq := s.seq[e.channel] + e.lost + 1
			s.seq[e.channel] = seq
			frames = appendFrame(frames, &message{
				ID: newID(), Type: typeEvent, Channel: e.channel, Seq: seq, Payload: e.payload,
			})
		}
		if err := s.conn.write(frames); err != nil {
			s.Close() // the reader ends too
			return err
		}
		for _, e := range events {
			if e.sent != nil {
				e.sent(s)
			}
		}
		clear(replies)
		clear(events)
		if cap(frames) > 2*writeBatchBytes {
			frames = nil // what a large message took is not kept
		}
	}
}
