package gabp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestParseAttention: what an engine returns follows the schemas, and is read as it was.
func TestParseAttention(t *testing.T) {
	for _, a := range []heed.Item{
		{ID: "x-1"},
		{
			ID: "x-1", Severity: 99, Blocking: true, Summary: "a\nb\x1b[31m\u202e", CausalOperationID: "op\x00",
			CausalMethod: strings.Repeat("é", 5000),
		},
		{ID: "x-1", State: "cleared", Blocking: true, StateInvalidated: true, Summary: strings.Repeat("s", 5000)},
		{
			ID: "x-1", OpenedAtSequence: 1 << 60, LatestSequence: 1 << 63, DiagnosticsCursor: 1<<64 - 1,
			TotalUrgentEntries: 1 << 54,
			Sample: []heed.Sample{{}, {
				Level: 77, Message: "Content-Length: 5\r\n\r\n{}", RepeatCount: 1 << 60,
				LatestSequence: 1 << 60,
			}},
		},
	} {
		a.Sanitize()
		text := testkit.Must(json.Marshal(a))
		check(t, "common/attention.schema.json", text)
		back := testkit.Must(ParseAttention(text))
		require.Equal(t, a, back)
	}
}

// TestProject: an item with a value in each field has the fields of the protocol alone when it is sent, and an item of the
// engine those that the protocol requires.
func TestProject(t *testing.T) {
	var a heed.Item
	testkit.Fill(&a)
	a.State, a.Sample[0].Blame = "open", []string{"mod"}
	own := testkit.Must(json.Marshal(a))
	require.Contains(t, string(own), `"history"`)
	sent := Project(&a)
	text := testkit.Must(json.Marshal(sent))
	check(t, "common/attention.schema.json", text)
	back := testkit.Must(ParseAttention(text))
	require.Equal(t, *sent, back, "nothing of the protocol is lost")
	require.NotContains(t, string(text), `"history"`)
	require.Equal(t, []string{"mod"}, a.Sample[0].Blame, "the item keeps what it has")
	require.Nil(t, Project(nil))
}

// channel is what a handler published, in order.
type channel struct {
	mu   sync.Mutex
	told []string
	ids  []string
}

func (c *channel) publish(name, key string, payload any, _ func(*ServerSession)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := payload.(*heed.Item)
	if a.ID != key {
		return errors.New("another key")
	}
	c.told = append(c.told, strings.TrimPrefix(name, "attention/"))
	c.ids = append(c.ids, key)
	return nil
}

// take returns what was published since, as "kind id".
func (c *channel) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, len(c.told))
	for i := range out {
		out[i] = c.told[i] + " " + c.ids[i]
	}
	c.told, c.ids = nil, nil
	return out
}

func newEngine(t testing.TB) *heed.Engine {
	t.Helper()
	e := testkit.Must(heed.New(heed.Config{Epoch: "t"}))
	return e
}

func raise(e *heed.Engine, key string, d event.Disposition) string {
	return e.Raise(heed.Report{
		Key: key, Disposition: d, Severity: event.SeverityError, Summary: "Trouble with " + key,
		Message: key,
	})
}

func TestAttentionEvents(t *testing.T) {
	e, out := newEngine(t), &channel{}
	p := &Attention{Engine: e, Publish: out.publish}
	pump := func() []string {
		p.Pump(e.Updates(nil))
		return out.take()
	}
	require.Empty(t, pump())
	a := raise(e, "a", event.Advisory)
	require.Equal(t, []string{"opened " + a}, pump())
	require.Empty(t, pump(), "nothing new")
	b := raise(e, "b", event.Blocking)
	require.Equal(t, []string{"opened " + b}, pump(), "a more urgent one")
	c := raise(e, "c", event.Blocking)
	require.Empty(t, pump(), "it waits behind another")
	require.True(t, e.Clear(b))
	require.Equal(t, []string{"cleared " + b, "opened " + c}, pump())
	require.True(t, e.Clear(c))
	require.Equal(t, []string{"cleared " + c, "updated " + a}, pump(), "cleared is not the last word")
	d := raise(e, "d", event.Blocking)
	require.Equal(t, []string{"opened " + d}, pump())
	require.True(t, e.Clear(a))
	require.Equal(t, []string{"cleared " + a, "updated " + d}, pump())
	f := raise(e, "f", event.Blocking)
	require.True(t, e.Clear(f))
	require.Empty(t, pump(), "nobody heard of it")
	require.True(t, e.Clear(d))
	require.Equal(t, []string{"cleared " + d}, pump())
}

