package acp

import (
	"cmp"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
)

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
