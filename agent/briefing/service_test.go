package briefing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func TestPipeline(t *testing.T) {
	t.Run("stages_run_in_order", func(t *testing.T) {
		w := &world{
			entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a")}, rows: map[string][]Fragment{"mods": nil},
			hits: map[string][]Fragment{"past": nil},
		}
		c := w.assemble(t, pipeline(strings.Join([]string{stageMods, stageOpen, stageHot, stageSearch, stageHalt}, ", ")),
			Request{})
		require.Equal(t, []string{
			"mods empty 0", "open empty 0", "hot ok 1", "search empty 0", "halt ok 1: satisfied: 1 fragments, 10 tokens",
		}, trace(c))
		require.Equal(t, []string{
			"registry {Registry:mods Filters:map[] MaxRows:20}",
			"attention {Least: MaxItems:5 Neighbors:0 ClearedSince:0s Parts:[]}",
			"ledger hot {EventType: Tier:hot MaxEntries:20 Recency:0s Filters:map[]}",
			`search past "q" 2 0.8`,
		}, w.asked)
		require.Equal(t, []string{"a"}, ids(w.inputs[3].Found), "a stage sees what earlier ones found")
	})
	t.Run("disabled_stage_skipped", func(t *testing.T) {
		w := &world{entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a")}}
		c := w.assemble(t,
			pipeline("{type: ledger_query, enabled: false}, "+stageHot+", {type: halting, enabled: false}"), Request{})
		require.Equal(t, []string{"ledger_query skipped 0: disabled", "hot ok 1", "halting skipped 0: disabled"}, trace(c))
		require.Len(t, w.asked, 1)
	})
	t.Run("ledger_query_produces_fragments", func(t *testing.T) {
		w := &world{entries: map[string][]Fragment{
			"hot": pieces(SourceLedger, 10, "a", "b", "c"), "ho1": pieces(SourceLedger, 10, "d"), "ho2": nil,
		}}
		c := w.assemble(t, pipeline(`{type: ledger_query, config: {tier: hot, max_entries: 2, recency: 5s, event_type: log,
			filters: {operation: $work_order}}}`), Request{WorkOrderID: "op"})
		require.Equal(t, []string{"b", "c"}, ids(c.Fragments))
		require.Equal(t, []string{"ledger_query truncated 2"}, trace(c))
		require.Equal(t,
			[]string{"ledger hot {EventType:log Tier:hot MaxEntries:2 Recency:5s Filters:map[operation:op]}"}, w.asked)

		for _, x := range []struct {
			stages string
			want   []string
			status string
		}{
			{
				"{type: tier_select, config: {tiers: [ho2, ho1, hot]}}, {type: ledger_query}",
				[]string{"d"},
				"ledger_query ok 1",
			},
			{
				"{type: tier_select, config: {tiers: [ho2, ho1, hot], strategy: all_parallel}}, {type: ledger_query}",
				[]string{"d", "a", "b", "c"},
				"ledger_query ok 4",
			},
			{"{type: ledger_query}", []string{"d", "a", "b", "c"}, "ledger_query ok 4"},
			{
				"{type: ledger_query, config: {tier: gone}}", nil,
				`ledger_query failed 0: no ledger of tier "gone"; nothing was found`,
			},
			{
				"{type: tier_select, config: {tiers: [gone, ho1]}}, {type: ledger_query}",
				[]string{"d"},
				`ledger_query ok 1: no ledger of tier "gone"`,
			},
			{
				"{type: ledger_query, config: {filters: {operation: $work_order}}}", nil,
				"ledger_query skipped 0: $work_order has no value; nothing was found",
			},
		} {
			c := w.assemble(t, pipeline(x.stages), Request{})
			require.Equal(t, x.want, ids(c.Fragments), x.stages)
			require.Equal(t, x.status, trace(c)[len(c.Trace)-1])
		}
		require.Equal(t, []string{"d"}, ids(w.assemble(t, pipeline("{type: ledger_query}"),
			Request{Tier: "ho1"}).Fragments))
	})
	t.Run("registry_query_produces_fragments", func(t *testing.T) {
		w := &world{rows: map[string][]Fragment{"mods": pieces(SourceRegistry, 10, "m")}}
		c := w.assemble(t, pipeline("{stage: gone, type: registry_query, config: {registry: gone}}, "+
			"{type: registry_query, config: {registry: mods, filters: {id: $class}, max_rows: 3}}"), Request{AgentClass: "x"})
		require.Equal(t, []string{"m"}, ids(c.Fragments))
		require.Equal(t, []string{"registry {Registry:mods Filters:map[id:x] MaxRows:3}"}, w.asked)
		require.Equal(t, []string{`gone failed 0: no registry "gone"`, "registry_query ok 1"}, trace(c))
	})
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("one\ntwo\n"), 0o600))
	roots := func(c *Config) { c.Roots = []string{root} }
	t.Run("file_read_produces_fragments", func(t *testing.T) {
		c, err := (&world{}).service(t, roots,
			pipeline("{type: file_read, config: {paths: [a.txt]}}")).Assemble(t.Context(), Request{})
		require.NoError(t, err)
		require.Equal(t, "[file a.txt#1-2] lines of a file, 8 bytes\n> one\n> two\n", c.Text)
		require.Zero(t, c.Used.Queries)
	})
	t.Run("file_not_found_warns", func(t *testing.T) {
		w := &world{entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a")}}
		c, err := w.service(t, roots,
			pipeline("{type: file_read, config: {paths: [b.txt, a.txt]}}, "+stageHot)).Assemble(t.Context(), Request{})
		require.NoError(t, err)
		warning := "file b.txt: not found below the folders that may be read"
		require.Equal(t, []string{warning}, c.Warnings)
		require.Equal(t, []string{"file_read ok 1: " + warning, "hot ok 1"}, trace(c))
	})
	t.Run("horizontal_search_scores_fragments", func(t *testing.T) {
		w := &world{hits: map[string][]Fragment{
			"past":  hits(10, map[string]float64{"low": 0.2, "mid": 0.5, "odd": math.NaN()}),
			"files": hits(10, map[string]float64{"best": 7, "even": 0.5, "found": 0.9}),
		}}
		search := func(config string) string {
			return pipeline("{stage: search, type: horizontal_search, config: {query: $agent $$1" + config + "}}")
		}
		c := w.assemble(t, search(", max_results: 3, relevance_threshold: 0.3"), Request{AgentID: "me"})
		require.Equal(t, []string{"best", "found", "even"}, ids(c.Fragments))
		require.Equal(t, []float64{1, 0.9, 0.5}, []float64{
			c.Fragments[0].Relevance, c.Fragments[1].Relevance,
			c.Fragments[2].Relevance,
		})
		require.True(t, c.Fragments[0].Scored)
		require.Equal(t, []string{"search truncated 3"}, trace(c))
		require.Equal(t, []string{`search files "me $1" 3 0.3`, `search past "me $1" 3 0.3`}, w.asked)
		require.Equal(t, 2, c.Used.Queries, "one for each source")

		c = w.assemble(t, search(", sources: [past, gone]"), Request{AgentID: "me"})
		require.Equal(t, []string{"mid", "low"}, ids(c.Fragments))
		require.Equal(t, []string{`search ok 2: no searcher "gone"`}, trace(c))
	})
	t.Run("structuring_deduplicates", func(t *testing.T) {
		alike := pieces(SourceLedger, 10, "a", "b", "c")
		alike[0].Refs, alike[2].Refs = map[string]string{"signature": "s"}, map[string]string{"signature": "s"}
		w := &world{entries: map[string][]Fragment{"hot": alike, "ho1": alike[1:2]}}
		c := w.assemble(t, pipeline("{type: ledger_query}, "+stageOrder), Request{})
		require.Equal(t, []string{"b", "a"}, ids(c.Fragments))
		require.Equal(t, []string{"ledger_query ok 4", "order ok 2"}, trace(c))
	})
	t.Run("structuring_truncates_to_budget", func(t *testing.T) {
		w := &world{
			entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a", "b", "c")},
			hits:    map[string][]Fragment{"past": hits(10, map[string]float64{"d": 0.9, "e": 0.8})},
		}
		c := w.assemble(t,
			pipeline(stageSearch+", "+stageHot+", {stage: order, type: structuring, config: {strategy: relevance, max_tokens: 40}}"), Request{})
		require.Equal(t, []string{"a", "b", "c", "d"}, ids(c.Fragments))
		require.Equal(t, "order truncated 4", trace(c)[2])
		require.Equal(t, 40, c.Used.Tokens)
	})
	t.Run("halting_satisfied", func(t *testing.T) {
		w := &world{
			entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a", "b")},
			rows:    map[string][]Fragment{"mods": nil},
		}
		halt := "{stage: halt, type: halting, config: {min_fragments: 2, min_tokens: 20, satisfaction_threshold: 1, max_reruns: 3}}"
		c := w.assemble(t, pipeline(stageHot+", "+halt+", "+stageMods+", "+stageOrder), Request{})
		require.Equal(t, []string{
			"hot ok 2", "halt ok 2: satisfied: 2 fragments, 20 tokens",
			"mods skipped 0: halted before", "order ok 2",
		}, trace(c))
		require.Len(t, w.asked, 1)
	})
	t.Run("halting_insufficient_reruns", func(t *testing.T) {
		w := &world{
			entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a")},
			hits:    map[string][]Fragment{"past": hits(10, map[string]float64{"d": 0.9, "e": 0.3, "f": 0.1, "g": 0.1})},
		}
		halt := func(n string) string {
			return "{stage: halt, type: halting, config: {min_fragments: " + n + ", max_reruns: 2, relax: 0.5}}"
		}
		c := w.assemble(t, pipeline(stageHot+", "+stageSearch+", "+stageOrder+", "+halt("3")), Request{})
		require.Equal(t, []string{
			"hot ok 1", "search ok 1", "order ok 2", "search (rerun 1) empty 0", "order (rerun 1) ok 2",
			"search (rerun 2) ok 1",
			"order (rerun 2) ok 3", "halt ok 3: satisfied: 3 fragments, 30 tokens",
		}, trace(c))
		require.Equal(t, []string{`search past "q" 2 0.8`, `search past "q" 4 0.4`, `search past "q" 8 0.2`}, w.asked[1:])
		require.Equal(t, 4, c.Used.Queries)

		w.asked = nil
		c = w.assemble(t, pipeline(stageHot+", "+stageSearch+", "+halt("9")), Request{})
		last := "completed after 2 reruns, not satisfied: 3 of 9 fragments"
		require.Equal(t, "halt ok 3: "+last, trace(c)[len(c.Trace)-1])
		require.Equal(t, []string{"stage halt " + last}, c.Warnings)
		require.Len(t, w.asked, 4)

		// No search to run again.
		c = w.assemble(t, pipeline(stageHot+", "+halt("9")), Request{})
		require.Equal(t, "halt ok 1: completed after 0 reruns, not satisfied: 1 of 9 fragments", trace(c)[1])
	})
	t.Run("halting_needs_what_blocks", func(t *testing.T) {
		w := &world{items: pieces(SourceAttention, 10, "e/12@3"), open: []Item{{"e/1@2", true}, {"e/7@1", false}}}
		detail := func() string { return trace(w.assemble(t, pipeline(stageOpen+", "+stageHalt), Request{}))[1] }
		require.Contains(t, detail(), "open item e/1@2, which blocks, is not in it")
		w.items[0].Lines[0].Text = "others: e/1, e/2"
		require.Contains(t, detail(), "satisfied")
		w.items = pieces(SourceAttention, 10, "e/1@1")
		require.Contains(t, detail(), "satisfied")
	})
	t.Run("halting_covers_what_is_required", func(t *testing.T) {
		w := &world{
			entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a")},
			rows:    map[string][]Fragment{"mods": nil},
		}
		c := w.assemble(t, pipeline(stageHot+", {type: halting, config: {satisfaction_threshold: 0.6}}"),
			Request{Contract: Contract{
				RequiredContext{LedgerQueries: []LedgerQuery{{Tier: "hot"}}, FrameworkRefs: []RegistryQuery{{Registry: "mods"}}},
			}})
		require.Equal(t, []string{
			"hot ok 1", "contract.registry_query.1 empty 0",
			"halting ok 1: completed after 0 reruns, not satisfied: 1 of 2 parts of the required context were found",
		}, trace(c))
	})
	t.Run("custom_stage_calls_handler", func(t *testing.T) {
		var got map[string]any
		s := (&world{}).service(t, func(c *Config) {
			c.Handlers = map[string]handler{"h": func(_ context.Context, in *Input, args map[string]any) (Found, error) {
				got = args
				return Found{Fragments: []Fragment{piece("mine", in.Request.AgentID, 10)}},
					errors.New("half")
			}}
		},
			pipeline("{stage: gone, type: custom, config: {handler: gone}}, {stage: h, type: custom, config: {handler: h, args: {n: 3}}}"))
		c := testkit.Must(s.Assemble(t.Context(), Request{AgentID: "me"}))
		require.Equal(t, map[string]any{"n": 3}, got)
		require.Equal(t, []string{"me"}, ids(c.Fragments))
		require.Equal(t, []string{
			`gone failed 0: no handler "gone"`, "h failed 1: half",
		}, trace(c))
	})
}

