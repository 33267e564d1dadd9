package heed

import (
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/signature"
)

// Updates drains the pending updates: it appends them to dst, oldest first. There is at
// most one for each item, with the item as it is now. Each costs a rendering of its
// item, which allocates; without pending updates nothing does. The lock is released
// between two of them; updates that arise after the call stay pending.
func (e *Engine) Updates(dst []Update) []Update {
	e.mu.Lock()
	n := len(e.coalescer.Queue)
	e.mu.Release()
	for ; n > 0; n-- {
		u, ok := e.nextUpdate()
		if !ok {
			break
		}
		dst = append(dst, u)
	}
	return dst
}

// Open appends all open items to dst, in the order in which they should be seen. It is
// for observers: it does not count as delivery. It costs a rendering for each, and the
// lock is released between two of them: an item that was open at the call, and is when
// its turn comes, is appended as it is then.
func (e *Engine) Open(dst []Item) []Item {
	e.mu.Lock()
	ids := e.coalescer.OpenIDs()
	e.mu.Release()
	for _, id := range ids {
		if a, ok := e.Item(id); ok && a.State == coalesce.Open {
			dst = append(dst, a)
		}
	}
	return dst
}

// Acked returns the ids of the items of this run that blocked and were acknowledged, the latest first. An item whose
// rules were resolved since is not among them. It is for observers: what these items report may still be true.
func (e *Engine) Acked() []string {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.AckedIDs()
}

// nextUpdate drains one update. Each rendering has the lock for itself, so that no caller of Log waits for all of them.
func (e *Engine) nextUpdate() (Update, bool) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.NextUpdate()
}

// Verdict returns the verdict about the operation called id, with its parts. Its cost grows with the number of
// operations known.
func (e *Engine) Verdict(id string) Verdict {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Verdict(id)
}

// Operations returns the ids of the known operations, in the order of their arrival, except parts of an unknown one.
func (e *Engine) Operations() []string {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Parts("")
}

// Read returns a page of the journal: the entries held after a cursor, oldest first, and how many were lost. Page.Err
// reports a refused cursor. The records are copies.
//
// A filter by an operation chooses the entries of its parts as well, of any depth, even if a part became known as one
// later. That costs a pass over the known operations. A part that was evicted from their table (MaxOperations) is not
// known as one any more, nor are its own parts: their entries are then found by their own ids alone. An operation whose
// parts are known may itself be evicted.
//
// A filter by a signature chooses the entries of its group as well, as far as it was learned, for a pass over the known
// signatures.
//
// No writer waits for a whole read: it takes the lock in short turns, and searches and copies in between. Entries that
// are evicted in between, before they were read, count as lost in the page.
func (e *Engine) Read(after Cursor, limit int, f Filter) Page {
	parts, group := e.related(&f)
	s := journal.NewScan(after, limit, f, parts, group)
	for more := true; more; {
		e.mu.Lock()
		more = s.Step(e.journal)
		e.mu.Release()
		more = s.Sift() && more
	}
	return s.Page
}

// related returns the known parts of the operation and the known ids of the group of the signature in a filter.
func (e *Engine) related(f *Filter) (parts []string, group []signature.ID) {
	if f.Operation == "" && f.Signature == 0 {
		return nil, nil
	}
	e.mu.Lock()
	defer e.mu.Release()
	if f.Operation != "" {
		parts = e.coalescer.Parts(f.Operation)
	}
	if f.Signature != 0 {
		group = e.classifier.Groups().Members(nil, f.Signature)
	}
	return parts, group
}

// Since returns how many entries after a cursor the journal holds and how many
// it lost, without reading them: two binary searches. It refuses a cursor that
// the journal cannot have given out, with journal.ErrCursorEpoch or
// journal.ErrCursorBeyond.
func (e *Engine) Since(after Cursor) (held, lost uint64, err error) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.journal.Since(after)
}

// Latest returns the cursor after the latest entry: a read from it yields later
// entries.
func (e *Engine) Latest() Cursor {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Cursor{Epoch: e.cfg.Epoch, Seq: e.Seq}
}

// Item returns the item called id while it is open or remembered. It does not count as
// delivery. It costs a rendering.
func (e *Engine) Item(id string) (Item, bool) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.coalescer.Item(e.itemID(id))
}

// Group returns the signature that names the group of s, as learned so far: s itself if it is alone. Groups only grow,
// so that counts by signature can be added up by group at the end.
func (e *Engine) Group(s signature.Signature) signature.Signature {
	e.mu.Lock()
	defer e.mu.Release()
	return e.classifier.Groups().Group(s)
}

// Variant returns the words by which the decision about a canonical template differs from others of its group, as
// learned when the template was new: log text, "" if there are none.
func (e *Engine) Variant(template string) string {
	e.mu.Lock()
	defer e.mu.Release()
	return string(e.classifier.Groups().AppendFirstVariant(nil, []byte(template), signature.Of([]byte(template))))
}

// Template returns the canonical template of a signature while it is known.
func (e *Engine) Template(s signature.Signature) (string, bool) {
	e.mu.Lock()
	defer e.mu.Release()
	return e.classifier.Template(s)
}
