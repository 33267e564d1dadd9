package heedsource

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

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
