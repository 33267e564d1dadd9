package coalesce

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// crowd returns a coalescer with four open items, of which the first has all that
// a summary can tell.
func crowd(t *testing.T, cfg Config) *Coalescer {
	t.Helper()
	c, err := New(cfg)
	require.NoError(t, err)
	seq := uint64(0)
	fold := func(op, rule, summary string, d event.Disposition) Folded {
		seq++
		return c.Fold(&Input{
			Entry: &event.Entry{Seq: seq, Message: "text", OperationID: op}, Signature: groupSignature(rule), Summary: summary,
			Decision: event.Decision{
				Rule: rule, Disposition: d, Severity: event.SeverityError,
				Invalidates: d == event.Blocking,
			},
		})
	}
	fold("op-1", "r", "the first thing", event.Blocking)
	c.Ack("", "0-1", 0)
	fold("op-1", "s", "a lesser thing", event.Advisory)
	f := fold("op-1", "t", "something went wrong with all the lamps of the north", event.Blocking)
	c.Attribute(f.Owner, []string{"Some Mod", "Other"})
	for i := range 3 {
		fold(fmt.Sprint("op-", i+2), fmt.Sprint("u", i), fmt.Sprintf("one more thing that is number %d of its kind", i),
			event.Blocking)
	}
	return c
}

func TestSummaryTellsAll(t *testing.T) {
	a, ok := crowd(t, Config{}).Current("")
	require.True(t, ok)
	require.Equal(t, `something went wrong with all the lamps of the north (2 entries in 2 groups); during op-1; blame: "Some Mod", Other; `+
		"the game's state may have changed: read it again; first at entry 2; 1 less serious entry before the cause; continues item 0-1; see entries after 2; "+
		"also open: 0-3 (blocking: one more thing that is number 0 of its kind), 0-4 (blocking: one more thing that is number 1 of its kind), "+
		"0-5 (blocking: one more thing that is number 2 of its kind)", a.Summary)
}

// TestSummaryFits: whatever the room, a summary fits into it, what matters most is
// in it, what is not is named as not shown, and an acknowledgement covers what is
// named alone.
func TestSummaryFits(t *testing.T) {
	var last string
	for size := minSummary; size < 600; size++ {
		c := crowd(t, Config{MaxSummary: size})
		a, ok := c.Current("")
		require.True(t, ok)
		require.LessOrEqual(t, len(a.Summary), size)
		require.Contains(t, a.Summary, "something went wrong", size)
		require.Equal(t, strings.Contains(a.Summary, "state may have changed"), !strings.Contains(a.Summary, "changed state"),
			a.Summary)
		require.Equal(t, strings.Contains(a.Summary, "blame: "), !strings.Contains(a.Summary, ", blame") &&
			!strings.Contains(a.Summary, "not shown: blame"), a.Summary)
		named := strings.Count(a.Summary, "(blocking: ")
		if named < 3 {
			require.Regexp(t, fmt.Sprintf("(and %d more|also open: %d others)", 3-named, 3-named), a.Summary)
		}
		require.Len(t, c.Ack("", a.ID, 0).Covered, named, a.Summary)
		last = a.Summary
	}
	require.NotContains(t, last, "not shown")
}
