package briefing

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVariables(t *testing.T) {
	v := assembly{
		request: &Request{
			AgentID: "a1", AgentClass: "agent", FrameworkID: "game", Tier: "hot", WorkOrderID: "op-7", SessionID: "s",
		},
		found: []Fragment{
			{Source: SourceLedger, Refs: map[string]string{"signature": "of a ledger"}},
			{Source: SourceAttention, Refs: map[string]string{"signature": "", "rule": "r"}},
			{Source: SourceAttention, Refs: map[string]string{"signature": "$agent", "rule": "later", "text_2": "t"}},
		},
	}
	for _, c := range []struct{ in, want, missing string }{
		{"", "", ""},
		{"plain", "plain", ""},
		{"$agent $class $framework $tier $work_order $session", "a1 agent game hot op-7 s", ""},
		{"$attention.signature/$attention.rule.x", "$agent/r.x", ""},
		{"$attention.text_2$tier.", "thot.", ""},
		{"$$agent $5 $ $", "$agent $5 $ $", ""},
		{"$attention", "", "$attention"},
		{"$attention.", ".", "$attention"},
		{"$attention.operation and $none", " and ", "$attention.operation"},
		{"$work_orders", "", "$work_orders"},
		{"$Agent", "", "$Agent"},
	} {
		got, missing := v.expand(map[string]string{"x": c.in})
		require.Equal(t, map[string]string{"x": c.want}, got, c.in)
		require.Equal(t, c.missing, missing, c.in)
	}
	v.request = &Request{}
	_, missing := v.expand(map[string]string{"x": "$work_order"})
	require.Equal(t, "$work_order", missing)
}
