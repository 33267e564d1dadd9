package heedsource

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

func TestTemplates(t *testing.T) {
	ids := map[string]bool{}
	for _, tmpl := range Templates() {
		ids[tmpl.TemplateID] = true
		require.Equal(t, tmpl.TemplateID != TemplatePerson, tmpl.Scrub)
		require.Equal(t, tmpl.TemplateID, tmpl.AppliesTo.AgentClass)
		require.Positive(t, tmpl.Budget.MaxContextTokens)
		require.Positive(t, tmpl.Budget.MaxQueries)
		require.Positive(t, tmpl.Budget.Timeout)
		require.NotEmpty(t, tmpl.Tokens)
		last := len(tmpl.Pipeline) - 1
		require.Equal(t, "structuring", tmpl.Pipeline[last-1].Type)
		require.Equal(t, "halting", tmpl.Pipeline[last].Type)
	}
	require.Equal(t, map[string]bool{TemplateAgent: true, TemplatePerson: true, TemplateModAuthor: true}, ids)
}

// TestTemplatesAskForWhatIsThere requires that the built-in templates name registries that Sources has.
func TestTemplatesAskForWhatIsThere(t *testing.T) {
	engine := testkit.Must(heed.New(heed.Config{}))
	c := Sources(Config{
		Engine:      engine,
		Rules:       func() *rules.Set { return nil },
		Mods:        func() []capture.ListedMod { return nil },
		Environment: func() capture.Facts { return capture.Facts{} },
	})
	for _, tmpl := range c.Templates {
		for i := range tmpl.Pipeline {
			switch s := tmpl.Pipeline[i].Config.(type) {
			case *briefing.RegistryQuery:
				require.Contains(t, c.Registries, s.Registry)
			case *briefing.LedgerQuery:
				if s.Tier == TierEarlier { // which the caller may have
					require.True(t, tmpl.Pipeline[i].Disabled)
					continue
				}
				require.Contains(t, c.Ledgers, s.Tier)
				q := *s
				q.Filters = map[string]string{}
				for name := range s.Filters {
					q.Filters[name] = map[string]string{
						"signature": strings.Repeat("1", 16), "blame": "Some Mod", "operation": "op-1",
					}[name]
				}
				_, err := c.Ledgers[s.Tier].Entries(t.Context(), &briefing.Input{}, &q)
				require.NoError(t, err, "%s: its filters are known", tmpl.TemplateID)
			}
		}
	}
}

// TestModAuthor requires that a report to the author of a mod has where the game runs and what was done, and nothing
// private: neither in a form nor a name that was learned from an entry that is not in it.
func TestModAuthor(t *testing.T) {
	engine := testkit.Must(heed.New(heed.Config{}))
	for i := range 2000 {
		if i == 3 {
			engine.Log(event.Log{Message: "Reading C:\\Users\\Marijke\\AppData\\game.cfg"})
			engine.Log(event.Log{Message: "shown", Stack: "Reading C:\\Users\\Annelies\\AppData\\Roller.cfg"})
		}
		engine.Log(event.Log{Message: "a quiet line"})
	}
	engine.Observe(event.Operation{ID: "op-1", Method: "game/save", Status: event.StatusStarted}.Entry())
	engine.Observe(event.Operation{
		ID: "op-1", Method: "game/save", Status: event.StatusFailed, Error: "Marijke, not Annelies, cannot write to 192.168.178.20:27015",
	}.Entry())
	c := Sources(Config{
		Engine:      engine,
		Environment: func() capture.Facts { return capture.Facts{Game: "Widgets 1.2", Arguments: "-user Marijke"} },
	})
	c.Now = time.Now
	service := testkit.Must(briefing.New(c))
	for range 2 {
		got := testkit.Must(service.Assemble(t.Context(), briefing.Request{AgentClass: TemplateModAuthor}))
		require.Contains(t, got.Text, "> Widgets 1.2\n")
		require.Contains(t, got.Text, "game/save")
		require.Contains(t, got.Text, "> <user>, not <user>, cannot write to <address>:27015")
		all := testkit.Must(json.Marshal(got))
		require.NotContains(t, string(all), "Marijke")
		require.NotContains(t, string(all), "Annelies", "whom a stack alone reveals")
		engine.Log(event.Log{Message: "another quiet line"})
	}
}

