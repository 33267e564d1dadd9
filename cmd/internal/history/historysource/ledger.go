// Package historysource lets package briefing read a history of earlier sessions, as the ledger "ho2".
package historysource

import (
	"context"
	"fmt"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/cmd/internal/history"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// Ledger answers a brief's queries from a history. Its methods may be called from many goroutines.
type Ledger struct {
	History *history.History
	Session func() *summary.Session // that is asked for, as far as is known: see [history.History.Known]
}

// Entries returns a line about the group of the filter "signature", and one about the mods that go with it. Without
// that filter, or where nothing is remembered of the game, it finds nothing.
func (l *Ledger) Entries(ctx context.Context, _ *briefing.Input, q *briefing.LedgerQuery) (briefing.Found, error) {
	text := q.Filters["signature"]
	if text == "" {
		return briefing.Found{}, nil
	}
	id, err := signature.ParseID(text)
	if err != nil {
		return briefing.Found{}, fmt.Errorf("filter signature: %w", err)
	}
	session := l.Session()
	known, err := l.History.Known(ctx, session, id)
	if err != nil || known == "" {
		return briefing.Found{}, err
	}
	f := briefing.Fragment{
		Source: briefing.SourceLedger, SourceID: "history/" + text, Title: "Earlier sessions",
		Lines: []briefing.Line{{Text: known, Data: true}}, Refs: map[string]string{"signature": text},
	}
	game, _ := summary.Game(session.Facts.Game)
	groups, err := l.History.Groups(ctx, id)
	for i := range groups {
		if groups[i].Game == game && groups[i].Suspects.Factors != nil {
			f.Lines = append(f.Lines, briefing.Line{Text: groups[i].Suspects.Text, Data: true})
			break
		}
	}
	return briefing.Found{Fragments: []briefing.Fragment{f}}, err
}

// Revision implements [briefing.Ledger].
func (l *Ledger) Revision(ctx context.Context) string {
	revision, err := l.History.Revision(ctx)
	if err != nil {
		return "0"
	}
	return revision
}
