package coalesce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestRepeatOfWhatWasResolved: a repeat of what was resolved is not resolved, however
// often it came before.
func TestRepeatOfWhatWasResolved(t *testing.T) {
	c, err := New(Config{})
	require.NoError(t, err)
	seq := uint64(0)
	fold := func(d event.Decision, resolves ...string) {
		seq++
		c.Fold(&Input{Entry: &event.Entry{Seq: seq}, Signature: groupSignature(d.Rule), Decision: d, Resolves: resolves})
	}
	r, s := event.Decision{Rule: "r", Disposition: event.Blocking}, event.Decision{Rule: "s", Disposition: event.Blocking}
	for range 8 {
		fold(r)
		fold(s)
	}
	fold(event.Decision{}, "r")
	fold(r)
	fold(event.Decision{}, "s")
	require.Len(t, openItems(c), 1)
	fold(event.Decision{}, "r")
	require.Empty(t, openItems(c))
}
