package acp

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/internal/testkit"
)

// game is an editor and an agent that do what comes to them, with a naive account of both.
type game struct {
	*world
	random *rand.Rand
	trace  []string
	n      int

	prompts     map[string]string // open prompts of the editor: their words
	permissions map[string]bool   // that the editor has not answered
	wait        map[string]bool   // that the agent waits for
	words       map[string]bool   // that the agent must hear: of messages and prompts
	topics      []string

	idle bool        // messages may prompt an idle agent
	late chan func() // what the conversation has decided and not done, if it is late

	prompt     string // that the agent works on, "" for none
	canceled   bool
	injections []string
	calls      []string
}

// look handles what both received.
func (g *game) look() {
	synctest.Wait()
	var unheard []string // which have an answer
	for _, l := range g.editor.take() {
		l = strings.TrimSpace(short(l))
		g.trace = append(g.trace, "    e "+l)
		word, rest, _ := strings.Cut(l, " ")
		switch id := strings.TrimSuffix(word, ":"); {
		case word == "permission":
			g.permissions[rest] = true
		case id != word:
			words, open := g.prompts[id]
			require.True(g.t, open, "%s is no open request", id)
			delete(g.prompts, id)
			unheard = append(unheard, words)
			switch rest {
			case stopCanceled: // a person stopped it, maybe before the agent heard of it
				delete(g.words, words)
			case "error": // it is heard with the next prompt
				unheard = unheard[:len(unheard)-1]
			}
		}
	}
	for _, l := range g.agent.take() {
		l = strings.TrimSpace(short(l))
		g.trace = append(g.trace, "    a "+l)
		word, rest, _ := strings.Cut(l, " ")
		id, words, _ := strings.Cut(rest, " ")
		switch word {
		case "prompt":
			require.Empty(g.t, g.prompt, "two prompts")
			require.True(g.t, g.idle || len(g.prompts) > 0, "a prompt for nobody")
			g.prompt, g.canceled, g.calls = id, false, nil
			g.heard(words)
		case "steering":
			g.injections = append(g.injections, id)
			g.heard(words)
		case "cancel":
			g.canceled = g.prompt != ""
		default:
			id := strings.TrimSuffix(word, ":")
			require.True(g.t, g.wait[id], "%s is answered twice", id)
			delete(g.wait, id)
		}
	}
	for _, words := range unheard {
		require.False(g.t, g.words[words], "%s was answered and not heard", words)
	}
}

// heard takes note of words that the agent heard.
func (g *game) heard(words string) {
	maps.DeleteFunc(g.words, func(w string, _ bool) bool { return strings.Contains(words, w) })
}

// step lets something happen.
func (g *game) step(event string) {
	send := func(p *peer, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		g.trace = append(g.trace, text)
		p.send(long(text))
	}
	g.n++
	switch event {
	case "prompt":
		id, words := fmt.Sprint("q", g.n), fmt.Sprintf("(prompt %d)", g.n)
		g.prompts[id], g.words[words] = words, true
		send(g.editor, "prompt %s %s", id, words)
	case "stop":
		send(g.editor, "cancel")
	case "allow":
		for id := range g.permissions {
			delete(g.permissions, id)
			send(g.editor, "%s: outcome selected", id)
			break
		}
	case "steers", "rides", "interrupts":
		topic := fmt.Sprintf("(%s %d)", event, g.n)
		g.trace = append(g.trace, topic)
		r := g.conversation.receive(steer.Message{
			Author: "heed", Topic: topic, Revision: "1", Text: topic, Rides: event == "rides", Invalid: event == "interrupts",
		})
		require.Equal(g.t, string(steer.Accepted), r)
		g.words[topic] = true
		g.topics = append(g.topics, topic)
	case "withdraw":
		if len(g.topics) > 0 {
			topic := g.topics[g.random.IntN(len(g.topics))]
			g.conversation.Do(func(m *steer.Machine, _ time.Time) steer.Action {
				if m.Withdraw(topic) {
					g.trace = append(g.trace, "withdrawn "+topic)
					delete(g.words, topic)
				}
				return steer.Action{}
			})
		}
	case "time":
		g.conversation.Do(func(m *steer.Machine, _ time.Time) steer.Action {
			g.conversation.now = g.conversation.now.Add(20 * time.Second)
			return m.Ready(g.conversation.now)
		})
	case "late":
		select {
		case act := <-g.late:
			g.trace = append(g.trace, "late")
			act()
		default:
		}
	case "injected", "promptRequired", "inject error":
		if len(g.injections) > 0 {
			id := g.injections[0]
			g.injections = g.injections[1:]
			if event == "inject error" {
				send(g.agent, "%s: error", id)
			} else {
				send(g.agent, `%s: {"outcome":"%s"}`, id, event)
			}
		}
	}
	if g.prompt != "" {
		switch event {
		case "chunk":
			send(g.agent, "chunk")
		case "call":
			g.calls = append(g.calls, fmt.Sprint("c", g.n))
			send(g.agent, "call c%d in_progress", g.n)
		case "call ends":
			if len(g.calls) > 0 {
				send(g.agent, "update %s completed", g.calls[0])
				g.calls = g.calls[1:]
			}
		case "permission":
			g.wait[fmt.Sprint("p", g.n)] = true
			send(g.agent, "permission p%d", g.n)
		case "end_turn", "error":
			id := g.prompt
			g.prompt = ""
			send(g.agent, "%s: %s", id, event)
		case "canceled":
			if g.canceled {
				id := g.prompt
				g.prompt = ""
				send(g.agent, "%s: %s", id, stopCanceled)
			}
		}
	}
	g.look()
}

