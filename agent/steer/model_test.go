package steer

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// world is a machine between senders and an agent, with a naive account of each message. Its adapter does at once what
// the machine decides, but for the end of a canceled turn and the fate of a delivery, which are events of their own.
type world struct {
	t      testing.TB
	policy Policy
	limit  Ceiling

	m    *Machine
	now  time.Time
	held time.Time // since when a message may wait for the call

	inCall    bool
	cancels   bool     // the adapter was asked to cancel
	unsettled []Batch  // sent, neither confirmed nor failed
	left      []string // events to come
	trace     []string

	accepted, settled map[uint64]string // by id: text; settled was confirmed, replaced or withdrawn
	request           bool              // the agent was asked for the task, and nothing superseded it
}

func newWorld(t testing.TB, p Policy, c Ceiling, left ...string) *world {
	m := testkit.Must(New(p, c, known))
	return &world{
		t: t, policy: testkit.Must(p.complete()), limit: c, m: m, now: start, left: left,
		accepted: map[uint64]string{}, settled: map[uint64]string{},
	}
}

// messages are those that a world may receive, by event.
var messages = map[string]Message{
	"owner":   {Author: "owner", Text: "owner"},
	"sibling": {Author: "sibling", Text: "sibling"},
	"item 1":  {Author: "heed", Topic: "i", Revision: "1", Text: "item 1"},
	"item 2":  {Author: "heed", Topic: "i", Revision: "2", Text: "item 2"},
	"other":   {Author: "heed", Topic: "o", Revision: "1", Text: "other"},
	"invalid": {Author: "heed", Topic: "v", Revision: "1", Text: "invalid", Invalid: true},
	"rides":   {Author: "heed", Topic: "r", Revision: "1", Text: "rides", Rides: true},
}

// can reports whether an event may happen now.
func (w *world) can(event string) bool {
	phase := w.m.State().Phase
	switch event {
	case "begin":
		return phase == Idle
	case "call":
		return phase == Working && !w.inCall
	case "call ends", "call ends with a ride":
		return w.inCall && phase != Idle
	case "turn ends", "person stops":
		return phase != Idle
	case "canceled":
		return w.cancels
	case "confirm", "fail", "confirm last", "fail last":
		return len(w.unsettled) > 0
	}
	return true
}

// step lets an event happen, and checks the world.
func (w *world) step(event string) {
	w.trace = append(w.trace, event)
	switch event {
	case "begin":
		w.request = true
		w.sent(w.m.Begin(task))
	case "call":
		w.inCall, w.held = true, time.Time{}
		w.m.CallBegan("1")
	case "call ends with a ride", "call ends":
		if event != "call ends" {
			w.sent(w.m.Ride())
		}
		w.inCall = false
		w.do(w.m.CallEnded(w.now, "1"))
	case "turn ends":
		w.over()
		w.do(w.m.Ended(false))
	case "person stops":
		w.over()
		w.m.Stop()
	case "canceled":
		w.cancels, w.inCall = false, false
		w.unsettled = nil // what the turn did not confirm, it never will
		w.do(w.m.Ended(true))
	case "confirm", "confirm last":
		b := w.take(event == "confirm last")
		for _, msg := range w.m.Confirm(b.Delivery) {
			w.settle(msg.ID, "confirmed")
		}
	case "fail", "fail last":
		b := w.take(event == "fail last")
		if b.Prompts && b.Turn == w.m.State().Turn {
			w.over()
		}
		w.do(w.m.Fail(w.now, b.Delivery))
	case "withdraw":
		waits := slices.Clone(w.m.State().Pending)
		if w.m.Withdraw("i") {
			for _, msg := range waits {
				if msg.Topic == "i" {
					w.settle(msg.ID, "withdrawn")
				}
			}
		}
	case "time":
		w.now = w.now.Add(w.policy.CallWait / 2)
		w.do(w.m.Ready(w.now))
	case "kill":
		data, err := json.Marshal(w.m.State())
		require.NoError(w.t, err)
		var s State
		require.NoError(w.t, json.Unmarshal(data, &s))
		w.over()
		w.unsettled = nil
		w.m, err = Restore(w.policy, w.limit, known, s)
		require.NoError(w.t, err)
		w.do(w.m.Ready(w.now))
	default:
		waits := slices.Clone(w.m.State().Pending)
		r, a := w.m.Receive(w.now, messages[event])
		if r == Accepted {
			w.accepted[w.id(event, a)] = event
			for _, msg := range waits {
				if msg.Topic != "" && msg.Topic == messages[event].Topic {
					w.settle(msg.ID, "replaced")
				}
			}
			if w.inCall && w.held.IsZero() {
				w.held = w.now
			}
		}
		w.do(a)
	}
	w.check()
}

