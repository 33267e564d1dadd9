package coalesce

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestBroken holds what is refused of an item of a snapshot: each is one change of an item that is not.
func TestBroken(t *testing.T) {
	// made returns an item with two groups: a gets worse at its second and third entry, b is advisory.
	made := func(t *testing.T) *item {
		t.Helper()
		c, err := New(Config{})
		require.NoError(t, err)
		for i, e := range []struct {
			group string
			d     event.Decision
		}{
			{"a", event.Decision{Rule: "r", Disposition: event.Advisory, Severity: event.SeverityWarning}},
			{"b", event.Decision{Rule: "r", Disposition: event.Advisory, Severity: event.SeverityWarning}},
			{"a", event.Decision{Rule: "r", Disposition: event.Blocking, Severity: event.SeverityWarning}},
			{"a", event.Decision{Rule: "r", Disposition: event.Blocking, Severity: event.SeverityError, Invalidates: true}},
			{"a", event.Decision{Rule: "r", Disposition: event.Blocking, Severity: event.SeverityError}},
			{"b", event.Decision{Rule: "r", Disposition: event.Advisory, Severity: event.SeverityWarning}},
		} {
			n := uint64(i + 1)
			c.Fold(&Input{Entry: &event.Entry{Seq: n, Pos: n, Message: "m"}, Signature: groupSignature(e.group), Decision: e.d})
		}
		it := &c.Items[0]
		var none laws
		it.check(&none)
		require.Empty(t, none)
		require.Len(t, it.Counters.Rows, 2)
		require.EqualValues(t, 6, it.Total)
		return it
	}
	cleared := func(it *item) { it.State, it.ClearedBy, it.Pending = itemLapsed, "time", Cleared }
	for _, c := range []struct {
		name   string
		change func(it *item)
		want   string
	}{
		{"nothing", func(*item) {}, ""},
		{"more entries", func(it *item) { it.Total++ }, "Total is"},
		{"fewer entries", func(it *item) { it.Total-- }, "Count of a group"},
		{"entries without a group", func(it *item) { it.Total++; it.Untracked++ }, ""},
		{"a group without entries", func(it *item) { it.Counters.Rows[1].Count = 0; it.Total -= 2 }, "Count of a group"},
		{"a group with too many", func(it *item) { it.Counters.Rows[1].Count = 7 }, "Count of a group"},
		{"no groups", func(it *item) { it.Counters.Rows, it.Total = nil, 0 }, "Opened is"},
		{"never opened", func(it *item) { it.Opened.Seq = 0 }, "Opened is"},
		{"without a cause", func(it *item) { it.Cause.Seq = 0 }, "Cause is"},
		{"an operation's without one", func(it *item) { it.Scope = scopeOperation }, "Root is"},
		{"with an operation", func(it *item) { it.Root = &life{} }, "Root is"},
		{"a digest of nothing", func(it *item) { it.Scope = scopeDigest }, "Digest is"},
		{"a digest", func(it *item) { it.Scope, it.Digest.From.Seq = scopeDigest, 1 }, ""},
		{"acknowledged and open", func(it *item) { it.AckedAt.seq = 6 }, "State of an item"},
		{"cleared by something and open", func(it *item) { it.ClearedBy = "time" }, "State of an item"},
		{"its end is to be told", func(it *item) { it.Pending = Cleared }, "State of an item"},
		{"cleared", func(it *item) { cleared(it) }, ""},
		{"cleared, and told", func(it *item) { cleared(it); it.Pending = "" }, ""},
		{"cleared by nothing", func(it *item) { cleared(it); it.ClearedBy = "" }, "State of an item"},
		{"cleared, and its opening is to be told", func(it *item) { cleared(it); it.Pending = Opened }, "State of an item"},

		{"older than its groups", func(it *item) { it.Opened.Seq = 2; it.Counters.Rows[1].First.Seq = 1 }, "Opened is"},
		{"raised before first", func(it *item) { it.Counters.Rows[0].Raised.At.Seq = 0 }, "the order of a group"},
		{"last before raised", func(it *item) { it.Counters.Rows[0].Last.seq = 3 }, "the order of a group"},
		{"later than the item", func(it *item) { it.Counters.Rows[0].Last.seq = 7 }, "the order of a group"},
		{"raised after all", func(it *item) { it.Counters.Rows[0].Raised.Count = 4 }, "Raised of a group"},
		{"raised after nothing, later", func(it *item) { it.Counters.Rows[0].Raised.Count = 0 }, "Raised of a group"},
		{"worse than the item", func(it *item) { it.Disposition = event.Advisory }, "a group worse than its item"},
		{"more severe than the item", func(it *item) { it.Severity = event.SeverityWarning }, "a group worse than its item"},
		{"invalidates what the item does not", func(it *item) { it.Invalidates = false }, "a group worse than its item"},
		{"without the rule", func(it *item) { it.Rules = nil }, "Count of a group"},
		{"the cause is missing", func(it *item) { it.Cause.Rule = "another" }, "Cause is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			it := made(t)
			c.change(it)
			var all laws
			it.check(&all)
			if c.want == "" {
				require.Empty(t, all)
				return
			}
			require.ErrorContains(t, errors.Join(all...), c.want)
		})
	}
}
