package bridge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// heard is what heed adds to a result, or to the data of an error.
type heard struct {
	Executed  *bool      `json:"executed"`
	Attention *heed.Item `json:"attention"`
	Notice    string     `json:"notice"`
	Verdict   *verdict   `json:"verdict"`
}

// hears calls a tool and returns what heed adds to the answer, whatever that is.
func (p *play) hears(c *gabp.Client, tool string) (h heard) {
	p.t.Helper()
	raw, err := c.CallTool(p.ctx, tool, nil)
	if err != nil {
		var e *gabp.Error
		require.ErrorAs(p.t, err, &e)
		raw = e.Data
	}
	if len(raw) > 0 && raw[0] == '{' {
		require.NoError(p.t, json.Unmarshal(raw, &h))
	}
	return h
}

// fault opens a blocking item, of which the bridge has the refusal, and returns its id.
func (p *play) fault(message string) string {
	p.t.Helper()
	p.session.Observe(event.Log{Message: message}.Entry())
	open := p.session.Open(nil)
	require.NotEmpty(p.t, open)
	return open[0].ID
}

func (p *play) acks(c *gabp.Client, id string) {
	p.t.Helper()
	var acked gabp.AckResult
	require.NoError(p.t, c.Call(p.ctx, gabp.MethodAttentionAck, gabp.AckParams{AttentionID: id}, &acked))
	require.True(p.t, acked.Acknowledged)
}

// TestAckedByOthers holds that an acknowledgement by another opens the gate, and that the agent is told of it with its next
// result, once.
func TestAckedByOthers(t *testing.T) {
	m := &fakeMod{tools: buildTool, answers: done}
	begin(t, Config{Observer: "heed-cli"}, session.Config{}, m, func(t *testing.T, p *play) {
		person, other := p.dial("heed-cli"), p.dial("helper")
		require.Empty(t, p.hears(p.bridge, "colony/build").Notice)
		require.Empty(t, p.hears(other, "colony/build").Notice)

		id := p.fault("Broken thing")
		require.Equal(t, id, p.hears(p.bridge, "colony/build").Attention.ID, "the agent has it")
		time.Sleep(time.Minute)
		p.acks(person, session.ShortID(id, "e1"))
		h := p.hears(p.bridge, "colony/look")
		require.Empty(t, h.Notice, "the result of what only looks stays as it is")
		h = p.hears(p.bridge, "colony/build")
		require.True(t, *h.Executed)
		require.Equal(t, id, h.Attention.ID)
		require.False(t, h.Attention.Blocking)
		require.EqualValues(t, "cleared", h.Attention.State)
		require.Equal(t, "clean", h.Verdict.Outcome)
		require.Equal(t, "Item "+id+` was acknowledged by a person, "heed-cli#00000000-0000-40", at 2000-01-01T00:01:00Z. `+
			"The game's state may have changed meanwhile: read it again.", h.Notice)
		h = p.hears(p.bridge, "colony/build")
		require.Empty(t, h.Notice, "once")
		require.Nil(t, h.Attention)
		require.Equal(t, id, p.hears(other, "colony/build").Attention.ID, "each agent is told")
		require.Empty(t, p.hears(other, "colony/build").Notice)

		id = p.fault("Fault of a pump")
		p.acks(other, id)
		require.Contains(t, p.hears(p.bridge, "colony/build").Notice, `by another agent, "helper#`)
		require.Empty(t, p.hears(other, "colony/build").Notice, "it acknowledged that itself")

		id = p.fault("Broken pipe 7")
		p.acks(person, id)
		_, err := p.bridge.CallTool(p.ctx, ToolItem, map[string]any{"id": id})
		require.NoError(t, err)
		require.Empty(t, p.hears(p.bridge, "colony/build").Notice, "it has read the item since")

		id = p.fault("Broken roof of glass")
		p.acks(person, id)
		p.acks(p.bridge, id)
		require.Empty(t, p.hears(p.bridge, "colony/build").Notice, "it acknowledged that, too")
	})
}

// TestAckedByOthersInEveryAnswer: an error, a refusal, a value that is no object, and a call that is in flight.
func TestAckedByOthersInEveryAnswer(t *testing.T) {
	answers := []string{
		`"result":[1]`, `"result":{"notice":"of the mod"}`, `"error":{"code":-32400,"message":"no room","data":{"left":0}}`,
	}
	var whole *play
	var meanwhile func()
	m := &fakeMod{tools: buildTool, answers: func(string, string) []string {
		if meanwhile != nil {
			meanwhile()
		}
		return []string{`{"v":"gabp/1","id":"$ID","type":"response",` + answers[0] + `}`}
	}}
	begin(t, Config{Observer: "heed-cli"}, session.Config{}, m, func(t *testing.T, p *play) {
		whole = p
		person := p.dial("heed-cli")
		p.hears(p.bridge, "colony/build")
		for i, want := range []string{
			`{"value":[1],"executed":true,"attention":`, `{"notice":"of the mod","heed":{"executed":true,"attention":`,
			`{"left":0,"executed":true,"attention":`,
		} {
			id := p.fault(fmt.Sprintf("Broken part %s", strings.Repeat("x", i+1)))
			p.acks(person, id)
			got, e := p.call("colony/build")
			if e != nil {
				got = string(e.Data)
			}
			require.True(t, strings.HasPrefix(got, want+`{"attentionId":"`+id), got)
			require.Contains(t, got, "was acknowledged by a person")
			answers = answers[min(1, len(answers)-1):]
		}
		answers[0] = `"result":{}`

		first := p.fault("Broken bridge over a river")
		p.acks(person, first)
		second := p.fault("Fault of a dam")
		h := p.hears(p.bridge, "colony/build")
		require.False(t, *h.Executed)
		require.Equal(t, second, h.Attention.ID, "it holds the call back")
		require.Contains(t, h.Notice, "Item "+first+" (something broke ", "what is not beside it")
		p.acks(p.bridge, second)

		meanwhile = func() {
			meanwhile = nil
			whole.acks(person, whole.fault("Fault of a mill"))
		}
		h = p.hears(p.bridge, "colony/build")
		require.Contains(t, h.Notice, "was acknowledged by a person")
	})
}

// TestAckedByOthersIsBounded: however many items others acknowledge, under whatever names, a notice is short and harmless.
func TestAckedByOthersIsBounded(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var items []session.AckedByOther
	for i := range 9 {
		a := heed.Item{ID: fmt.Sprintf("e1-%d", i), Summary: strings.Repeat("s", 4000)}
		items = append(items, session.AckedByOther{Item: a, By: "\x1b[2J\u202e\"" + strings.Repeat("n", 500), Time: at})
	}
	text := notice(items, 1<<40, "e1-0")
	require.Less(t, len(text), 2000)
	require.Contains(t, text, "So were 1099511627781 earlier ones; heed/timeline shows them.")
	require.False(t, slices.ContainsFunc([]rune(text), func(r rune) bool { return r < ' ' || r == '\u202e' }), text)
}
