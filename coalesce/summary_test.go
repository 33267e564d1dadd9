package coalesce

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// script writes the letters of a text in another script, of which it is the first letter;
// 0 leaves them.
type script rune

const (
	cyrillic script = 'а'
	hangul   script = '가'
)

func (s script) write(text string) string {
	return strings.Map(func(r rune) rune {
		if s == 0 || !unicode.IsLetter(r) {
			return r
		}
		return rune(s) + unicode.ToLower(r) - 'a'
	}, text)
}

// crowd returns a coalescer with four open items, of which the first has all that
// a summary can tell. Names and the words of rules are in the script.
func crowd(t *testing.T, cfg Config, in script) *Coalescer {
	t.Helper()
	c := testkit.Must(New(cfg))
	fold := func(op, rule, summary string, d event.Disposition, blame ...string) Folded {
		return c.Fold(&Input{
			Blame:     blame,
			Entry:     &event.Entry{Seq: c.Now.seq + 1, Message: "text", OperationID: in.write(op)},
			Signature: groupSignature(rule), Summary: in.write(summary),
			Decision: event.Decision{
				Rule: rule, Disposition: d, Severity: event.SeverityError,
				Invalidates: d == event.Blocking,
			},
		})
	}
	fold("op-1", "r", "the first thing", event.Blocking)
	c.Ack("", "0-1", 0)
	fold("op-1", "s", "a lesser thing", event.Advisory)
	fold("op-1", "t", "something went wrong with all the lamps of the north", event.Blocking,
		in.write("Some Mod"), in.write("Other"))
	for i := range 3 {
		fold(fmt.Sprint("op-", i+2), fmt.Sprint("u", i), fmt.Sprintf("one more thing that is number %d of its kind", i),
			event.Blocking)
	}
	return c
}

func TestSummaryTellsAll(t *testing.T) {
	a, ok := crowd(t, Config{}, 0).Current("")
	require.True(t, ok)
	require.Equal(t, `something went wrong with all the lamps of the north (2 entries in 2 groups); during op-1; blame: "Some Mod", Other; `+
		"the game's state may have changed: read it again; first at entry 2; 1 less serious entry before the cause; see entries after 2; "+
		"also open: 0-3 (blocking: one more thing that is number 0 of its kind), 0-4 (blocking: one more thing that is number 1 of its kind), "+
		"0-5 (blocking: one more thing that is number 2 of its kind)", a.Summary)
}

// TestSummaryFits: whatever the room, a summary fits into it, what matters most is
// in it, and an acknowledgement covers what is named alone.
func TestSummaryFits(t *testing.T) {
	step := 4
	if testkit.IsFull() {
		step = 1
	}
	for _, in := range []script{0, cyrillic, hangul} {
		for size := minSummaryTokens; size <= maxSummaryTokens; size += step {
			summaryFits(t, size, in)
		}
	}
}

func summaryFits(t *testing.T, size int, in script) {
	c := crowd(t, Config{MaxSummaryTokens: size}, in)
	a, ok := c.Current("")
	require.True(t, ok)
	require.LessOrEqual(t, weight(a.Summary), latinPerToken*size)
	require.Contains(t, a.Summary, in.write("something went wrong"), size)
	require.True(t, strings.Contains(a.Summary, "state may have changed") || !strings.Contains(a.Summary, "blame: "),
		"the state matters more: %s", a.Summary)
	named := strings.Count(a.Summary, "(blocking: ")
	if named < 3 {
		require.Regexp(t, fmt.Sprintf("(and %d more|also open: %d others)", 3-named, 3-named), a.Summary)
	}
	require.Len(t, c.Ack("", a.ID, 0).Covered, named, a.Summary)
}

// TestWeight: a token is four characters of Latin script, or one of any other.
func TestWeight(t *testing.T) {
	for _, c := range []struct {
		text   string
		tokens float64
	}{
		{"", 0},
		{"a lamp broke", 3},
		{"Zażółć", 1.5},
		{"лампа", 5},
		{"등불 2", 2.5},
		{"…", 1},
		{"\xff", 1},
	} {
		require.InDelta(t, c.tokens, float64(weight(c.text))/latinPerToken, 0, c.text)
	}
	require.Equal(t, 4, lighter("등불이 깨졌다", 13))
	require.Equal(t, 3, lighter("등불이 깨졌다", 12))
	require.Equal(t, 1, lighter("등불", 1))
	require.Equal(t, 7, lighter("등불이 깨졌다", 100))
}

// TestSummaryLeavesOut: names in another script take a token for each letter, and the least important parts have no
// room.
func TestSummaryLeavesOut(t *testing.T) {
	for _, in := range []script{cyrillic, hangul} {
		a, ok := crowd(t, Config{}, in).Current("")
		require.True(t, ok)
		require.Contains(t, a.Summary, in.write("something went wrong with all the lamps of the north")+
			` (2 entries in 2 groups); during "`+in.write("op-1")+`"; the game's state may have changed: read it again; `+
			"also open: 0-3 (blocking: ")
		require.NotContains(t, a.Summary, "blame")
		require.Regexp(t, "and [12] more$", a.Summary)
	}
}

// TestBroken holds what is refused of an item of a snapshot: each is one change of an item that is not.
func TestBroken(t *testing.T) {
	// made returns an item with two groups: a gets worse at its second and third entry, b is advisory.
	made := func(t *testing.T) *item {
		t.Helper()
		c := testkit.Must(New(Config{}))
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
