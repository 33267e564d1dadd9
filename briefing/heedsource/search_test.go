package heedsource

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/briefing/search"
	"github.com/heedlog/heed/event"
)

func TestSearchInTheJournal(t *testing.T) {
	index, err := search.New(search.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, index.Close()) }()
	e := played(t)
	sources := Sources(Config{Engine: e, Index: index})
	find := func(searcher, query string, found ...briefing.Fragment) (ids []string) {
		t.Helper()
		in := &briefing.Input{Found: found}
		f, err := sources.Searchers[searcher].Search(t.Context(), in, query, 3, 0.2)
		require.NoError(t, err)
		for _, f := range f.Fragments {
			require.Equal(t, briefing.SourceSearch, f.Source)
			require.True(t, f.Scored)
			ids = append(ids, f.SourceID)
		}
		return ids
	}
	require.Equal(t, []string{"run1/8"}, find(SearchMessages, "is wood low"), "of entries that are alike, the latest")
	require.Equal(t, []string{"run1/5"}, find(SearchMessages, "Press.Roller"), "its stack has it")
	require.Equal(t, []string{"run1/8"}, find(SearchTemplates, "low on wood"))
	require.Empty(t, find(SearchFiles, "wood"))

	known := briefing.Fragment{Source: briefing.SourceAttention, Refs: map[string]string{}}
	known.Refs["signature"] = entryOf(t, e, 8).Refs["signature"]
	require.Empty(t, find(SearchMessages, "is wood low", known), "what is known is not found again")

	e.Log(event.Log{Message: "low on wood: 99", Level: event.LevelWarning})
	require.Equal(t, []string{"run1/12"}, find(SearchMessages, "is wood low"))
}
