package briefing

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
			{Type: typeTierSelect, Config: &tierSelect{Tiers: []string{"hot", "ho2"}, Strategy: AllParallel}},
			{Stage: "open", Type: typeAttention, Share: 0.75, Config: &AttentionQuery{
				Least: "advisory", MaxItems: 3, Neighbors: 2, ClearedSince: 5 * time.Minute, Parts: []string{"cause", "blame"},
			}},
			{Stage: "before", Type: typeLedgerQuery, Config: &LedgerQuery{
				EventType: "error", Tier: "hot", MaxEntries: 7, Recency: 90 * time.Second,
				Filters: map[string]string{"operation": "$work_order", "signature": "$attention.signature"},
			}},
			{Type: typeRegistryQuery, Config: &RegistryQuery{
				Registry: "mods", Filters: map[string]string{"id": "$attention.blame"}, MaxRows: 4,
			}},
			{Type: typeFileRead, Config: &FileRead{Paths: []string{"a.txt", "b/c.txt"}, MaxSizeBytes: 2048}},
			{Type: typeHorizontalSearch, Disabled: true, Config: &horizontalSearch{
				Query: "$attention.text $$5", Tiers: []string{"ho1"}, Sources: []string{"past"}, MaxResults: 6,
				RelevanceThreshold: 0.25,
			}},
			{Type: typeCustom, Config: &custom{Handler: "h", Args: map[string]any{
				"n": 3, "f": 1.5, "on": true, "none": nil, "list": []any{"a", map[string]any{"b": "2026-01-02"}},
			}}},
			{Type: typeStructuring, Config: &structuring{Strategy: Chronological, MaxTokens: 900}},
			{Type: typeHalting, Config: &halting{
				MinFragments: 1, MinTokens: 2, SatisfactionThreshold: 0.5, MaxReruns: 3, Relax: 0.25,
			}},
		},
		Budget:   budget{MaxContextTokens: 1500, MaxQueries: 20, Timeout: 50 * time.Millisecond},
		Fallback: fallback{OnTimeout: UseCached, OnEmpty: Fail},
		CacheTTL: 30 * time.Second,
		Tokens:   Tokens{"default": 4, "stack": 3.5, "hex": 2, "cjk": 1, "cyrillic": 2.5},
	}
	got := testkit.Must(Parse("f.yaml", []byte(complete)))
	require.Equal(t, want, got)
	require.NoError(t, check(got))
	require.NoError(t, check(&Template{TemplateID: "x", Pipeline: merged(got, &Contract{})}), "with defaults")

	small := testkit.Must(Parse("", []byte("\ufefftemplate_id: x\r\npipeline: [{type: attention}]\r\ncache_ttl: 0s\r\nchars_per_token: 3")))
	require.Equal(t, &Template{
		TemplateID: "x", Pipeline: []stage{{Type: typeAttention, Config: &AttentionQuery{}}}, CacheTTL: -1,
		Tokens: Tokens{"default": 3},
	}, small)
}

