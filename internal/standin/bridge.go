package standin

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The patience of a bridge.
const (
	bridgeTotal   = time.Minute            // for a game that it has started
	bridgeFirst   = 20 * time.Second       // of it, until the agent is answered
	bridgeConnect = 15 * time.Second       // when the agent asks it to connect
	bridgeAsk     = 30 * time.Second       // for an answer
	bridgeLook    = 2 * time.Second        // for the current attention; then the call is let through
	bridgeRetry   = 100 * time.Millisecond // between dials that are refused, doubled each time
	bridgeRetries = 5 * time.Second        // at most
)

// BridgeConfig is where a [Bridge] connects.
type BridgeConfig struct {
	Token string
	Dial  func(context.Context) (io.ReadWriteCloser, error)
	Speed int // divides all of its patience, for tests in real time; default 1
}

// Bridge replaces the bridge between an agent and a game in tests. It is safe for concurrent use.
//
// An attempt to connect dials until it is accepted, says hello once, and waits for the welcome for as long as the
// attempt lasts. After a start there are two: the agent waits for the first. The tools are listed once for each
// connection, and again if the agent asks to connect, or if none are known. A connection that ends is not replaced
// until the agent asks.
type Bridge struct {
	cfg        BridgeConfig
	ctx        context.Context // of background work
	stop       context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex
	current *bridgeConn
	tools   []string // of the current connection
}

// NewBridge returns a bridge that connects as cfg says. It must be closed.
func NewBridge(cfg BridgeConfig) *Bridge {
	cfg.Speed = cmp.Or(cfg.Speed, 1)
	b := &Bridge{cfg: cfg}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// within returns d of patience.
func (b *Bridge) within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d/time.Duration(b.cfg.Speed))
}

// Close ends the connection and all attempts.
func (b *Bridge) Close() {
	b.stop()
	b.Disconnect()
	b.background.Wait()
}

// Disconnect ends the connection.
func (b *Bridge) Disconnect() {
	if c := b.conn(); c != nil {
		_ = c.stream.Close()
		<-c.ended
	}
}

// Start connects to a game that the bridge has started. It returns after the first attempt; if that failed, a second
// attempt continues in the background.
func (b *Bridge) Start() error {
	err := b.attempt(bridgeFirst, false)
	if err != nil {
		b.background.Go(func() { _ = b.attempt(bridgeTotal-bridgeFirst, false) })
	}
	return err
}

// Connect connects to a running game when the agent asks for it.
func (b *Bridge) Connect() error {
	if c := b.conn(); c != nil {
		ctx, cancel := b.within(b.ctx, bridgeConnect)
		defer cancel()
		return b.mirror(ctx, c)
	}
	return b.attempt(bridgeConnect, true)
}

// Connected reports whether there is a connection.
func (b *Bridge) Connected() bool { return b.conn() != nil }

func (b *Bridge) conn() *bridgeConn {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current
}

// Mirrored returns the names of the tools that the bridge knows.
func (b *Bridge) Mirrored() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.tools)
}

// attempt dials and says hello. Only where the agent waits for the tools, a list that does not come ends the
// connection.
func (b *Bridge) attempt(patience time.Duration, wait bool) error {
	ctx, cancel := b.within(b.ctx, patience)
	defer cancel()
	stream, err := b.dial(ctx)
	if err != nil {
		return err
	}
	c := &bridgeConn{stream: stream, pending: map[string]chan reply{}, ended: make(chan struct{})}
	b.background.Go(func() { b.read(c) })
	welcome, err := c.ask(ctx, "session/hello", fmt.Sprintf(`{"token":%q,"bridgeVersion":"1.1.0","platform":"linux",`+
		`"launchId":%q,"clientInfo":{"name":"standin","version":"1.1.0"}}`, b.cfg.Token, newID()))
	if err == nil {
		err = json.Unmarshal(welcome, &c.welcome)
	}
	if err != nil {
		_ = stream.Close()
		return err
	}
	b.mu.Lock()
	b.current, b.tools = c, nil
	b.mu.Unlock()
	if wait {
		if err = b.mirror(ctx, c); err != nil {
			_ = stream.Close()
		}
		return err
	}
	b.background.Go(func() {
		ctx, cancel := b.within(b.ctx, bridgeAsk)
		defer cancel()
		_ = b.mirror(ctx, c)
	})
	return nil
}

// dial tries until it is accepted.
func (b *Bridge) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	speed := time.Duration(b.cfg.Speed)
	for wait := bridgeRetry; ; wait = min(2*wait, bridgeRetries) {
		stream, err := b.cfg.Dial(ctx)
		if err == nil {
			return stream, nil
		}
		select {
		case <-time.After(wait / speed):
		case <-ctx.Done():
			return nil, fmt.Errorf("no server became available: %w", ctx.Err())
		}
	}
}

// mirror lists the tools, and looks at the attention.
func (b *Bridge) mirror(ctx context.Context, c *bridgeConn) error {
	raw, err := c.ask(ctx, "tools/list", `{}`)
	if err != nil {
		return err
	}
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	b.mu.Lock()
	if b.current == c {
		for _, tool := range list.Tools { // those that are gone stay
			if !slices.Contains(b.tools, tool.Name) {
				b.tools = append(b.tools, tool.Name)
			}
		}
	}
	b.mu.Unlock()
	if c.welcome.attention() {
		_, _ = b.attention(c)
		ctx, cancel := b.within(ctx, bridgeLook)
		defer cancel()
		_, _ = c.ask(ctx, "events/subscribe",
			`{"channels":["attention/opened","attention/updated","attention/cleared"]}`)
	}
	return nil
}

