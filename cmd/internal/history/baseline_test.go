package history_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// TestBaseline: noise is what stood in as many sound sessions, with the rate that it had in all.
func TestBaseline(t *testing.T) {
	h := open(t, history.Config{})
	text := func(s string, n uint64) summary.Group {
		return summary.Group{
			Signature: signature.Of([]byte(s)).ID, Template: s, Count: n, Disposition: event.Advisory, Rule: "some.rule",
		}
	}
	cut := text("a text that was cut", 1)
	cut.Template = "a text that"
	long := text("a long text that was cut", 1)
	long.Template, long.Canonical = "a long text", long.Template
	for n, s := range []struct {
		state  string
		groups []summary.Group
	}{
		{"healthy", []summary.Group{text("noise <n>", 3), cut, long}},
		{"complaints", []summary.Group{text("noise <n>", 5), text("once", 1), cut, long}},
		{"healthy", nil},
		{"broken", []summary.Group{text("once", 1), text("noise <n>", 100)}},
	} {
		kept := session(uint64(n+1), s.state, nil)
		kept.Groups = s.groups
		remember(t, h, kept, day(n+1))
	}
	b, left, err := h.Baseline(t.Context(), "Colony", 2, day(9), 30)
	require.NoError(t, err)
	require.Equal(t, 1, left)
	require.Len(t, b.Entries, 2)
	entries := slices.Clone(b.Entries)
	slices.SortFunc(entries, func(x, y compare.Known) int { return cmp.Compare(y.Count, x.Count) })
	k := entries[0]
	require.Equal(t, []any{"noise <n>", uint64(8), 3, event.Advisory, "some.rule"},
		[]any{k.Templates[0], k.Count, k.Runs, k.Disposition, k.Rule})
	require.Equal(t, []string{"a long text that was cut"}, entries[1].Templates)
	again := testkit.Must(compare.ParseBaseline("b.yaml", b.Append(nil)))
	require.Equal(t, b.Entries[0].Signature, again.Entries[0].Signature)
	require.Equal(t, string(b.Append(nil)), string(again.Append(nil)))
	require.Contains(t, string(b.Append(nil)), day(9).AddDate(0, 0, 30).UTC().Format(time.DateOnly))

	_, _, err = h.Baseline(t.Context(), "Colony", 4, day(9), 30)
	require.ErrorContains(t, err, "3 sessions were sound, and 4 are wanted")
	_, _, err = h.Baseline(t.Context(), "Chess", 0, day(9), 30)
	require.ErrorContains(t, err, "0 sessions were sound, and 1 are wanted")
}