func TestBudget(t *testing.T) {
	three := func() *world {
		return &world{entries: map[string][]Fragment{
			"hot": pieces(SourceLedger, 10, "a", "b", "c"), "ho1": pieces(SourceLedger, 10, "d"),
		}, rows: map[string][]Fragment{"mods": pieces(SourceRegistry, 10, "m")}, now: time.Unix(1000, 0)}
	}
	all := stageHot + ", " + stageMods + ", " + stageOrder + ", " + stageHalt
	budget := func(b string, fallback ...string) string {
		return pipeline(all, append(fallback, "budget: {"+b+"}")...)
	}

	t.Run("max_tokens_stops_pipeline", func(t *testing.T) {
		c := three().assemble(t, budget("max_context_tokens: 25"), Request{})
		require.Equal(t, []string{"a", "b"}, ids(c.Fragments)[:2])
		require.LessOrEqual(t, c.Used.Tokens, 25)
		require.Equal(t, "mods skipped 0: the budget is exceeded: max_context_tokens", trace(c)[1])
		require.Equal(t, StatusTruncated, c.Trace[0].Status)
		require.Equal(t, []string{"the budget is exceeded: max_context_tokens"}, c.Warnings)
		require.Contains(t, trace(c)[3], "halt ok 2: satisfied: 2 fragments")

		c = three().assemble(t, budget("max_context_tokens: 10"), Request{MaxContextTokens: 40})
		require.Equal(t, 40, c.Used.Tokens, "the request's is in place of the template's")
		c = three().assemble(t, budget("max_context_tokens: 30"), Request{})
		require.Equal(t, []string{"hot ok 3", "mods skipped 0: the budget is exceeded: max_context_tokens"}, trace(c)[:2])
	})
	t.Run("max_tokens_stops_pipeline/share", func(t *testing.T) {
		c := three().assemble(t, pipeline("{stage: hot, type: ledger_query, share: 0.5, config: {tier: hot}}, "+stageMods,
			"budget: {max_context_tokens: 40}"), Request{})
		require.Equal(t, []string{"a", "b", "m"}, ids(c.Fragments), "what a share cuts stops nothing")
		require.Equal(t, []string{"hot truncated 2", "mods ok 1"}, trace(c))
	})
	t.Run("max_tokens_stops_pipeline/required_displaces", func(t *testing.T) {
		w := three()
		w.items = pieces(SourceAttention, 20, "x", "y")
		w.items[0].Required = true
		w.items[0].Short = []Line{{Text: "short"}}
		open := "{stage: open, type: attention, share: 0.5}"
		c := w.assemble(t, pipeline(stageHot+", "+open+", "+stageHalt, "budget: {max_context_tokens: 32}"), Request{})
		require.Equal(t, "a", c.Fragments[0].SourceID)
		require.Equal(t, "x", c.Fragments[len(c.Fragments)-1].SourceID)
		require.LessOrEqual(t, c.Used.Tokens, 32)
		require.Contains(t, trace(c)[1], "open truncated 1")

		_, err := w.service(t, nil, pipeline(stageOpen, "budget: {max_context_tokens: 3}")).Assemble(t.Context(), Request{})
		require.ErrorIs(t, err, ErrRequired)
		require.ErrorContains(t, err, "6 tokens, of 3")
	})
	t.Run("max_queries_stops_pipeline", func(t *testing.T) {
		w := three()
		c := w.assemble(t, budget("max_queries: 1"), Request{})
		require.Equal(t, []string{
			"hot ok 3", "mods skipped 0: the budget is exceeded: max_queries", "order ok 3",
			"halt ok 3: satisfied: 3 fragments, 30 tokens",
		}, trace(c))
		require.Equal(t, 1, c.Used.Queries)
		require.Len(t, w.asked, 1)

		c = three().assemble(t, pipeline("{type: ledger_query}, "+stageHalt, "budget: {max_queries: 1}"), Request{})
		require.Equal(t, []string{"d"}, ids(c.Fragments))
		require.Equal(t, "ledger_query truncated 1: the budget is exceeded: max_queries", trace(c)[0])
		c = three().assemble(t, pipeline("{type: ledger_query}, "+stageHalt, "budget: {max_queries: 2}"), Request{})
		require.Empty(t, c.Warnings, "used up is not exceeded")
	})
	t.Run("timeout_stops_pipeline", func(t *testing.T) {
		w := three()
		w.takes = 60 * time.Millisecond
		c := w.assemble(t, budget("timeout: 50ms"), Request{})
		require.Equal(t, []string{
			"hot timeout 3: the budget is exceeded: timeout", "mods skipped 0: the budget is exceeded: timeout", "order ok 3",
			"halt ok 3: satisfied: 3 fragments, 30 tokens",
		}, trace(c))
		require.Equal(t, 60*time.Millisecond, c.Used.Elapsed)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := three().service(t, nil, budget("timeout: 1h")).Assemble(ctx, Request{})
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("return_partial", func(t *testing.T) {
		for _, fallback := range []string{"", "fallback: {on_timeout: return_partial}"} {
			c := three().assemble(t, budget("max_queries: 1", fallback), Request{})
			require.Equal(t, []string{"a", "b", "c"}, ids(c.Fragments))
			require.Equal(t, []string{"the budget is exceeded: max_queries"}, c.Warnings)
		}
	})
	t.Run("fail", func(t *testing.T) {
		for _, b := range []string{"max_queries: 1", "max_context_tokens: 29", "timeout: 50ms"} {
			w := three()
			w.takes = time.Minute
			c, err := w.service(t, nil, budget(b, "fallback: {on_timeout: fail}")).Assemble(t.Context(), Request{})
			require.Nil(t, c)
			require.ErrorIs(t, err, ErrBudget)
			require.ErrorContains(t, err, strings.Split(b, ":")[0])
		}
	})
	t.Run("use_cached", func(t *testing.T) {
		w := three()
		s := w.service(t, nil, budget("timeout: 50ms", "fallback: {on_timeout: use_cached}"))
		w.takes = time.Minute
		_, err := s.Assemble(t.Context(), Request{})
		require.ErrorIs(t, err, ErrBudget)
		require.ErrorContains(t, err, "no earlier context is cached")

		w.takes = 0
		before := testkit.Must(s.Assemble(t.Context(), Request{}))
		require.Empty(t, before.Warnings)
		w.takes, w.revision = 2*time.Minute, "another"
		got := testkit.Must(s.Assemble(t.Context(), Request{}))
		require.Equal(t, before.Text, got.Text)
		require.Equal(t, []string{"timeout was exceeded: this is a context made 2m0s ago"}, got.Warnings)
		_, err = s.Assemble(t.Context(), Request{AgentID: "another"})
		require.ErrorIs(t, err, ErrBudget)
	})
	t.Run("on_empty_proceed", func(t *testing.T) {
		for _, fallback := range []string{"", "fallback: {on_empty: proceed_empty}"} {
			c := (&world{}).assemble(t, pipeline(stageOpen, fallback), Request{})
			require.Empty(t, c.Text)
			require.Equal(t, []string{"nothing was found"}, c.Warnings)
		}
	})
	t.Run("on_empty_fail", func(t *testing.T) {
		for _, stages := range []string{stageOpen, stageOpen + ", " + stageHalt, stageHot} {
			c, err := (&world{}).service(t, nil, pipeline(stages, "fallback: {on_empty: fail}")).Assemble(t.Context(),
				Request{})
			require.Nil(t, c)
			require.ErrorIs(t, err, ErrEmpty)
		}
	})
}

func TestOutput(t *testing.T) {
	w := &world{
		entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a", "b")}, takes: time.Second,
		rows: map[string][]Fragment{"mods": pieces(SourceRegistry, 12, "m")},
	}
	all := pipeline(stageHot + ", " + stageMods + ", {type: file_read, config: {paths: [gone]}}, " + stageHalt)
	c := w.assemble(t, all, Request{AgentClass: "x"})

	t.Run("context_hash_computed", func(t *testing.T) {
		sum := sha256.Sum256([]byte(c.Text))
		require.Equal(t, hex.EncodeToString(sum[:]), c.Hash)
		var text string
		for _, f := range c.Fragments {
			text += f.Content
		}
		require.Equal(t, text, c.Text)
		require.Equal(t, "t", c.TemplateID)

		again := w.assemble(t, all, Request{AgentClass: "x"})
		require.Equal(t, c, again, "the same request on the same state")
		w.entries["hot"] = pieces(SourceLedger, 10, "a")
		require.NotEqual(t, c.Hash, w.assemble(t, all, Request{}).Hash)
	})
	t.Run("pipeline_trace_recorded", func(t *testing.T) {
		require.Equal(t, []stageResult{
			{
				Stage: "hot", Type: typeLedgerQuery, Fragments: 2, Tokens: 20, Queries: 1, Duration: time.Second,
				Status: StatusOK,
			},
			{
				Stage: "mods", Type: typeRegistryQuery, Fragments: 1, Tokens: 12, Queries: 1, Duration: time.Second,
				Status: StatusOK,
			},
			{
				Stage: "file_read", Type: typeFileRead, Status: StatusEmpty,
				Detail: "file gone: not found below the folders that may be read",
			},
			{
				Stage: "halt", Type: typeHalting, Fragments: 3, Tokens: 32, Status: StatusOK,
				Detail: "satisfied: 3 fragments, 32 tokens",
			},
		}, c.Trace)
	})
	t.Run("budget_used_reported", func(t *testing.T) {
		require.Equal(t, used{Tokens: 32, Queries: 2, Elapsed: 2 * time.Second}, c.Used)
	})
	t.Run("warnings_collected", func(t *testing.T) {
		w := &world{
			err: errors.New("bad\x1b[2J"), rows: map[string][]Fragment{"mods": nil},
			items: pieces(SourceAttention, 10, "x"),
		}
		c := w.assemble(t, strings.Replace(pipeline(stageMods+", "+stageOpen+", "+stageHot), "pipeline",
			"applies_to: {tier: x}\npipeline", 1),
			Request{TemplateOverride: "t"})
		want := []string{
			`stage mods failed: bad\x1b[2J`, `stage open failed: bad\x1b[2J`, `stage hot failed: no ledger of tier "hot"`,
		}
		require.Equal(t, want, c.Warnings)
		for i, warning := range want {
			require.Equal(t, warning, "stage "+c.Trace[i].Stage+" failed: "+c.Trace[i].Detail)
		}
		c = w.assemble(t, "template_id: t\napplies_to: {tier: x}\npipeline: ["+stageOpen+"]", Request{})
		require.Equal(t, "minimal-default", c.TemplateID)
		require.Contains(t, c.Warnings[0], "no template applies")
	})
	t.Run("lists_are_never_null", func(t *testing.T) {
		data := testkit.Must(json.Marshal((&world{}).assemble(t, pipeline(stageOpen), Request{})))
		require.Contains(t, string(data), `"fragments":[]`)
	})
}

func TestCache(t *testing.T) {
	setup := func(more ...string) (*world, *Service) {
		w := &world{entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a")}, now: time.Unix(1000, 0)}
		w.entries["hot"][0].Refs = map[string]string{"k": "v"}
		w.open = []Item{{"i@1", true}}
		other := strings.Replace(pipeline(stageHot+", "+stageOpen), "template_id: t",
			"template_id: other\napplies_to: {tier: x}", 1)
		return w, w.service(t, nil, pipeline(stageHot, more...), other)
	}
	assemble := func(s *Service, r Request) *Context {
		return testkit.Must(s.Assemble(t.Context(), r))
	}
	t.Run("hit_returns_cached", func(t *testing.T) {
		w, s := setup()
		c := assemble(s, Request{})
		w.now = w.now.Add(59 * time.Second)
		again := assemble(s, Request{})
		require.Equal(t, c, again)
		require.Len(t, w.asked, 1)

		again.Fragments[0].Refs["k"], again.Warnings, again.Trace[0].Stage = "mine", append(again.Warnings, "mine"), "mine"
		again.Fragments[0].Lines[0].Text, again.Fragments[0].SourceID = "mine", "mine"
		require.Equal(t, c, assemble(s, Request{}), "a context is the caller's")
	})
	t.Run("miss_runs_pipeline", func(t *testing.T) {
		for name, change := range map[string]func(*world, *Request){
			"template":   func(_ *world, r *Request) { r.TemplateOverride = "other" },
			"agent":      func(_ *world, r *Request) { r.AgentID = "x" },
			"class":      func(_ *world, r *Request) { r.AgentClass = "x" },
			"work order": func(_ *world, r *Request) { r.WorkOrderID = "x" },
			"session":    func(_ *world, r *Request) { r.SessionID = "x" },
			"tokens":     func(_ *world, r *Request) { r.MaxContextTokens = 9 },
			"contract": func(_ *world,
				r *Request,
			) {
				r.Contract.RequiredContext.FileRefs = []FileRead{{Paths: []string{"x"}}}
			},
			"ledger":         func(w *world, _ *Request) { w.revision = "x" },
			"item's update":  func(w *world, _ *Request) { w.open = []Item{{"i@2", true}} },
			"item's cleared": func(w *world, _ *Request) { w.open = nil },
			"item blocks":    func(w *world, _ *Request) { w.open = []Item{{"i@1", false}} },
		} {
			w, s := setup()
			var r Request
			assemble(s, r)
			change(w, &r)
			assemble(s, r)
			require.GreaterOrEqual(t, len(w.asked), 2, name)
		}
		w, _ := setup()
		s := w.service(t, func(c *Config) { c.CacheEntries = 1 }, pipeline(stageHot))
		for range 2 {
			assemble(s, Request{})
			assemble(s, Request{AgentID: "another"})
		}
		require.Len(t, w.asked, 4, "it is bounded")
	})
	t.Run("ttl_expires", func(t *testing.T) {
		for _, x := range []struct {
			more  string
			after time.Duration
			want  int
		}{
			{"", time.Minute, 2},
			{"", time.Minute - 1, 1},
			{"cache_ttl: 5s", 5 * time.Second, 2},
			{"cache_ttl: 5s", 4 * time.Second, 1},
			{"cache_ttl: 0s", 0, 2},
		} {
			w, s := setup(x.more)
			assemble(s, Request{})
			w.now = w.now.Add(x.after)
			assemble(s, Request{})
			require.Len(t, w.asked, x.want, "%+v", x)
		}
	})
}