// TestSourcesInDocs compares the table of sources with the code.
func TestSourcesInDocs(t *testing.T) {
	data := testkit.Must(os.ReadFile("../../../docs/briefing.md"))
	_, section, found := strings.Cut(string(data), "\n## What heed has\n")
	require.True(t, found)
	filters := map[string]string{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			filters[strings.ReplaceAll(strings.TrimSpace(cells[1]), "`", "")] = cells[3]
		}
	}
	has := func(source string, names []string) {
		t.Helper()
		require.Contains(t, filters, source)
		require.Equal(t, len(names), strings.Count(filters[source], "`")/2, source)
		for _, name := range names {
			require.Contains(t, filters[source], "`"+name+"`", source)
		}
	}
	has("ledger of hot", filterNames)
	has("registry environment", nil)
}

// TestLatestEntriesStay: of entries that do not fit the budget, the oldest are left out, and that is said.
func TestLatestEntriesStay(t *testing.T) {
	set := testkit.Must(rules.Compile(testRules))
	for limit := 40; limit <= 400; limit += 20 {
		template, err := briefing.Parse("t.yaml", fmt.Appendf(nil, `
template_id: t
pipeline: [{type: ledger_query, config: {max_entries: 20}}]
budget: {max_context_tokens: %d}
`, limit))
		require.NoError(t, err)
		sources := all(played(t), set)
		sources.Templates = []*briefing.Template{template}
		service := testkit.Must(briefing.New(sources))
		c := testkit.Must(service.Assemble(t.Context(), briefing.Request{TemplateOverride: "t"}))
		require.LessOrEqual(t, c.Used.Tokens, limit)
		require.NotEmpty(t, c.Fragments, limit)
		require.Equal(t, "run1/11", c.Fragments[len(c.Fragments)-1].SourceID)
		whole := len(c.Fragments) == 8 && !regexp.MustCompile(`\(\d+ more lines?\)`).MatchString(c.Text)
		require.Equal(t, whole, c.Trace[0].Status == briefing.StatusOK, "%d tokens: %v", limit, c.Trace)
	}
}

func TestEnvironment(t *testing.T) {
	facts := capture.Facts{}
	e := source{Config{Environment: func() capture.Facts { return facts }}}
	rows := func() []briefing.Fragment {
		found := testkit.Must(e.Rows(t.Context(), &briefing.Input{}, &briefing.RegistryQuery{}))
		return found.Fragments
	}
	require.Empty(t, rows())
	facts.Arguments = "-user Marijke"
	require.Empty(t, rows(), "there is nothing to show")
	facts.Game = "Colony 1.2"
	require.Len(t, rows(), 1)
	list := []capture.ListedMod(nil)
	e.Mods = func() []capture.ListedMod { return list }
	require.Len(t, rows(), 1)
	list = []capture.ListedMod{
		{Mod: heed.Mod{Name: "Printing Press", PackageID: "acme.press"}, Versions: "[mv:1.2.0]"},
		{Mod: heed.Mod{PackageID: "acme.loom"}},
	}
	got := rows()
	require.Equal(t, []briefing.Line{{Text: "Colony 1.2", Data: true}}, got[0].Lines)
	require.Equal(t, "2 mods, in load order", got[1].Title)
	require.Equal(t, []briefing.Line{
		{Text: "1. Printing Press (acme.press) [mv:1.2.0]", Data: true, Kind: briefing.Hex},
		{Text: "2. acme.loom", Data: true, Kind: briefing.Hex},
	}, got[1].Lines)
	template := testkit.Must(briefing.Parse("t", []byte(`{template_id: t, pipeline: [
		{type: registry_query, config: {registry: environment, max_rows: 1}}]}`)))
	service := testkit.Must(briefing.New(briefing.Config{
		Registries: map[string]briefing.Registry{"environment": &e}, Now: time.Now,
	}))
	c := testkit.Must(service.Assemble(t.Context(), briefing.Request{Template: template}))
	require.Len(t, c.Fragments, 1)
	_, err := e.Rows(t.Context(), &briefing.Input{}, &briefing.RegistryQuery{Filters: map[string]string{"mod": "x"}})
	require.ErrorContains(t, err, "it has no filters")
}
