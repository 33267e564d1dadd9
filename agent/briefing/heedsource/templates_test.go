package heedsource

import (
	"encoding/json"
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
