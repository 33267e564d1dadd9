package briefing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMerge(t *testing.T) {
	errs := func(n int) *LedgerQuery { return &LedgerQuery{EventType: "error", MaxEntries: n} }
	mods := &RegistryQuery{Registry: "mods"}
	file := func(paths ...string) *FileRead { return &FileRead{Paths: paths} }
	stage := func(name string, c StageConfig) Stage { return Stage{Stage: name, Type: c.stageType(), Config: c} }
	structured := stage("order", &Structuring{Strategy: Chronological})
	halted := stage("halt", &Halting{})

	for _, c := range []struct {
		name     string
		pipeline []Stage
		required RequiredContext
		want     []string // names of stages
	}{
		{
			"ledger_queries",
			[]Stage{stage("first", errs(3)), structured, halted},
			RequiredContext{LedgerQueries: []LedgerQuery{*errs(4), {Recency: time.Minute}}},
			[]string{"first", "contract.ledger_query.1", "contract.ledger_query.2", "order", "halt"},
		},
		{
			"ledger_queries/covered",
			[]Stage{stage("first", errs(0)), stage("second", &LedgerQuery{Filters: map[string]string{}})},
			RequiredContext{LedgerQueries: []LedgerQuery{*errs(defaultMaxEntries), {}, *errs(1), *errs(1)}},
			[]string{"first", "second", "contract.ledger_query.3"},
		},
		{
			"framework_refs",
			[]Stage{stage("mods", mods), halted},
			RequiredContext{FrameworkRefs: []RegistryQuery{
				{
					Registry: "mods", MaxRows: defaultMaxRows,
				}, {Registry: "rules"}, {
					Registry: "mods", Filters: map[string]string{"id": "a"},
				},
			}},
			[]string{"mods", "contract.registry_query.2", "contract.registry_query.3", "halt"},
		},
		{
			"file_refs",
			[]Stage{stage("files", file("a", "b")), halted, structured},
			RequiredContext{FileRefs: []FileRead{*file("./a", "c/../b"), *file("b", "a"), *file("a")}},
			[]string{"files", "contract.file_read.2", "contract.file_read.3", "halt", "order"},
		},
		{
			"file_refs/nowhere_to_end",
			[]Stage{stage("mods", mods)},
			RequiredContext{FileRefs: []FileRead{*file("a")}},
			[]string{"mods", "contract.file_read.1"},
		},
		{
			"file_refs/disabled_does_not_cover",
			[]Stage{{Stage: "files", Type: TypeFileRead, Config: file("a"), Disabled: true}},
			RequiredContext{FileRefs: []FileRead{*file("a")}},
			[]string{"files", "contract.file_read.1"},
		},
		{
			"template_stages_take_priority",
			[]Stage{structured, stage("late", errs(3)), {Type: TypeRegistryQuery, Config: mods, Share: 0.5}, halted},
			RequiredContext{
				FileRefs: []FileRead{*file("a")}, FrameworkRefs: []RegistryQuery{*mods, {Registry: "rules"}},
				LedgerQueries: []LedgerQuery{*errs(3), *errs(9)},
			},
			[]string{
				"contract.ledger_query.2", "contract.registry_query.2", "contract.file_read.1", "order", "late", "registry_query",
				"halt",
			},
		},
		{
			"template_stages_take_priority/nothing_required",
			[]Stage{halted, structured},
			RequiredContext{},
			[]string{"halt", "order"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			template := Template{Pipeline: c.pipeline}
			before := append([]Stage{}, c.pipeline...)
			got := merged(&template, &Contract{c.required})
			var names []string
			own := got[:0:0]
			for _, s := range got {
				names = append(names, s.Stage)
				require.Equal(t, s.Type, s.Config.stageType())
				require.Equal(t, canonical(s.Config), s.Config)
				if len(s.Stage) < len("contract.") || s.Stage[:len("contract.")] != "contract." {
					own = append(own, s)
				}
			}
			require.Equal(t, c.want, names)
			require.Equal(t, before, template.Pipeline, "the template is as it was")
			require.Len(t, own, len(before))
			for i, s := range own {
				require.Equal(t, before[i].Type, s.Type)
				require.Equal(t, before[i].Share, s.Share)
				require.Equal(t, before[i].Disabled, s.Disabled)
				require.Equal(t, canonical(before[i].Config), s.Config)
			}
		})
	}
}

func TestVariables(t *testing.T) {
	v := variables{
		&Request{AgentID: "a1", AgentClass: "agent", FrameworkID: "game", Tier: "hot", WorkOrderID: "op-7", SessionID: "s"},
		[]Fragment{
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
		{"$attention.", "", "$attention"},
		{"$attention.operation and $none", "", "$attention.operation"},
		{"$work_orders", "", "$work_orders"},
		{"$Agent", "", "$Agent"},
	} {
		got, missing := v.expand(c.in)
		require.Equal(t, c.want, got, c.in)
		require.Equal(t, c.missing, missing, c.in)
	}
	_, missing := variables{request: &Request{}}.expand("$work_order")
	require.Equal(t, "$work_order", missing)
}
