package bridge_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// TestServiceOfAnEngine assembles a brief by each built-in template, and leaves no goroutine behind.
func TestServiceOfAnEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := testkit.Must(heed.New(heed.Config{}))
		e.Log(event.Log{Level: event.LevelError, Message: "Exception ticking Crane7: System.NullReferenceException", Pos: 7})
		s, err := briefing.New(heedsource.Sources(heedsource.Config{
			Engine: e, Next: way.SessionNext, Now: time.Now,
		}))
		require.NoError(t, err)
		for _, tpl := range heedsource.Templates() {
			c := testkit.Must(s.Assemble(t.Context(), briefing.Request{TemplateOverride: tpl.TemplateID}))
			require.Equal(t, tpl.TemplateID, c.TemplateID)
		}
		require.NoError(t, s.Close())
	})
}

func TestWordsOfNext(t *testing.T) {
	require.Equal(t, []string{
		"read the game's state again: what you know of it may not hold any more",
		"call heed/item with id a1 for its samples and the entries around its cause",
		"acknowledge a1 with attention/ack: calls are refused until then",
	}, way.SessionNext("agent", &heed.Item{ID: "a1", StateInvalidated: true, Blocking: true}))
	a := &heed.Item{ID: "e-1", Blocking: true}
	require.Equal(t, []string{
		"heed brief --template agent 1 shows what came before and after", "heed ack 1 lets the agent's calls pass again",
	}, way.SessionNext("person", a))
	require.Empty(t, way.SessionNext("mod_author", a), "an author has neither the game nor its log")
	a.Cause.Pos = 12
	require.Equal(t, []string{"heed explain x.log:12 shows why it was decided so, and what points at whom"},
		way.FileNext("heed", "x.log")("person", a))
}

// TestSearchWithoutSearcher: a template of the caller's that searches gets a warning, and all else that it names.
func TestSearchWithoutSearcher(t *testing.T) {
	e := testkit.Must(heed.New(heed.Config{}))
	e.Log(event.Log{Level: event.LevelError, Message: "Exception ticking Crane7: System.NullReferenceException", Pos: 7})
	s, err := briefing.New(heedsource.Sources(heedsource.Config{
		Engine: e, Now: time.Now,
	}))
	require.NoError(t, err)
	by, err := briefing.Parse("mine.yaml", []byte(`
template_id: mine
pipeline:
  - {type: attention}
  - {type: horizontal_search, config: {query: crane exception, sources: [messages]}}
`))
	require.NoError(t, err)
	c := testkit.Must(s.Assemble(t.Context(), briefing.Request{Template: by}))
	require.Contains(t, c.Text, "> Exception ticking Crane7")
	require.Equal(t, []string{`stage horizontal_search failed: no searcher "messages"`}, c.Warnings)
	require.NoError(t, s.Close())
}

// TestRefusalSaysTheCount holds that a refusal says the count after a title with a semicolon, and no later clause.
func TestRefusalSaysTheCount(t *testing.T) {
	w := way.Tools("brief", "ack", "entries")
	item := heed.Item{ID: "e-3", Title: "a plan failed; its colonists wait"}
	item.Summary = item.Title + " (22 entries in 2 groups); blame: Harbor"
	require.Equal(t, "Not executed: a plan failed; its colonists wait (22 entries in 2 groups).\n"+
		`Next: call ack with id "3", then call build again if it is still wanted.`, w.Refuse(way.Refusal{Tool: "build", Item: &item}))
}

// TestFurtherGroups holds that the head of an item that blocks has the text of the groups that an acknowledgement covers.
func TestFurtherGroups(t *testing.T) {
	b := &briefing.Context{Fragments: []briefing.Fragment{
		{SourceID: "e-3@9", Content: "[attention e-3@9] it broke\n> First thing\nNext: look"},
		{SourceID: "e-3@9#samples", Content: "[attention e-3@9#samples] What else\n- error:\n> First thing\n- error:\n> Second thing"},
		{SourceID: "e-4@9#samples", Content: "[attention e-4@9#samples] What else\n> Of another"},
	}}
	require.Equal(t, "Item 3, it broke\n> First thing\nAlso in it:\n> Second thing", way.Head(&heed.Item{ID: "e-3", Blocking: true}, b))
	require.Equal(t, "Item 3, it broke\n> First thing", way.Head(&heed.Item{ID: "e-3"}, b))
}
