package gabp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"time"
)

// errClosed is what calls return after [Client.Close].
var errClosed = errors.New("gabp: client closed")

// ClientConfig configures a [Client].
type ClientConfig struct {
	Token    string // required
	Name     string // of the program; default "heed"
	Version  string // of the program; default "0"
	Platform string // "windows", "macos" or "linux"; default: this one
	LaunchID string // a UUID; default: a new one

	// Limits bounds the memory that the server can make this side use, and its
	// waits.
	Limits Limits

	// Logger receives events of the connection, never a token or the text of a
	// message. Default: none.
	Logger *slog.Logger
}

// Client is the bridge's side of the protocol: one connection with an open
// session. It is safe for concurrent use.
type Client struct {
	conn    *conn
	log     *slog.Logger
	welcome Welcome
	done    chan struct{}

	mu      sync.Mutex
	pending map[string]chan message
	ended   bool
	err     error

	handlers sync.Map // functions of an [Event], by channel
	events   eventQueue
}

// Dial connects to a server at "127.0.0.1:4711" or "unix:/path" and opens a
// session. ctx and Limits.HelloTimeout bound both, and nothing after Dial has
// returned. A refused hello is an [*Error].
func Dial(ctx context.Context, addr string, cfg ClientConfig) (*Client, error) {
	network, address, err := splitAddr(addr)
	if err != nil {
		return nil, err
	}
	limits, err := cfg.Limits.withDefaults()
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: limits.HelloTimeout}
	conn, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("gabp: %w", err)
	}
	return NewClient(ctx, conn, cfg)
}

// NewClient opens a session on a stream, which it closes when it ends or fails.
// The rest is as with [Dial].
func NewClient(ctx context.Context, rwc io.ReadWriteCloser, cfg ClientConfig) (*Client, error) {
	limits, err := cfg.Limits.withDefaults()
	if err != nil {
		_ = rwc.Close()
		return nil, err
	}
	c := &Client{
		conn:    newClientConn(rwc, limits),
		log:     cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)),
		pending: map[string]chan message{}, done: make(chan struct{}),
	}
	c.events.init(&limits)
	go c.run()

	ctx, cancel := context.WithTimeout(ctx, limits.HelloTimeout)
	defer cancel()
	if err := c.hello(ctx, &cfg); err != nil {
		c.end(err)
		<-c.done
		return nil, fmt.Errorf("gabp: hello: %w", err)
	}
	return c, nil
}

func (c *Client) hello(ctx context.Context, cfg *ClientConfig) error {
	platform := cmp.Or(map[string]string{"darwin": "macos"}[runtime.GOOS], runtime.GOOS) // by its name in the protocol
	return c.Call(ctx, methodHello, hello{
		Token: cfg.Token, BridgeVersion: cmp.Or(cfg.Version, "0"), Platform: cmp.Or(cfg.Platform, platform),
		LaunchID:   cmp.Or(cfg.LaunchID, newID()),
		ClientInfo: &Info{Name: cmp.Or(cfg.Name, "heed"), Version: cmp.Or(cfg.Version, "0")},
	}, &c.welcome)
}

// Welcome returns the server's answer to the hello. Its slices are shared: read
// only. Its texts are untrusted.
func (c *Client) Welcome() Welcome { return c.welcome }

// CaughtUp waits until the events have been handled that came before an answer that was received. It returns the error
// of ctx.
func (c *Client) CaughtUp(ctx context.Context) error { return c.events.wait(ctx) }

// Call calls a method with the JSON form of params (none if it is nil), and decodes the result into result (unless
// it is nil). An [*Error] is a refusal of the server. After any other error it is not known whether the call was
// executed.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	var raw json.RawMessage
	if params != nil {
		var err error
		if raw, err = marshal(params); err != nil {
			return fmt.Errorf("gabp: %s: params: %w", method, err)
		}
	}
	raw, err := c.CallRaw(ctx, method, raw)
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("gabp: %s: result: %w", method, err)
	}
	return nil
}