// TestAttentionOverTheWire goes through all of it as a bridge does.
func TestAttentionOverTheWire(t *testing.T) {
	e := newEngine(t)
	mux := new(Mux)
	s := start(t, func(c *ServerConfig) {
		c.Mux, c.Capabilities = mux, nil
	})
	handler := &Attention{Engine: e, Publish: s.Publish}
	handler.Register(mux)

	p := dial(t, s.addr)
	w := p.hello()
	require.Subset(t, w.Capabilities.Methods, []string{"attention/current", "attention/ack"})
	require.Equal(t, []string{"attention/opened", "attention/updated", "attention/cleared"}, w.Capabilities.Events)
	require.Equal(t, `{"attention":null}`, string(p.call("attention/current", `{}`).Result))
	require.Nil(t, p.call("events/subscribe", `{"channels":["attention/opened","attention/updated","attention/cleared"]}`).Error)

	for i := range 3 {
		e.Log(event.Log{Level: event.LevelError, Message: fmt.Sprintf("Exception: boom %d\r\nContent-Length: 2\r\n\r\n{}",
			i)})
	}
	id := raise(e, "save", event.Blocking)
	handler.Pump(e.Updates(nil))
	m := p.recv("")
	require.Equal(t, "attention/opened", m.Channel)
	a := testkit.Must(ParseAttention(m.Payload))
	var current CurrentResult
	require.NoError(t, json.Unmarshal(p.call("attention/current", `{}`).Result, &current))
	require.Equal(t, a.ID, current.Attention.ID)

	var ack AckResult
	require.NoError(t, json.Unmarshal(p.call("attention/ack", `{"attentionId":"nonsense"}`).Result, &ack))
	require.False(t, ack.Acknowledged)
	require.Equal(t, a.ID, ack.CurrentAttention.ID)
	for range 3 { // what is open, until nothing is
		ack = AckResult{}
		require.NoError(t, json.Unmarshal(p.call("attention/ack", `{"attentionId":"`+a.ID+`"}`).Result, &ack))
		require.True(t, ack.Acknowledged)
		if ack.CurrentAttention == nil {
			break
		}
		a.ID = ack.CurrentAttention.ID
	}
	require.Nil(t, ack.CurrentAttention)
	handler.Pump(e.Updates(nil))
	require.Equal(t, "attention/cleared", p.recv("").Channel)
	require.NotEmpty(t, id)
}

// TestAttentionWithoutEvents: who cannot publish advertises no channel, and who has no items cannot serve them.
func TestAttentionWithoutEvents(t *testing.T) {
	mux := new(Mux)
	(&Attention{Engine: newEngine(t)}).Register(mux)
	s := start(t, func(c *ServerConfig) { c.Mux, c.Capabilities = mux, nil })
	p := dial(t, s.addr)
	require.Empty(t, p.hello().Capabilities.Events)
	require.PanicsWithValue(t, "gabp: Attention.Engine and Attention.Source are nil; set one before Register",
		func() { new(Attention).Register(mux) })
}

// TestPumpDelivers holds that an item counts as delivered when its event was written, as far as the event goes, and that
// a cleared one is told as it is now.
func TestPumpDelivers(t *testing.T) {
	e := newEngine(t)
	var told []heed.Item
	var written []func(*ServerSession)
	p := &Attention{
		Engine: e,
		Publish: func(_, _ string, payload any, sent func(*ServerSession)) error {
			told, written = append(told, *payload.(*heed.Item)), append(written, sent)
			return nil
		},
	}
	id := raise(e, "a", event.Blocking)
	raise(e, "a", event.Blocking)
	p.Pump(nil)
	raise(e, "a", event.Blocking)
	written[0](&ServerSession{Consumer: "v"})
	require.True(t, e.Ack("v", id, 0).Acknowledged)
	p.Pump(nil)
	require.Len(t, told, 2)
	require.EqualValues(t, 2, told[0].TotalUrgentEntries)
	require.EqualValues(t, 3, told[1].TotalUrgentEntries)
	require.Equal(t, "cleared", told[1].State)

	raise(e, "b", event.Blocking)
	raise(e, "b", event.Blocking)
	p.Pump(nil)
	b := told[2]
	raise(e, "b", event.Blocking)
	written[2](&ServerSession{Consumer: "v"})
	require.Equal(t, b.LatestSequence, e.Ack("v", b.ID, 0).Watermark)
}
