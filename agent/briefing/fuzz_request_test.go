package briefing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// rows are sources of n fragments made of a seed, some required or badly scored.
type rows struct {
	seed string
	n    int
}

func (r rows) found(source string, tokens int) (found Found) {
	for i := range r.n {
		f := Fragment{
			Source: source, SourceID: fmt.Sprintf("%.20q/%d", r.seed, i), Title: r.seed, Seq: uint64(i),
			Refs:  map[string]string{"signature": fmt.Sprint(i / 2), "text": r.seed},
			Lines: []Line{{Text: r.seed, Data: true, Kind: Stack}, {Text: strings.Repeat(r.seed, i)}, {Text: "end", Data: true}},
		}
		switch i % 4 {
		case 1:
			f.Required, f.Short = true, []Line{{Text: "short"}}
		case 2:
			f.Scored, f.Relevance = true, math.NaN()
		case 3:
			f.Scored, f.Relevance = true, float64(len(r.seed)-i)
		}
		found.Fragments = append(found.Fragments, f)
	}
	found.More = tokens < r.n
	found.Warnings = []string{r.seed, r.seed + "\n[x"}
	return found
}

func (r rows) Entries(_ context.Context, in *Input, q *LedgerQuery) (Found, error) {
	if q.MaxEntries < 1 {
		return Found{}, errors.New("no entries asked for")
	}
	return r.found(SourceLedger, in.Tokens), nil
}

func (r rows) Revision(context.Context) string { return r.seed }

func (r rows) Rows(_ context.Context, in *Input, q *RegistryQuery) (Found, error) {
	if q.Registry == "broken" {
		return r.found(SourceRegistry, in.Tokens), errors.New(r.seed)
	}
	return r.found(SourceRegistry, in.Tokens), nil
}

func (r rows) Search(_ context.Context, in *Input, _ string, _ int, _ float64) (Found, error) {
	return r.found(SourceSearch, in.Tokens), nil
}

func (r rows) Items(_ context.Context, in *Input, _ *AttentionQuery) (Found, error) {
	return r.found(SourceAttention, in.Tokens), nil
}

func (r rows) Open(ctx context.Context) (items []Item) {
	found, _ := r.Items(ctx, &Input{}, nil)
	for _, f := range found.Fragments {
		items = append(items, Item{f.SourceID, f.Required})
	}
	return items
}