// CallRaw is Call with params and a result that are passed on byte for byte.
// params must be a JSON object, or empty. The result belongs to the caller.
//
// A call waits for its answer until ctx is done, or for Limits.RequestTimeout
// if that ends earlier. More than Limits.ConcurrentRequests at a time are
// refused at once with [CodeBusy]. An answer that is not as the protocol has it is
// a [*Verbatim].
func (c *Client) CallRaw(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, c.conn.limits.RequestTimeout)
	defer cancel()
	id := newID()
	answer := make(chan message, 1)
	if err := c.enter(id, answer); err != nil {
		return nil, err
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, id)
	}()
	if err := c.conn.Write(message{ID: id, Type: typeRequest, Method: method, Params: params}); err != nil {
		if _, tooLarge := errors.AsType[*Error](err); !tooLarge {
			c.end(err)
		}
		return nil, err
	}
	select {
	case m, ok := <-answer:
		switch {
		case !ok:
			return nil, c.Err()
		case m.verbatim != nil:
			return nil, m.verbatim
		case m.Error != nil:
			return nil, m.Error
		}
		return m.Result, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("gabp: %s: no answer: %w", method, ctx.Err())
	}
}

// enter registers a call.
func (c *Client) enter(id string, answer chan message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
		return c.err
	case len(c.pending) >= c.conn.limits.ConcurrentRequests:
		return Errorf(CodeBusy, "%d calls already wait for an answer, which is the limit; not sent", len(c.pending))
	}
	c.pending[id] = answer
	return nil
}

// Events subscribes to channels and calls f for each of their events, in the
// order of arrival, one at a time; all handlers of a client share one goroutine,
// so that the order holds across channels too. A channel has one handler, the
// last. If f does not keep up, the oldest queued events are dropped, and counted
// in [Event].Lost of the next one.
//
// It returns the channels that the server knows and now sends.
func (c *Client) Events(ctx context.Context, channels []string, f func(Event)) ([]string, error) {
	for _, name := range channels {
		c.handlers.Store(name, f) // before the answer: an event may precede it
	}
	var result subscribeResult
	err := c.Call(ctx, methodEventsSubscribe, channelsParams{Channels: channels}, &result)
	return result.Subscribed, err
}

// CallTool calls a tool. arguments must have the JSON form of an object, or be
// nil.
func (c *Client) CallTool(ctx context.Context, name string, arguments any) (result json.RawMessage, err error) {
	err = c.Call(ctx, MethodToolsCall, struct {
		Name      string `json:"name"`
		Arguments any    `json:"arguments,omitempty"`
	}{name, arguments}, &result)
	return result, err
}

// Close ends the session without waiting for an answer, and closes the connection.
// Calls in flight return an error. The client has ended when Done is closed.
func (c *Client) Close() error {
	if c.fail(errClosed) {
		stop := c.conn.closeAt(time.Now().Add(goodbyeTimeout))
		_ = c.conn.Write(message{ID: newID(), Type: typeRequest, Method: methodGoodbye})
		stop()
	}
	c.end(errClosed)
	return nil
}

// goodbyeTimeout bounds how long a server that does not read delays a Close.
const goodbyeTimeout = 500 * time.Millisecond

// Done returns a channel that is closed when the connection has ended and no handler
// of events runs any more.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the connection ended, nil until then.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// fail makes all calls return why. It returns false if they already fail.
func (c *Client) fail(why error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.ended, c.err = true, why
	for id, answer := range c.pending {
		delete(c.pending, id)
		close(answer)
	}
	return true
}

// end ends the connection for the first reason given.
func (c *Client) end(why error) {
	c.fail(why)
	_ = c.conn.Close()
	c.events.close()
}