// id returns the number that the machine gave the newest message with a text.
func (w *world) id(text string, a Action) (newest uint64) {
	for _, msg := range slices.Concat(w.m.State().Pending, a.Batch.Messages) {
		if msg.Text == text {
			newest = max(newest, msg.ID)
		}
	}
	require.NotZero(w.t, newest, w.trace)
	return newest
}

// over is the end of a turn that is not prompted again at once.
func (w *world) over() { w.inCall, w.cancels, w.request = false, false, false }

func (w *world) settle(id uint64, how string) {
	require.Contains(w.t, w.accepted, id, w.trace)
	require.NotContains(w.t, w.settled, id, "twice: %q", w.trace)
	w.settled[id] = how
}

func (w *world) take(last bool) Batch {
	i := 0
	if last {
		i = len(w.unsettled) - 1
	}
	b := w.unsettled[i]
	w.unsettled = slices.Delete(slices.Clone(w.unsettled), i, i+1)
	return b
}

func (w *world) sent(b Batch) {
	if b.Delivery != 0 {
		w.unsettled = append(slices.Clone(w.unsettled), b)
		if b.Reason == ReasonInterrupt {
			w.request = false
		}
	}
}

func (w *world) do(a Action) {
	switch a.Do {
	case Cancel:
		require.True(w.t, w.limit.Cancel && !w.limit.Inject, w.trace)
		require.False(w.t, w.cancels, w.trace)
		if w.inCall {
			require.False(w.t, w.now.Sub(w.held) < w.policy.CallWait, "canceled during a call: %q", w.trace)
			require.Equal(w.t, 1, a.Batch.Unknown, w.trace)
		}
		w.cancels = true
	case Prompt:
		w.inCall = false
		if w.request {
			require.NotEmpty(w.t, a.Batch.Working, "the request is lost: %q", w.trace)
			require.Equal(w.t, task.Text, a.Batch.Working[0].Text, w.trace)
		}
		w.sent(a.Batch)
	case Inject:
		require.True(w.t, w.limit.Inject, w.trace)
		w.sent(a.Batch)
	}
}

// check holds that each message is in one place, and each delivery is one that the adapter knows.
func (w *world) check() {
	s := w.m.State()
	places := map[uint64]int{}
	for _, msg := range s.Pending {
		places[msg.ID]++
	}
	for _, b := range s.Sent {
		for _, msg := range b.Messages {
			places[msg.ID]++
		}
	}
	for id, text := range w.accepted {
		if _, done := w.settled[id]; done {
			require.Zero(w.t, places[id], "%s is settled and waits: %q", text, w.trace)
			continue
		}
		if places[id] == 0 && w.newer(id, text) { // it was taken back after a newer revision came
			w.settle(id, "replaced")
			continue
		}
		require.Equal(w.t, 1, places[id], "%s is in so many places: %q", text, w.trace)
	}
	require.Equal(w.t, w.cancels, s.Phase == Canceling, w.trace)
}

// newer reports whether a newer message of the topic waits, or has just been sent.
func (w *world) newer(id uint64, text string) bool {
	all := w.m.State().Pending
	for _, b := range w.m.State().Sent {
		all = slices.Concat(all, b.Messages)
	}
	return slices.ContainsFunc(all, func(msg Message) bool {
		return msg.ID > id && msg.Topic != "" && msg.Topic == messages[text].Topic
	})
}

// finish lets the agent take all that waits, and holds that nothing is lost.
func (w *world) finish() {
	for range 20 {
		for len(w.unsettled) > 0 {
			w.step("confirm")
		}
		switch {
		case w.cancels:
			w.step("canceled")
		case w.m.State().Phase == Working:
			w.step("turn ends")
		case len(w.m.State().Pending) > 0:
			w.step("begin")
		}
	}
	for id, text := range w.accepted {
		require.Contains(w.t, w.settled, id, "%s is lost: %q", text, w.trace)
	}
}

