//go:build unix

package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func init() { answerWithin, drainGrace, keepEvery = patience, patience, 20*time.Millisecond }

// fakeBridge is a client as bridges in the field are: it sends no Content-Type,
// "parameters" in place of "arguments" and its own name of the platform, has a new
// launch id for each connection, and handles events in no order.
type fakeBridge struct {
	t    testing.TB
	conn net.Conn
	gone chan struct{} // closed when the connection has ended

	mu      sync.Mutex
	next    int
	waiting map[string]chan answer
	events  []answer
}

type answer struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Result  json.RawMessage `json:"result"`
	Channel string          `json:"channel"`
	Seq     int             `json:"seq"`
	Payload json.RawMessage `json:"payload"`
	Error   *struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
}

// dial connects as soon as somebody listens, and says hello.
func dial(t testing.TB, addr, token string) (*fakeBridge, answer) {
	t.Helper()
	b := connect(t, addr)
	return b, b.call("session/hello", hello(token))
}

// come is dial for a bridge that is welcome.
func come(t testing.TB, addr, token string) *fakeBridge {
	t.Helper()
	b, welcome := dial(t, addr, token)
	require.Nil(t, welcome.Error)
	return b
}

// redial is dial where there may be no place for one more connection, which is closed at once: those that went are
// noticed late on a busy machine.
func redial(t testing.TB, addr, token string) *fakeBridge {
	t.Helper()
	for began := time.Now(); time.Since(began) < patience; {
		b := connect(t, addr)
		answered, err := b.post("session/hello", hello(token))
		if err != nil {
			continue
		}
		select {
		case welcome := <-answered:
			require.Nil(t, welcome.Error)
			return b
		case <-b.gone:
		}
	}
	require.Fail(t, "no place for one more connection")
	panic("unreachable")
}

// hello returns the parameters of a hello with a new launch id.
func hello(token string) string { return helloOf(token, fmt.Sprint(time.Now().UnixNano())) }

func helloOf(token, launch string) string {
	return fmt.Sprintf(
		`{"token":%q,"bridgeVersion":"1.0","platform":"darwin","launchId":"launch-%s","clientInfo":{"name":"gabs","version":"1.0"}}`,
		token, launch)
}

// connect connects as soon as somebody listens.
func connect(t testing.TB, addr string) *fakeBridge {
	t.Helper()
	b := &fakeBridge{t: t, waiting: map[string]chan answer{}, gone: make(chan struct{})}
	require.Eventually(t, func() bool {
		var err error
		b.conn, err = net.Dial("tcp", addr)
		return err == nil
	}, patience, 5*time.Millisecond, "nobody listens at %s", addr)
	t.Cleanup(func() { _ = b.conn.Close() })
	go b.read()
	return b
}

func (b *fakeBridge) read() {
	defer close(b.gone)
	r := textproto.NewReader(bufio.NewReader(b.conn))
	for {
		header, err := r.ReadMIMEHeader()
		if err != nil {
			return
		}
		data := make([]byte, testkit.Must(strconv.Atoi(header.Get("Content-Length"))))
		if _, err := io.ReadFull(r.R, data); err != nil {
			return
		}
		var m answer
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		b.mu.Lock()
		if m.Type == "event" {
			b.events = append(b.events, m)
		} else if ch := b.waiting[m.ID]; ch != nil {
			ch <- m
		}
		b.mu.Unlock()
	}
}

// send sends a request and returns what its answer will come by.
func (b *fakeBridge) send(method, params string) <-chan answer {
	b.t.Helper()
	return testkit.Must(b.post(method, params))
}

func (b *fakeBridge) post(method, params string) (<-chan answer, error) {
	ch := make(chan answer, 1)
	b.mu.Lock()
	b.next++
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", b.next)
	b.waiting[id] = ch
	b.mu.Unlock()
	text := fmt.Sprintf(`{"v":"gabp/1","id":%q,"type":"request","method":%q,"params":%s}`, id, method, params)
	_, err := fmt.Fprintf(b.conn, "Content-Length: %d\r\n\r\n%s", len(text), text)
	return ch, err
}

func (b *fakeBridge) call(method, params string) answer {
	b.t.Helper()
	select {
	case a := <-b.send(method, params):
		return a
	case <-time.After(patience):
		require.Fail(b.t, "no answer to "+method)
		panic("unreachable")
	}
}

// tool calls a tool.
func (b *fakeBridge) tool(name, what string) answer {
	b.t.Helper()
	return b.call("tools/call", fmt.Sprintf(`{"name":%q,"parameters":{"what":%q}}`, name, what))
}

// entries returns the latest entries.
func (b *fakeBridge) entries() string {
	b.t.Helper()
	return string(b.call("tools/call", `{"name":"heed/entries","arguments":{"limit":500}}`).Result)
}

// item is an attention item as a bridge reads it.
type item struct {
	AttentionID      string `json:"attentionId"`
	Blocking         bool   `json:"blocking"`
	StateInvalidated bool   `json:"stateInvalidated"`
	Summary          string `json:"summary"`
	CausalMethod     string `json:"causalMethod"`
	Total            int    `json:"totalUrgentEntries"`
}

// current asks for what is open.
func (b *fakeBridge) current() *item {
	b.t.Helper()
	var r struct{ Attention *item }
	a := b.call("attention/current", `{}`)
	require.Nil(b.t, a.Error)
	require.NoError(b.t, json.Unmarshal(a.Result, &r))
	return r.Attention
}

// blocked waits until something blocking is open.
func (b *fakeBridge) blocked() *item {
	b.t.Helper()
	var got *item
	await(b.t, func() bool {
		got = b.current()
		return got != nil && got.Blocking
	})
	return got
}

func (b *fakeBridge) ack(id string) (acknowledged bool, open *item) {
	b.t.Helper()
	a := b.call("attention/ack", fmt.Sprintf(`{"attentionId":%q}`, id))
	require.Nil(b.t, a.Error)
	var r struct {
		Acknowledged     bool
		CurrentAttention *item
	}
	require.NoError(b.t, json.Unmarshal(a.Result, &r))
	return r.Acknowledged, r.CurrentAttention
}

// clear acknowledges all that is open.
func (b *fakeBridge) clear() {
	b.t.Helper()
	for open := b.current(); open != nil; open = b.current() {
		b.ack(open.AttentionID)
	}
}

// eventsOn returns the events of a channel so far.
func (b *fakeBridge) eventsOn(channel string) []answer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.events), func(e answer) bool { return e.Channel != channel })
}
