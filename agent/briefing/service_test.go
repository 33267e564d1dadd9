package briefing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

func TestPipeline(t *testing.T) {
	t.Run("file_read_produces_fragments", func(t *testing.T) {
		root := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("one\ntwo\n"), 0o600))
		s := (&world{}).service(t, func(c *Config) { c.Roots = []string{root} },
			pipeline("{type: file_read, config: {paths: [b.txt, a.txt]}}"))
		c := testkit.Must(s.Assemble(t.Context(), Request{}))
		require.Equal(t, "[file a.txt#1-2] lines of a file, 8 bytes\n> one\n> two\n", c.Text)
		require.Equal(t, []string{"file_read ok 1: file b.txt: not found below the folders that may be read"}, trace(c))
		require.Zero(t, c.Used.Queries)
	})
	t.Run("custom_stage_calls_handler", func(t *testing.T) {
		var got map[string]any
		w := &world{entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a")}}
		s := w.service(t, func(c *Config) {
			c.Handlers = map[string]handler{"h": func(_ context.Context, in *Input, args map[string]any) (Found, error) {
				got = args
				require.Equal(t, []string{"a"}, ids(in.Found), "a stage sees what earlier ones found")
				return Found{Fragments: []Fragment{piece("mine", in.Request.AgentID, 10)}},
					errors.New("half")
			}}
		},
			pipeline(stageHot+", {stage: gone, type: custom, config: {handler: gone}}, {stage: h, type: custom, config: {handler: h, args: {n: 3}}}"))
		c := testkit.Must(s.Assemble(t.Context(), Request{AgentID: "me"}))
		require.Equal(t, map[string]any{"n": 3}, got)
		require.Equal(t, []string{"a", "me"}, ids(c.Fragments))
		require.Equal(t, []string{`gone failed 0: no handler "gone"`, "h failed 1: half"}, trace(c)[1:])
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
				Stage: "hot", Type: "ledger_query", Fragments: 2, Tokens: 20, Queries: 1, Duration: time.Second,
				Status: StatusOK,
			},
			{
				Stage: "mods", Type: "registry_query", Fragments: 1, Tokens: 12, Queries: 1, Duration: time.Second,
				Status: StatusOK,
			},
			{
				Stage: "file_read", Type: "file_read", Status: StatusEmpty,
				Detail: "file gone: not found below the folders that may be read",
			},
			{
				Stage: "halt", Type: "halting", Fragments: 3, Tokens: 32, Status: StatusOK,
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
			`stage mods failed: registry mods: bad\x1b[2J`, `stage open failed: bad\x1b[2J`, `stage hot failed: no ledger of tier "hot"`,
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
		s := w.service(t, nil, pipeline(stageHot))
		for range 2 {
			for n := range cacheEntries + 1 {
				assemble(s, Request{AgentID: fmt.Sprint(n)})
			}
		}
		require.Len(t, w.asked, 2*(cacheEntries+1), "it is bounded")
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