func TestParseErrors(t *testing.T) {
	const head = "template_id: x\npipeline:\n"
	stage := func(s string) string { return head + "- " + s }
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"empty", " \n", []string{
			"f: the file is empty (a template begins with \"template_id: NAME\")",
		}},
		{"no mapping", "[]", []string{
			"f:1:1: got array, want object (Which stages assemble a briefing, within which budget. heed checks more than this schema can: see docs/briefing.md.)",
		}},
		{"syntax", "template_id: x\n\tpipeline: []", []string{
			"f:2:2: YAML: found a tab character that violates indentation (indent with spaces, not tabs)",
		}},
		{"alias", "template_id: &a x\npipeline: *a", []string{
			"f:1:14: YAML anchor &a (write the value where it is needed)",
			"f:2:11: YAML alias *a (write the value where it is needed)",
		}},
		{"missing", "{}", []string{
			"f:1:1: pipeline: is missing (The stages, in the order in which they run.)",
			"f:1:1: template_id: is missing (The template's name.)",
		}},
		{"keys", "template_id: x\npiplin: []\npipeline: [{type: attention, a: 2, config: {max_item: 3}}]\nbudget: 3", []string{
			"f:2:9: piplin: unknown field (did you mean \"pipeline\"?)",
			"f:3:33: pipeline[1].a: unknown field (known: config, enabled, share, stage, type)",
			"f:3:55: pipeline[1].config.max_item: unknown field (did you mean \"max_items\"?)",
			"f:4:9: budget: got number, want object (What a briefing may cost. What is left out, or 0, is not bounded.)",
		}},
		{"kinds of keys", stage("{type: custom, type: attention, config: {handler: h, args: {1: a, null: b, [c]: d, <<: {e: f}}}}"), []string{
			"f:3:10: pipeline[1].type: is given twice (keep one of the two)",
			"f:3:62: pipeline[1].config.args: a key must be text, not a number (put it in quotes)",
			"f:3:62: pipeline[1].config.args: a key must be text, not nothing (put it in quotes)",
			"f:3:62: pipeline[1].config.args: a key must be text, not a list (put it in quotes)",
			"f:3:62: pipeline[1].config.args: a merge key (write the value where it is needed)",
		}},
		{"nothing and collections", "template_id: ~\npipeline: [{type: [a], enabled: {}, config: 1}]\napplies_to: {tier: {}}\ncache_ttl: []\nchars_per_token: x", []string{
			"f:1:14: template_id: got null, want string (lower-case letters, digits, full stops, _ and -, at most 64)",
			"f:2:19: pipeline[1].type: unknown value \"[a]\" (known: tier_select, ledger_query, registry_query, file_read, horizontal_search, structuring, halting, custom, attention)",
			"f:2:33: pipeline[1].enabled: got object, want boolean (Whether it runs.)",
			"f:2:45: pipeline[1].config: got number, want object (What it does exactly; by its type.)",
			"f:3:20: applies_to.tier: got object, want string (The tier of the ledger.)",
			"f:4:12: cache_ttl: got array, want string (a number with its unit, such as 50ms, 60s or 5m)",
			"f:5:18: chars_per_token: got string, want number or object (The characters that make a token: a number, or numbers by kind of text and by script.)",
		}},
		{"numbers for a function", stage("{type: custom, config: {handler: h, args: {a: .inf, b: [.nan]}}}"), []string{
			"f:3:49: pipeline[1].config.args.a: must be a number, not \".inf\"",
			"f:3:59: pipeline[1].config.args.b[1]: must be a number, not \".nan\"",
		}},
		{"types of values", "template_id: 7\npipeline:\n- type: halting\n  enabled: maybe\n  share: 0\n  config: {min_tokens: 1.5, relax: -1, max_reruns: 99999999999999999999}\n" +
			"budget: {timeout: 50, max_queries: -1}\ncache_ttl: -1s", []string{
			"f:1:14: template_id: got number, want string (lower-case letters, digits, full stops, _ and -, at most 64)",
			"f:4:12: pipeline[1].enabled: got string, want boolean (Whether it runs.)",
			"f:5:10: pipeline[1].share: exclusiveMinimum: got 0, want 0 (The part of the tokens left that it may use.)",
			"f:6:24: pipeline[1].config.min_tokens: got number, want integer",
			"f:6:36: pipeline[1].config.relax: minimum: got -1, want 0 (The factor on thresholds, and divisor of limits, in each rerun: less than 1. 0 is the default.)",
			"f:6:52: pipeline[1].config.max_reruns: maximum: got 1×10²⁰, want 100 (How often searches run again.)",
			"f:7:19: budget.timeout: got number, want string (a number with its unit, such as 50ms, 60s or 5m)",
			"f:7:36: budget.max_queries: minimum: got -1, want 0",
			"f:8:12: cache_ttl: has the wrong form (a number with its unit, such as 50ms, 60s or 5m)",
		}},
		{"names", stage("{type: atention}\n- {stage: Open, type: structuring, config: {strategy: relevant}}\n" +
			"- {type: tier_select, config: {tiers: [a, a, ''], strategy: best}}\nfallback: {on_timeout: retry, on_empty: proceed}"), []string{
			"f:3:10: pipeline[1].type: unknown value \"atention\" (did you mean \"attention\"?)",
			"f:4:11: pipeline[2].stage: has the wrong form (lower-case letters, digits, full stops, _ and -, at most 64)",
			"f:4:55: pipeline[2].config.strategy: unknown value \"relevant\" (did you mean \"relevance\"?)",
			"f:5:61: pipeline[3].config.strategy: unknown value \"best\" (known: highest_first, all_parallel)",
			"f:6:24: fallback.on_timeout: unknown value \"retry\" (known: return_partial, fail, use_cached)",
			"f:6:41: fallback.on_empty: unknown value \"proceed\" (did you mean \"proceed_empty\"?)",
		}},
		{"one name", stage("{type: halting}\n- {type: halting}\n- {stage: s, type: custom, config: {handler: h}}"), []string{
			"f:4:3: pipeline[2]: is called \"halting\", as pipeline[1] is (give it a name of its own: stage: NAME)",
		}},
		{"needed", stage("{type: registry_query}\n- {type: file_read, config: {paths: []}}\n- {type: custom}\n- {type: horizontal_search}\n- {config: {}}"), []string{
			"f:3:3: pipeline[1].config: is missing",
			"f:4:37: pipeline[2].config.paths: minItems: got 0, want 1 (Paths relative to a root, with / between folders.)",
			"f:5:3: pipeline[3].config: is missing",
			"f:6:3: pipeline[4].config: is missing",
			"f:7:3: pipeline[5].type: is missing (What it does.)",
		}},
		{"paths", stage(`{type: file_read, config: {paths: [/etc/passwd, ../x, a/../../b, 'a\b', ./a, .]}}`), []string{
			"f:3:38: pipeline[1].config.paths[1]: has the wrong form (a path below a root, with / between folders, and without ..)",
			"f:3:51: pipeline[1].config.paths[2]: has the wrong form (a path below a root, with / between folders, and without ..)",
			"f:3:57: pipeline[1].config.paths[3]: has the wrong form (a path below a root, with / between folders, and without ..)",
			"f:3:68: pipeline[1].config.paths[4]: has the wrong form (a path below a root, with / between folders, and without ..)",
		}},
		{"ranges", stage("{type: halting, share: 1.5, config: {satisfaction_threshold: 2, max_reruns: 101, relax: 1, min_tokens: -1}}\nchars_per_token: {default: 0, hex: 2000}"), []string{
			"f:3:26: pipeline[1].share: maximum: got 1.5, want 1 (The part of the tokens left that it may use.)",
			"f:3:64: pipeline[1].config.satisfaction_threshold: maximum: got 2, want 1",
			"f:3:79: pipeline[1].config.max_reruns: maximum: got 101, want 100 (How often searches run again.)",
			"f:3:91: pipeline[1].config.relax: exclusiveMaximum: got 1, want 1 (The factor on thresholds, and divisor of limits, in each rerun: less than 1. 0 is the default.)",
			"f:3:106: pipeline[1].config.min_tokens: minimum: got -1, want 0",
			"f:4:28: chars_per_token.default: minimum: got 0, want 0.01 (runes that make a token, such as 4)",
			"f:4:36: chars_per_token.hex: maximum: got 2,000, want 1,000 (runes that make a token, such as 4)",
		}},
		{"scripts", stage("{type: attention}\nchars_per_token: {klingon: 1, cjk: 2}"), []string{
			"f:4:28: chars_per_token.klingon: unknown kind of text or script (default, prose, stack, hex, cjk, or a script of Unicode such as cyrillic)",
		}},
		{"too large", stage("{type: attention, config: {max_items: 99999999999999999999}}"), []string{
			"f: yaml: unmarshal errors:\\n  line 3: cannot unmarshal !!float `9999999...` into int",
		}},
		{"variables", stage("{type: ledger_query, config: {filters: {a: $attention.rule, b: $work_ordr, c: '', d: $attention}}}\n- {type: attention}\n" +
			"- {type: horizontal_search, config: {query: $attention.text}}"), []string{
			"f:3:46: pipeline[1].config.filters.a: $attention.rule has no value here: no stage before this one finds attention (put a stage of type attention before it)",
			"f:3:66: pipeline[1].config.filters.b: unknown variable $work_ordr (did you mean \"$work_order\"?)",
			"f:3:88: pipeline[1].config.filters.d: unknown variable $attention (write $attention.NAME, such as $attention.signature)",
		}},
		{"hostile", "template_id: \"x\\x1b[2J\\n\"\npipeline: [{type: attention, config: {\"\\x1b\": 1}}]", []string{
			"f:1:14: template_id: has the wrong form (lower-case letters, digits, full stops, _ and -, at most 64)",
			"f:2:47: pipeline[1].config.\\x1b: unknown field (known: cleared_since, least, max_items, neighbors, parts)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Parse("f", []byte(c.in))
			require.Nil(t, got)
			lines := strings.Split(strings.ReplaceAll("\n"+err.Error(), "\nbriefing: ", "\n"), "\n")
			require.Equal(t, c.want, lines[1:])
			var one *Error
			require.True(t, errors.As(err, &one))
		})
	}
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
		"bytes":   strings.Repeat("# a\n", maxTemplateBytes),
		"depth":   strings.Repeat("[", 40) + strings.Repeat("]", 40),
		"keys":    many(20_000, func(i int) string { return fmt.Sprintf("k%d: 1\n", i) }),
		"stages":  "template_id: x\npipeline:\n" + many(maxStages+1, func(i int) string { return fmt.Sprintf("- {stage: s%d, type: attention}\n", i) }),
		"parts":   stage + "parts: [" + many(maxList+1, func(i int) string { return fmt.Sprintf("p%d, ", i) }) + "]}}]",
		"scripts": "template_id: x\npipeline: [{type: attention}]\nchars_per_token:\n" + many(20_000, func(i int) string { return fmt.Sprintf("  k%d: 1\n", i) }),
		"filters": "template_id: x\npipeline:\n- type: ledger_query\n  config:\n    filters:\n" +
			many(maxList+1, func(i int) string { return fmt.Sprintf("      f%d: a\n", i) }),
		"query": "template_id: x\npipeline: [{type: horizontal_search, config: {query: " + strings.Repeat("$x", maxText) + "}}]",
	} {
		_, err := Parse("f", []byte(in))
		lines := strings.Split(err.Error(), "\n")
		require.LessOrEqual(t, len(lines), maxErrors+1, name)
		if name == "keys" {
			require.Equal(t, "briefing: f: and 19902 more errors", lines[maxErrors])
		}
	}
}

