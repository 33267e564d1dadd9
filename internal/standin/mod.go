// Package standin has a replacement of the library of a game's mod, with the habits of real ones, for tests and
// benchmarks. It does not use package gabp, since it would share its faults.
package standin

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// ModConfig configures the habits of a [Mod]. The zero value is a mod without any.
type ModConfig struct {
	Token        string   // that a hello must have; "": any
	Tools        string   // JSON of the result of tools/list; default: "colony/build"; "colony/look", which observes
	Channels     []string // of events
	Capabilities string   // more members of the capabilities, such as `"methods":["state/get"]`

	// Answers returns the messages that answer a request, in which $ID is the id of the request; nil answers nothing. It
	// is not asked about hello, tools/list and subscriptions. Default: `{"done":true}` to tools/call, and that other
	// methods are not known.
	Answers func(method, params string) []string `json:"-"`
	// Lists returns the messages that answer tools/list in place of Tools. Optional.
	Lists func() []string `json:"-"`

	Unlocked   bool          // writes header and body of a frame in two writes; other frames may come between
	Characters bool          // counts UTF-16 units in place of bytes: other text than ASCII hangs it
	Nagle      bool          // leaves out TCP_NODELAY
	After      time.Duration // listens only then
	Delay      time.Duration // of each answer to a call
	Frozen     bool          // from the start on; see [Mod.Freeze]
	Result     int           // least bytes of the default result of a call
	Storm      int           // events a second, on the first of Channels
	LogPath    string        // a line is appended before and after each call
}

// Mod replaces the library of a game's mod, the server of the protocol, in tests. It is safe for concurrent use.
type Mod struct {
	cfg    ModConfig
	frozen atomic.Bool

	mu    sync.Mutex
	conns []*modConn // said hello or wait for it, in the order of coming
	seqs  map[string]int
	got   []string
}

// modConn is a connection to a mod.
type modConn struct {
	mod     *Mod
	stream  io.ReadWriteCloser
	writing chan struct{} // holds one token while a group of frames is written, but by one that is Unlocked
	ended   chan struct{}

	subscribed map[string]bool // of Mod.mu
}

// NewMod returns a mod that does as cfg says.
func NewMod(cfg ModConfig) *Mod {
	cfg.Tools = cmp.Or(cfg.Tools, `{"tools":[{"name":"colony/build","description":"builds"},`+
		`{"name":"colony/look","description":"looks","tags":["observation"]}]}`)
	m := &Mod{cfg: cfg, seqs: map[string]int{}}
	m.frozen.Store(cfg.Frozen)
	return m
}

// Serve listens at a TCP address and serves connections until ctx is done.
func (m *Mod) Serve(ctx context.Context, addr string) error {
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(m.cfg.After):
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	return m.ServeListener(ctx, l)
}

// ServeListener serves connections that come to l, which it closes, until ctx is done.
func (m *Mod) ServeListener(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer m.Disconnect()
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	if m.cfg.Storm > 0 {
		all.Go(func() { m.storm(ctx) })
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if tcp, ok := conn.(*net.TCPConn); ok && m.cfg.Nagle {
			_ = tcp.SetNoDelay(false)
		}
		all.Go(func() { m.ServeConn(conn) })
	}
}

// ServeConn serves one connection until it ends, and closes it.
func (m *Mod) ServeConn(stream io.ReadWriteCloser) {
	c := &modConn{
		mod: m, stream: stream, writing: make(chan struct{}, 1), ended: make(chan struct{}), subscribed: map[string]bool{},
	}
	defer close(c.ended)
	defer stream.Close() //nolint:errcheck // nothing is lost
	m.mu.Lock()
	m.conns = append(m.conns, c)
	m.mu.Unlock()
	defer m.remove(c)
	var handling sync.WaitGroup
	defer handling.Wait()
	defer stream.Close() //nolint:errcheck // before the handlers are waited for
	r := bufio.NewReader(stream)
	for {
		text, err := m.readFrame(r)
		if err != nil {
			return
		}
		handling.Go(func() { c.handle(text) })
	}
}

func (m *Mod) remove(c *modConn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conns = slices.DeleteFunc(m.conns, func(other *modConn) bool { return other == c })
}

// Disconnect closes all connections.
func (m *Mod) Disconnect() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.conns {
		_ = c.stream.Close()
	}
}

// Freeze makes the mod answer nothing and send no events, or ends that. Requests that come until then are never
// answered.
func (m *Mod) Freeze(frozen bool) { m.frozen.Store(frozen) }

// Asked returns the requests so far, with their parameters, but for hellos, lists of tools and subscriptions.
func (m *Mod) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got)
}

// Publish sends an event to each connection that has subscribed to its channel. The payload is JSON.
func (m *Mod) Publish(channel, payload string) {
	text := m.event(channel, payload)
	m.mu.Lock()
	list := slices.DeleteFunc(slices.Clone(m.conns), func(c *modConn) bool { return !c.subscribed[channel] })
	m.mu.Unlock()
	for _, c := range list {
		c.send(text)
	}
}

func (m *Mod) event(channel, payload string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seqs[channel]++
	return fmt.Sprintf(`{"channel":%q,"seq":%d,"payload":%s,"v":"gabp/1","id":"%08x-0000-4000-8000-000000000000","type":"event"}`,
		channel, m.seqs[channel], payload, rand.Uint32())
}

func (m *Mod) storm(ctx context.Context) {
	every := time.Second / time.Duration(m.cfg.Storm)
	began := time.Now()
	for n := 0; ctx.Err() == nil; {
		for ; ctx.Err() == nil && time.Duration(n)*every < time.Since(began); n++ {
			if !m.frozen.Load() {
				m.Publish(m.cfg.Channels[0], fmt.Sprintf(`{"level":"info","message":"All is well %s"}`, strings.Repeat("x", n%200)))
			}
		}
		time.Sleep(min(every, time.Millisecond))
	}
}

