package search

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	bleve "github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/internal/text"
)

const (
	// mostWords is how many words of a query are searched for: the rarest.
	mostWords = 24

	// queryWords is how many words of a query are looked at.
	queryWords = 128

	// longestQuery bounds a query, in bytes.
	longestQuery = 4 << 10

	// steps is after how many documents a search looks whether it was cancelled.
	steps = 1024
)

// Searcher returns a searcher of the documents of one group.
func (x *Index) Searcher(group string) briefing.Searcher { return &groupSearcher{x, group} }

type groupSearcher struct {
	index *Index
	group string
}

// Search implements briefing.Searcher: of documents alike, the newer comes first. What attention has found already, or
// quotes, is left out.
func (s *groupSearcher) Search(
	ctx context.Context, in *briefing.Input, query string, limit int, threshold float64,
) (briefing.Found, error) {
	return s.index.search(ctx, s.group, query, limit, threshold, knownTo(in))
}

// known is what attention has found: signatures, and lines that it quotes.
type known struct{ signatures, lines map[string]bool }

func knownTo(in *briefing.Input) known {
	k := known{map[string]bool{}, map[string]bool{}}
	if in == nil {
		return k
	}
	for i := range in.Found {
		f := &in.Found[i]
		if f.Source != briefing.SourceAttention {
			continue
		}
		k.signatures[f.Refs["signature"]] = true
		for _, l := range f.Lines {
			if l.Data {
				k.lines[l.Text] = true
			}
		}
	}
	return k
}

// has reports whether a fragment is known: by its signature, or by the first line of what it quotes.
func (k known) has(f *briefing.Fragment) bool {
	if s := f.Refs["signature"]; s != "" && k.signatures[s] {
		return true
	}
	i := slices.IndexFunc(f.Lines, func(l briefing.Line) bool { return l.Data })
	return i >= 0 && k.lines[f.Lines[i].Text]
}

// hit is a document that has words of a query.
type hit struct {
	id    uint64 // in the index
	score float64
	entry *entry
}

// search returns the documents of a group that are relevant to a query.
func (x *Index) search(
	ctx context.Context, name, query string, limit int, threshold float64, known known,
) (found briefing.Found, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	g := x.groups[name]
	switch {
	case x.closed:
		return found, errClosed
	case g == nil || limit <= 0:
		return found, nil
	}
	if err := x.flush(); err != nil {
		return found, err
	}
	reader, err := x.index.Reader()
	if err != nil {
		return found, err
	}
	defer func() { err = cmp.Or(err, reader.Close()) }()
	scores, perfect, err := g.score(ctx, reader, name, query)
	if err != nil {
		return found, err
	}
	var hits []hit
	for id, score := range scores {
		if score > 0 && score >= threshold*perfect {
			hits = append(hits, hit{id: uint64(id), score: score})
		}
	}
	// Of hits alike, the newest come first, which the index does not know.
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	var best []hit
	for i, h := range hits {
		if len(best) > limit && h.score < hits[i-1].score {
			break
		}
		number, err := reader.ExternalID(index.NewIndexInternalID(nil, h.id))
		if err != nil {
			return found, err
		}
		if h.entry = x.byNumber[number]; h.entry != nil && !known.has(&h.entry.Fragment) {
			best = append(best, h)
		}
	}
	slices.SortStableFunc(best, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.entry.put, a.entry.put))
	})
	found.More = len(best) > limit
	for _, h := range best[:min(limit, len(best))] {
		f := h.entry.Fragment
		f.Source, f.Required, f.Scored, f.Relevance = briefing.SourceSearch, false, true, min(1, h.score/perfect)
		f.Lines, f.Short, f.Refs = slices.Clone(f.Lines), slices.Clone(f.Short), maps.Clone(f.Refs)
		found.Fragments = append(found.Fragments, f)
	}
	return found, nil
}

// score returns the scores of documents by their id in the index, and the perfect one.
func (g *group) score(ctx context.Context, reader index.IndexReader, name, query string) ([]float64, float64, error) {
	total := float64(len(g.entries))
	bm25 := context.WithValue(ctx, bleve.GetScoringModelCallbackKey,
		bleve.GetScoringModelCallbackFn(func() string { return index.BM25Scoring }))
	bm25 = context.WithValue(bm25, bleve.BM25StatsKey,
		&bleve.BM25Stats{DocCount: total, FieldCardinality: map[string]int{name: g.words}})

	var terms []*searcher.TermSearcher
	defer func() {
		for _, t := range terms {
			_ = t.Close() // nothing is open behind it
		}
	}()
	perfect := 0.0 // the score of a document of average length that has each word once
	weigh := func(documents uint64) {
		perfect += math.Log(1+(total-float64(documents)+0.5)/(float64(documents)+0.5)) * bleve.BM25_k1 / (1 + bleve.BM25_k1)
	}
	for _, word := range distinct(split(query[:text.Prefix(query, longestQuery)])) {
		t, err := searcher.NewTermSearcherBytes(bm25, reader, []byte(word), name, 1, bleve.SearcherOptions{})
		if err != nil {
			return nil, 0, err
		}
		if ts, ok := t.(*searcher.TermSearcher); ok && ts.Count() > 0 {
			terms = append(terms, ts)
			continue
		}
		weigh(0)
		_ = t.Close() // as above
	}
	slices.SortStableFunc(terms, func(a, b *searcher.TermSearcher) int { return cmp.Compare(a.Count(), b.Count()) })
	var scores []float64
	matches := &bleve.SearchContext{DocumentMatchPool: bleve.NewDocumentMatchPool(1, 0)}
	for _, t := range terms[:min(mostWords, len(terms))] {
		weigh(t.Count())
		for step := 0; ; step++ {
			if step%steps == 0 && ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			m, err := t.Next(matches)
			if err != nil {
				return nil, 0, err
			}
			if m == nil {
				break
			}
			id := int(m.IndexInternalID.Value())
			if id >= len(scores) {
				scores = append(scores, make([]float64, id+1-len(scores))...)
			}
			scores[id] += m.Score
			matches.DocumentMatchPool.Put(m)
		}
	}
	return scores, perfect, nil
}

// distinct returns the first words of a query, each once.
func distinct(words []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, w := range words {
		if !seen[w] && len(out) < queryWords {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