var events = []string{
	"prompt", "prompt", "prompt", "stop", "allow", "steers", "steers", "rides", "interrupts", "withdraw", "time",
	"injected", "promptRequired", "inject error", "chunk", "chunk", "call", "call ends", "call ends", "permission",
	"end_turn", "error", "canceled", "canceled", "canceled",
	"late", "late", "late", "late", "late",
}

// TestRandom holds that, whatever happens in whatever order, each prompt of the editor is answered once, one prompt is
// open at the agent, and the agent hears of each message that was not withdrawn.
func TestRandom(t *testing.T) {
	games := 200
	if testkit.IsFull() {
		games = 1500
	}
	answered := 0
	for seed := range games {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 1))
			policy := steer.Policy{InterruptOnInvalid: true, SteersPerTurn: 5, SteersPerMinute: 20}
			if seed%5 == 0 {
				policy.Mode = steer.ModeQueue
			}
			g := &game{
				random: random, prompts: map[string]string{}, permissions: map[string]bool{}, wait: map[string]bool{},
				words: map[string]bool{}, idle: seed%3 == 0, late: make(chan func(), 1000),
			}
			g.world = newWorld(t, policy, func(c *Config) {
				c.PromptIdle = g.idle
				start := c.Start
				c.Start = func(id string, fresh bool, limit steer.Ceiling, act func(steer.Action)) Conversation {
					if seed%7 < 3 {
						return start(id, fresh, limit, act)
					}
					return start(id, fresh, limit, func(a steer.Action) { g.late <- func() { act(a) } })
				}
			})
			defer g.close()
			defer func() {
				if t.Failed() {
					t.Logf("seed %d:\n%s", seed, strings.Join(g.trace, "\n"))
				}
			}()
			g.open(fmt.Sprintf(`{"_meta":{"steering":{"supported":%t}}}`, seed%2 == 0))
			for range 70 {
				g.step(events[random.IntN(len(events))])
			}
			g.settle()
			g.step("prompt")
			g.settle()

			answered += g.n
			require.Empty(t, g.prompts, "prompts that are not answered")
			require.Empty(t, g.wait, "permissions that are not answered")
			require.Empty(t, slices.Collect(maps.Keys(g.words)), "words that the agent has not heard")
			state := g.conversation.m.State()
			require.Empty(t, state.Pending)
			require.Empty(t, state.Sent)
			require.Equal(t, steer.Idle, state.Phase)
		})
	}
	t.Logf("%d games, %d events", games, answered)
}

// settle lets all that is open end.
func (g *game) settle() {
	for range 100 {
		for len(g.injections)+len(g.late) > 0 {
			g.step("late")
			g.step("injected")
		}
		for len(g.permissions) > 0 {
			g.step("allow")
		}
		if g.prompt == "" {
			return
		}
		g.step("chunk")
		g.step("end_turn")
	}
	require.Fail(g.t, "it does not end")
}

