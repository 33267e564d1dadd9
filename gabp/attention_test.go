package gabp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
		text, err := json.Marshal(a)
		require.NoError(t, err)
		check(t, "common/attention.schema.json", text)
		back, err := ParseAttention(text)
		require.NoError(t, err)
		require.Equal(t, a, back)
	}
}

// TestProject: an item with a value in each field has the fields of the protocol alone when it is sent, and an item of the
// engine those that the protocol requires.
func TestProject(t *testing.T) {
	var a heed.Item
	testkit.Fill(&a)
	a.State, a.Sample[0].Blame = "open", []string{"mod"}
	own, err := json.Marshal(a)
	require.NoError(t, err)
	require.Contains(t, string(own), `"history"`)
	sent := Project(&a)
	text, err := json.Marshal(sent)
	require.NoError(t, err)
	check(t, "common/attention.schema.json", text)
	back, err := ParseAttention(text)
	require.NoError(t, err)
	require.Equal(t, sent, back, "nothing of the protocol is lost")
	require.NotContains(t, string(text), `"history"`)
	require.Equal(t, []string{"mod"}, a.Sample[0].Blame, "the item keeps what it has")
	h := newHandler(t, AttentionConfig{Source: newEngine(t)})
	require.Equal(t, &sent, h.Present(a))
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
	e, err := heed.New(heed.Config{Epoch: "t"})
	require.NoError(t, err)
	return e
}

func raise(e *heed.Engine, key string, d event.Disposition) string {
	return e.Raise(heed.Report{
		Key: key, Disposition: d, Severity: event.SeverityError, Summary: "Trouble with " + key,
		Message: key,
	})
}

// newHandler returns a handler that answers in any time, unless cfg says otherwise: a machine that
// stands still for a moment must not make it blind.
func newHandler(t testing.TB, cfg AttentionConfig) *AttentionHandler {
	t.Helper()
	cfg.Budget = cmp.Or(cfg.Budget, patience)
	p, err := NewAttentionHandler(cfg)
	require.NoError(t, err)
	return p
}

