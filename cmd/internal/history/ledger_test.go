package history_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/cmd/internal/history/historysource"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// filled returns a ledger of 13 sessions, of which the last four have a mod, and a fault with it.
func filled(path string) (*historysource.Ledger, error) {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 20, 0, 0, 0, time.UTC) }
	h, err := history.Open(context.Background(), history.Config{Path: path, Now: func() time.Time { return day(20) }})
	if err != nil {
		return nil, err
	}
	for n := range 13 {
		s := &summary.Session{
			Version: summary.Version, State: "healthy", Signatures: signature.Version, Records: 100, Complete: true,
			Facts: capture.Facts{Game: "Colony 1.2"}, Log: summary.Log{Bytes: uint64(n + 1), Hash: summary.Hash(n)},
			Mods: []capture.ListedMod{{Mod: blame.Mod{Name: "Core"}}},
		}
		if n >= 9 {
			s.Mods = append(s.Mods, capture.ListedMod{Mod: blame.Mod{Name: "ExampleMod"}})
			s.Groups = []summary.Group{{Signature: 7, Template: "it broke", Disposition: event.Blocking, Rule: "r", Count: 1}}
		}
		if _, err := h.Remember(context.Background(), s, day(n+1), false); err != nil {
			return nil, err
		}
	}
	return &historysource.Ledger{History: h, Session: func() *summary.Session {
		return &summary.Session{Facts: capture.Facts{Game: "Colony 1.3"}, Signatures: signature.Version}
	}}, nil
}

func TestLedger(t *testing.T) {
	l := testkit.Must(filled(filepath.Join(t.TempDir(), "h.db")))
	defer l.History.Close() //nolint:errcheck // the test has ended
	ask := func(filters map[string]string) (briefing.Found, error) {
		return l.Entries(t.Context(), nil, &briefing.LedgerQuery{Filters: filters})
	}
	found := testkit.Must(ask(map[string]string{"signature": "0000000000000007"}))
	require.Len(t, found.Fragments, 1)
	require.Contains(t, found.Fragments[0].Lines[0].Text, "when ExampleMod was added")
	require.Contains(t, found.Fragments[0].Lines[1].Text, "ExampleMod: 4 of 4 sessions with it, 0 of 9 without")
	for _, line := range found.Fragments[0].Lines {
		require.True(t, line.Data, "names of mods are the log's")
	}
	found = testkit.Must(ask(nil))
	require.Empty(t, found.Fragments)
	_, err := ask(map[string]string{"signature": "x"})
	require.ErrorContains(t, err, "filter signature")
	before := l.Revision(t.Context())
	testkit.Must(l.History.Forget(t.Context(), history.Which{IDs: []int64{3}}))
	require.NotEqual(t, before, l.Revision(t.Context()))
}
