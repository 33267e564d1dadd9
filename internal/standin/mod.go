// Package standin has a replacement of the library of a game's mod, with the habits of real ones, for tests. It does
// not use package gabp, since it would share its faults.
package standin

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/textproto"
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
	Tools        []string // messages that answer tools/list; default: "colony/build"; "colony/look", which observes
	Channels     []string // of events
	Capabilities string   // more members of the capabilities, such as `"methods":["state/get"]`

	// Answers returns the messages that answer a request, in which $ID is the id of the request; nil answers nothing. It
	// is not asked about hello, tools/list and subscriptions. Default: `{"done":true}` to tools/call, and that other
	// methods are not known.
	Answers func(method, params string) []string

	Unlocked   bool          // writes header and body of a frame in two writes; other frames may come between
	Characters bool          // counts UTF-16 units in place of bytes: other text than ASCII hangs it
	Parts      bool          // writes header and body in two writes, with nothing between them
	Delay      time.Duration // of each answer to a call
	Frozen     bool          // from the start on; see [Mod.Freeze]
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
	writing chan struct{} // holds one token while a frame is written, unless the mod is Unlocked

	subscribed map[string]bool // of Mod.mu
}

// NewMod returns a mod that does as cfg says.
func NewMod(cfg ModConfig) *Mod {
	if cfg.Tools == nil {
		cfg.Tools = Result(`{"tools":[{"name":"colony/build","description":"builds"},` +
			`{"name":"colony/look","description":"looks","tags":["observation"]}]}`)
	}
	if cfg.Answers == nil {
		cfg.Answers = func(method, _ string) []string {
			if method == "tools/call" {
				return Result(`{"done":true}`)
			}
			return Failure(fmt.Sprintf(`{"code":-32601,"message":"Method '%s' not found"}`, method))
		}
	}
	m := &Mod{cfg: cfg, seqs: map[string]int{}}
	m.frozen.Store(cfg.Frozen)
	return m
}

// ServeConn serves one connection until it ends, and closes it.
func (m *Mod) ServeConn(stream io.ReadWriteCloser) {
	c := &modConn{mod: m, stream: stream, writing: make(chan struct{}, 1), subscribed: map[string]bool{}}
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

// Freeze makes the mod answer nothing, or ends that. Requests that come until then are never answered.
func (m *Mod) Freeze(frozen bool) { m.frozen.Store(frozen) }

// Asked returns the requests so far, with their parameters, but for hellos, lists of tools and subscriptions.
func (m *Mod) Asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.got)
}

// Publish sends an event to each connection that has subscribed to its channel. The payload is JSON.
func (m *Mod) Publish(channel, payload string) {
	m.mu.Lock()
	m.seqs[channel]++
	text := fmt.Sprintf(`{"channel":%q,"seq":%d,"payload":%s,"v":"gabp/1","id":"%08x-0000-4000-8000-000000000000","type":"event"}`,
		channel, m.seqs[channel], payload, rand.Uint32())
	list := slices.DeleteFunc(slices.Clone(m.conns), func(c *modConn) bool { return !c.subscribed[channel] })
	m.mu.Unlock()
	for _, c := range list {
		c.send(text)
	}
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
	var q struct {
		ID, Method string
		Params     json.RawMessage
	}
	if json.Unmarshal([]byte(text), &q) != nil || c.mod.frozen.Load() {
		return
	}
	messages := c.answers(q.Method, q.Params)
	if c.mod.frozen.Load() {
		return
	}
	for _, text := range messages {
		c.send(strings.ReplaceAll(text, "$ID", q.ID))
	}
}

// answers returns the messages that answer a request.
func (c *modConn) answers(method string, params json.RawMessage) []string {
	m := c.mod
	list := func(channels []string) string {
		text, _ := json.Marshal(append([]string{}, channels...))
		return string(text)
	}
	switch method {
	case "session/hello":
		capabilities := `"events":` + list(m.cfg.Channels)
		if m.cfg.Capabilities != "" {
			capabilities += "," + m.cfg.Capabilities
		}
		return Result(`{"agentId":"mod","app":{"name":"Colony","version":"1"},"capabilities":{` + capabilities +
			`},"schemaVersion":"1.0"}`)
	case "session/goodbye":
		return Result(`{}`)
	case "tools/list":
		return m.cfg.Tools
	case "events/subscribe", "events/unsubscribe":
		var named struct{ Channels []string }
		_ = json.Unmarshal(params, &named)
		channels := slices.DeleteFunc(named.Channels, func(s string) bool { return !slices.Contains(m.cfg.Channels, s) })
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, s := range channels {
			c.subscribed[s] = method == "events/subscribe"
		}
		return Result(fmt.Sprintf(`{"%sd":%s}`, strings.TrimPrefix(method, "events/"), list(channels)))
	}
	m.mu.Lock()
	m.got = append(m.got, strings.TrimSpace(method+" "+string(params)))
	m.mu.Unlock()
	time.Sleep(m.cfg.Delay)
	return m.cfg.Answers(method, string(params))
}

// Result returns the answer with a result, for [ModConfig.Answers].
func Result(text string) []string {
	return []string{`{"result":` + text + `,"error":null,"v":"gabp/1","id":"$ID","type":"response"}`}
}

// Failure returns the answer with an error, for [ModConfig.Answers].
func Failure(text string) []string {
	return []string{`{"error":` + text + `,"v":"gabp/1","id":"$ID","type":"response"}`}
}

// send writes a frame.
func (c *modConn) send(text string) {
	parts := []string{fmt.Sprintf("Content-Length: %d\r\nContent-Type: application/json\r\n\r\n", len(text)), text}
	if !c.mod.cfg.Unlocked {
		c.writing <- struct{}{}
		defer func() { <-c.writing }()
	}
	if !c.mod.cfg.Unlocked && !c.mod.cfg.Parts {
		parts = []string{parts[0] + text}
	}
	for _, part := range parts {
		if _, err := io.WriteString(c.stream, part); err != nil {
			return
		}
	}
}
