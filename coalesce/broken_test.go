package coalesce

import (
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
		it := &c.items[0]
		require.Empty(t, it.broken())
		require.Len(t, it.Counters.Rows, 2)
		require.EqualValues(t, 6, it.Total)
		return it
	}
	cleared := func(it *item) { it.State, it.ClearedBy, it.Pending = itemLapsed, "time", Cleared }
	const counts = "the counts of its groups do not match its entries"
	for _, c := range []struct {
		name   string
		change func(it *item)
		want   string
	}{
		{"nothing", func(*item) {}, ""},
		{"more entries", func(it *item) { it.Total++ }, counts},
		{"fewer entries", func(it *item) { it.Total-- }, counts},
		{"entries without a group", func(it *item) { it.Total++; it.Untracked++ }, ""},
		{"a group without entries", func(it *item) { it.Counters.Rows[1].Count = 0; it.Total -= 2 }, counts},
		{"a group with too many", func(it *item) { it.Counters.Rows[1].Count = 7 }, counts},
		{"no groups", func(it *item) { it.Counters.Rows, it.Total = nil, 0 }, "it is empty"},
		{"never opened", func(it *item) { it.Opened.Seq = 0 }, "it is empty"},
		{"without a cause", func(it *item) { it.Cause.Seq = 0 }, "it is empty"},
		{"an operation's without one", func(it *item) { it.Scope = scopeOperation }, "its operation is missing, or should not be there"},
		{"with an operation", func(it *item) { it.Root = &operation{} }, "its operation is missing, or should not be there"},
		{"a digest of nothing", func(it *item) { it.Scope = scopeDigest }, "its digest is empty"},
		{"a digest", func(it *item) { it.Scope, it.Digest.From.Seq = scopeDigest, 1 }, ""},
		{"acknowledged and open", func(it *item) { it.AckedAt.seq = 6 }, "it is open and cleared"},
		{"cleared by something and open", func(it *item) { it.ClearedBy = "time" }, "it is open and cleared"},
		{"its end is to be told", func(it *item) { it.Pending = Cleared }, "it is open and cleared"},
		{"cleared", func(it *item) { cleared(it) }, ""},
		{"cleared, and told", func(it *item) { cleared(it); it.Pending = "" }, ""},
		{"cleared by nothing", func(it *item) { cleared(it); it.ClearedBy = "" }, "it is cleared and open"},
		{"cleared, and its opening is to be told", func(it *item) { cleared(it); it.Pending = Opened }, "it is cleared and open"},

		{"raised before first", func(it *item) { it.Counters.Rows[0].Raised.At.Seq = 0 }, "a group with its entries out of order"},
		{"last before raised", func(it *item) { it.Counters.Rows[0].Last.seq = 3 }, "a group with its entries out of order"},
		{"later than the item", func(it *item) { it.Counters.Rows[0].Last.seq = 7 }, "a group with its entries out of order"},
		{"raised after all", func(it *item) { it.Counters.Rows[0].Raised.Count = 4 }, "a group that became worse after more entries than it has"},
		{"raised after nothing, later", func(it *item) { it.Counters.Rows[0].Raised.Count = 0 }, "a group that became worse after more entries than it has"},
		{"worse than the item", func(it *item) { it.Disposition = event.Advisory }, "a group worse than all of it"},
		{"more severe than the item", func(it *item) { it.Severity = event.SeverityWarning }, "a group worse than all of it"},
		{"invalidates what the item does not", func(it *item) { it.Invalidates = false }, "a group worse than all of it"},
		{"without the rule", func(it *item) { it.Rules = nil }, "the rule of a group is missing"},
		{"the cause is missing", func(it *item) { it.Cause.Rule = "another" }, "the group of its cause is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			it := made(t)
			c.change(it)
			require.Equal(t, c.want, it.broken())
		})
	}
}