// clone returns a copy of the world that shares nothing that changes.
func (w *world) clone() *world {
	c := *w
	m := *w.m
	m.calls = maps.Clone(w.m.calls)
	m.stops = slices.Clone(w.m.stops)
	m.state.Pending, m.state.Sent = slices.Clone(m.state.Pending), slices.Clone(m.state.Sent)
	m.state.Working, m.state.Told = slices.Clone(m.state.Working), slices.Clone(m.state.Told)
	c.m = &m
	c.left, c.trace = slices.Clone(w.left), slices.Clone(w.trace)
	c.accepted, c.settled = maps.Clone(w.accepted), maps.Clone(w.settled)
	return &c
}

// key identifies the world: two with the same key have the same futures.
func (w *world) key() string {
	left := slices.Sorted(slices.Values(w.left))
	return fmt.Sprint(w.m.state, w.m.calls, w.m.waits, w.m.stops, w.m.inTurn, w.m.held, w.now, w.held, w.inCall, w.cancels,
		w.unsettled, left, w.accepted, w.settled, w.request)
}

// TestEveryOrder tries every order of two messages, a turn, a call, and what may go wrong.
func TestEveryOrder(t *testing.T) {
	t.Parallel()
	pairs := [][]string{
		{"owner", "item 1"},
		{"item 1", "item 2"},
		{"item 1", "other"},
		{"item 1", "invalid"},
		{"owner", "sibling"},
		{"item 1", "rides"},
		{"item 1", "item 1"},
	}
	faults := [][]string{
		{"fail", "confirm"}, {"kill", "confirm"}, {"withdraw", "confirm last"}, {"person stops", "fail last"},
	}
	modes := []mode{ModeSteer, ModeInterrupt, ModeOwnerInterrupt, ModeQueue}
	ceilings := []Ceiling{{Cancel: true}, {Inject: true}, {}}
	often := []string{"call ends with a ride", "time", "canceled"}
	if !testkit.IsFull() {
		often, pairs, faults, modes, ceilings = nil, pairs[:2], faults[:2], modes[:1], ceilings[:1]
	}
	always := []string{"begin", "call", "call ends", "time", "canceled", "turn ends"}
	worlds := 0
	for _, mode := range modes {
		for _, c := range ceilings {
			for _, pair := range pairs {
				for _, fault := range faults {
					events := slices.Concat(always, often, pair, fault)
					worlds += explore(newWorld(t, Policy{Mode: mode, InterruptOnInvalid: true}, c, events...), map[string]bool{})
				}
			}
		}
	}
	t.Logf("%d worlds", worlds)
	require.Greater(t, worlds, 5_000)
}

// explore tries every order of the events that are left, and finishes each world. It returns how many there were.
func explore(w *world, seen map[string]bool) int {
	key := w.key()
	if seen[key] {
		return 0
	}
	seen[key] = true
	w.clone().finish()
	n := 1
	tried := map[string]bool{}
	for i, event := range w.left {
		if tried[event] || !w.can(event) {
			continue
		}
		tried[event] = true
		c := w.clone()
		c.left = slices.Delete(c.left, i, i+1)
		c.step(event)
		n += explore(c, seen)
	}
	return n
}

// TestRaces plays long random sessions with kills and failures.
func TestRaces(t *testing.T) {
	sessions := 500
	if testkit.IsFull() {
		sessions = 100_000
	}
	events := []string{
		"begin", "call", "call ends", "call ends with a ride", "time", "canceled", "canceled", "turn ends", "person stops",
		"confirm", "confirm", "confirm last", "fail", "fail last", "kill", "withdraw",
	}
	for name := range messages {
		events = append(events, name)
	}
	slices.Sort(events)
	for seed := range sessions {
		r := rand.New(rand.NewPCG(uint64(seed), 21))
		modes := []mode{ModeSteer, ModeInterrupt, ModeOwnerInterrupt, ModeQueue}
		w := newWorld(t, Policy{
			Mode: modes[r.IntN(len(modes))], InterruptOnInvalid: r.IntN(2) == 0,
			SteersPerTurn: 1 + r.IntN(4),
		}, Ceiling{Cancel: r.IntN(3) > 0, Inject: r.IntN(4) == 0})
		for range 10 + r.IntN(50) {
			if event := events[r.IntN(len(events))]; w.can(event) {
				w.step(event)
			}
		}
		w.finish()
	}
}
