package briefing_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/heedlog/heed/agent/briefing"
)

// journal is a ledger in memory.
type journal []string

func (j journal) Entries(_ context.Context, _ *briefing.Input, q *briefing.LedgerQuery) (briefing.Found, error) {
	var found briefing.Found
	for i := max(0, len(j)-q.MaxEntries); i < len(j); i++ {
		found.Fragments = append(found.Fragments, briefing.Fragment{
			Source: briefing.SourceLedger, SourceID: fmt.Sprintf("1/%d", i+1), Seq: uint64(i + 1), Title: "log",
			Lines: []briefing.Line{{Text: j[i], Data: true}},
		})
	}
	found.More = len(j) > q.MaxEntries
	return found, nil
}

func (j journal) Revision(context.Context) string { return fmt.Sprint(len(j)) }

// A template says what is read, in which order, and within which budget. What was written by a game stands behind
// [briefing.DataPrefix].
func ExampleService_Assemble() {
	template, err := briefing.Parse("latest.yaml", []byte(`
template_id: latest
pipeline:
  - type: ledger_query
    config: {tier: hot, max_entries: 2}
  - type: structuring
    config: {strategy: chronological}
  - type: halting
    config: {min_fragments: 1}
budget: {max_context_tokens: 100, max_queries: 1, timeout: 5s}
`))
	if err != nil {
		panic(err)
	}
	service, err := briefing.New(briefing.Config{
		Templates: []*briefing.Template{template},
		Ledgers:   map[string]briefing.Ledger{"hot": journal{"started", "loading map 3", "Exception: no such map"}},
		Now:       time.Now,
	})
	if err != nil {
		panic(err)
	}
	defer func() { _ = service.Close() }()

	brief, err := service.Assemble(context.Background(), briefing.Request{AgentClass: "tester"})
	if err != nil {
		panic(err)
	}
	fmt.Print(brief.Text)
	fmt.Println(brief.Used.Tokens, "tokens,", brief.Used.Queries, "query")
	for _, stage := range brief.Trace {
		fmt.Printf("%s: %s %q\n", stage.Stage, stage.Status, stage.Detail)
	}
	// Output:
	// [ledger 1/2] log
	// > loading map 3
	// [ledger 1/3] log
	// > Exception: no such map
	// 21 tokens, 1 query
	// ledger_query: truncated ""
	// structuring: ok ""
	// halting: ok "satisfied: 2 fragments, 21 tokens"
}

// A template is read whole, or not at all: all that is wrong with its form is reported at once.
func ExampleParse() {
	_, err := briefing.Parse("mine.yaml", []byte(`
template_id: mine
pipeline:
  - type: attention
    config: {max_item: 3}
  - type: ledger_query
    config: {max_entries: many}
`))
	fmt.Println(err)

	if first, ok := errors.AsType[*briefing.Error](err); ok {
		fmt.Println(first.Line, first.Field)
	}
	// Output:
	// briefing: mine.yaml:5:24: pipeline[1].config.max_item: unknown field (did you mean "max_items"?)
	// briefing: mine.yaml:7:27: pipeline[2].config.max_entries: got string, want integer (At most so many entries. 0 is the default.)
	// 5 pipeline[1].config.max_item
}
