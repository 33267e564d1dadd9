package briefing

import (
	"context"
	"time"
)

// Input has the circumstances of a query. It is read only.
type Input struct {
	Request  *Request
	Tiers    []string // that a search reads
	Tokens   int      // that are left
	Estimate func(Line) int
	Found    []Fragment // by earlier stages
}

// Found is the answer of a source: fragments, best first, that belong to the caller.
type Found struct {
	Fragments []Fragment
	Warnings  []string

	// More reports that more was found than was asked for, or fits.
	More bool
}

// Ledger is a record of events, of one tier. It is only read: a query marks nothing as seen and moves no cursor
// of others. Its methods may be called from many goroutines.
type Ledger interface {
	// Entries returns the entries that a query selects, oldest first: the latest that match.
	Entries(ctx context.Context, in *Input, q *LedgerQuery) (Found, error)

	// Revision differs whenever Entries may answer otherwise: such as the latest sequence number.
	Revision(ctx context.Context) string
}

// Registry is a table of facts, such as mods. As [Ledger], it is only read.
type Registry interface {
	Rows(ctx context.Context, in *Input, q *RegistryQuery) (Found, error)
}

// Searcher finds what resembles a text. As [Ledger], it is only read.
type Searcher interface {
	// Search returns scored fragments, the most relevant first, at most max of at least a relevance.
	Search(ctx context.Context, in *Input, query string, limit int, threshold float64) (Found, error)
}

// Attention has the open items. As [Ledger], it is only read: nothing counts as delivered.
type Attention interface {
	// Items returns the head of each item, followed by its details: first the items of Input.Request.WorkOrderID, then the
	// items that block.
	Items(ctx context.Context, in *Input, q *AttentionQuery) (Found, error)

	// Open returns the items that are open.
	Open(ctx context.Context) []Item
}

// Item is an open item. SourceID identifies its head, and changes with each revision.
type Item struct {
	SourceID string
	Blocking bool
}

// Config has the sources and the clock of a [Service].
type Config struct {
	Templates  []*Template
	Ledgers    map[string]Ledger // by tier
	Registries map[string]Registry
	Searchers  map[string]Searcher
	Attention  Attention                                                                           // optional
	Handlers   map[string]func(ctx context.Context, in *Input, args map[string]any) (Found, error) // of custom stages

	// Roots are the folders below which files are read.
	Roots []string

	// Now is the clock. Required.
	Now func() time.Time

	// Scrub removes private data from a text. Contexts of templates and requests that ask for it fail without it. It may
	// be called from many goroutines.
	Scrub func(text string) string

	// ScrubData replaces Scrub for lines that a game or a file wrote, but not for lines of ids, such as of mods. It may
	// be nil.
	ScrubData func(text string) string
}