// attention returns the id of the item that blocks, "" for none.
func (b *Bridge) attention(c *bridgeConn) (id string, err error) {
	ctx, cancel := b.within(b.ctx, bridgeLook)
	defer cancel()
	raw, err := c.ask(ctx, "attention/current", `{}`)
	if err != nil {
		return "", err
	}
	var item struct {
		Attention struct {
			AttentionID, State string
			Blocking           bool
		}
	}
	if err := json.Unmarshal(raw, &item); err != nil {
		return "", err
	}
	if a := item.Attention; a.Blocking && a.State != "cleared" {
		return a.AttentionID, nil
	}
	return "", nil
}

// Acknowledge acknowledges the blocking item.
func (b *Bridge) Acknowledge() error {
	c := b.conn()
	if c == nil {
		return ErrNotConnected
	}
	id, err := b.attention(c)
	if err != nil || id == "" {
		return err
	}
	ctx, cancel := b.within(b.ctx, bridgeLook)
	defer cancel()
	_, err = c.ask(ctx, "attention/ack", fmt.Sprintf(`{"attentionId":%q}`, id))
	return err
}

// Errors of [Bridge.Call].
var (
	ErrNotConnected = errors.New("the game is not connected")
	ErrHeldBack     = errors.New("not executed: important game information requires acknowledgement")
)

// Call calls a tool, known or not, with JSON as its parameters. Where the peer has attention, it is asked first;
// without an answer the call is let through.
func (b *Bridge) Call(tool, params string) (json.RawMessage, error) {
	c := b.conn()
	if c == nil {
		return nil, ErrNotConnected
	}
	if c.welcome.attention() {
		if id, _ := b.attention(c); id != "" {
			return nil, ErrHeldBack
		}
	}
	ctx, cancel := b.within(b.ctx, bridgeAsk)
	defer cancel()
	return c.ask(ctx, "tools/call", fmt.Sprintf(`{"name":%q,"parameters":%s}`, tool, params))
}

// read takes answers and events until the connection ends.
func (b *Bridge) read(c *bridgeConn) {
	defer func() {
		_ = c.stream.Close()
		b.mu.Lock()
		if b.current == c {
			b.current, b.tools = nil, nil
		}
		b.mu.Unlock()
		close(c.ended)
	}()
	r := bufio.NewReader(c.stream)
	for {
		text, err := readStrictly(r)
		if err != nil {
			return
		}
		var m struct {
			ID, Type, Channel string
			Result            json.RawMessage
			Error             *struct {
				Code    int
				Message string
			}
		}
		if json.Unmarshal(text, &m) != nil {
			continue
		}
		if m.Type == "response" {
			a := reply{result: m.Result}
			if m.Error != nil {
				a.err = fmt.Errorf("error %d: %s", m.Error.Code, m.Error.Message)
			}
			c.mu.Lock()
			waiting := c.pending[m.ID]
			delete(c.pending, m.ID)
			c.mu.Unlock()
			if waiting != nil {
				waiting <- a
			}
		}
	}
}

// readStrictly returns the text of the next message, whose header must be in the usual case.
func readStrictly(r *bufio.Reader) ([]byte, error) {
	length := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			break
		}
		if digits, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(digits); err != nil {
				return nil, err
			}
		}
	}
	if length < 0 {
		return nil, errors.New("a frame without Content-Length")
	}
	text := make([]byte, length)
	_, err := io.ReadFull(r, text)
	return text, err
}

// bridgeConn is a connection of a bridge.
type bridgeConn struct {
	stream  io.ReadWriteCloser
	welcome welcome
	ended   chan struct{}

	writing sync.Mutex
	mu      sync.Mutex
	pending map[string]chan reply
}

// welcome has the capabilities of the peer.
type welcome struct {
	Capabilities struct{ Methods []string }
}

func (w *welcome) attention() bool {
	return slices.Contains(w.Capabilities.Methods, "attention/current")
}

// reply answers a request.
type reply struct {
	result json.RawMessage
	err    error
}

// ask sends a request and returns its result. It forgets a request that is not answered in time.
func (c *bridgeConn) ask(ctx context.Context, method, params string) (json.RawMessage, error) {
	id, answer := newID(), make(chan reply, 1)
	text := fmt.Sprintf(`{"v":"gabp/1","id":%q,"type":"request","method":%q,"params":%s}`, id, method, params)
	c.mu.Lock()
	c.pending[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, id)
	}()
	c.writing.Lock()
	_, err := fmt.Fprintf(c.stream, "Content-Length: %d\r\n\r\n%s", len(text), text)
	c.writing.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answer:
		return a.result, a.err
	case <-c.ended:
		return nil, fmt.Errorf("%s: the connection has ended", method)
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: %w", method, ctx.Err())
	}
}

// newID returns an id for a request or a launch.
func newID() string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", rand.Uint32(), rand.Uint64()>>16)
}
