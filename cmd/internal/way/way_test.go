package way

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
)

// TestRefusalSaysTheCount holds that a refusal says the count after a title with a semicolon, and no later clause.
func TestRefusalSaysTheCount(t *testing.T) {
	w := Tools("brief", "ack", "entries")
	item := heed.Item{ID: "e-3", Title: "a plan failed; its colonists wait"}
	item.Summary = item.Title + " (22 entries in 2 groups); blame: Harbor"
	require.Equal(t, "Not executed: a plan failed; its colonists wait (22 entries in 2 groups).\n"+
		`Next: call ack with id "3", then call build again if it is still wanted.`, w.Refuse(Refusal{Tool: "build", Item: &item}))
}
