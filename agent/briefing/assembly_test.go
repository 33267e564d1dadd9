package briefing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestScrub: what a template or a request wants scrubbed has no private data, wherever it stands, and is not made where
// nobody can remove it.
func TestScrub(t *testing.T) {
	w := &world{entries: map[string][]Fragment{"hot": {{
		Source: SourceLedger, SourceID: "1", Title: "maria", Lines: []Line{{Text: "home of maria", Data: true}},
		Refs: map[string]string{"text": "maria"},
	}}}}
	template := pipeline(`
  {type: registry_query, config: {registry: maria}}, {type: ledger_query, config: {tier: hot}}`, "scrub: true")
	_, err := w.service(t, nil, template).Assemble(t.Context(), Request{})
	require.ErrorContains(t, err, "Config.Scrub")
	s := w.service(t, func(c *Config) {
		c.Scrub = func(text string) string { return strings.ReplaceAll(text, "maria", "NAME") }
	}, template)
	c := testkit.Must(s.Assemble(t.Context(), Request{}))
	require.Equal(t, "[ledger 1] NAME\n> home of NAME\n", c.Text)
	require.Nil(t, c.Fragments[0].Refs)
	require.Equal(t, []string{`registry_query failed 0: no registry "NAME"`, "ledger_query ok 1"}, trace(c))
	require.Equal(t, []string{`stage registry_query failed: no registry "NAME"`}, c.Warnings)
}

// slow is a ledger that works until its context ends.
type slow struct {
	*world
	turns int
}

func (s *slow) Entries(ctx context.Context, _ *Input, _ *LedgerQuery) (Found, error) {
	for ; ctx.Err() == nil; s.turns++ {
		s.now = s.now.Add(time.Millisecond)
	}
	return Found{Fragments: pieces(SourceLedger, 10, "e1")}, ctx.Err()
}

func (s *slow) Revision(context.Context) string { return "" }

// TestTime: sources see the time of the template in their context, by the clock of the service. The caller's deadline
// is as the template's; a caller that goes gets nothing.
func TestTime(t *testing.T) {
	w := &world{}
	l := &slow{world: w}
	s := w.service(t, func(c *Config) { c.Ledgers["hot"] = l },
		pipeline(stageHot+","+stageOrder, "budget: {timeout: 50ms}"))
	c := testkit.Must(s.Assemble(t.Context(), Request{}))
	require.Equal(t, 50, l.turns)
	require.Equal(t, []string{
		"hot timeout 1: ledger of tier hot: context deadline exceeded; the budget is exceeded: timeout", "order ok 1",
	}, trace(c))
	require.Equal(t, 50*time.Millisecond, c.Used.Elapsed)

	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	c = testkit.Must(s.Assemble(late, Request{}))
	require.Equal(t, []string{
		"hot skipped 0: the budget is exceeded: timeout", "order empty 0: nothing was found",
	}, trace(c))

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Assemble(gone, Request{})
	require.ErrorIs(t, err, context.Canceled)
}

// TestUseCached: a context stands in for one whose budget is exceeded while it holds: its time to live, and as long as
// the items that block are as they were.
func TestUseCached(t *testing.T) {
	for _, c := range []struct {
		name  string
		later time.Duration
		open  []Item
		ok    bool
	}{
		{"more in the ledger", time.Second, []Item{{"a@1", true}, {"b@1", false}}, true},
		{"an item that does not block", time.Second, []Item{{"a@1", true}, {"b@2", false}}, true},
		{"an item that blocks", time.Second, []Item{{"a@2", true}, {"b@1", false}}, false},
		{"one more", time.Second, []Item{{"a@1", true}, {"b@1", true}}, false},
		{"too late", time.Minute, []Item{{"a@1", true}, {"b@1", false}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{
				entries: map[string][]Fragment{"hot": pieces(SourceLedger, 20, "e1")},
				open:    []Item{{"a@1", true}, {"b@1", false}},
			}
			s := w.service(t, nil, pipeline(stageHot, "budget: {timeout: 5s}", "fallback: {on_timeout: use_cached}"))
			w.takes = time.Minute
			_, err := s.Assemble(t.Context(), Request{})
			require.ErrorContains(t, err, "no earlier context is cached")
			w.takes = 0
			before := testkit.Must(s.Assemble(t.Context(), Request{}))
			w.now, w.takes, w.open, w.revision = w.now.Add(c.later), time.Minute, c.open, "2"
			_, err = s.Assemble(t.Context(), Request{AgentID: "another"})
			require.ErrorIs(t, err, ErrBudget)
			w.now = w.now.Add(-time.Minute)
			got, err := s.Assemble(t.Context(), Request{})
			if !c.ok {
				require.ErrorIs(t, err, ErrBudget)
				return
			}
			require.NoError(t, err)
			require.Equal(t, before.Text, got.Text)
			require.Equal(t, []string{"timeout was exceeded: this is a context made 1m1s ago"}, got.Warnings)
		})
	}
}

