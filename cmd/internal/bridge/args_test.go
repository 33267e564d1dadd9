package bridge

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	After ref          `json:"after,omitempty" minimum:"0" maximum:"512"`
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
		id, err := oneID(ref(c.id), ref(c.attentionID))
		require.Equal(t, c.want, id)
		if c.refused != "" {
			require.ErrorContains(t, err, c.refused)
		}
	}
}
