package heedsource

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/rules"
)

// TestLatestEntriesStay: of entries that do not fit the budget, the oldest are left out, and that is said.
func TestLatestEntriesStay(t *testing.T) {
	set, err := rules.Compile(testRules)
	require.NoError(t, err)
	for limit := 40; limit <= 400; limit += 20 {
		template, err := briefing.Parse("t.yaml", fmt.Appendf(nil, `
template_id: t
pipeline: [{type: ledger_query, config: {max_entries: 20}}]
budget: {max_context_tokens: %d}
`, limit))
		require.NoError(t, err)
		sources := all(played(t), set)
		sources.Templates = []*briefing.Template{template}
		service, err := briefing.New(sources)
		require.NoError(t, err)
		c, err := service.Assemble(t.Context(), briefing.Request{TemplateOverride: "t"})
		require.NoError(t, err)
		require.LessOrEqual(t, c.Used.Tokens, limit)
		require.NotEmpty(t, c.Fragments, limit)
		require.Equal(t, "run1/11", c.Fragments[len(c.Fragments)-1].SourceID)
		whole := len(c.Fragments) == 8 && !regexp.MustCompile(`\(\d+ more lines?\)`).MatchString(c.Text)
		require.Equal(t, whole, c.Trace[0].Status == briefing.StatusOK, "%d tokens: %v", limit, c.Trace)
	}
}

// TestSameStateSameText: the same request on the same state gives the same text, whoever asks, and however often.
func TestSameStateSameText(t *testing.T) {
	set, err := rules.Compile(testRules)
	require.NoError(t, err)
	texts := map[string]map[string]bool{}
	for range 4 {
		e := small(t, set)
		for _, s := range play(5, 700) {
			s(e)
		}
		sources := all(e, set)
		template, err := briefing.Parse("everything.yaml", []byte(everything))
		require.NoError(t, err)
		sources.Templates = append(sources.Templates, template)
		service, err := briefing.New(sources)
		require.NoError(t, err)
		for _, template := range sources.Templates {
			for range 2 {
				c, err := service.Assemble(t.Context(), briefing.Request{TemplateOverride: template.TemplateID})
				require.NoError(t, err)
				if texts[template.TemplateID] == nil {
					texts[template.TemplateID] = map[string]bool{}
				}
				texts[template.TemplateID][c.Text] = true
			}
		}
	}
	for id, t1 := range texts {
		require.Len(t, t1, 1, id)
	}
}
