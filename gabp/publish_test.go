package gabp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