// TestManyWarnings: warnings are bounded, and counted beyond.
func TestManyWarnings(t *testing.T) {
	s := (&world{}).service(t, func(c *Config) {
		c.Handlers = map[string]handler{"h": func(context.Context, *Input, map[string]any) (Found, error) {
			return Found{Warnings: []string{"a"}}, errors.New("first")
		}, "many": func(context.Context, *Input, map[string]any) (found Found, _ error) {
			for i := range 100 {
				found.Warnings = append(found.Warnings, strings.Repeat("x", i+1))
			}
			return found, nil
		}}
	}, pipeline("{stage: h, type: custom, config: {handler: h}}, {stage: many, type: custom, config: {handler: many}}"))
	c := testkit.Must(s.Assemble(t.Context(), Request{}))
	require.Len(t, c.Warnings, maxList+1)
	require.Equal(t, []string{"a", "stage h failed: first", "x"}, c.Warnings[:3])
	require.Equal(t, "39 more warnings", c.Warnings[maxList])
}

// still is a ledger that many may read.
type still struct{ Ledger }

func (still) Entries(context.Context, *Input, *LedgerQuery) (Found, error) {
	return Found{Fragments: pieces(SourceLedger, 10, "e1", "e2")}, nil
}

func (still) Revision(context.Context) string { return "" }

// TestManyCallers: contexts are made at the same time, and each belongs to its caller.
func TestManyCallers(t *testing.T) {
	s := (&world{}).service(t, func(c *Config) {
		c.Attention, c.Ledgers["hot"] = nil, still{}
	}, pipeline(stageHot+","+stageOrder+","+stageHalt))
	var wg sync.WaitGroup
	for agent := range strings.SplitSeq("abcdefgh", "") {
		wg.Go(func() {
			for range 50 {
				c, err := s.Assemble(t.Context(), Request{AgentID: agent})
				if err != nil || len(c.Fragments) != 2 || c.Fragments[0].SourceID != "e1" {
					t.Errorf("%v: %v", c, err)
					return
				}
				c.Fragments[0].SourceID, c.Trace[0].Stage, c.Fragments[0].Lines[0].Text = "changed", "changed", "changed"
			}
		})
	}
	wg.Wait()
}

// TestNewRefuses: what a host sets up wrongly is an error that names it.
func TestNewRefuses(t *testing.T) {
	now := func() time.Time { return time.Time{} }
	twice := &Template{TemplateID: "t", Pipeline: []stage{{Type: "halting", Config: &halting{}}}}
	for want, c := range map[string]Config{
		"Config.Now is required":       {},
		`two templates are called "t"`: {Now: now, Templates: []*Template{twice, twice}},
		`are called "minimal-default"`: {Now: now, Templates: []*Template{minimalDefault()}},
		"Config.Roots":                 {Now: now, Roots: []string{"no/such/folder"}},
	} {
		_, err := New(c)
		require.ErrorContains(t, err, want)
	}
}

// TestCallersTemplate: a request with a template of its own gets no context of another template with the same id.
func TestCallersTemplate(t *testing.T) {
	w := &world{entries: map[string][]Fragment{"hot": pieces(SourceLedger, 10, "a", "b", "c")}}
	text := func(most int) string {
		return fmt.Sprintf("{template_id: own, pipeline: [{type: ledger_query, config: {max_entries: %d}}]}", most)
	}
	s := w.service(t, nil, text(3))
	for _, most := range []int{3, 2, 1, 3} {
		r := Request{TemplateOverride: "own"}
		if most < 3 {
			own := testkit.Must(Parse("own", []byte(text(most))))
			r.Template = own
		}
		c := testkit.Must(s.Assemble(t.Context(), r))
		require.Len(t, c.Fragments, most)
	}
}
