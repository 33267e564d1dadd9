package gabp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestReplyPlaced: what is called when a reply has its place is called before anybody can take
// the reply, and not at all for one that is lost.
func TestReplyPlaced(t *testing.T) {
	lim := defaultLimits(t)
	b := newOutbox(&lim)
	placed := 0
	b.reply(message{ID: "1", Type: typeResponse}, func() {
		placed++
		require.Len(t, b.replies, 1)
		require.False(t, b.mu.TryLock(), "nobody takes it yet")
	})
	require.Equal(t, 1, placed)
	b.end(false)
	b.reply(message{ID: "2", Type: typeResponse}, func() { placed++ })
	require.Equal(t, 1, placed)
}

// taken is what b has to write now, as "reply:ID" and "channel:payload+lost".
func taken(t *testing.T, b *outbox) (all []string) {
	t.Helper()
	for !b.closed && len(b.replies)+len(b.events) > 0 {
		before := maps.Clone(b.seq)
		m, ok := b.take(true)
		require.True(t, ok)
		if m.Type == typeEvent {
			all = append(all, fmt.Sprintf("%s:%s+%d", m.Channel, m.Payload, m.Seq-before[m.Channel]-1))
		} else {
			all = append(all, "reply:"+m.ID)
		}
	}
	return all
}

// TestOutboxLoses holds which events a full outbox drops, and that what is lost is counted, each channel's for
// itself, with what was missing before a dropped event.
func TestOutboxLoses(t *testing.T) {
	type put struct {
		event   pendingEvent
		dropped uint64
		refused bool
		merged  bool
	}
	pass := func(channel, payload string, lost, dropped uint64) put {
		return put{event: pendingEvent{
			channel: channel, payload: json.RawMessage(payload), droppable: true,
			lost: lost,
		}, dropped: dropped}
	}
	keep := func(key, payload string) put {
		return put{event: pendingEvent{channel: "k", key: key, payload: json.RawMessage(payload)}}
	}
	merged := func(p put) put { p.merged = true; return p }
	refused := func(p put) put { p.refused = true; return p }
	for _, c := range []struct {
		name string
		puts []put
		want []string
	}{
		{
			"all fit",
			[]put{pass("a", "1", 0, 0), pass("a", "2", 5, 0), pass("b", "3", 0, 0)},
			[]string{"a:1+0", "a:2+5", "b:3+0"},
		},
		{
			"the oldest is dropped, and what it missed",
			[]put{pass("a", "1", 3, 0), pass("b", "2", 0, 0), pass("a", "3", 1, 0), pass("a", "4", 0, 1), pass("b", "5", 0, 1)},
			[]string{"a:3+5", "a:4+0", "b:5+1"},
		},
		{
			"too many bytes drop as many as it takes",
			[]put{pass("a", "1", 0, 0), pass("a", "2", 0, 0), pass("a", "123456789", 0, 1), pass("a", "2", 0, 1)},
			[]string{"a:123456789+2", "a:2+0"},
		},
		{
			"one large event drops all",
			[]put{pass("a", "1", 0, 0), pass("a", "2", 0, 0), pass("a", "1234567890", 0, 2)},
			[]string{"a:1234567890+2"},
		},
		{"exactly all bytes", []put{pass("a", "1", 0, 0), pass("a", "123456789", 0, 0)}, []string{"a:1+0", "a:123456789+0"}},
		{"one that is too large, alone", []put{pass("a", "12345678901", 0, 0)}, []string{"a:12345678901+0"}},
		{
			"a newer state comes at the end, and nothing is lost",
			[]put{keep("x", "1"), pass("a", "2", 0, 0), merged(keep("x", "3")), keep("y", "4")},
			[]string{"a:2+0", "k:3+0", "k:4+0"},
		},
		{
			"the bytes of a replaced one are free",
			[]put{keep("x", "12345"), merged(keep("x", "12345")), keep("y", "12345")},
			[]string{"k:12345+0", "k:12345+0"},
		},
		{
			"states stay, and the newest event goes",
			[]put{keep("x", "1"), keep("y", "2"), keep("z", "3"), pass("a", "4", 2, 1), refused(keep("w", "5"))},
			[]string{"k:1+0", "k:2+0", "k:3+0"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newOutbox(&Limits{EventQueue: 3, MessageSize: 10})
			for _, p := range c.puts {
				merged, dropped, ok := b.event(p.event)
				require.Equal(t, p.merged, merged)
				require.Equal(t, p.dropped, dropped)
				require.Equal(t, p.refused, !ok)
			}
			require.Equal(t, c.want, taken(t, b))
			require.Zero(t, b.bytes)
			require.Empty(t, b.events)
			if c.name == "states stay, and the newest event goes" {
				b.event(pass("a", "6", 1, 0).event)
				require.Equal(t, []string{"a:6+4"}, taken(t, b))
			}
			require.Empty(t, b.lost)
		})
	}
}

