// Package fieldbridge has a bridge between an agent and a game with the habits and the patience of the bridge in the
// field, for tests.
package fieldbridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/framing"
)

// The patience of a bridge.
const (
	total   = time.Minute            // for a game that it has started
	first   = 20 * time.Second       // of it, until the agent is answered
	connect = 15 * time.Second       // when the agent asks it to connect
	ask     = 30 * time.Second       // for an answer
	look    = 2 * time.Second        // for the current attention; then the call is let through
	retry   = 100 * time.Millisecond // between dials that are refused, doubled each time
	retries = 5 * time.Second        // at most
)

// Config is where a [Bridge] connects.
type Config struct {
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
	cfg        Config
	ctx        context.Context // of background work
	stop       context.CancelFunc
	background sync.WaitGroup

	mu      sync.Mutex
	current *gabp.Client // nil, or ended: there is none
	tools   []string     // of the current connection
}

// New returns a bridge that connects as cfg says. It must be closed.
func New(cfg Config) *Bridge {
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
		_ = c.Close()
		<-c.Done()
	}
}

// Start connects to a game that the bridge has started. It returns after the first attempt; if that failed, a second
// attempt continues in the background.
func (b *Bridge) Start() error {
	err := b.attempt(first, false)
	if err != nil {
		b.background.Go(func() { _ = b.attempt(total-first, false) })
	}
	return err
}

// Connect connects to a running game when the agent asks for it.
func (b *Bridge) Connect() error {
	if c := b.conn(); c != nil {
		ctx, cancel := b.within(b.ctx, connect)
		defer cancel()
		return b.mirror(ctx, c)
	}
	return b.attempt(connect, true)
}

// Connected reports whether there is a connection.
func (b *Bridge) Connected() bool { return b.conn() != nil }

func (b *Bridge) conn() *gabp.Client {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current != nil && b.current.Err() != nil {
		b.current, b.tools = nil, nil
	}
	return b.current
}

// Mirrored returns the names of the tools that the bridge knows.
func (b *Bridge) Mirrored() []string {
	b.conn()
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
	c, err := gabp.NewClient(ctx, stream, gabp.ClientConfig{Token: b.cfg.Token, Name: "bridge", Limits: gabp.Limits{
		HelloTimeout: total, MessageSize: 2 * framing.MaxMessage, StringBytes: 2 * framing.MaxMessage,
	}})
	if err != nil {
		return err
	}
	b.mu.Lock()
	b.current, b.tools = c, nil
	b.mu.Unlock()
	if wait {
		if err = b.mirror(ctx, c); err != nil {
			_ = c.Close()
		}
		return err
	}
	b.background.Go(func() {
		ctx, cancel := b.within(b.ctx, ask)
		defer cancel()
		_ = b.mirror(ctx, c)
	})
	return nil
}

// dial tries until it is accepted.
func (b *Bridge) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	speed := time.Duration(b.cfg.Speed)
	for wait := retry; ; wait = min(2*wait, retries) {
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
func (b *Bridge) mirror(ctx context.Context, c *gabp.Client) error {
	var list struct{ Tools []gabp.Tool }
	if err := c.Call(ctx, gabp.MethodToolsList, struct{}{}, &list); err != nil {
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
	if attends(c) {
		_, _ = b.attention(c)
	}
	return nil
}

// attends reports whether the peer has attention.
func attends(c *gabp.Client) bool {
	return slices.Contains(c.Welcome().Capabilities.Methods, gabp.MethodAttentionCurrent)
}

// attention returns the id of the item that blocks, "" for none.
func (b *Bridge) attention(c *gabp.Client) (id string, err error) {
	ctx, cancel := b.within(b.ctx, look)
	defer cancel()
	var now gabp.CurrentResult
	if err := c.Call(ctx, gabp.MethodAttentionCurrent, struct{}{}, &now); err != nil {
		return "", err
	}
	if now.Attention != nil && now.Attention.Blocking {
		return now.Attention.ID, nil
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
	ctx, cancel := b.within(b.ctx, look)
	defer cancel()
	return c.Call(ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, nil)
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
	if attends(c) {
		if id, _ := b.attention(c); id != "" {
			return nil, ErrHeldBack
		}
	}
	ctx, cancel := b.within(b.ctx, ask)
	defer cancel()
	return c.CallRaw(ctx, gabp.MethodToolsCall, fmt.Appendf(nil, `{"name":%q,"parameters":%s}`, tool, params))
}
