// Package search finds what resembles a text, by BM25, among documents in memory: searchers of package briefing.
//
//	index, err := search.New(search.Config{})
//	…
//	defer index.Close()
//	err = index.Put(search.Document{Group: "message", ID: id, Text: message, Fragment: fragment})
//	…
//	found, err := index.Searcher("message").Search(ctx, in, "Exception ticking Widget", 5, 0.2)
//
// Documents belong to groups, such as messages, templates, files and past briefs; each group is searched by itself.
//
// # Words
//
// A word is a run of letters, and each part of a name in camel case as well: NullReferenceException, null, reference,
// exception. Han and kana are a word each. Case does not count, nor do digits: a message is found whatever ids it has.
//
// # Relevance
//
// The relevance of a document is its score as a share of that of one of average length that has each word of the query
// once, and at most 1. Words that no document has count as the rarest. So a threshold means the same for every query.
//
// # Bounds, concurrency, cost
//
// An [Index] holds at most [Config].Documents and [Config].Bytes; the oldest go first, and are counted. It is safe for
// concurrent use. What was put is indexed by the next search, and stays so: some 30 µs a document once, and half a
// millisecond a search of 4,096 messages. It runs two goroutines until [Index.Close].
package search

import (
	"container/list"
	"errors"
	"strconv"
	"sync"

	"github.com/blevesearch/bleve/v2/document"
	"github.com/blevesearch/bleve/v2/index/scorch"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/internal/text"
)

// Config bounds an [Index]. Zero in a field means its default, negative is an error.
type Config struct {
	Documents int // in all groups. Default 4,096
	Bytes     int // of all texts and fragments. Default 8 MiB
	Text      int // bytes of a document's text that are searched. Default 4 KiB
}

const (
	defaultDocuments = 4096
	defaultBytes     = 8 << 20
	defaultText      = 4 << 10

	// overhead is what a document takes beside its texts, in bytes.
	overhead = 512

	// A segment of the index with fewer documents than smallSegment is small. More small ones than smallSegments are
	// made one: a search reads each segment.
	smallSegment  = 64
	smallSegments = 4
)

// Document is what can be found.
type Document struct {
	Group string
	ID    string // within its group; a document with the same id is replaced
	Text  string // what is searched

	// Fragment is what a search returns; its Source and relevance are set there.
	Fragment briefing.Fragment
}

// Stats are what an [Index] holds, and what became of the rest.
type Stats struct {
	Documents int
	Bytes     int    // of their texts and fragments
	Evicted   uint64 // documents, for newer ones
	Cut       uint64 // bytes of texts beyond [Config].Text
}

// Index holds documents.
type Index struct {
	mu     sync.Mutex
	cfg    Config
	index  index.Index
	queue  *index.AnalysisQueue
	closed bool

	groups   map[string]*group
	byNumber map[string]*entry // by the number under which it is indexed
	order    *list.List        // of *entry, the oldest first
	next     uint64            // number of what is put next

	batch    *index.Batch // not indexed yet
	pending  *segment     // what it will be
	segments []*segment
	stats    Stats
}

// group is what BM25 needs to know of the documents of a group.
type group struct {
	entries map[string]*entry // by id
	words   int               // of all of them
}

type entry struct {
	Document
	number  string
	put     uint64 // its place among all that was put
	place   *list.Element
	segment *segment
	bytes   int
	words   int
}

// segment is what one batch made in the index.
type segment struct{ live map[*entry]struct{} }

var errClosed = errors.New("search: the index is closed")

// New returns an index without documents. The error names the field of cfg that is at fault.
func New(cfg Config) (*Index, error) {
	for _, f := range []struct {
		name  string
		value *int
		def   int
	}{
		{"Documents", &cfg.Documents, defaultDocuments},
		{"Bytes", &cfg.Bytes, defaultBytes},
		{"Text", &cfg.Text, defaultText},
	} {
		switch {
		case *f.value < 0:
			return nil, errors.New("search: Config." + f.name + " is negative")
		case *f.value == 0:
			*f.value = f.def
		}
	}
	x := &Index{
		cfg: cfg, groups: map[string]*group{}, byNumber: map[string]*entry{}, order: list.New(),
		batch: index.NewBatch(), pending: newSegment(), queue: index.NewAnalysisQueue(1),
	}
	var err error
	if x.index, err = scorch.NewScorch(scorch.Name, map[string]any{"path": ""}, x.queue); err == nil {
		err = x.index.Open()
	}
	if err != nil {
		x.queue.Close()
		return nil, err
	}
	return x, nil
}