// TestOutboxDrops holds that nothing is left of a channel that was dropped.
func TestOutboxDrops(t *testing.T) {
	b := newOutbox(&Limits{EventQueue: 3, MessageSize: 10})
	for _, channel := range []string{"a", "b", "a", "a", "a"} {
		b.event(pendingEvent{channel: channel, droppable: true, payload: json.RawMessage("1")})
	}
	b.drop("a")
	b.event(pendingEvent{channel: "a", payload: json.RawMessage("2")})
	require.Equal(t, []string{"a:2+0"}, taken(t, b))
	b.event(pendingEvent{channel: "b", payload: json.RawMessage("3")})
	require.Equal(t, []string{"b:3+1"}, taken(t, b))
}

// TestOutboxTurns holds that replies come first, and an event after each of them.
func TestOutboxTurns(t *testing.T) {
	lim := defaultLimits(t)
	b := newOutbox(&lim)
	for _, payload := range []string{"1", "2"} {
		b.event(pendingEvent{channel: "a", payload: json.RawMessage(payload)})
	}
	for _, id := range []string{"1", "2", "3", "4"} {
		b.reply(message{ID: id}, nil)
	}
	require.Equal(t, []string{"reply:1", "a:1+0", "reply:2", "a:2+0", "reply:3", "reply:4"}, taken(t, b))
	b.end(false)
	_, ok := b.take(true)
	require.False(t, ok)
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox(&lim)
		b.reply(message{ID: "1"}, nil)
		var m message
		go func() {
			_, _ = b.take(true)
			m, _ = b.take(true)
		}()
		synctest.Wait()
		b.mu.Lock() // both come at once
		b.replies, b.events = []message{{ID: "2"}}, []pendingEvent{{channel: "a"}}
		b.mu.Unlock()
		b.changed.Broadcast()
		synctest.Wait()
		require.Equal(t, "2", m.ID, "replies come first again after a pause")
	})
}

// TestOutboxEnds holds that what was accepted before the end is written, nothing after it, and nothing at all once the
// outbox is closed; and that whoever waits for space is woken.
func TestOutboxEnds(t *testing.T) {
	for _, c := range []struct {
		name    string
		discard bool
		want    []string
	}{{"ends", false, []string{"reply:1", "a:1+0", "reply:2"}}, {"closed", true, nil}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newOutbox(&Limits{ConcurrentRequests: 1, EventQueue: 1, MessageSize: 10})
				b.event(pendingEvent{channel: "a", payload: json.RawMessage("1")})
				b.reply(message{ID: "1"}, nil)
				b.reply(message{ID: "2"}, nil)
				waited := false
				go func() {
					b.reply(message{ID: "3"}, nil) // more than two for each request wait
					waited = true
				}()
				synctest.Wait()
				require.False(t, waited)
				b.end(c.discard)
				synctest.Wait()
				require.True(t, waited)
				b.reply(message{ID: "4"}, nil)
				_, _, ok := b.event(pendingEvent{channel: "a"})
				require.True(t, ok, "who has gone loses nothing")
				require.Equal(t, c.want, taken(t, b))
				require.Empty(t, taken(t, b))
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		b := newOutbox(&Limits{ConcurrentRequests: 1, EventQueue: 1, MessageSize: 10})
		for _, id := range []string{"1", "2"} {
			b.reply(message{ID: id}, nil)
		}
		go b.reply(message{ID: "3"}, nil)
		synctest.Wait()
		m, _ := b.take(true)
		require.Equal(t, "1", m.ID)
		synctest.Wait()
		require.Equal(t, []string{"reply:2", "reply:3"}, taken(t, b), "there is space again")
	})
}

// subscribed returns a session with a subscription to the channel "a", and the end of its peer.
func subscribed(t *testing.T) (*ServerSession, net.Conn) {
	s := newServer(t, ServerConfig{})
	near, far := net.Pipe()
	ss := newServerSession(s, newConn(near, s.limits))
	ss.subs["a"] = true
	return ss, far
}