// FuzzRequest: whatever a request and its sources, a context is within its budgets, is made of its fragments, has what
// blocks, and is the same a second time; or there is an error that says why not.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"agentClass": "agent", "workOrderId": "op-1"}`), "a line", uint8(3), uint16(400), uint8(9), "hot")
	f.Add([]byte(`{"contract": {"requiredContext": {"ledgerQueries": [{"filters": {"rule": "$work_order"}}],
		"frameworkRefs": [{"registry": "broken"}], "fileRefs": [{"paths": ["go.mod"]}]}}}`),
		"> [", uint8(1), uint16(0), uint8(0), "")
	f.Add([]byte(`{"contract": {"requiredContext": {"ledgerQueries": [{"tier": "ho9"}]}}, "maxContextTokens": 90}`),
		"\x00\u202e界", uint8(20), uint16(70), uint8(2), "ho1")
	f.Add([]byte(`{"templateOverride": "none", "scrub": true}`), "```", uint8(0), uint16(1), uint8(1), "x")
	f.Fuzz(func(t *testing.T, request []byte, seed string, n uint8, tokens uint16, queries uint8, tier string) {
		var r Request
		if json.Unmarshal(request, &r) != nil || len(seed) > 200 {
			return
		}
		if r.MaxContextTokens > math.MaxUint16 {
			r.MaxContextTokens = 0
		}
		template := &Template{
			TemplateID: "fuzzed", Budget: budget{MaxContextTokens: int(tokens), MaxQueries: int(queries)}, CacheTTL: -1,
			Fallback: fallback{OnEmpty: []string{"", Fail}[n%2]},
			Pipeline: []stage{
				{Type: typeTierSelect, Config: &tierSelect{
					Tiers: []string{"hot", "ho1"}, Strategy: []string{"", AllParallel}[n%2],
				}},
				{Type: typeAttention, Config: &AttentionQuery{}, Share: 0.5},
				{Type: typeLedgerQuery, Config: &LedgerQuery{Tier: tier, Filters: map[string]string{"a": "$attention.text"}}},
				{Type: typeHorizontalSearch, Config: &horizontalSearch{Query: "$work_order", RelevanceThreshold: 0.5}},
				{Type: typeCustom, Config: &custom{Handler: "h"}},
				{Type: typeStructuring, Config: &structuring{Strategy: structurings[n%3], MaxTokens: int(n) * 9}},
				{Type: typeHalting, Config: &halting{MinFragments: int(n), SatisfactionThreshold: 1, MaxReruns: 2}},
				{Stage: "late", Type: typeAttention, Config: &AttentionQuery{}},
			},
		}
		source := rows{seed, int(n % 24)}
		assemble := func() (*Context, error) {
			s, err := New(Config{
				Templates: []*Template{template}, Ledgers: map[string]Ledger{"hot": source, "ho1": source},
				Registries: map[string]Registry{"rules": source, "broken": source},
				Searchers:  map[string]Searcher{"a": source, "b": source}, Attention: source,
				Handlers: map[string]handler{"h": func(_ context.Context, in *Input, _ map[string]any) (Found, error) {
					return source.found("custom", in.Tokens), nil
				}},
				Now: func() time.Time { return time.Time{} }, Scrub: strings.ToUpper,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			return s.Assemble(t.Context(), r)
		}
		c, err := assemble()
		again, err2 := assemble()
		if (c == nil) == (err == nil) || (err == nil) != (err2 == nil) {
			t.Fatalf("%v: %v, %v", c, err, err2)
		}
		if err != nil {
			return
		}
		one, err := json.Marshal(c)
		two, err2 := json.Marshal(again)
		if err != nil || err2 != nil || string(one) != string(two) {
			t.Fatalf("%v %v\n%s\n%s", err, err2, one, two)
		}
		limit := int(tokens)
		if r.MaxContextTokens > 0 {
			limit = r.MaxContextTokens
		}
		var text strings.Builder
		sum := 0
		for _, f := range c.Fragments {
			text.WriteString(f.Content)
			sum += f.TokenEstimate
			if f.Relevance < 0 || f.Relevance > 1 {
				t.Fatalf("relevance %v", f.Relevance)
			}
		}
		hash := sha256.Sum256([]byte(c.Text))
		switch {
		case c.Text != text.String() || c.Hash != hex.EncodeToString(hash[:]):
			t.Fatal("the text is not that of the fragments, or the hash is not its own")
		case c.Used.Tokens != sum || limit > 0 && sum > limit:
			t.Fatalf("%d tokens used, %d in fragments, of %d", c.Used.Tokens, sum, limit)
		case queries > 0 && c.Used.Queries > int(queries):
			t.Fatalf("%d queries of %d", c.Used.Queries, queries)
		}
		var ran []string
		for _, res := range c.Trace {
			if !strings.Contains(res.Stage, " (rerun ") && !strings.HasPrefix(res.Stage, "contract.") {
				ran = append(ran, res.Stage)
			}
		}
		want := []string{
			"tier_select", "attention", "ledger_query", "horizontal_search", "custom", "structuring", "halting", "late",
		}
		if !r.Scrub && c.TemplateID == "fuzzed" && !slices.Equal(ran, want) {
			t.Fatalf("stages %v", ran)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(c.Text, "\n"), "\n") {
			if strings.ContainsAny(line, "\r\x00\u2028") {
				t.Fatalf("line %q", line)
			}
		}
		if c.TemplateID == "fuzzed" {
			a := assembly{found: c.Fragments}
			for _, it := range source.Open(t.Context()) {
				if it.Blocking && !a.has(it.SourceID) {
					t.Fatalf("%s, which blocks, is not in it", it.SourceID)
				}
			}
		}
		_ = c.Markdown()
	})
}