// check returns the errors of a template that was not parsed.
func check(t *Template) (err error) {
	t.check(func(at []string, msg, _ string) { err = errors.Join(err, fmt.Errorf("%s: %s", at, msg)) })
	return err
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
		LedgerQueries: []LedgerQuery{{}, {MaxEntries: -1, Filters: map[string]string{"rule": "$x"}}},
		FrameworkRefs: []RegistryQuery{{}},
		FileRefs:      []FileRead{{}},
	}), `briefing: request: contract.file_read.1.paths: minItems: got 0, want 1 (Paths relative to a root, with / between folders.)
briefing: request: contract.ledger_query.2.filters.rule: unknown variable $x (known: $attention.NAME, $agent, $class, $framework, $tier, $work_order, $session)
briefing: request: contract.ledger_query.2.max_entries: minimum: got -1, want 0 (At most so many entries. 0 is the default.)
briefing: request: contract.registry_query.1.registry: minLength: got 0, want 1 (The registry's name.)`)
	require.EqualError(t, check(RequiredContext{FileRefs: make([]FileRead, maxStages+1)}),
		"briefing: request: contract: requires 65 things, more than the 64 allowed")
	require.EqualError(t, checkRequest(&Request{MaxContextTokens: -1, SessionID: strings.Repeat("x", maxText+1)}),
		"briefing: request: max_context_tokens: must be at least 0\n"+
			"briefing: request: session: has 4097 bytes, more than the 4096 allowed")
}
