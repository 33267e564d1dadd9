package heedsource

import (
	"context"
	"sync"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/briefing/search"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
)

// The groups of documents that are searched, and the names of their searchers.
const (
	SearchMessages  = "messages"  // of the journal
	SearchTemplates = "templates" // of the journal: texts with what varies masked
	SearchFiles     = "files"     // that the caller puts there
	SearchBriefs    = "briefs"    // earlier ones that the caller puts there
)

// maxNewDocuments bounds what one search indexes before it: a first search begins with the latest.
const maxNewDocuments = 256

// journalSearcher searches the log records of a journal, of those that are alike the latest. What was written since
// the last search is indexed before the next, and stays indexed when the journal has it no more.
type journalSearcher struct {
	ledger *Ledger
	index  *search.Index
	group  string
	text   func(*journal.Record) string

	mu   sync.Mutex
	done heed.Cursor // through which the journal was indexed
}

// searchers returns the searchers of an index for an engine's ledger.
func searchers(l *Ledger, x *search.Index) map[string]briefing.Searcher {
	of := func(group string, text func(*journal.Record) string) briefing.Searcher {
		return &journalSearcher{ledger: l, index: x, group: group, text: text}
	}
	return map[string]briefing.Searcher{
		SearchMessages: of(SearchMessages, func(r *journal.Record) string { return r.Message + "\n" + r.Stack }),
		SearchTemplates: of(SearchTemplates, func(r *journal.Record) string {
			template, _ := l.engine.Template(r.Signature)
			return template
		}),
		SearchFiles:  x.Searcher(SearchFiles),
		SearchBriefs: x.Searcher(SearchBriefs),
	}
}

// Search implements [briefing.Searcher].
func (s *journalSearcher) Search(
	ctx context.Context, in *briefing.Input, query string, limit int, threshold float64,
) (briefing.Found, error) {
	if err := s.catchUp(ctx); err != nil {
		return briefing.Found{}, err
	}
	return s.index.Searcher(s.group).Search(ctx, in, query, limit, threshold)
}

// catchUp indexes the latest of what was written since the last time.
func (s *journalSearcher) catchUp(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.ledger.choice(&briefing.LedgerQuery{EventType: event.KindLog.String(), MaxEntries: maxNewDocuments})
	if err != nil {
		return err
	}
	latest := s.ledger.engine.Latest()
	if err := s.ledger.collect(ctx, latest, s.done.Seq, c); err != nil {
		return err
	}
	docs := make([]search.Document, 0, len(c.entries))
	for i := len(c.entries) - 1; i >= 0; i-- {
		r := &c.entries[i]
		text := s.text(r)
		if text == "" {
			continue
		}
		f := s.ledger.entry(latest.Epoch, r, run{})
		docs = append(docs, search.Document{
			Group: s.group, ID: f.Refs["signature"] + " " + r.Decision.Rule, Text: text, Fragment: f,
		})
	}
	s.done = latest
	return s.index.Put(docs...)
}
