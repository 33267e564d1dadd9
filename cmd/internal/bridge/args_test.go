package bridge

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/gabp"
)

// kinds has an argument of each kind.
type kinds struct {
	Text  string       `json:"text,omitempty"`
	Short string       `json:"short,omitempty" maximum:"2"`
	Word  string       `json:"word,omitempty" enum:"a,b"`
	Size  int          `json:"size,omitempty" minimum:"2" maximum:"5" default:"3"`
	Seq   uint64       `json:"seq,omitempty" minimum:"1"`
	Flag  bool         `json:"flag,omitempty"`
	Words []event.Kind `json:"words,omitempty"`
	After Ref          `json:"after,omitempty" minimum:"0" maximum:"512"`
}

// TestArguments holds for each kind of argument some values that follow its schema, and what they become.
func TestArguments(t *testing.T) {
	tools := &gabp.Tools{}
	taken := func(_ *Diagnostics, _ context.Context, _ string, in kinds) (*kinds, error) { return &in, nil }
	add(tools, ToolStatus, nil, taken)
	text := strings.Repeat("t", 256)
	for raw, want := range map[string]kinds{
		`{}`: {}, `{"text":"a"}`: {Text: "a"}, `{"text":"` + text + `"}`: {Text: text}, `{"short":"ab"}`: {Short: "ab"},
		`{"word":"b"}`: {Word: "b"}, `{"size":2}`: {Size: 2}, `{"size":5}`: {Size: 5}, `{"size":4.0}`: {Size: 4},
		`{"size":4e0}`: {Size: 4}, `{"seq":9007199254740991}`: {Seq: 1<<53 - 1}, `{"flag":true}`: {Flag: true},
		`{"words":["state","log"]}`: {Words: []event.Kind{event.KindState, event.KindLog}},
		`{"after":"e/1"}`:           {After: "e/1"}, `{"after":0}`: {After: "0"}, `{"after":7.0}`: {After: "7"},
	} {
		if want.Size == 0 {
			want.Size = 3
		}
		ctx := context.WithValue(t.Context(), callerKey{}, caller{})
		got, err := tools.Call(ctx, nil, gabp.ToolCall{Name: ToolStatus, Arguments: json.RawMessage(raw)})
		require.NoError(t, err, raw)
		require.Equal(t, &want, got, raw)
	}
}

// TestOneID holds what is said of an item that is named not at all, or twice.
func TestOneID(t *testing.T) {
	for _, c := range []struct{ id, attentionID, want, refused string }{
		{"", "", "", "params.arguments.id: want a text, got nothing"},
		{"a", "b", "", "params.arguments.attentionId: want the same as id, got another value"},
		{"a", "", "a", ""},
		{"", "a", "a", ""},
		{"a", "a", "a", ""},
	} {
		id, err := oneID(Ref(c.id), Ref(c.attentionID))
		require.Equal(t, c.want, id)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused)
		}
	}
}

// TestRefusalInTokens holds that a bridge's agent reads, in place of a result, one line, the head of the brief once,
// and one way to continue: with the data of the error, in 195 of the 350 tokens that it took before.
func TestRefusalInTokens(t *testing.T) {
	var assemble Briefer
	lend := func(ctx context.Context, r briefing.Request) (*briefing.Context, error) { return assemble(ctx, r) }
	m := modOf(done)
	var cfg session.Config
	cfg.Engine.Epoch = "20261122T151144.661cf85f" // as long as each is
	begin(t, Config{Brief: lend}, cfg, m, func(t *testing.T, p *play) {
		briefs, err := briefing.New(heedsource.Sources(heedsource.Config{
			Engine: p.session.Engine(), Rules: p.session.Rules, Next: way.SessionNext, Now: time.Now,
		}))
		require.NoError(t, err)
		defer briefs.Close() //nolint:errcheck // the test has ended
		assemble = briefs.Assemble
		p.session.Observe(event.Log{Message: "Starting"}.Entry())
		p.session.Observe(event.Log{
			Level: event.LevelError, Message: "Broken crane: System.NullReferenceException: Object reference not set",
			Stack: "  at Harbor.Crane.Tick () [0x00000] in <1>:0\n  at Verse.TickList.Tick () [0x00000] in <2>:0",
		}.Entry())
		_, e := p.call("colony/build")
		tokens := 0
		for line := range strings.Lines(e.Message + "\n" + string(e.Data)) {
			tokens += briefing.Tokens{}.Estimate(briefing.Line{Text: line})
		}
		require.LessOrEqual(t, tokens, 195)
		lines := strings.Split(e.Message, "\n")
		require.Equal(t, "Not executed: something broke (1 entry in 1 group).", lines[0])
		require.Contains(t, lines, "> Broken crane: System.NullReferenceException: Object reference not set")
		require.Equal(t, `Next: call heed/ack with id "1", then read the game's state again, then call colony/build again if it `+
			"is still wanted.", lines[len(lines)-1])
		require.Equal(t, 1, strings.Count(e.Message+string(e.Data), "/ack"))
	})
}
