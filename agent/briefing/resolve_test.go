package briefing

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResolution(t *testing.T) {
	of := func(id, framework, class, tier string) *Template {
		return &Template{TemplateID: id, AppliesTo: appliesTo{AgentClass: class, FrameworkID: framework, Tier: tier}}
	}
	any, agent, person := of("any", "", "", ""), of("agent", "", "agent", ""), of("person", "", "person", "")
	game, other := of("game", "game", "", ""), of("other", "other", "", "")
	hot, cold := of("hot", "", "", "hot"), of("cold", "", "", "cold")
	gameAgent, gameHot := of("game-agent", "game", "agent", ""), of("game-hot", "game", "", "hot")
	agentHot, all := of("agent-hot", "", "agent", "hot"), of("all", "game", "agent", "hot")
	asked := Request{FrameworkID: "game", AgentClass: "agent", Tier: "hot"}

	for _, c := range []struct {
		name      string
		templates []*Template
		request   Request
		want      string
		warns     bool
		err       error
	}{
		{
			name: "by_agent_class", templates: []*Template{agent, person}, request: Request{AgentClass: "person"},
			want: "person",
		},
		{name: "by_framework_id", templates: []*Template{other, game}, request: Request{FrameworkID: "game"}, want: "game"},
		{name: "by_tier", templates: []*Template{hot, cold}, request: Request{Tier: "cold"}, want: "cold"},
		{
			name: "no_match_uses_default", templates: []*Template{agent, game},
			request: Request{AgentClass: "other"}, want: "minimal-default", warns: true,
		},
		{
			name: "no_match_uses_default/every_key_must_match", templates: []*Template{gameAgent},
			request: Request{AgentClass: "agent"}, want: "minimal-default", warns: true,
		},
		{name: "no_match_uses_default/no_templates", want: "minimal-default", warns: true},
		{
			name: "multiple_matches_fail_closed", templates: []*Template{any, gameHot, of("game-hot-2", "game", "", "hot")},
			request: asked, err: ErrAmbiguous,
		},
		{
			name:      "multiple_matches_fail_closed/less_specific_than_another",
			templates: []*Template{agent, of("b", "", "agent", ""), game}, request: asked, want: "game",
		},
		{
			name: "multiple_matches_fail_closed/same_id", templates: []*Template{agent, agent},
			request: Request{TemplateOverride: "agent"}, err: ErrAmbiguous,
		},
		{
			name: "template_override", templates: []*Template{all, other},
			request: Request{FrameworkID: "game", AgentClass: "agent", TemplateOverride: "other"}, want: "other",
		},
		{
			name: "template_override/unknown", templates: []*Template{all, any},
			request: Request{TemplateOverride: "none"}, err: ErrNoTemplate,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, warning, err := resolve(c.templates, &c.request)
			require.ErrorIs(t, err, c.err)
			if c.err != nil {
				require.Nil(t, got)
				return
			}
			require.Equal(t, c.want, got.TemplateID)
			require.Equal(t, c.warns, warning != "", warning)
		})
	}

	// Each is more specific than all that follow, wherever it stands.
	t.Run("specificity_order", func(t *testing.T) {
		order := []*Template{all, gameAgent, gameHot, game, agentHot, agent, hot, any}
		for from := range order {
			for turn := range len(order) - from {
				templates := append(append([]*Template{}, order[from+turn:]...), order[from:from+turn]...)
				got, warning, err := resolve(templates, &asked)
				require.NoError(t, err)
				require.Empty(t, warning)
				require.Equal(t, order[from].TemplateID, got.TemplateID)
			}
		}
	})

	t.Run("multiple_matches_fail_closed/names_them", func(t *testing.T) {
		_, _, err := resolve([]*Template{agent, of("b\x1b", "", "agent", "")}, &asked)
		require.EqualError(t, err, `briefing: several templates apply alike: agent, b\x1b: name one in the request, `+
			`or let one name more of framework_id, agent_class and tier`)
	})
}

// TestMinimalDefault: it reads what the contract requires, and is a template as others are.
func TestMinimalDefault(t *testing.T) {
	d := minimalDefault()
	require.NoError(t, check(d))
	pipeline := merged(d, &Contract{RequiredContext{FileRefs: []FileRead{{Paths: []string{"a"}}}}})
	require.Len(t, pipeline, 2)
	require.Equal(t, "file_read", pipeline[0].Type)
	require.Equal(t, "halting", pipeline[1].Type)
}
