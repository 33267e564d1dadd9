package briefing

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/heedlog/heed/internal/testkit"
)

// complete has every key of the language.
const complete = `
template_id: agent.v1
applies_to: {agent_class: agent, framework_id: game, tier: hot}
pipeline:
  - {type: tier_select, config: {tiers: [hot, ho2], strategy: all_parallel}}
  - stage: open
    type: attention
    share: 0.75
    config: {least: advisory, max_items: 3, neighbors: 2, cleared_since: 5m, parts: [cause, blame]}
  - stage: before
    type: ledger_query
    config:
      event_type: error
      tier: hot
      max_entries: 7
      recency: 90s
      filters: {operation: $work_order, signature: $attention.signature}
  - {type: registry_query, config: {registry: mods, filters: {id: $attention.blame}, max_rows: 4}}
  - {type: file_read, config: {paths: [a.txt, b/c.txt], max_size_bytes: 2048}}
  - type: horizontal_search
    enabled: false
    config: {query: "$attention.text $$5", tiers: [ho1], sources: [past], max_results: 6, relevance_threshold: 0.25}
  - {type: custom, config: {handler: h, args: {n: 3, f: 1.5, on: true, none: null, list: [a, {b: 2026-01-02}]}}}
  - {type: structuring, config: {strategy: chronological, max_tokens: 900}}
  - {type: halting, config: {min_fragments: 1, min_tokens: 2, satisfaction_threshold: 0.5, max_reruns: 3, relax: 0.25}}
budget: {max_context_tokens: 1500, max_queries: 20, timeout: 50ms}
fallback: {on_timeout: use_cached, on_empty: fail}
cache_ttl: 30s
chars_per_token: {default: 4, stack: 3.5, hex: 2, cjk: 1, cyrillic: 2.5}
`

func TestParse(t *testing.T) {
	want := &Template{
		TemplateID: "agent.v1",
		AppliesTo:  appliesTo{AgentClass: "agent", FrameworkID: "game", Tier: "hot"},
		Pipeline: []stage{
			{Type: "tier_select", Config: &tierSelect{Tiers: []string{"hot", "ho2"}, Strategy: AllParallel}},
			{Stage: "open", Type: "attention", Share: 0.75, Config: &AttentionQuery{
				Least: "advisory", MaxItems: 3, Neighbors: 2, ClearedSince: 5 * time.Minute, Parts: []string{"cause", "blame"},
			}},
			{Stage: "before", Type: "ledger_query", Config: &LedgerQuery{
				EventType: "error", Tier: "hot", MaxEntries: 7, Recency: 90 * time.Second,
				Filters: map[string]string{"operation": "$work_order", "signature": "$attention.signature"},
			}},
			{Type: "registry_query", Config: &RegistryQuery{
				Registry: "mods", Filters: map[string]string{"id": "$attention.blame"}, MaxRows: 4,
			}},
			{Type: "file_read", Config: &FileRead{Paths: []string{"a.txt", "b/c.txt"}, MaxSizeBytes: 2048}},
			{Type: "horizontal_search", Disabled: true, Config: &horizontalSearch{
				Query: "$attention.text $$5", Tiers: []string{"ho1"}, Sources: []string{"past"}, MaxResults: 6,
				RelevanceThreshold: 0.25,
			}},
			{Type: "custom", Config: &custom{Handler: "h", Args: map[string]any{
				"n": 3, "f": 1.5, "on": true, "none": nil, "list": []any{"a", map[string]any{"b": "2026-01-02"}},
			}}},
			{Type: "structuring", Config: &structuring{Strategy: Chronological, MaxTokens: 900}},
			{Type: "halting", Config: &halting{
				MinFragments: 1, MinTokens: 2, SatisfactionThreshold: 0.5, MaxReruns: 3, Relax: 0.25,
			}},
		},
		Budget:   budget{MaxContextTokens: 1500, MaxQueries: 20, Timeout: 50 * time.Millisecond},
		Fallback: fallback{OnTimeout: UseCached, OnEmpty: Fail},
		CacheTTL: 30 * time.Second,
		Tokens:   Tokens{"default": 4, "stack": 3.5, "hex": 2, "cjk": 1, "cyrillic": 2.5},
	}
	for i, s := range want.Pipeline {
		want.Pipeline[i].Stage = cmp.Or(s.Stage, s.Type)
	}
	got := testkit.Must(Parse("f.yaml", []byte(complete)))
	require.Equal(t, want, got)
	require.NoError(t, check(got))
	require.NoError(t, check(&Template{TemplateID: "x", Pipeline: merged(got, &Contract{})}), "with defaults")

	small := testkit.Must(Parse("", []byte("\ufefftemplate_id: x\r\npipeline: [{type: attention}]\r\ncache_ttl: 0s\r\nchars_per_token: 3")))
	require.Equal(t, &Template{
		TemplateID: "x", Pipeline: []stage{newStage("", "attention", &AttentionQuery{})}, Tokens: Tokens{"default": 3},
	}, small)
}

