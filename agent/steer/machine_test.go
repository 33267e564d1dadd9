package steer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestScripts plays the scripts of a file. A script begins with "== NAME", and may set the policy and the ceiling; the
// machine works on a task, unless it is idle. A step is an event, and after -> what came of it: a receipt and the next
// step of the adapter, with the reason, the number of calls in flight, W: earlier requests, and | messages.
func TestScripts(t *testing.T) {
	for name, script := range testkit.Scripts(t, "testdata/scripts.txt") {
		t.Run(name, func(t *testing.T) {
			var policy Policy
			p := player{now: start}
			ceiling, idle := Ceiling{Cancel: true}, false
			for step := range strings.Lines(script) {
				step, want, _ := strings.Cut(strings.TrimSpace(step), " -> ")
				word, rest, _ := strings.Cut(step, " ")
				switch word {
				case "":
				case "policy":
					require.NoError(t, json.Unmarshal([]byte(rest), &policy))
				case "ceiling":
					ceiling = Ceiling{}
					require.NoError(t, json.Unmarshal([]byte(rest), &ceiling))
				case "idle":
					idle = true
				default:
					if p.m == nil {
						p.m = newMachine(t, policy, ceiling)
						if !idle {
							require.Zero(t, p.m.Begin(task))
						}
					}
					require.Equal(t, want, p.step(word, strings.Fields(rest)), step)
				}
			}
		})
	}
}

// player plays the steps of a script.
type player struct {
	m    *Machine
	now  time.Time
	sent []uint64 // deliveries
}

func (p *player) step(word string, args []string) string {
	s := p.m.State()
	arg := strings.Join(args, " ")
	mark := func(name string) (marked bool) {
		if marked = slices.Contains(args, name); marked {
			args = slices.DeleteFunc(args, func(a string) bool { return a == name })
		}
		return marked
	}
	delivery := func() uint64 {
		n, _ := strconv.Atoi(cmp.Or(arg, strconv.Itoa(len(p.sent))))
		return p.sent[n-1]
	}
	switch word {
	case "item", "say":
		msg := Message{Rides: mark("rides"), Invalid: mark("invalid"), First: mark("first"), Author: args[0]}
		if msg.Text = strings.Join(args[1:], " "); word == "item" {
			msg.Author, msg.Topic, msg.Revision, msg.Text = "heed", args[0], args[1], strings.Join(args, " ")
		}
		receipt, a := p.m.Receive(p.now, msg)
		return string(receipt) + ", " + p.action(a)
	case "begin":
		return p.batch("batch", p.m.Begin(Message{Author: "owner", Text: arg, Reason: ReasonInterrupt}))
	case "call":
		p.m.CallBegan(arg)
	case "done":
		return p.action(p.m.CallEnded(p.now, arg))
	case "ended", "canceled":
		return p.action(p.m.Ended(p.now, word == "canceled"))
	case "stop":
		p.m.Stop()
	case "ready":
		return p.action(p.m.Ready(p.now))
	case "set":
		c := Ceiling{}
		_ = json.Unmarshal([]byte(arg), &c)
		p.m.SetCeiling(c)
	case "at":
		d, _ := time.ParseDuration(arg)
		p.now = start.Add(d)
	case "ride":
		b := p.m.Ride()
		return p.batch(map[bool]string{true: "rides", false: "batch"}[b.Rides], b)
	case "confirm":
		return texts(p.m.Confirm(delivery()))
	case "fail":
		return p.action(p.m.Fail(p.now, delivery()))
	case "refused":
		return p.action(p.m.Refused(p.now, delivery()))
	case "withdraw":
		return strconv.FormatBool(p.m.Withdraw(arg))
	case "deadline":
		if at := p.m.Deadline(); !at.IsZero() {
			return at.Sub(start).String()
		}
		return "never"
	case "pending":
		return texts(s.Pending)
	case "working":
		return texts(s.Working)
	case "phase":
		return string(s.Phase)
	case "reason":
		return string(s.Reason)
	case "tries":
		var tries []string
		for _, msg := range s.Sent[0].Messages {
			tries = append(tries, strconv.Itoa(msg.Tries))
		}
		return strings.Join(tries, ", ")
	default:
		return fmt.Sprint(map[string]any{
			"sent": len(s.Sent), "fails": s.Fails, "turn": s.Turn, "dropped": s.Dropped, "shortened": s.Shortened,
		}[word])
	}
	return ""
}

func (p *player) action(a Action) string {
	if a.Do == Nothing {
		return "nothing"
	}
	return p.batch(string(a.Do), a.Batch)
}

// batch returns the words of a batch, "none" for the zero Batch of an adapter that sends nothing.
func (p *player) batch(how string, b Batch) string {
	if b.Delivery != 0 {
		p.sent = append(p.sent, b.Delivery)
	} else if how != string(Cancel) {
		return "none"
	}
	words := []string{how}
	if b.Reason != "" {
		words = append(words, string(b.Reason))
	}
	if b.Unknown > 0 {
		words = append(words, "?"+strconv.Itoa(b.Unknown))
	}
	if len(b.Working) > 0 {
		words = append(words, "W: "+texts(b.Working))
	}
	if len(b.Messages) > 0 {
		words = append(words, "| "+texts(b.Messages))
	}
	return strings.Join(words, " ")
}

func texts(messages []Message) string {
	var all []string
	for _, msg := range messages {
		all = append(all, msg.Text)
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

func TestDefaults(t *testing.T) {
	require.Equal(t, Policy{
		Mode: ModeSteer, Admit: AdmitVerified, CallWait: 30 * time.Second, SteersPerTurn: 3, SteersPerMinute: 6,
		MaxPending: 64, Tries: 3,
	}, Policy{}.withDefaults())
}

func TestToldIsBounded(t *testing.T) {
	m := newMachine(t, Policy{}, Ceiling{})
	m.Begin(task)
	for i := range 1025 {
		m.Receive(start, Message{Author: "heed", Topic: strconv.Itoa(i), Text: "x", Rides: true})
		m.Confirm(m.Ride().Delivery)
	}
	require.Len(t, m.State().Told, 1024)
	require.False(t, m.Knows("0", ""), "the oldest is forgotten")
	require.True(t, m.Knows("1", ""))
}