// Line appends a line to the log.
func (m *Mod) Line(text string) {
	if m.cfg.LogPath == "" {
		return
	}
	f, err := os.OpenFile(m.cfg.LogPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // a test misses the line
	_, _ = fmt.Fprintln(f, text)
}

// readFrame returns the text of the next message.
func (m *Mod) readFrame(r *bufio.Reader) (string, error) {
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	if err != nil {
		return "", err
	}
	length, _ := strconv.Atoi(header.Get("Content-Length"))
	if !m.cfg.Characters {
		text := make([]byte, length)
		_, err := io.ReadFull(r, text)
		return string(text), err
	}
	var text strings.Builder
	for units := 0; units < length; units++ {
		char, _, err := r.ReadRune()
		if err != nil {
			return "", err
		}
		if char > 0xffff {
			units++ // a surrogate pair
		}
		text.WriteRune(cmp.Or(char, utf8.RuneError))
	}
	return text.String(), nil
}

// handle answers one request.
func (c *modConn) handle(text string) {
	m := c.mod
	var q struct {
		ID, Method string
		Params     json.RawMessage
	}
	if json.Unmarshal([]byte(text), &q) != nil || m.frozen.Load() {
		return
	}
	var hello struct{ Token string }
	var channels struct{ Channels []string }
	switch q.Method {
	case "session/hello":
		_ = json.Unmarshal(q.Params, &hello)
		if m.cfg.Token != "" && hello.Token != m.cfg.Token {
			c.answer(q.ID, Failure(`{"code":-32101,"message":"Invalid authentication token"}`))
			return
		}
		events, _ := json.Marshal(slices.Concat([]string{}, m.cfg.Channels))
		more := ""
		if m.cfg.Capabilities != "" {
			more = "," + m.cfg.Capabilities
		}
		c.answer(q.ID, Result(fmt.Sprintf(`{"agentId":"mod","app":{"name":"Colony","version":"1"},"capabilities":{"events":%s%s},`+
			`"schemaVersion":"1.0"}`, events, more)))
	case "session/goodbye":
		c.answer(q.ID, Result(`{}`))
	case "tools/list":
		if m.cfg.Lists != nil {
			c.answer(q.ID, m.cfg.Lists())
			return
		}
		c.answer(q.ID, Result(m.cfg.Tools))
	case "events/subscribe", "events/unsubscribe":
		_ = json.Unmarshal(q.Params, &channels)
		known := slices.DeleteFunc(channels.Channels, func(s string) bool { return !slices.Contains(m.cfg.Channels, s) })
		m.mu.Lock()
		for _, s := range known {
			c.subscribed[s] = q.Method == "events/subscribe"
		}
		m.mu.Unlock()
		list, _ := json.Marshal(slices.Concat([]string{}, known))
		c.answer(q.ID, Result(fmt.Sprintf(`{"%sd":%s}`, strings.TrimPrefix(q.Method, "events/"), list)))
	default:
		m.mu.Lock()
		m.got = append(m.got, strings.TrimSpace(q.Method+" "+string(q.Params)))
		m.mu.Unlock()
		c.call(q.ID, q.Method, string(q.Params))
	}
}

// call answers a request that may do something.
func (c *modConn) call(id, method, params string) {
	m := c.mod
	tool := method
	if method == "tools/call" {
		var call struct{ Name string }
		_ = json.Unmarshal([]byte(params), &call)
		tool = call.Name
	}
	m.Line(tool + " begins")
	time.Sleep(m.cfg.Delay)
	var answer []string
	switch {
	case m.cfg.Answers != nil:
		answer = m.cfg.Answers(method, params)
	case method == "tools/call":
		answer = Result(fmt.Sprintf(`{"done":true,"text":"%s"}`, strings.Repeat("x", m.cfg.Result)))
	default:
		answer = Failure(fmt.Sprintf(`{"code":-32601,"message":"Method '%s' not found"}`, method))
	}
	m.Line(tool + " ends")
	if m.frozen.Load() {
		return
	}
	c.answer(id, answer)
}

func (c *modConn) answer(id string, messages []string) {
	for _, text := range messages {
		c.send(strings.ReplaceAll(text, "$ID", id))
	}
}

// Result returns the answer with a result, for [ModConfig.Answers].
func Result(text string) []string {
	return []string{`{"result":` + text + `,"error":null,"v":"gabp/1","id":"$ID","type":"response"}`}
}

// Failure returns the answer with an error, for [ModConfig.Answers].
func Failure(text string) []string {
	return []string{`{"error":` + text + `,"v":"gabp/1","id":"$ID","type":"response"}`}
}

func header(text string) string {
	return fmt.Sprintf("Content-Length: %d\r\nContent-Type: application/json\r\n\r\n", len(text))
}

// send writes a frame.
func (c *modConn) send(text string) {
	switch {
	case c.mod.cfg.Unlocked:
		_, _ = io.WriteString(c.stream, header(text))
		_, _ = io.WriteString(c.stream, text)
	case c.mod.cfg.Nagle:
		c.write(header(text), text)
	default:
		c.write(header(text) + text)
	}
}

// write writes parts of frames with nothing between them.
func (c *modConn) write(parts ...string) {
	select {
	case c.writing <- struct{}{}:
	case <-c.ended:
		return
	}
	defer func() { <-c.writing }()
	for _, part := range parts {
		if _, err := io.WriteString(c.stream, part); err != nil {
			return
		}
	}
}