// TestParseErrors holds the errors of each template of a file. After "== NAME" come a template, and its errors.
func TestParseErrors(t *testing.T) {
	const file = "testdata/errors.txt"
	var sections []string
	for name, script := range testkit.Scripts(t, file) {
		in, _, _ := strings.Cut(script, "\n=> ")
		got, err := Parse("f", []byte(in))
		require.Nil(t, got, name)
		var first *Error
		require.ErrorAs(t, err, &first, name)
		sections = append(sections, "== "+name+"\n"+in+"\n=> "+strings.ReplaceAll(err.Error(), "\n", "\n=> ")+"\n")
	}
	testkit.Golden(t, file, strings.Join(sections, "\n"))
}

// TestParseBounds: what is too large is an error, soon.
func TestParseBounds(t *testing.T) {
	many := func(n int, item func(int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(item(i))
		}
		return b.String()
	}
	stage := "template_id: x\npipeline: [{type: attention, config: {"
	for name, in := range map[string]string{
		"bytes":   strings.Repeat("# a\n", 64<<10) + "\n",
		"depth":   strings.Repeat("[", 40) + strings.Repeat("]", 40),
		"keys":    many(1_000, func(i int) string { return fmt.Sprintf("k%d: 1\n", i) }),
		"stages":  "template_id: x\npipeline:\n" + many(maxStages+1, func(i int) string { return fmt.Sprintf("- {stage: s%d, type: attention}\n", i) }),
		"parts":   stage + "parts: [" + many(maxList+1, func(i int) string { return fmt.Sprintf("p%d, ", i) }) + "]}}]",
		"scripts": "template_id: x\npipeline: [{type: attention}]\nchars_per_token:\n" + many(1_000, func(i int) string { return fmt.Sprintf("  k%d: 1\n", i) }),
		"filters": "template_id: x\npipeline:\n- type: ledger_query\n  config:\n    filters:\n" +
			many(maxList+1, func(i int) string { return fmt.Sprintf("      f%d: a\n", i) }),
		"query": "template_id: x\npipeline: [{type: horizontal_search, config: {query: " + strings.Repeat("$x", maxText) + "}}]",
	} {
		_, err := Parse("f", []byte(in))
		lines := strings.Split(err.Error(), "\n")
		require.LessOrEqual(t, len(lines), maxErrors+1, name)
		switch name {
		case "bytes":
			require.ErrorContains(t, err, "has 262145 bytes, more than the 262144 allowed")
		case "keys":
			require.Equal(t, "briefing: f: and 902 more errors", lines[maxErrors])
		}
	}
}

// check returns the errors of a template that was not parsed.
func check(t *Template) error {
	p := &parser{root: &yaml.Node{}}
	p.check(t)
	return p.sorted()
}

func TestCheckRequest(t *testing.T) {
	check := func(c RequiredContext) error { return checkRequest(&Request{Contract: Contract{c}}) }
	require.NoError(t, check(RequiredContext{
		LedgerQueries: []LedgerQuery{{Filters: map[string]string{"signature": "$attention.signature"}}, {}},
		FrameworkRefs: []RegistryQuery{{Registry: "mods"}},
		FileRefs:      []FileRead{{Paths: []string{"a", "../outside"}}},
	}))
	require.NoError(t, check(RequiredContext{}))
	require.EqualError(t, check(RequiredContext{
		LedgerQueries: []LedgerQuery{{}, {MaxEntries: -1, Filters: map[string]string{"a.paths.b": "$x"}}},
		FrameworkRefs: []RegistryQuery{{}},
		FileRefs:      []FileRead{{}},
	}), `briefing: request: contract.file_read.1.paths: minItems: got 0, want 1 (Paths relative to a root, with / between folders.)
briefing: request: contract.ledger_query.2.filters.a.paths.b: unknown variable $x (known: $attention.NAME, $agent, $class, $framework, $session, $tier, $work_order)
briefing: request: contract.ledger_query.2.max_entries: minimum: got -1, want 0 (At most so many entries. 0 is the default.)
briefing: request: contract.registry_query.1.registry: minLength: got 0, want 1 (The registry's name.)`)
	require.EqualError(t, check(RequiredContext{FileRefs: make([]FileRead, maxStages+1)}),
		"briefing: request: contract: requires 65 things, more than the 64 allowed")
	require.EqualError(t, checkRequest(&Request{MaxContextTokens: -1, SessionID: strings.Repeat("x", maxText+1)}),
		"briefing: request: max_context_tokens: must be at least 0\n"+
			"briefing: request: session: has 4097 bytes, more than the 4096 allowed")
}