// TestStorm holds that a subscriber that reads gets all events of a storm, though each write takes a while.
func TestStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ss, far := subscribed(t)
		go ss.write() //nolint:errcheck // it is closed
		got := make(chan int)
		go func() {
			n := 0
			for m := []byte(nil); n < 5000; n += bytes.Count(m, []byte(frameHead)) {
				m = make([]byte, 2*maxWrite)
				time.Sleep(20 * time.Microsecond)
				length, _ := far.Read(m)
				m = m[:length]
			}
			got <- n
		}()
		for range 5000 {
			ss.publish(pendingEvent{channel: "a", payload: json.RawMessage("1"), droppable: true})
			time.Sleep(2 * time.Microsecond)
		}
		require.Zero(t, ss.server.Stats().EventsDropped)
		require.Equal(t, 5000, <-got)
		ss.close()
	})
}

// TestSlowReader holds that an event counts as sent once it was written, since its peer may answer it before it reads
// the ones behind it, and that a peer that reads little, but reads, stays connected.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ss, far := subscribed(t)
		sent := false
		ss.publish(pendingEvent{channel: "a", payload: json.RawMessage("1"), sent: func(*ServerSession) { sent = true }})
		for range 500 {
			ss.publish(pendingEvent{channel: "a", payload: json.RawMessage("1"), droppable: true})
		}
		first := len((&message{ID: newID(), Type: typeEvent, Channel: "a", Seq: 1, Payload: json.RawMessage("1")}).
			appendFrame(nil, false))
		go ss.write() //nolint:errcheck // it is closed
		testkit.Must(io.ReadFull(far, make([]byte, first)))
		synctest.Wait()
		require.True(t, sent)
		for range 500 * first / 1000 {
			time.Sleep(ss.server.limits.WriteTimeout / 20)
			testkit.Must(io.ReadFull(far, make([]byte, 1000)))
		}
		ss.close()
	})
}

func TestEvents(t *testing.T) {
	s := start(t, nil)
	p := dial(t, s.addr)
	p.hello()
	var sub subscribeResult
	require.NoError(t, json.Unmarshal(p.call("events/subscribe", `{"channels":["a/b","x/y","c/d"]}`).Result, &sub))
	require.Equal(t, []string{"a/b", "c/d"}, sub.Subscribed)
	requireCode(t, codeChannelNotFound, p.call("events/subscribe", `{"channels":["x/y"]}`).Error)

	sent := make(chan string, 10)
	for i := range 3 {
		require.NoError(t, s.Publish("a/b", "", map[string]int{"n": i}, func(ss *ServerSession) { sent <- ss.Consumer }))
	}
	require.NoError(t, s.Publish("c/d", "", json.RawMessage(`{ "raw" :1}`), nil))
	require.NoError(t, s.Publish("x/y", "", 1, nil))
	for i := range 3 {
		m := p.recv("")
		require.Equal(t, "a/b", m.Channel)
		require.EqualValues(t, i+1, m.Seq)
		require.Equal(t, fmt.Sprintf(`{"n":%d}`, i), string(m.Payload))
		require.Equal(t, "scripted_bridge#550e8400-e29b-41", <-sent)
	}
	m := p.recv("")
	require.EqualValues(t, 1, m.Seq, "each channel counts for itself")
	require.Equal(t, `{ "raw" :1}`, string(m.Payload))

	var un unsubscribeResult
	require.NoError(t, json.Unmarshal(p.call("events/unsubscribe", `{"channels":["a/b","x/y"]}`).Result, &un))
	require.Equal(t, []string{"a/b"}, un.Unsubscribed)
	require.NoError(t, s.Publish("a/b", "", 1, nil))
	var list eventsListResult
	require.NoError(t, json.Unmarshal(p.call("events/list", `{}`).Result, &list))
	require.Equal(t, eventsListResult{Channels: []string{"a/b", "c/d"}, Subscribed: []string{"c/d"}}, list)

	p.call("events/subscribe", `{"channels":["a/b"]}`)
	require.NoError(t, s.Publish("a/b", "", 1, nil))
	require.EqualValues(t, 4, p.recv("").Seq, "numbers go on")

	require.Error(t, s.Publish("a/b", "", func() {}, nil))
	require.Error(t, s.Publish("a/b", "", strings.Repeat("x", defaultMessageSize), nil))
}

