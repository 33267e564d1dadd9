package briefing

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heedlog/heed/internal/testkit"
)

// world is what a service reads in tests. Everything takes the time that it says, and is written down.
type world struct {
	now   time.Time
	takes time.Duration
	err   error

	entries, rows, hits map[string][]Fragment // by tier, registry, searcher
	items               []Fragment
	open                []Item
	revision            string
	revisions           map[string]string // by tier

	asked []string // of sources: what, and how
}

func (w *world) answer(_ *Input, fs []Fragment, format string, args ...any) (Found, error) {
	w.asked = append(w.asked, fmt.Sprintf(format, args...))
	w.now = w.now.Add(w.takes)
	return Found{Fragments: slices.Clone(fs)}, w.err
}

type stubLedger struct {
	*world
	tier string
}

func (l stubLedger) Entries(_ context.Context, in *Input, q *LedgerQuery) (Found, error) {
	fs := l.entries[l.tier]
	found, err := l.answer(in, fs[max(0, len(fs)-q.MaxEntries):], "ledger %s %+v", l.tier, *q)
	found.More = len(fs) > q.MaxEntries
	return found, err
}

func (l stubLedger) Revision(context.Context) string { return l.revision + l.revisions[l.tier] }

type stubRegistry struct {
	*world
	name string
}

func (r stubRegistry) Rows(_ context.Context, in *Input, q *RegistryQuery) (Found, error) {
	return r.answer(in, r.rows[r.name], "registry %+v", *q)
}

type stubSearcher struct {
	*world
	name string
}

func (s stubSearcher) Search(_ context.Context, in *Input, query string, limit int, least float64) (Found, error) {
	return s.answer(in, s.hits[s.name], "search %s %q %d %v", s.name, query, limit, least)
}

func (w *world) Items(_ context.Context, in *Input, q *AttentionQuery) (Found, error) {
	return w.answer(in, w.items, "attention %+v", *q)
}

func (w *world) Open(context.Context) []Item { return w.open }

// service returns a service that reads the world, with the given templates.
func (w *world) service(t testing.TB, change func(*Config), templates ...string) *Service {
	t.Helper()
	c := Config{
		Ledgers: map[string]Ledger{}, Registries: map[string]Registry{}, Searchers: map[string]Searcher{},
		Attention: w, Now: func() time.Time { return w.now },
	}
	for i, text := range templates {
		template := testkit.Must(Parse(fmt.Sprintf("%d.yaml", i+1), []byte(text)))
		c.Templates = append(c.Templates, template)
	}
	for tier := range w.entries {
		c.Ledgers[tier] = stubLedger{w, tier}
	}
	for name := range w.rows {
		c.Registries[name] = stubRegistry{w, name}
	}
	for name := range w.hits {
		c.Searchers[name] = stubSearcher{w, name}
	}
	if change != nil {
		change(&c)
	}
	s := testkit.Must(New(c))
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// assemble returns what the service of a template assembles.
func (w *world) assemble(t testing.TB, template string, r Request) *Context {
	t.Helper()
	return testkit.Must(w.service(t, nil, template).Assemble(t.Context(), r))
}

// piece returns a fragment of so many tokens, by the default estimate.
func piece(source string, id string, tokens int) Fragment {
	f := Fragment{Source: source, SourceID: id}
	render(&f, &Tokens{})
	text := id + strings.Repeat("x", DefaultCharsPerToken*(tokens-f.TokenEstimate)-len(id+"\n"))
	f.Lines = []Line{{Text: text}}
	return f
}

func pieces(source string, tokens int, ids ...string) (fs []Fragment) {
	for i, id := range ids {
		fs = append(fs, piece(source, id, tokens))
		fs[i].Seq = uint64(i + 1)
	}
	return fs
}

func ids(fs []Fragment) (out []string) {
	for _, f := range fs {
		out = append(out, f.SourceID)
	}
	return out
}

// trace returns the trace in lines: stage, status, fragments, detail.
func trace(c *Context) (out []string) {
	for _, s := range c.Trace {
		line := fmt.Sprintf("%s %s %d", s.Stage, s.Status, s.Fragments)
		if s.Detail != "" {
			line += ": " + s.Detail
		}
		out = append(out, line)
	}
	return out
}

// pipeline returns a template without keys, of stages and what else it has.
func pipeline(stages string, more ...string) string {
	return "template_id: t\npipeline: [" + stages + "]\n" + strings.Join(more, "\n")
}

const (
	stageHot    = "{stage: hot, type: ledger_query, config: {tier: hot}}"
	stageMods   = "{stage: mods, type: registry_query, config: {registry: mods}}"
	stageSearch = "{stage: search, type: horizontal_search, config: {query: q, max_results: 2, relevance_threshold: 0.8}}"
	stageOpen   = "{stage: open, type: attention}"
	stageOrder  = "{stage: order, type: structuring}"
	stageHalt   = "{stage: halt, type: halting}"
)

// handler is the function of a custom stage.
type handler = func(ctx context.Context, in *Input, args map[string]any) (Found, error)
