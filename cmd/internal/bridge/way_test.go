package bridge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/cmd/internal/way"
)

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