// TestSlowSubscriber: one who does not read delays nobody, and is dropped when
// too much waits; what has a key is conflated, without holes in the numbers.
func TestSlowSubscriber(t *testing.T) {
	s := start(t, func(c *ServerConfig) {
		c.Limits = Limits{EventQueue: 50, WriteTimeout: patience, MessageSize: 1 << 20}
	})
	dead, slow, quick := dial(t, s.addr), dial(t, s.addr), dial(t, s.addr)
	for _, p := range []*peer{dead, slow, quick} {
		p.hello()
		channel := map[*peer]string{dead: "a/b", slow: "c/d", quick: "c/d"}[p]
		require.Nil(t, p.call("events/subscribe", `{"channels":["`+channel+`"]}`).Error)
	}
	text := strings.Repeat("x", 10_000)
	eventually(t, "the dead one is dropped", func() bool {
		require.NoError(t, s.Publish("a/b", "", text, nil))
		return s.Stats().Disconnected == 1
	})
	const n = 3000
	got := make(chan message, n)
	go func() {
		for {
			m, err := quick.tryRecv("")
			if err != nil {
				close(got)
				return
			}
			got <- m
		}
	}()
	for i := range n {
		require.NoError(t, s.Publish("c/d", "one", map[string]any{"n": i, "text": text}, nil))
	}
	last := func(m message) bool { return strings.HasPrefix(string(m.Payload), fmt.Sprintf(`{"n":%d,`, n-1)) }
	var seq uint64
	for m := range got {
		seq++
		require.Equal(t, seq, m.Seq)
		if last(m) {
			break
		}
	}
	seq = 0
	for {
		m := slow.recv("")
		seq++
		require.Equal(t, seq, m.Seq, "no holes")
		if last(m) {
			break
		}
	}
	require.Less(t, seq, uint64(n), "conflated")
	require.NotZero(t, s.Stats().Conflated)
	require.EqualValues(t, 1, s.Stats().Disconnected)
	require.NoError(t, quick.Close())
	for range got { // until its reader is gone
	}
}

// TestPassingEventsGiveWay: a flood of events that pass costs a subscriber neither its connection
// nor an event that does not pass, nor the order of those; the numbers say how many gave way.
func TestPassingEventsGiveWay(t *testing.T) {
	const flood, queue = 100_000, 100
	s := start(t, func(c *ServerConfig) {
		c.Limits = Limits{EventQueue: queue, WriteTimeout: patience}
		c.Capabilities = func() Capabilities { return Capabilities{Events: []string{"mod/a", "mod/b", "heed/kept"}} }
	})
	p := dial(t, s.addr)
	p.hello()
	require.Nil(t, p.call("events/subscribe", `{"channels":["mod/a","mod/b","heed/kept"]}`).Error)
	text := `,"text":"` + strings.Repeat("x", 1000) + `"}` // in all far more than sockets hold
	for i := range flood {
		require.NoError(t, s.Pass("mod/"+string("ab"[i%2]), 0, json.RawMessage(`{"n":`+strconv.Itoa(i)+text)))
		if i%(flood/10) == 0 {
			require.NoError(t, s.Publish("heed/kept", strconv.Itoa(i), map[string]any{"n": i}, nil))
		}
	}
	gone := s.Stats().EventsDropped
	require.NotZero(t, gone)
	require.Zero(t, s.Stats().Disconnected)

	var got, holes, attention uint64
	seqs, latest := map[string]uint64{}, map[string]float64{}
	conn := newConn(p.Conn, defaultLimits(t))
	for latest["mod/b"] != flood-1 {
		m, err := conn.Read()
		require.NoError(t, err)
		var payload struct{ N float64 }
		require.NoError(t, json.Unmarshal(m.Payload, &payload))
		require.Greater(t, m.Seq, seqs[m.Channel])
		if latest[m.Channel] != 0 {
			require.Greater(t, payload.N, latest[m.Channel], "in order")
		}
		if m.Channel == "heed/kept" {
			require.Equal(t, seqs[m.Channel]+1, m.Seq, "none of these gives way")
			require.EqualValues(t, attention*flood/10, payload.N)
			attention++
		} else {
			got++
			holes += m.Seq - seqs[m.Channel] - 1
			require.EqualValues(t, m.Seq, uint64(payload.N)/2+1, "as if all had been sent")
		}
		seqs[m.Channel], latest[m.Channel] = m.Seq, payload.N
	}
	require.EqualValues(t, 10, attention)
	require.Equal(t, gone, holes)
	require.EqualValues(t, flood, got+holes)
	require.Equal(t, 1, strings.Count(s.logs.String(), "are dropped"), "said once")
}

// TestPeerThatDoesNotRead has answers pile up: it is disconnected in time, and
// holds up nobody.
func TestPeerThatDoesNotRead(t *testing.T) {
	s := start(t, func(c *ServerConfig) { c.Limits.WriteTimeout = 100 * time.Millisecond })
	p := dial(t, s.addr)
	p.hello()
	text := `{"v":"gabp/1","id":"` + strings.Repeat("x", 200) + `","type":"request","method":"a/b"}`
	one := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text)
	chunk := []byte(strings.Repeat(one, 1000))
	for {
		if _, err := p.Write(chunk); err != nil {
			break
		}
	}
	other := dial(t, s.addr)
	other.hello()
}