// run reads messages until the connection ends; another goroutine calls handlers.
func (c *Client) run() {
	var handlers sync.WaitGroup
	handlers.Go(c.deliver)
	err := c.read()
	c.end(fmt.Errorf("gabp: connection ended: %w", err))
	c.log.Debug("gabp: connection ended", "error", c.Err())
	handlers.Wait()
	close(c.done)
}

func (c *Client) read() error {
	for {
		m, err := c.conn.Read()
		if err != nil {
			return err
		}
		if m.refused != nil {
			m = c.unaccepted(&m)
		}
		switch m.Type {
		case typeResponse:
			c.resolve(m)
		case typeEvent:
			c.events.push(Event{Channel: m.Channel, Seq: m.Seq, Payload: m.Payload})
		} // a server sends no requests
	}
}

// unaccepted returns a refused message as the answer to the call whose id it has, and an
// empty message if it has none.
func (c *Client) unaccepted(m *message) message {
	if m.Type == typeRequest || m.Type == typeEvent {
		return message{}
	}
	id, start, end := findID(m.text, func(id string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, ok := c.pending[id]
		return ok
	})
	if id == "" {
		return message{}
	}
	if m.length > 0 {
		return message{ID: id, Type: typeResponse, Error: m.refused}
	}
	c.log.Warn("gabp: an answer does not follow the protocol", "error", m.refused)
	return message{ID: id, Type: typeResponse, verbatim: &Verbatim{
		Err: m.refused, Failed: m.Error != nil, text: m.text, start: start, end: end,
	}}
}

// resolve gives an answer to the call that waits for it, if one does.
func (c *Client) resolve(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.pending[m.ID]
	if ok {
		delete(c.pending, m.ID)
		answer <- m
	}
}

// deliver calls handlers until the queue is closed.
func (c *Client) deliver() {
	for {
		e, ok := c.events.pop()
		if !ok {
			return
		}
		f, _ := c.handlers.Load(e.Channel)
		if f, _ := f.(func(Event)); f != nil {
			f(e)
		}
	}
}

// eventQueue passes events from the reader, which must not wait, to their
// handlers.
type eventQueue struct {
	maxEvents, maxBytes int

	mu     sync.Mutex
	filled sync.Cond
	queue  []Event
	bytes  int
	lost   uint64 // dropped before the oldest in the queue
	closed bool

	pushed, handled uint64 // events so far; handled is without those in the queue and the one in progress
}

func (q *eventQueue) init(lim *Limits) {
	q.maxEvents, q.maxBytes = lim.EventQueue, 4*min(lim.MessageSize, maxQueued)
	q.filled.L = &q.mu
}

func (q *eventQueue) push(e Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) >= q.maxEvents || len(q.queue) > 0 && q.bytes+len(e.Payload) > q.maxBytes {
		q.shiftLocked()
		q.lost++
	}
	q.queue = append(q.queue, e)
	q.bytes += len(e.Payload)
	q.pushed++
	q.filled.Broadcast()
}

func (q *eventQueue) shiftLocked() Event {
	e := q.queue[0]
	q.queue[0] = Event{}
	q.queue = q.queue[1:]
	q.bytes -= len(e.Payload)
	return e
}

// pop waits for an event, and returns false once the queue is closed and empty.
func (q *eventQueue) pop() (Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handled = q.pushed - uint64(len(q.queue))
	q.filled.Broadcast()
	for len(q.queue) == 0 && !q.closed {
		q.filled.Wait()
	}
	if len(q.queue) == 0 {
		return Event{}, false
	}
	e := q.shiftLocked()
	e.Lost, q.lost = q.lost, 0
	return e, true
}

func (q *eventQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}

// wait waits until the events that are in the queue, and the one in progress, have been handled.
func (q *eventQueue) wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.filled.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	through := q.pushed
	for q.handled < through && !q.closed && ctx.Err() == nil {
		q.filled.Wait()
	}
	if q.handled >= through || q.closed {
		return nil
	}
	return ctx.Err()
}