func TestAttentionEvents(t *testing.T) {
	e, out := newEngine(t), &channel{}
	p := newHandler(t, AttentionConfig{Source: e, Publish: out.publish})
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

func TestAttentionAnswers(t *testing.T) {
	ctx := context.Background()
	e := newEngine(t)
	synced := 0
	p := newHandler(t, AttentionConfig{Source: e, Before: func(context.Context) error {
		if synced++; synced == 1 {
			raise(e, "a", event.Blocking) // evidence that was there, and not taken in
		}
		return nil
	}})
	a := p.Current(ctx, "v").Attention
	require.NotNil(t, a)
	require.True(t, a.Blocking)
	r := p.Ack(ctx, "v", "wrong")
	require.False(t, r.Acknowledged)
	require.Equal(t, a.ID, r.CurrentAttention.ID)
	r = p.Ack(ctx, "v", a.ID)
	require.Equal(t, AckResult{Acknowledged: true, AttentionID: a.ID}, r.AckResult)
	require.Nil(t, p.Current(ctx, "v").Attention)
	require.Equal(t, 4, synced)

	require.Len(t, r.Covered, 1)
	require.Equal(t, a.ID, r.Covered[0].ID)
	require.Equal(t, "cleared", r.Covered[0].State)
	require.Empty(t, r.Open)
	require.Empty(t, p.Ack(ctx, "v", a.ID).Covered, "it was covered before")

	observe := newHandler(t, AttentionConfig{Source: e, ObserveOnly: true})
	raise(e, "b", event.Blocking)
	require.False(t, observe.Current(ctx, "v").Attention.Blocking)
	require.True(t, p.Current(ctx, "v").Attention.Blocking)

	_, err := NewAttentionHandler(AttentionConfig{})
	require.ErrorContains(t, err, "Source")
	_, err = NewAttentionHandler(AttentionConfig{Source: e, Budget: -1})
	require.ErrorContains(t, err, "Budget")
}

// TestAckNames: an answer names what was cleared by it, and what else is open.
func TestAckNames(t *testing.T) {
	e := newEngine(t)
	p := newHandler(t, AttentionConfig{Source: e, ObserveOnly: true})
	first := raise(e, "a", event.Blocking)
	second := raise(e, "b", event.Blocking)
	advisory := raise(e, "c", event.Advisory)
	ids := func(list []heed.Item) (ids []string) {
		for _, a := range list {
			ids = append(ids, a.ID)
		}
		return ids
	}
	shown := p.Current(t.Context(), "v").Attention
	require.Equal(t, first, shown.ID)
	late := raise(e, "d", event.Blocking)
	r := p.Ack(t.Context(), "v", first)
	require.Equal(t, []string{first, second, advisory}, ids(r.Covered), shown.Summary)
	require.Equal(t, []string{late}, ids(r.Open), "what was not shown")
	require.False(t, r.Open[0].Blocking, "as clients see it")

	require.Equal(t, Acknowledgement{
		AckResult: AckResult{AttentionID: "x", CurrentAttention: r.CurrentAttention}, Open: r.Open,
	}, p.Ack(t.Context(), "v", "x"))
}

// TestAttentionBlind: where the evidence cannot be taken in, that is what is open,
// until it is acknowledged or over.
func TestAttentionBlind(t *testing.T) {
	ctx := context.Background()
	e, out := newEngine(t), &channel{}
	var broken atomic.Bool
	p := newHandler(t, AttentionConfig{Source: e, Publish: out.publish, Before: func(context.Context) error {
		if broken.Load() {
			return errors.New("disk\n gone")
		}
		return nil
	}})
	id := raise(e, "a", event.Blocking)
	p.Pump(e.Updates(nil))
	require.Equal(t, []string{"opened " + id}, out.take())

	broken.Store(true)
	blind := p.Current(ctx, "v").Attention
	require.True(t, blind.Blocking)
	require.NotEqual(t, id, blind.ID)
	require.Contains(t, blind.Summary, `disk\n gone`)
	require.Equal(t, []string{"opened " + blind.ID}, out.take())
	require.Equal(t, blind.ID, p.Current(ctx, "v").Attention.ID, "one id")
	p.Pump([]heed.Update{{Item: heed.Item{ID: id}}})
	require.Empty(t, out.take(), "it stays, and precedes what is known")

	r := p.Ack(ctx, "v", blind.ID)
	require.True(t, r.Acknowledged)
	require.Equal(t, id, r.CurrentAttention.ID, "what is known stands")
	require.Len(t, r.Covered, 1)
	require.Equal(t, blind.ID, r.Covered[0].ID)
	require.Len(t, r.Open, 1)
	require.Equal(t, id, r.Open[0].ID)
	require.Equal(t, []string{"cleared " + blind.ID, "updated " + id}, out.take())
	require.Equal(t, id, p.Current(ctx, "v").Attention.ID)

	broken.Store(false)
	require.Equal(t, id, p.Current(ctx, "v").Attention.ID)
	require.Empty(t, out.take())
	broken.Store(true)
	again := p.Current(ctx, "v").Attention
	require.NotEqual(t, blind.ID, again.ID, "blind again is new")
	out.take()
	broken.Store(false)
	require.Equal(t, id, p.Current(ctx, "v").Attention.ID)
	require.Equal(t, []string{"cleared " + again.ID, "updated " + id}, out.take(), "seeing again is told")
	text, err := json.Marshal(again)
	require.NoError(t, err)
	check(t, "common/attention.schema.json", text)
}

// stuck is a source that does not answer.
type stuck struct {
	*heed.Engine
	hang chan struct{}
}

func (s stuck) Current(viewer string) (heed.Item, bool) {
	<-s.hang
	return s.Engine.Current(viewer)
}

func (s stuck) Open(dst []heed.Item) []heed.Item {
	<-s.hang
	return s.Engine.Open(dst)
}

// TestAttentionLate: an answer comes within the budget, whatever is stuck.
func TestAttentionLate(t *testing.T) {
	noLeaks(t)
	hang := make(chan struct{})
	defer close(hang)
	out := &channel{}
	for _, cfg := range []AttentionConfig{
		{Source: newEngine(t), Before: func(context.Context) error { <-hang; return nil }},
		{Source: stuck{newEngine(t), hang}},
		{Source: stuck{newEngine(t), hang}, Before: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
	} {
		cfg.Budget, cfg.Publish = 20*time.Millisecond, out.publish
		p := newHandler(t, cfg)
		begin := time.Now()
		a := p.Current(context.Background(), "v").Attention
		require.Less(t, time.Since(begin), patience/2)
		require.True(t, a.Blocking)
		require.Contains(t, a.Summary, "cannot see")
		require.NotEmpty(t, out.take())
		r := p.Ack(context.Background(), "v", a.ID)
		require.True(t, r.Acknowledged)
		require.Nil(t, r.CurrentAttention, "the agent wants to go on")
		require.Nil(t, p.Current(context.Background(), "v").Attention)
	}
	// A bridge that left is no reason to be blind.
	p := newHandler(t, AttentionConfig{
		Source: newEngine(t), Publish: out.publish,
		Before: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p.Current(ctx, "v")
	require.Empty(t, out.take())
}

// TestAttentionOverTheWire goes through all of it as a bridge does.
func TestAttentionOverTheWire(t *testing.T) {
	e := newEngine(t)
	mux := new(Mux)
	var handler *AttentionHandler
	s := start(t, func(c *ServerConfig) {
		c.Mux, c.Capabilities = mux, nil
	})
	handler = newHandler(t, AttentionConfig{Source: e, Publish: s.Publish})
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
	a, err := ParseAttention(m.Payload)
	require.NoError(t, err)
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

func BenchmarkCurrent(b *testing.B) {
	e := newEngine(b)
	mux := new(Mux)
	handler := newHandler(b, AttentionConfig{Source: e})
	handler.Register(mux)
	raise(e, "a", event.Blocking)
	s := start(b, func(c *ServerConfig) { c.Mux = mux })
	c := connect(b, s.addr, nil)
	b.ReportAllocs()
	for b.Loop() {
		raw, err := c.CallRaw(context.Background(), MethodAttentionCurrent, nil)
		if err != nil || len(raw) < 100 {
			b.Fatal(err, raw)
		}
	}
}

// BenchmarkPublish sends events to a client that keeps up: as many wait as it
// is granted.
func BenchmarkPublish(b *testing.B) {
	s := start(b, nil)
	c := connect(b, s.addr, nil)
	grants := make(chan struct{}, defaultEventQueue/2)
	next := uint64(0)
	_, err := c.Events(context.Background(), []string{"a/b"}, func(e Event) {
		if next++; e.Seq != next {
			panic("BUG: a hole")
		}
		<-grants
	})
	require.NoError(b, err)
	payload := json.RawMessage(`{"attentionId":"t-1","state":"open","severity":"error","blocking":true,"summary":"` +
		strings.Repeat("x", 150) + `"}`)
	b.ReportAllocs()
	for b.Loop() {
		grants <- struct{}{}
		if err := s.Publish("a/b", "", payload, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPump holds when an event is sent without another item: for an update of the current one, and not for one of
// others; that the one announced last is cleared first; and that an acknowledgement is as far as was delivered.
func TestPump(t *testing.T) {
	e, out := newEngine(t), &channel{}
	source := &asks{Engine: e}
	p := newHandler(t, AttentionConfig{Source: source, Publish: out.publish})
	a := raise(e, "a", event.Advisory)
	p.Pump(nil)
	b := raise(e, "b", event.Blocking)
	p.Pump(nil)
	require.Equal(t, []string{"opened " + a, "opened " + b}, out.take())
	p.Pump([]heed.Update{{Item: heed.Item{ID: a}}})
	require.Empty(t, out.take())
	p.Pump([]heed.Update{{Item: heed.Item{ID: a}}, {Item: heed.Item{ID: b}}})
	require.Equal(t, []string{"updated " + b}, out.take())
	require.True(t, e.Clear(a))
	require.True(t, e.Clear(b))
	p.Pump(nil)
	require.Equal(t, []string{"cleared " + b, "cleared " + a}, out.take())
	require.Empty(t, p.announced)

	for _, key := range []string{"c", "d", "e"} {
		raise(e, key, event.Advisory)
	}
	open := e.Open(nil)
	for _, i := range []int{1, 2, 0} { // the order of an earlier time
		p.announced[open[i].ID], p.lastAnnounced = open[i], open[i].ID
	}
	for _, o := range open {
		require.True(t, e.Clear(o.ID))
	}
	p.Pump(nil)
	require.Equal(t, []string{"cleared " + open[0].ID, "cleared " + open[1].ID, "cleared " + open[2].ID}, out.take())

	p.Ack(t.Context(), "v", b)
	require.Equal(t, []string{"v " + b + " 0"}, source.acks)
}

// TestPumpDelivers holds that an item counts as delivered when its event was written, as far as the event goes, and that
// a cleared one is told as it is now.
func TestPumpDelivers(t *testing.T) {
	e := newEngine(t)
	var told []heed.Item
	var written []func(*ServerSession)
	p := newHandler(t, AttentionConfig{
		Source: e,
		Publish: func(_, _ string, payload any, sent func(*ServerSession)) error {
			told, written = append(told, *payload.(*heed.Item)), append(written, sent)
			return nil
		},
	})
	id := raise(e, "a", event.Blocking)
	raise(e, "a", event.Blocking)
	p.Pump(nil)
	raise(e, "a", event.Blocking)
	written[0](&ServerSession{consumer: "v"})
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
	written[2](&ServerSession{consumer: "v"})
	require.Equal(t, b.LatestSequence, e.Ack("v", b.ID, 0).Watermark)
}

// asks is a source that notes how it was asked.
type asks struct {
	*heed.Engine
	acks []string
}

func (s *asks) Ack(consumer, id string, through uint64) heed.AckResult {
	s.acks = append(s.acks, fmt.Sprint(consumer, " ", id, " ", through))
	return s.Engine.Ack(consumer, id, through)
}
