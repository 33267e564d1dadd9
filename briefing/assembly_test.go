package briefing

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type ledgerOf []string

func (l ledgerOf) Entries(_ context.Context, _ *Input, q *LedgerQuery) (found Found, err error) {
	for i, s := range l {
		found.Fragments = append(found.Fragments, Fragment{
			Source: SourceLedger, SourceID: s, Title: "entry", Lines: []Line{{Text: s, Data: true}}, Seq: uint64(i + 1),
		})
	}
	if found.More = len(l) > q.MaxEntries; found.More {
		found.Fragments = found.Fragments[len(l)-q.MaxEntries:]
	}
	return found, nil
}

func (l ledgerOf) Revision(context.Context) string { return "" }

// TestScrub: what a template or a request wants scrubbed has no private data, wherever it stands, and is not made where
// nobody can remove it.
func TestScrub(t *testing.T) {
	cfg := Config{
		Templates: []*Template{{
			TemplateID: "t", Scrub: true, Pipeline: []Stage{{Type: TypeLedgerQuery, Config: &LedgerQuery{Tier: "hot"}}},
		}},
		Ledgers: map[string]Ledger{"hot": ledgerOf{"home of maria"}}, Now: func() time.Time { return time.Time{} },
	}
	s, err := New(cfg)
	require.NoError(t, err)
	_, err = s.Assemble(t.Context(), Request{})
	require.ErrorContains(t, err, "Config.Scrub")
	cfg.Scrub = func(text string) string { return strings.ReplaceAll(text, "maria", "NAME") }
	s, err = New(cfg)
	require.NoError(t, err)
	c, err := s.Assemble(t.Context(), Request{})
	require.NoError(t, err)
	require.Contains(t, c.Text, "> home of NAME\n")
}