func newSegment() *segment { return &segment{live: map[*entry]struct{}{}} }

// Close ends the goroutines of the index. Every later call returns an error.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	err := x.index.Close()
	x.queue.Close()
	return err
}

// Stats returns what the index holds.
func (x *Index) Stats() Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	s := x.stats
	s.Documents = x.order.Len()
	return s
}

// Put adds documents, the newest last, and evicts the oldest where there are too many. One that is there with the same
// text stays indexed, and becomes the newest. The index keeps the documents: they must not be changed any more.
func (x *Index) Put(docs ...Document) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return errClosed
	}
	for i := range docs {
		x.put(&docs[i])
	}
	return nil
}

func (x *Index) put(d *Document) {
	searched := d.Text[:text.Prefix(d.Text, x.cfg.Text)]
	x.stats.Cut += uint64(len(d.Text) - len(searched))
	g := x.groups[d.Group]
	if g == nil {
		g = &group{entries: map[string]*entry{}}
		x.groups[d.Group] = g
	}
	e := g.entries[d.ID]
	if e != nil && e.Text == searched {
		x.stats.Bytes -= e.bytes
		x.order.MoveToBack(e.place)
	} else {
		if e != nil {
			x.remove(e)
			x.groups[d.Group] = g
		}
		e = &entry{number: strconv.FormatUint(x.next, 36), segment: x.pending, words: len(split(searched))}
		g.entries[d.ID] = e
		g.words += e.words
		x.byNumber[e.number] = e
		e.place = x.order.PushBack(e)
		e.segment.live[e] = struct{}{}
		x.batch.Update(indexed(e.number, d.Group, searched))
	}
	e.Document, e.put = *d, x.next
	x.next++
	e.Text = searched
	e.bytes = overhead + len(d.ID) + len(searched) + size(&d.Fragment)
	x.stats.Bytes += e.bytes
	for x.order.Len() > 1 && (x.order.Len() > x.cfg.Documents || x.stats.Bytes > x.cfg.Bytes) {
		x.stats.Evicted++
		x.remove(x.order.Front().Value.(*entry))
	}
}

// indexed returns what is indexed of a document: words of its text, in a field for each group.
func indexed(number, group, text string) *document.Document {
	doc := document.NewDocument(number)
	doc.AddField(document.NewTextFieldCustom(group, nil, []byte(text), index.IndexField, analyzer{}))
	return doc
}

func size(f *briefing.Fragment) int {
	n := len(f.SourceID) + len(f.Title) + len(f.Parent)
	for _, lines := range [][]briefing.Line{f.Lines, f.Short} {
		for _, l := range lines {
			n += len(l.Text) + 32
		}
	}
	for k, v := range f.Refs {
		n += len(k) + len(v) + 32
	}
	return n
}

func (x *Index) remove(e *entry) {
	g := x.groups[e.Group]
	g.words -= e.words
	if delete(g.entries, e.ID); len(g.entries) == 0 {
		delete(x.groups, e.Group)
	}
	delete(x.byNumber, e.number)
	delete(e.segment.live, e)
	x.order.Remove(e.place)
	x.stats.Bytes -= e.bytes
	if e.segment == x.pending {
		delete(x.batch.IndexOps, e.number) // it was never indexed
	} else {
		x.batch.Delete(e.number)
	}
}

// flush indexes what was put. Small segments become part of the one that this makes.
func (x *Index) flush() error {
	if len(x.batch.IndexOps) == 0 {
		return nil
	}
	var small, kept []*segment
	for _, s := range x.segments {
		if len(s.live) < smallSegment {
			small = append(small, s)
		} else {
			kept = append(kept, s)
		}
	}
	if len(small) < smallSegments {
		kept = x.segments
		small = nil
	}
	for _, s := range small {
		for e := range s.live {
			x.batch.Update(indexed(e.number, e.Group, e.Text))
			e.segment = x.pending
			x.pending.live[e] = struct{}{}
		}
	}
	if x.segments = kept; len(x.pending.live) > 0 {
		x.segments = append(x.segments, x.pending)
	}
	batch := x.batch
	x.batch, x.pending = index.NewBatch(), newSegment()
	return x.index.Batch(batch)
}
