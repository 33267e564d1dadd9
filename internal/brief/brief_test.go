package brief

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/briefing/heedsource"
	"github.com/heedlog/heed/event"
)

// TestServiceOfAnEngine assembles a brief by each built-in template, and leaves no goroutine behind.
func TestServiceOfAnEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, err := heed.New(heed.Config{})
		require.NoError(t, err)
		e.Log(event.Log{Level: event.LevelError, Message: "Exception ticking Crane7: System.NullReferenceException", Pos: 7})
		s, err := New(Config{Config: heedsource.Config{Engine: e, Next: SessionNext}, Now: time.Now})
		require.NoError(t, err)
		for _, tpl := range heedsource.Templates() {
			c, err := s.Assemble(t.Context(), briefing.Request{TemplateOverride: tpl.TemplateID})
			require.NoError(t, err)
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
	}, SessionNext("agent", &heed.Attention{ID: "a1", StateInvalidated: true, Blocking: true}))
	a := &heed.Attention{ID: "e-1", Blocking: true}
	require.Equal(t, []string{
		"heed brief --template agent 1 shows what came before and after", "heed ack 1 lets the agent's calls pass again",
	}, SessionNext("person", a))
	require.Empty(t, SessionNext("mod_author", a), "an author has neither the game nor its log")
	a.Cause.Pos = 12
	require.Equal(t, []string{"heed explain x.log:12 shows why it was decided so, and what points at whom"},
		FileNext("heed", "x.log")("person", a))
}

// TestEarlierBriefs: a template may search for what earlier briefs were about.
func TestEarlierBriefs(t *testing.T) {
	e, err := heed.New(heed.Config{})
	require.NoError(t, err)
	e.Log(event.Log{Level: event.LevelError, Message: "Exception ticking Crane7: System.NullReferenceException", Pos: 7})
	s, err := New(Config{Config: heedsource.Config{Engine: e}, Now: time.Now})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	by, err := briefing.Parse("earlier.yaml", []byte(`
template_id: earlier
pipeline:
  - {type: horizontal_search, config: {query: crane exception, sources: [briefs]}}
`))
	require.NoError(t, err)
	c, err := s.AssembleBy(t.Context(), briefing.Request{}, by)
	require.NoError(t, err)
	require.Empty(t, c.Text)
	_, err = s.AssembleBy(t.Context(), briefing.Request{TemplateOverride: heedsource.TemplateAgent}, nil)
	require.NoError(t, err)
	c, err = s.AssembleBy(t.Context(), briefing.Request{}, by)
	require.NoError(t, err)
	require.Contains(t, c.Text, "an earlier brief by agent\n> [attention ")
}
