// Package historysource lets package briefing read a history of earlier sessions, as the ledger "ho2": what they show
// of a group.
package historysource

import (
	"context"
	"fmt"
	"strconv"

	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/history"
	"github.com/heedlog/heed/signature"
	"github.com/heedlog/heed/summary"
)

// Ledger is what a history knows of the game of a session. Its methods may be called from many goroutines.
type Ledger struct {
	History *history.History
	Game    func() string              // of the session, with its version
	Mods    func() []capture.ListedMod // of the session; nil: not known
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
	var mods []capture.ListedMod
	if l.Mods != nil {
		mods = l.Mods()
	}
	game, _ := summary.Game(l.Game())
	known, err := l.History.Known(ctx, game, signature.Version, []signature.ID{id}, mods)
	if err != nil || known == "" {
		return briefing.Found{}, err
	}
	f := briefing.Fragment{
		Source: briefing.SourceLedger, SourceID: "history/" + text, Title: "Earlier sessions",
		Lines: []briefing.Line{{Text: known, Data: true}}, Refs: map[string]string{"signature": text},
	}
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
	latest, err := l.History.Sessions(ctx, "", 1)
	if err != nil || len(latest) == 0 {
		return "0"
	}
	return strconv.FormatInt(latest[0].ID, 10) + "@" + strconv.FormatInt(latest[0].Saved.UnixMilli(), 10)
}