// FuzzProxy plays an editor and an agent by a script, a step in a line, in the short forms of [long]: E and a line of the
// editor, N and a line of the agent, A and the members of its answer to the oldest open request, M and the topic of a
// message of attention, T for the end of a wait.
//
// Each request of the editor gets one answer with its id, byte for byte; one that it canceled none or one. All that is
// written to either side is JSON-RPC, or came so from the other.
func FuzzProxy(f *testing.F) {
	end := "\nA" + `"result":{"stopReason":"end_turn"}`
	stop := "\nA" + `"result":{"stopReason":"cancelled"}`
	for _, script := range []string{
		"Eprompt 1 Build." + end, "Eprompt 1 Build.\nMitem" + stop + "\nNchunk" + end,
		"Eprompt 1 Build.\nEprompt 2 And a roof." + stop + end, "Eprompt 1 Build.\nEcancel" + stop + "\nEprompt 1 Again." + end,
		"Eprompt 1 Build.\nMone" + "\nA" + `"error":{"code":1}` + "\nMtwo" + end + end,
		"Eprompt 1 Build.\nNcall c1 pending\nMitem\nT\nNupdate c1 completed" + stop + end,
		"Eprompt 1 Build.\nNpermission 9\nMitem\nE9: outcome selected" + stop + end,
		`E{"jsonrpc":"2.0","id":"heed-1","method":"session/list"}` + "\nEprompt 2 Build.\nMitem" + stop + end + end,
		"Eprompt 1 Build.\n" + `E{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1.0}}` + stop,
		`E{"jsonrpc":"2.0","id":1.0,"method":"session/load","params":{"sessionId":"old"}}` + "\nA" + `"result":{}`,
		"E}\nEprompt }\nA" + `"result":{"stopReason":""}`,
		"Enot JSON\nN[1]\n" + `E{"id":null,"method":"x"}` + "\n" + `E{"id":1,"method":"x"}` + "\n" + `E{"id":1,"method":"y"}`,
	} {
		f.Add(script, false)
		f.Add(script, true)
	}
	f.Fuzz(func(t *testing.T, script string, injects bool) {
		synctest.Test(t, func(t *testing.T) { fuzz(t, script, injects) })
	})
}

func fuzz(t *testing.T, script string, injects bool) {
	steps := strings.Split(script, "\n")
	if len(steps) > 40 {
		t.Skip("long")
	}
	w := newWorld(t, steer.Policy{}, func(c *Config) { c.Left = func() {} })
	w.open(map[bool]string{true: `{"_meta":{"steering":{"supported":true}}}`, false: `{}`}[injects])
	var open []message // requests that the agent has
	asked, answers := map[string]int{}, map[string]int{}
	raw, said := map[string]bool{}, map[string]bool{} // lines that came so, from the editor and from the agent
	canceled := map[string]bool{}
	take := func() {
		synctest.Wait()
		for _, line := range w.agent.take() {
			var m message
			valid := jsonrpc.Read(jsontext.Value(line), &m)
			require.True(t, raw[line] || valid && m.Version == "2.0", line)
			if valid && m.Method != "" && m.ID != nil {
				open = append(open, m)
			}
		}
		for _, line := range w.editor.take() {
			var m message
			if said[line] {
				continue
			}
			require.True(t, jsonrpc.Read(jsontext.Value(line), &m) && m.Version == "2.0", line)
			if m.Method == "" {
				answers[string(m.ID)]++
			}
		}
	}
	for _, step := range steps {
		if step == "" {
			continue
		}
		line := strings.TrimRight(long(step[1:]), "\r")
		var m message
		valid := jsonrpc.Read(jsontext.Value(line), &m)
		switch step[0] {
		case 'E':
			raw[line] = true
			w.editor.send(line)
			switch {
			case !valid:
			case m.Method == cancelRequest:
				var p struct {
					ID jsontext.Value `json:"requestId"`
				}
				jsonrpc.Read(m.Params, &p)
				canceled[jsonrpc.Key(p.ID)] = true
			case m.Method != "" && m.ID != nil:
				asked[string(m.ID)]++
			}
		case 'N':
			if m.Method != "" || m.ID == nil {
				said[line] = true
				w.agent.send(line)
			}
		case 'A':
			answer := `,` + step[1:] + `}`
			if len(open) > 0 && jsonrpc.Read(jsontext.Value(`{"jsonrpc":"2.0","id":0`+answer), &m) && m.Method == "" && string(m.ID) == "0" {
				id := string(open[0].ID)
				before, passes := answers[id], open[0].Method != methodPrompt && asked[id] > 0
				w.agent.send(`{"jsonrpc":"2.0","id":` + id + answer)
				open = open[1:]
				take()
				require.True(t, !passes || answers[id] == before+1, "an answer comes at once: %s", id)
			}
		case 'M':
			w.conversation.receive(steer.Message{Author: "heed", Topic: step[1:] + ".", Revision: "1", Text: "."})
		case 'T':
			w.conversation.Do(func(m *steer.Machine, now time.Time) steer.Action {
				w.conversation.now = m.Deadline()
				return m.Ready(w.conversation.now)
			})
		}
		take()
	}
	require.NoError(t, w.editor.Writer.(io.Closer).Close())
	take()
	w.agent.close()
	require.ErrorIs(t, cmp.Or(<-w.err, jsonrpc.ErrProgram), jsonrpc.ErrProgram)
	take()
	w.editor.close()
	for id, n := range asked {
		if canceled[jsonrpc.Key(jsontext.Value(id))] {
			require.LessOrEqual(t, answers[id], n, id)
		} else {
			require.Equal(t, n, answers[id], id)
		}
		delete(answers, id)
	}
	require.Empty(t, answers, "nobody asked")
}
