package heedsource

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/briefing"
)

func TestTemplates(t *testing.T) {
	ids := map[string]bool{}
	for _, tmpl := range Templates() {
		ids[tmpl.TemplateID] = true
		require.Equal(t, tmpl.TemplateID, tmpl.AppliesTo.AgentClass)
		require.Positive(t, tmpl.Budget.MaxContextTokens)
		require.Positive(t, tmpl.Budget.MaxQueries)
		require.Positive(t, tmpl.Budget.Timeout)
		require.NotEmpty(t, tmpl.Tokens.Kinds)
		require.Equal(t, briefing.TypeAttention, tmpl.Pipeline[0].Type, "later stages refer to what it finds")
		last := len(tmpl.Pipeline) - 1
		require.Equal(t, briefing.TypeStructuring, tmpl.Pipeline[last-1].Type)
		require.Equal(t, briefing.TypeHalting, tmpl.Pipeline[last].Type)
	}
	require.Equal(t, map[string]bool{TemplateAgent: true, TemplatePerson: true, TemplateModAuthor: true}, ids)
}
